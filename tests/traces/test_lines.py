"""Lines and arrays of JSON objects: one bad line costs that line and says where it stands."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.errors import TrajectoryError
from amd.json_text import MAX_DEPTH
from amd.traces import Line, Note, Refusal, read_jsonl
from amd.traces.lines import _Place, find_files, parse


def read(folder: Path, content: bytes) -> list[Line | Refusal | Note]:
    """What a file with this content gives."""
    path = folder / "runs.jsonl"
    path.write_bytes(content)
    return list(read_jsonl([path]))


def values(items: list[Line | Refusal | Note]) -> list[object]:
    """The objects alone."""
    return [item.value for item in items if isinstance(item, Line)]


def refusals(items: list[Line | Refusal | Note]) -> list[tuple[str, str]]:
    """Line number and detail of each refusal, all of them being ``unreadable``."""
    found = [item for item in items if isinstance(item, Refusal)]
    assert {item.reason for item in found} <= {"unreadable"}
    return [(item.where.rpartition("runs.jsonl:")[2], item.detail) for item in found]


def test_lines_keep_place_and_hash(tmp_path: Path) -> None:
    """Blank lines are skipped and counted as lines; the hash is that of the object's own bytes."""
    items = read(tmp_path, b'\xef\xbb\xbf{"a":1}\r\n\n  \n{"a":2}')
    assert values(items) == [{"a": 1}, {"a": 2}]
    first, last = (item for item in items if isinstance(item, Line))
    assert (first.number, last.number) == (1, 4)
    assert last.where == f"{tmp_path / 'runs.jsonl'}:4"
    assert last.sha256 == sha256(b'{"a":2}').hexdigest()


def test_d11b_only_line_ends_separate(tmp_path: Path) -> None:
    """D11b: U+2028, U+0085, U+2029 and others stay inside a text."""
    text = "do A\u2028then\u0085B\u2029 zażółć 한국어 🙂 \u202e"
    line = json.dumps({"text": text}, ensure_ascii=False).encode()
    assert values(read(tmp_path, line + b"\n" + line + b"\n")) == [{"text": text}] * 2


def test_d22c_torn_line(tmp_path: Path) -> None:
    """D22c: a line that was cut is refused with its place, the others are read."""
    items = read(tmp_path, b'{"a":1}\n{"id": "multi_tu\n{"a":3}\n')
    assert values(items) == [{"a": 1}, {"a": 3}]
    [(line, detail)] = refusals(items)
    assert line == "2"
    assert detail.startswith("not JSON: ")


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": -Infinity}', "-Infinity is not JSON"),
        (b'{"a": 1e999}', "beyond the range"),
        (b'{"a": "\xff"}', "utf-8"),
        (b'["a"]', "not a JSON object but a list"),
        (b"7", "not a JSON object but a int"),
        (b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", f"nested deeper than {MAX_DEPTH}"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", f"nested deeper than {MAX_DEPTH}"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not JSON"),
    ],
)
def test_bad_line(tmp_path: Path, line: bytes, detail: str) -> None:
    """What cannot be kept is refused by its line alone."""
    items = read(tmp_path, b'{"good": 1}\n' + line + b'\n{"good": 2}\n')
    assert values(items) == [{"good": 1}, {"good": 2}]
    [(where, why)] = refusals(items)
    assert where == "2"
    assert detail in why


def test_depth_that_is_allowed(tmp_path: Path) -> None:
    """Nesting up to the limit is read: the guard refuses no ordinary run."""
    inside = MAX_DEPTH - 1
    assert refusals(read(tmp_path, b'{"a": ' + b"[" * inside + b"]" * inside + b"}")) == []
    with pytest.raises(ValueError, match="nested deeper"):
        parse("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2))


def test_c13_refusals_hold_no_content(tmp_path: Path) -> None:
    """C13: what is wrong is told without the words of the line."""
    items = read(tmp_path, b'{"password": "Plum-7731!", "a": \n{"password": "Plum-7731!" "a": 1}\n["Plum-7731!"]\n')
    assert len(refusals(items)) == 3
    assert "Plum" not in repr(items)


def test_d11a_surrogates_are_replaced_and_counted(tmp_path: Path) -> None:
    """D11a: a lone surrogate becomes U+FFFD and is counted; a pair is a character."""
    items = read(tmp_path, rb'{"a": "bad \ud83d", "\udc00": "pair \ud83d\ude42"}')
    assert values(items) == [{"a": "bad \ufffd", "\ufffd": "pair 🙂"}]
    assert Note("replaced_surrogates", 2) in items


def test_big_integers_keep_their_digits(tmp_path: Path) -> None:
    """No integer becomes a float."""
    assert values(read(tmp_path, b'{"n": 123456789012345678901234567890}')) == [{"n": 123456789012345678901234567890}]


def test_array(tmp_path: Path) -> None:
    """A file may be one array; each object keeps its own line and the hash of its own bytes."""
    items = read(tmp_path, b'\xef\xbb\xbf\n[\n {"a": 1},\n\n {"a":\n 2}, {"a": 3}\n]\n')
    assert [(item.value, item.number) for item in items if isinstance(item, Line)] == [
        ({"a": 1}, 3),
        ({"a": 2}, 5),
        ({"a": 3}, 6),
    ]
    assert [item.sha256 for item in items if isinstance(item, Line)][1] == sha256(b'{"a":\n 2}').hexdigest()
    assert read(tmp_path, b"[]") == []


@pytest.mark.parametrize(
    ("content", "lines", "bad"),
    [
        (b'[{"a":1},\n{"a"', 1, ["2"]),
        (b'[{"a":1}\n{"a":2}]', 1, ["2"]),
        (b'[{"a":1},\n{"a":NaN},\n{"a":3}]', 2, ["2"]),
        (b'[{"a":1},\n7,\n{"a":3}]', 2, ["2"]),
        (b'[{"a":1}]\n{"a":2}\nnonsense', 2, ["3"]),
        (b'[{"a":1},\n{"a":"\xff"}]', 0, ["2"]),
        (b'["a"]\n{"a":2}', 1, ["1"]),
        (b'[{"a":1}', 1, ["1"]),
    ],
)
def test_broken_array(tmp_path: Path, content: bytes, lines: int, bad: list[str]) -> None:
    """What stands before the fault is kept, and the fault has its line."""
    items = read(tmp_path, content)
    assert len(values(items)) == lines
    assert [line for line, _ in refusals(items)] == bad


def test_a_long_array_is_read_in_one_go(tmp_path: Path) -> None:
    """Each line end is counted once: 20,000 objects take no longer a piece than two do, and keep their lines."""
    count = 20_000
    items = read(
        tmp_path, b"[\n" + b",\n".join(b'{"a": %d, "b": "%s"}' % (n, b"x" * 300) for n in range(count)) + b"\n]"
    )
    assert [item.number for item in items if isinstance(item, Line)] == list(range(2, count + 2))


class CountedText(str):
    """A text that knows how many characters were looked through for line ends."""

    __slots__ = ("looked",)

    def count(self, *arguments: object) -> int:
        """As for any text."""
        _, start, end = arguments
        self.looked = getattr(self, "looked", 0) + int(str(end)) - int(str(start))
        return super().count("\n", int(str(start)), int(str(end)))


def test_line_ends_are_counted_once() -> None:
    """However many places are asked for, no part of the text is looked through twice."""
    text = CountedText("a\n" * 1000)
    place = _Place(text, 5)
    assert [place.line(at) for at in range(0, 2001, 2)] == list(range(5, 1006))
    assert text.looked == 2000


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text() | st.none())), st.booleans())
def test_array_and_lines_agree(tmp_path_factory: pytest.TempPathFactory, objects: list[object], escape: bool) -> None:
    """The same objects come out of an array and of lines."""
    folder = tmp_path_factory.mktemp("same")
    lines = [json.dumps(item, ensure_ascii=escape).encode("utf-8", "surrogatepass") for item in objects]
    from_lines = values(read(folder, b"\n".join(lines)))
    assert from_lines == values(read(folder, b"[" + b",\n".join(lines) + b"]"))
    assert len(from_lines) == len(objects)


def test_missing_path_is_named(tmp_path: Path) -> None:
    """A path that is not there stops the reading before anything is read."""
    good = tmp_path / "good.jsonl"
    good.write_bytes(b'{"a":1}')
    with pytest.raises(TrajectoryError, match=r"none\.jsonl: no such file") as caught:
        next(read_jsonl([good, tmp_path / "none.jsonl"]))
    assert caught.value.fields["path"] == tmp_path / "none.jsonl"


def test_folder(tmp_path: Path) -> None:
    """A folder is read in the order of its names, at any depth; one without such files is named."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "notes.txt").write_text("no run", encoding="utf-8")
    with pytest.raises(TrajectoryError, match="holds no file"):
        find_files([tmp_path])
    for name in ("b.jsonl", "a.json", "deep/er/c.jsonl"):
        (tmp_path / name).write_text(f'{{"name": "{name}"}}', encoding="utf-8")
    assert values(list(read_jsonl([tmp_path]))) == [
        {"name": "a.json"},
        {"name": "b.jsonl"},
        {"name": "deep/er/c.jsonl"},
    ]
    assert len(find_files([tmp_path], suffixes=[".txt"])) == 1


def test_unreadable_path_is_named() -> None:
    """A path that the system refuses is an error with the system's reason."""
    with pytest.raises(TrajectoryError, match=r"n+\.jsonl: cannot be read: File name too long"):
        list(read_jsonl([Path("n" * 300 + ".jsonl")]))
