"""The format ``openai-chat``: which members of a run are read, what they mean, and that nothing else is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amd.errors import ConfigError
from amd.inject import CLOSE_TAG, OPEN_TAG
from amd.json_text import JSON
from amd.testing import openai_chat, run
from amd.traces import Item, Note, Outcome, Refusal, Trajectory, load_reader, reader_options, write
from amd.traces.openai_chat import OpenAIChatReader

MESSAGES: list[JSON] = [
    {"role": "user", "content": "Move it."},
    {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "mv", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "a", "content": "moved"},
]


def read(folder: Path, *entries: object, **options: object) -> list[Item]:
    """What a JSONL file with these entries gives."""
    path = folder / "runs.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    reader = load_reader("openai-chat")
    return list(reader.read([path], reader_options(reader, options)))


def one(folder: Path, entry: object, **options: object) -> Trajectory:
    """The one run that this entry is."""
    [item] = read(folder, entry, **options)
    assert isinstance(item, Trajectory), item
    return item


def refused(folder: Path, entry: object, **options: object) -> Refusal:
    """The one refusal that this entry gives, ``unreadable`` on line 1."""
    [item] = read(folder, entry, **options)
    assert isinstance(item, Refusal), item
    assert (item.reason, item.where) == ("unreadable", f"{folder / 'runs.jsonl'}:1")
    return item


def test_a_whole_run(tmp_path: Path) -> None:
    """Task, turns, tools, outcome and source of an ordinary run."""
    made = run(0)
    got = one(tmp_path, openai_chat(made), map="family=family,benchmark=benchmark", teacher="made-up-teacher")
    assert (got.task, got.turns, got.tools) == (made.task, made.turns, made.tools)
    assert got.outcome == Outcome(success=True, score=1.0, evidence="score 1.0")
    assert got.source.teacher == "made-up-teacher"
    assert (got.source.kind, got.source.memory_assisted) == ("teacher", False)
    assert (got.source.run_id, got.source.path) == ("runs:1", str(tmp_path / "runs.jsonl"))
    assert len(got.source.sha256) == 64


@pytest.mark.parametrize("messages", ["messages", "traj", "conversation"])
@pytest.mark.parametrize("score", ["score", "reward"])
@pytest.mark.parametrize("task_id", ["task_id", "id"])
def test_keys_without_a_map(tmp_path: Path, messages: str, score: str, task_id: str) -> None:
    """Each usual key is found; integer ids become text; each task is its own family."""
    got = one(tmp_path, {messages: MESSAGES, score: 1, task_id: 7, "trial": 0})
    assert (got.task.benchmark, got.task.task_id, got.task.family) == ("openai-chat", "7", "7")
    assert got.task.instruction == "Move it."
    assert got.outcome == Outcome(success=True, score=1.0, evidence=f"{score} 1.0")
    assert got.source.run_id == "runs:7:0"
    assert got.tools is None


def test_map(tmp_path: Path) -> None:
    """Other keys are named by the map, dots go into objects, and a key with dots of its own wins."""
    entry = {
        "log": {"chat": MESSAGES},
        "result": {"points": 3},
        "result.points": 1,
        "q": {"id": "t1", "group": 4, "suite": "my-bench"},
        "seed": 2,
        "score": 0,
    }
    names = "messages=log.chat, score=result.points,task_id=q.id,trial=seed,family=q.group,benchmark=q.suite"
    got = one(tmp_path, entry, map=names)
    assert (got.task.task_id, got.task.family, got.task.benchmark) == ("t1", "4", "my-bench")
    assert (got.outcome.score, got.source.run_id) == (1.0, "runs:t1:2")


def test_a_mapped_name_has_no_other_key(tmp_path: Path) -> None:
    """A score key that was named and is not there is unscored, whatever else looks like a score."""
    entries = ({"messages": MESSAGES, "id": 1, "score": 1.0}, {"messages": MESSAGES, "id": 2, "points": 1.0})
    unscored, scored = read(tmp_path, *entries, map="score=points")
    assert (unscored.outcome.success, scored.outcome.success) == (None, True)


@pytest.mark.parametrize("name", ["messages", "score", "task_id", "trial", "family", "benchmark", "tools"])
def test_a_mapped_key_that_no_run_has(tmp_path: Path, name: str) -> None:
    """A slip in a key would quietly leave all runs unscored, or each its own family: it is an error, with the keys."""
    with pytest.raises(ConfigError, match=rf"no run has the key of --map {name}=typo.*a run has: id, messages, score"):
        read(tmp_path, {"messages": MESSAGES, "id": 1, "score": 1.0}, map=f"{name}=typo")


@pytest.mark.parametrize("names", ["points=score", "score", "score=", "=x"])
def test_bad_map_is_a_usage_error(names: str) -> None:
    """A pair that names nothing is refused before anything is read."""
    with pytest.raises(ConfigError, match="write NAME=KEY, where NAME is one of messages, score"):
        reader_options(OpenAIChatReader(), {"map": names})


@pytest.mark.parametrize(
    ("score", "threshold", "success"),
    [(1.0, 1.0, True), (0.99, 1.0, False), (0.5, 0.5, True), (True, 1.0, True), (False, 1.0, False), (None, 0.0, None)],
)
def test_success_score(tmp_path: Path, score: object, threshold: float, success: bool | None) -> None:
    """A score counts from the threshold on; no score is unscored, even with a threshold of nothing."""
    got = one(tmp_path, {"messages": MESSAGES, "id": 1, "score": score}, success_score=threshold)
    assert got.outcome.success is success


def test_threshold_is_no_part_of_the_run(tmp_path: Path) -> None:
    """A run that succeeds with two thresholds has one hash."""
    entry = {"messages": MESSAGES, "id": 1, "score": 1.0}
    assert one(tmp_path, entry).sha256 == one(tmp_path, entry, success_score=0.5).sha256


@pytest.mark.parametrize(
    ("members", "options", "why"),
    [
        ({"id": None}, {}, "no task_id: nothing under 'task_id' or 'id'"),
        ({"id": ""}, {}, "no task_id"),
        ({"id": 1.5}, {}, "'id' is neither text nor a whole number but a float"),
        ({"id": True}, {}, "but a bool"),
        ({"trial": [1]}, {}, "'trial' is neither text nor a whole number but a list"),
        ({"score": "1.0"}, {}, "'score' is no number but a str"),
        ({"score": 10**400}, {}, "'score' is too large a number"),
        ({"messages": None}, {}, "the messages: a list is needed, not a NoneType"),
        ({"messages": []}, {}, "no user message has a text"),
        ({"messages": [{"role": "user", "content": None}]}, {}, "no user message has a text"),
        ({"tools": ["mv"]}, {}, "the tools: 1 of 1 entries are no objects"),
    ],
)
def test_what_is_missing_or_wrong(tmp_path: Path, members: dict[str, Any], options: dict[str, Any], why: str) -> None:
    """A run without what is needed is refused with its line and the reason."""
    assert why in refused(tmp_path, {"id": "t1", "messages": MESSAGES, "score": 1} | members, **options).detail


@pytest.mark.parametrize("name", ["family", "benchmark"])
def test_what_was_announced_is_never_made_up(tmp_path: Path, name: str) -> None:
    """A run that lacks the key which others have is refused, not given its own family."""
    entries = (
        {"id": "t1", "messages": MESSAGES, "score": 1},
        {"id": "t2", "messages": MESSAGES, "score": 1, "key": "x"},
    )
    missing, found = read(tmp_path, *entries, map=f"{name}=key")
    assert f"no {name}: nothing under 'key'" in missing.detail
    assert getattr(found.task, name) == "x"


def test_d22_bad_runs_cost_themselves(tmp_path: Path) -> None:
    """D22: arguments that are a list, and a torn line, are refused with file and line; the other runs are complete."""
    bad = json.loads(json.dumps(MESSAGES))
    bad[1]["tool_calls"][0]["function"]["arguments"] = '["a","b"]'
    lines = [json.dumps(openai_chat(run(0))), json.dumps({"id": "t9", "messages": bad, "score": 1})]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join([*lines, '{"id": "multi_tu']), encoding="utf-8")
    reader = load_reader("openai-chat")
    good, no_object, torn = reader.read([path], reader_options(reader, {}))
    assert isinstance(good, Trajectory)
    assert good.turns == run(0).turns
    assert isinstance(no_object, Refusal)
    assert (no_object.reason, no_object.where, no_object.task_id) == ("unreadable", f"{path}:2", "t9")
    assert "call 'mv'" in no_object.detail
    assert isinstance(torn, Refusal)
    assert (torn.reason, torn.where) == ("unreadable", f"{path}:3")


def test_d22d_null_content(tmp_path: Path) -> None:
    """D22d: a null user message does not stop the run; the instruction is what the user said first."""
    null = {"role": "user", "content": None}
    assert one(tmp_path, {"id": 1, "messages": [null, *MESSAGES], "score": 1}).task.instruction == "Move it."


def test_array(tmp_path: Path) -> None:
    """A file that is one JSON array is read the same way."""
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([openai_chat(run(0)), openai_chat(run(1))], indent=1), encoding="utf-8")
    reader = load_reader("openai-chat")
    got = [item for item in reader.read([path], reader_options(reader, {})) if isinstance(item, Trajectory)]
    assert [item.turns for item in got] == [run(0).turns, run(1).turns]
    assert got[0].source.run_id == "runs:2"


def test_notes_come_through(tmp_path: Path) -> None:
    """What is worth a count is a note beside the run."""
    parts = [{"type": "text", "text": "Move it."}, {"type": "image_url", "image_url": {}}]
    note, got = read(tmp_path, {"id": 1, "messages": [{"role": "user", "content": parts}, *MESSAGES], "score": 1})
    assert note == Note("parts_without_text", 1)
    assert isinstance(got, Trajectory)


@pytest.mark.parametrize(
    ("kind", "record", "assisted"),
    [
        ("teacher", None, False),
        ("oracle", None, False),
        ("student", None, None),
        ("student", {"memory_assisted": False}, False),
        ("student", {"memory_assisted": True}, True),
        ("teacher", {"memory_assisted": True}, True),
        ("student", {"memory_assisted": "no"}, None),
    ],
)
def test_whose_run_had_memory(tmp_path: Path, kind: str, record: object, assisted: bool | None) -> None:
    """Our own agents' record says it; a student's run without one is unknown."""
    entry = {"id": 1, "messages": MESSAGES, "score": 1} | ({"amd": record} if record else {})
    source = one(tmp_path, entry, kind=kind).source
    assert (source.kind, source.memory_assisted) == (kind, assisted)


def test_injected_memory_overrules_the_record(tmp_path: Path) -> None:
    """A block in the prompt is proof, and it is gone from the run."""
    system: JSON = {"role": "system", "content": f"{OPEN_TAG}\nCANARY\n{CLOSE_TAG}"}
    user: JSON = {"role": "user", "content": f"{OPEN_TAG}\nCANARY\n{CLOSE_TAG}\n\nGo."}
    entry = {"id": 1, "messages": [system, user], "score": 1, "amd": {"memory_assisted": False}}
    got = one(tmp_path, entry)
    assert got.source.memory_assisted is True
    assert got.task.instruction == "Go."
    assert "CANARY" not in repr(got)


def test_think_tools(tmp_path: Path) -> None:
    """The names of thinking tools are an option."""
    entry = {"id": 1, "messages": MESSAGES, "score": 1}
    assert len(one(tmp_path, entry).calls) == 1
    assert one(tmp_path, entry, think_tools="think, mv").calls == ()


def test_the_judge_of_errors_can_be_replaced(tmp_path: Path) -> None:
    """An overlay's reader brings the harness's own signal."""
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({"id": 1, "messages": MESSAGES}), encoding="utf-8")
    reader = OpenAIChatReader(failed=lambda text: text == "moved")
    [got] = reader.read([path], reader_options(reader, {}))
    assert isinstance(got, Trajectory)
    assert not got.calls[0].ok


CANARY = "XANSWERX"


def _poisoned(value: Any) -> Any:
    """The same run with a canary in an unmapped member of every object, at every depth."""
    if isinstance(value, list):
        return [_poisoned(item) for item in value]
    if isinstance(value, dict):
        return {key: _poisoned(item) for key, item in value.items()} | {f"info_{CANARY}": {"answer": CANARY}}
    return value


def test_the_answer_key_goes_no_further(tmp_path: Path) -> None:
    """Not a word of ``info`` or any other member that is not read is in a run, a refusal, a note or a written file."""
    good = {"id": "t1", "messages": MESSAGES, "score": 1.0}
    bad = {"id": "t2", "messages": [*MESSAGES, {"role": "tool", "content": "late"}], "score": 1.0}
    items = read(tmp_path, *(_poisoned(entry) | {"info": CANARY, "system": CANARY} for entry in (good, bad)))
    run_, refusal = items
    assert isinstance(run_, Trajectory)
    assert isinstance(refusal, Refusal)
    assert run_.turns == one(tmp_path, good).turns
    write(tmp_path / "out.jsonl", [run_])
    assert CANARY not in repr(items)
    assert CANARY not in (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    seen = one(tmp_path, good | {"messages": [MESSAGES[0], {"role": "user", "content": CANARY}]})
    assert CANARY in repr(seen), "control: what is read does show"
