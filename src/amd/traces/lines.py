r"""From paths to JSON objects, each with the place it stands at. One bad line costs that line.

A file is JSON lines, split on ``\n`` and nothing else (U+2028 and U+0085 are ordinary characters inside a text),
or one JSON array of objects. Integers keep their digits; ``NaN``, infinities and nesting that later steps could
not follow are refused; lone surrogates are replaced and counted; bytes that are not UTF-8 refuse their line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from amd.errors import TrajectoryError
from amd.json_text import JSON, digest, loads, replace_surrogates
from amd.traces.reader import Note
from amd.trajectory import Refusal

__all__ = ["SUFFIXES", "Line", "find_files", "parse", "read_jsonl"]

SUFFIXES = (".json", ".jsonl")
"""The files that are read where a folder is named."""

_BOM = b"\xef\xbb\xbf"
_BETWEEN = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Line:
    """One JSON object of a file. ``number`` counts lines from 1; ``sha256`` is the hash of the object's own bytes.

    >>> Line({"task_id": "t1"}, Path("runs.jsonl"), 7, digest(b'{"task_id": "t1"}')).where
    'runs.jsonl:7'
    """

    value: Mapping[str, JSON]
    path: Path
    number: int
    sha256: str

    @property
    def where(self) -> str:
        """``file:line``."""
        return f"{self.path}:{self.number}"


def find_files(paths: Sequence[Path], *, suffixes: Sequence[str] = SUFFIXES) -> list[Path]:
    """The files that the paths name: a file as it is, a folder by all files below it with one of the suffixes.

    Raises:
        TrajectoryError: A path does not exist or cannot be looked at, or a folder holds no such file.
    """
    found: list[Path] = []
    for path in paths:
        try:
            found += _files_at(path, suffixes)
        except OSError as error:
            raise _cannot_read(path, error) from error
    return found


def _files_at(path: Path, suffixes: Sequence[str]) -> list[Path]:
    if not path.exists():
        raise TrajectoryError(f"{path}: no such file or folder", next_step="check the path", path=path)
    if not path.is_dir():
        return [path]
    inside = sorted(file for file in path.rglob("*") if file.suffix in suffixes and file.is_file())
    if not inside:
        raise TrajectoryError(
            f"{path}: the folder holds no file that ends with {' or '.join(suffixes)}",
            next_step="name the folder or the files that hold the runs",
            path=path,
        )
    return inside


def read_jsonl(paths: Sequence[Path], *, suffixes: Sequence[str] = SUFFIXES) -> Iterator[Line | Refusal | Note]:
    r"""Every JSON object of the files, in order; a refusal ``unreadable`` for each line that is none.

    Raises:
        TrajectoryError: A path is missing or cannot be read, or a folder holds no file of these suffixes.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "runs.jsonl"
    ...     _ = path.write_bytes(b'{"task_id": "t1"}\n{"task_id": "t')
    ...     [item.value if isinstance(item, Line) else item.reason for item in read_jsonl([path])]
    [{'task_id': 't1'}, 'unreadable']
    """
    for path in find_files(paths, suffixes=suffixes):
        try:
            yield from _read_file(path)
        except OSError as error:
            raise _cannot_read(path, error) from error


def _cannot_read(path: Path, error: OSError) -> TrajectoryError:
    return TrajectoryError(
        f"{path}: cannot be read: {error.strerror}", next_step="check the file and its permissions", path=path
    )


def _read_file(path: Path) -> Iterator[Line | Refusal | Note]:
    with path.open("rb") as file:
        first = True
        for number, raw in enumerate(file, 1):
            line = (raw.removeprefix(_BOM) if number == 1 else raw).strip()
            if not line:
                continue
            if first and line.startswith(b"["):
                yield from _array(raw.removeprefix(_BOM) + file.read(), path, number)
                return
            first = False
            yield from _object(line, path, number)


def parse(text: str) -> tuple[JSON, int]:
    r"""The value of a JSON text that everything later can also write down, and how many surrogates were replaced.

    Raises:
        ValueError: It is not JSON, holds a number beyond JSON's range, or is nested too deeply.

    >>> parse('{"n": 12345678901234567890, "text": "bad \\ud83d"}')
    ({'n': 12345678901234567890, 'text': 'bad �'}, 1)
    """
    value = loads(text)
    # A text that was decoded from UTF-8 holds a lone surrogate only where JSON escapes one.
    return replace_surrogates(value) if "\\u" in text else (value, 0)


def _object(line: bytes, path: Path, number: int) -> Iterator[Line | Refusal | Note]:
    """The object that these bytes are, or why they are none."""
    try:
        value, replaced = parse(line.decode("utf-8"))
    except ValueError as error:
        yield Refusal("unreadable", f"{path}:{number}", f"not JSON: {error}")
        return
    if not isinstance(value, Mapping):
        yield Refusal("unreadable", f"{path}:{number}", f"not a JSON object but a {type(value).__name__}")
        return
    if replaced:
        yield Note("replaced_surrogates", replaced)
    yield Line(value, path, number, digest(line))


def _array(content: bytes, path: Path, number: int) -> Iterator[Line | Refusal | Note]:
    """The objects of a file that is one JSON array, opened on line ``number``.

    What stands before a fault is kept; what stands after it cannot be told apart and is one refusal.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = number + content.count(b"\n", 0, error.start)
        yield Refusal("unreadable", f"{path}:{line}", f"not JSON: {error}")
        return
    decoder = json.JSONDecoder()
    place = _Place(text, number)
    start = text.index("[") + 1
    while True:
        start = _skip(text, start)
        line = place.line(start)
        if text.startswith("]", start):
            break
        try:
            end = decoder.raw_decode(text, start)[1]
        except (ValueError, RecursionError) as error:
            yield Refusal("unreadable", f"{path}:{line}", f"the array is broken from here on: {error}")
            return
        yield from _object(text[start:end].encode(), path, line)
        start = _skip(text, end)
        if text.startswith(",", start):
            start += 1
        elif not text.startswith("]", start):
            line = place.line(start)
            yield Refusal("unreadable", f"{path}:{line}", "the array is broken from here on: neither ',' nor ']'")
            return
    for below, rest in enumerate(text[start + 1 :].split("\n")):
        if rest.strip():
            yield from _object(rest.strip().encode(), path, line + below)


class _Place:
    """Line numbers of ever later places in a text that begins on line ``number``: each line end is counted once."""

    def __init__(self, text: str, number: int) -> None:
        self._text = text
        self._line = number
        self._counted = 0

    def line(self, at: int) -> int:
        """The line of a place that is no earlier than the last one."""
        self._line += self._text.count("\n", self._counted, at)
        self._counted = at
        return self._line


def _skip(text: str, start: int) -> int:
    """Where the next character that is no white space stands."""
    found = _BETWEEN.match(text, start)
    assert found is not None
    return found.end()
