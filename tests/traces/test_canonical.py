"""The library's own run file: what is written is what is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.errors import SchemaTooNew, TrajectoryError
from amd.testing import run
from amd.traces import (
    Item,
    Note,
    Outcome,
    Refusal,
    Source,
    Step,
    Task,
    ToolCall,
    ToolSpec,
    Trajectory,
    Turn,
    load_reader,
    write,
)
from amd.traces.reader import ReaderOptions

SEPARATORS = st.sampled_from(["\u2028", "\u2029", "\u0085", "\r", "\n", "\x0b", "\x00", "\ufeff", "한국어 🙂", '"\\'])
TEXT = st.lists(st.text(max_size=5) | SEPARATORS, max_size=3).map("".join)
NAME = TEXT.filter(bool)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**20, 10**30)
    | TEXT
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXT, below, max_size=3),
    max_leaves=5,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
CALL = st.builds(ToolCall, NAME, OBJECT, TEXT, st.booleans(), st.none() | TEXT)
STEP = st.builds(Step, TEXT, st.lists(CALL, max_size=2).map(tuple))
TURN = st.builds(Turn, st.none() | TEXT, st.lists(STEP, max_size=2).map(tuple))
SCORE = st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
RUN = st.builds(
    Trajectory,
    st.builds(Task, NAME, NAME, NAME, TEXT, st.none() | TEXT),
    st.lists(TURN, max_size=2).map(tuple),
    st.none() | st.lists(st.builds(ToolSpec, NAME, TEXT, OBJECT), max_size=2).map(tuple),
    st.builds(Outcome, st.none() | st.booleans(), SCORE, TEXT),
    st.builds(
        Source,
        TEXT,
        TEXT,
        TEXT,
        TEXT,
        st.sampled_from(["teacher", "oracle", "student"]),
        st.none() | st.booleans(),
        st.none() | TEXT,
    ),
)


def read(path: Path) -> list[Item]:
    """Everything that the format's own reader gives."""
    return list(load_reader("amd").read([path], ReaderOptions()))


def edited(path: Path, **members: object) -> Path:
    """A file with one good run in which these members of the line are replaced; dots go into objects."""
    write(path, [run(0)])
    line = json.loads(path.read_text(encoding="utf-8"))
    for name, value in members.items():
        *parents, last = name.split("__")
        place = line
        for parent in parents:
            place = place[int(parent) if parent.isdigit() else parent]
        place[last] = value
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return path


@given(st.lists(RUN, max_size=3))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, runs: list[Trajectory]) -> None:
    """Any trajectory comes back equal, with the same hash, whatever its texts, numbers and empty parts."""
    path = tmp_path_factory.mktemp("trip") / "runs.jsonl"
    assert write(path, runs) == len(runs)
    back = read(path)
    assert back == runs
    assert [run.sha256 for run in back if isinstance(run, Trajectory)] == [run.sha256 for run in runs]
    assert path.read_bytes().count(b"\n") == len(runs)


def test_empty_is_not_unknown(tmp_path: Path) -> None:
    """No offered tool and unknown tools are two things."""
    path = tmp_path / "runs.jsonl"
    write(path, [replace(run(0), tools=None), replace(run(0), tools=(), turns=())])
    unknown, none = (item for item in read(path) if isinstance(item, Trajectory))
    assert (unknown.tools, none.tools, none.turns) == (None, (), ())


def test_d11a_surrogates_are_replaced(tmp_path: Path) -> None:
    """D11a: a lone surrogate does not spoil the file, wherever it stands."""
    call = ToolCall("say\ud83d", {"k\udc00": ["\ud83d"]}, "o\ud83d", ok=True)
    write(tmp_path / "runs.jsonl", [replace(run(0), turns=(Turn("bad \ud83d", (Step("s\ud83d", (call,)),)),))])
    [back] = read(tmp_path / "runs.jsonl")
    assert isinstance(back, Trajectory)
    assert back.turns[0].user == "bad \ufffd"
    assert back.calls == (ToolCall("say\ufffd", {"k\ufffd": ["\ufffd"]}, "o\ufffd", ok=True),)


def test_ok_is_kept_as_written(tmp_path: Path) -> None:
    """The harness judged the call; the text of its observation does not judge it again."""
    call = ToolCall("pwd", {}, "Error: looks like one", ok=True)
    write(tmp_path / "runs.jsonl", [replace(run(0), turns=(Turn("Where?", (Step("", (call,)),)),))])
    [back] = read(tmp_path / "runs.jsonl")
    assert isinstance(back, Trajectory)
    assert back.calls == (call,)


def test_too_new_format_names_both(tmp_path: Path) -> None:
    """A later version of the format is an error, not a run that is lost quietly."""
    path = edited(tmp_path / "runs.jsonl", format="amd-trajectory/2")
    with pytest.raises(SchemaTooNew, match=r"runs.jsonl:1.*'amd-trajectory/2'.*'amd-trajectory/1'") as caught:
        read(path)
    assert caught.value.fields == {"found": "amd-trajectory/2", "known": "amd-trajectory/1"}


@pytest.mark.parametrize("format_", ["amd-memory/1", "amd-trajectory/1 ", "amd-trajectory/0", None, 1, ["x"]])
def test_another_format_is_refused(tmp_path: Path, format_: object) -> None:
    """A line of something else is refused by its place."""
    [refusal] = read(edited(tmp_path / "runs.jsonl", format=format_))
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "unreadable"
    assert refusal.where.endswith("runs.jsonl:1")
    assert "amd-trajectory/1" in refusal.detail


@pytest.mark.parametrize(
    ("members", "place"),
    [
        ({"turns__0__steps__0__calls__0__arguments": ["a", "b"]}, "turns.0.steps.0.calls.0.arguments"),
        ({"turns__0__steps__0__calls__0__arguments": "{}"}, "turns.0.steps.0.calls.0.arguments"),
        ({"turns__0__steps__0__calls__0__ok": "yes"}, "turns.0.steps.0.calls.0.ok"),
        ({"turns__0__steps__0__calls__0__observation": None}, "turns.0.steps.0.calls.0.observation"),
        ({"turns": None}, "turns"),
        ({"task__family": ""}, "task.family"),
        ({"task__task_id": 7}, "task.task_id"),
        ({"outcome__success": 1}, "outcome.success"),
        ({"source__kind": "robot"}, "source.kind"),
    ],
)
def test_d22b_bad_member_is_refused(tmp_path: Path, members: dict[str, object], place: str) -> None:
    """D22b: a run with a part of the wrong type is refused with the part's place; the next run is read."""
    path = edited(tmp_path / "runs.jsonl", **members)
    write(tmp_path / "more.jsonl", [run(1)])
    with path.open("ab") as file:
        file.write((tmp_path / "more.jsonl").read_bytes())
    refusal, good = read(path)
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.where) == ("unreadable", f"{path}:1")
    assert refusal.detail.startswith(f"{place}: ")
    assert good == run(1)


def test_refusal_has_task_and_count_but_no_content(tmp_path: Path) -> None:
    """C13: a refusal names the task and how many faults there are, never a value."""
    path = edited(tmp_path / "runs.jsonl", turns="Plum-7731!", tools="Plum-7731!")
    [refusal] = read(path)
    assert isinstance(refusal, Refusal)
    assert refusal.task_id == "multi_turn_base_0"
    assert refusal.detail.endswith("(1 more)")
    assert "Plum" not in refusal.detail


def test_unknown_members_are_a_note(tmp_path: Path) -> None:
    """Members that the format does not know are counted at each depth and go no further."""
    path = edited(tmp_path / "runs.jsonl", info="KEY", task__hint="KEY", turns__0__steps__0__calls__0__cost=3)
    note, back = read(path)
    assert note == Note("unknown_field", 3)
    assert back == run(0)


def test_arguments_are_no_structure(tmp_path: Path) -> None:
    """Whatever arguments hold is theirs: nothing in them is an unknown member."""
    path = edited(tmp_path / "runs.jsonl", turns__0__steps__0__calls__0__arguments={"any": {"thing": 1}})
    [back] = read(path)
    assert isinstance(back, Trajectory)
    assert back.calls[0].arguments == {"any": {"thing": 1}}


def test_write_is_all_or_nothing(tmp_path: Path) -> None:
    """If the runs end in an error, the file of before stands and nothing lies beside it."""

    def runs() -> Iterator[Trajectory]:
        yield run(1)
        raise TrajectoryError("the input broke off")

    path = tmp_path / "runs.jsonl"
    write(path, [run(0)])
    with pytest.raises(TrajectoryError, match="broke off"):
        write(path, runs())
    assert read(path) == [run(0)]
    assert list(tmp_path.iterdir()) == [path]
    write(path, [run(1)])
    assert read(path) == [run(1)]


def test_write_into_no_folder(tmp_path: Path) -> None:
    """A folder that is not there is named."""
    with pytest.raises(TrajectoryError, match="cannot be written: No such file"):
        write(tmp_path / "none" / "runs.jsonl", [run(0)])


def test_write_refuses_nan(tmp_path: Path) -> None:
    """A number that JSON does not know is an error of the reader that made it, and names the run."""
    bad = replace(run(0), outcome=Outcome(success=True, score=float("nan")))
    with pytest.raises(TrajectoryError, match="run 'run-1' of task 'multi_turn_base_0' cannot be written"):
        write(tmp_path / "runs.jsonl", [bad])
    assert list(tmp_path.iterdir()) == []


def test_what_stood_beside_the_calls_is_not_written(tmp_path):
    """Neither as a list nor where it recurs; what is read back has the rest."""
    told = replace(run(1), turns=(Turn("Go.", (Step("The word is sunflowers, I say."),)),))
    path = tmp_path / "runs.jsonl"
    write(path, [replace(told, beside=({"password": ["sunflowers", "unsaid-77"]},))])
    assert not any(word in path.read_text(encoding="utf-8") for word in ("sunflowers", "unsaid-77"))
    (back,) = load_reader("amd").read([path], ReaderOptions())
    assert back.turns[0].steps[0].text == "The word is <password>, I say."
    write(path, [told])
    assert "sunflowers" in path.read_text(encoding="utf-8")
