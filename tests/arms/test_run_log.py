"""What a run writes down: nothing is lost on the way to a file and back, and nothing else is taken for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.arms import Arm, RunLog
from amd.arms.words import MOST
from amd.errors import ConfigError, TrajectoryError
from amd.records import Exposure
from amd.testing import run
from amd.tier import FailedCall

Make = Callable[..., Arm]
COUNTS = {"calls": 0, "failed_calls": 0, "hints": 0, "placeholders": 0, "system_changes": 0}
FINITE = st.floats(allow_nan=False, allow_infinity=False)
COUNT = st.integers(0, MOST)


def log(*exposures: Exposure, **values: Any) -> RunLog:
    """The log of task t1 of family f1 in the default arm."""
    members: dict[str, Any] = {
        "method": "amd",
        "protocol": "self-excluded",
        "mode": "static",
        "layout": "block",
        "memory": "0" * 64,
        "task_id": "t1",
        "family": "f1",
        **COUNTS,
        **values,
    }
    return RunLog(exposures=exposures, **members)


def exposure(**members: Any) -> Exposure:
    """An exposure of task t1 in the default arm."""
    return Exposure(
        **{
            "tier": "workflow",
            "place": "task",
            "viewer": "self-excluded",
            "task_id": "t1",
            "query_sha256": "q",
            **members,
        }
    )


@st.composite
def exposures(draw: st.DrawFn) -> Exposure:
    """Any exposure of task t1."""
    records = draw(st.integers(0, 3))
    of = {
        name: st.lists(kind, min_size=records, max_size=records).map(tuple)
        for name, kind in (("record_ids", st.text()), ("families", st.text()), ("scores", FINITE), ("supports", COUNT))
    }
    return exposure(
        tier=draw(st.text()),
        place=draw(st.text() | st.integers()),
        query_sha256=draw(st.text()),
        **{name: draw(kind) for name, kind in of.items()},
        considered=draw(COUNT),
        below_floor=draw(COUNT),
        best=draw(st.none() | FINITE),
        excluded=draw(st.dictionaries(st.text(), COUNT)),
        dropped=draw(st.dictionaries(st.text(), COUNT)),
        own_family=draw(COUNT),
        tokens=draw(COUNT),
        **{name: draw(st.booleans()) for name in ("tokens_estimated", "tools_known", "widened")},
    )


@given(st.lists(exposures(), max_size=3), st.fixed_dictionaries(dict.fromkeys(COUNTS, COUNT)), st.booleans())
def test_nothing_is_lost(shown: list[Exposure], counts: dict[str, int], ascii_only: bool) -> None:
    """Any log comes back equal from JSON text, the types of its members included."""
    before = log(*shown, **counts)
    after = RunLog.read(json.loads(json.dumps(before.as_json(), ensure_ascii=ascii_only)))
    assert after == before
    assert repr(after) == repr(before), "1 is not 1.0, and 1 is not True"


def test_a_line_says_no_more_than_it_must() -> None:
    """Members of an exposure that have their default are left out; counts of the run are not."""
    assert log(exposure()).as_json() == {
        "format": "amd-run/1",
        "method": "amd",
        "protocol": "self-excluded",
        "mode": "static",
        "layout": "block",
        "memory": "0" * 64,
        "task_id": "t1",
        "family": "f1",
        "exposures": [
            {"tier": "workflow", "place": "task", "viewer": "self-excluded", "task_id": "t1", "query_sha256": "q"}
        ],
        **COUNTS,
    }


def test_the_log_of_a_real_run(arm: Make) -> None:
    """What a session showed is in the log as it was, with the arm and the memory that it was shown in."""
    task = run(0).task
    with arm(mode="dynamic", layout="turns").open() as opened:
        session = opened.session(task, tools=run(0).tools, call_format="python")
        assert session is not None
        session.before_task(task.instruction)
        session.before_turn(task.instruction, 1)
        session.after_error(FailedCall("cd", {}, "Error: no such folder", place="c1"))
        written = RunLog.of(opened, task, session, calls=9, failed_calls=4, hints=3, placeholders=2, system_changes=1)
        assert written.exposures == session.exposures
        assert written.memory == opened.content
    assert (written.method, written.protocol, written.mode, written.layout) == (
        "amd",
        "self-excluded",
        "dynamic",
        "turns",
    )
    assert (written.task_id, written.family) == ("multi_turn_base_0", "multi_turn_0")
    assert written.calls == 9
    assert (written.failed_calls, written.hints, written.placeholders, written.system_changes) == (4, 3, 2, 1)
    assert written.memory_assisted
    assert RunLog.read(json.loads(json.dumps(written.as_json()))) == written


def test_the_session_must_be_the_tasks_own(arm: Make) -> None:
    """A log with another session's exposures, or with none where there is a memory, would hide what was shown."""
    with arm().open() as opened, arm(protocol="in-sample").open() as other, Arm(method="none").open() as without:
        own = opened.session(run(0).task, tools=None, call_format="json")
        leaky = other.session(run(0).task, tools=None, call_format="json")
        RunLog.of(opened, run(0).task, own, **COUNTS)
        for where, i, session in [(opened, 1, own), (opened, 0, None), (opened, 0, leaky), (without, 0, own)]:
            with pytest.raises(ConfigError, match="the session is not the one of task"):
                RunLog.of(where, run(i).task, session, **COUNTS)


@pytest.mark.parametrize(
    ("written", "assisted"),
    [
        (log(method="none", memory=None), False),
        (log(), False),
        (log(exposure(considered=3, below_floor=3, best=0.1)), False),
        (log(exposure(record_ids=("r",), families=("f2",), scores=(0.5,), supports=(1,), tokens=9)), True),
        (log(exposure(tier="function", dropped={"unknown_tool": 1}, tokens=12)), True),
        (log(hints=1), True),
    ],
)
def test_whether_memory_had_a_part(written: RunLog, assisted: bool) -> None:
    """A run that was shown nothing is not assisted, with a memory or without; a note about a tool is a hint."""
    assert written.memory_assisted is assisted


def test_half_a_character_in_a_place() -> None:
    """A server's call id may be anything; a file cannot hold half a character."""
    written = log(exposure(place="call \ud83d"))
    [told] = written.as_json()["exposures"]  # type: ignore[misc]
    assert told["place"] == "call \N{REPLACEMENT CHARACTER}"
    assert RunLog.read(written.as_json()).exposures[0].place == told["place"]


def _without(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda value: {key: member for key, member in value.items() if key != name}


def _with(**members: object) -> Callable[[dict[str, Any]], object]:
    return lambda value: {**value, **members}


def _exposed(**members: object) -> Callable[[dict[str, Any]], object]:
    return lambda value: {**value, "exposures": [{**value["exposures"][0], **members}]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda _: None, "its format is None, known is 'amd-run/1'"),
        (lambda value: [value], "its format is None"),
        (_without("format"), "its format is None"),
        (_with(format="amd-run/2"), "'amd-run/2', known is 'amd-run/1'; .* newer"),
        (_without("family"), "family Field required"),
        (_without("exposures"), "exposures Field required"),
        (_without("hints"), "hints Field required"),
        (_with(hint=1), "hint Extra"),
        (_with(hints="1"), "hints "),
        (_with(hints=True), "hints "),
        (_with(hints=-1), "hints "),
        (_with(protocol="deployed"), "protocol "),
        (_with(memory=None), "method 'amd' with the memory None"),
        (_with(method="none"), "method 'none' with the memory"),
        (_with(method="none", memory=None), "method 'none' with 1 exposures"),
        (_with(method="none", memory=None, exposures=[], hints=1), "method 'none' with 0 exposures and 1 hints"),
        (_with(placeholders=float("nan")), "not JSON|Out of range"),
        (_with(task_id="\ud83d"), "surrogate"),
        (_with(task_id={1, 2}), "not JSON"),
        (_exposed(tokens="9"), "exposures.0.tokens"),
        (_exposed(shown=1), "exposures.0.shown"),
        (_exposed(record_ids=["r", "s"]), "exposure 0 tells of 2 records, and of 1"),
        (_exposed(families=[]), "exposure 0 tells of 1 records, and of 0"),
        (_exposed(viewer="in-sample"), "exposure 0 is of task 't1' under 'in-sample'"),
        (_exposed(task_id="t2"), "exposure 0 is of task 't2'"),
    ],
)
def test_what_is_no_log(change: Callable[[dict[str, Any]], object], words: str) -> None:
    """Refused with its reason: a log that was edited, cut or written by something else. Unchanged it is taken."""
    whole = log(exposure(record_ids=("r",), families=("f2",), scores=(0.5,), supports=(1,))).as_json()
    assert RunLog.read(whole).as_json() == whole
    with pytest.raises(TrajectoryError, match=words):
        RunLog.read(change(whole))


def test_an_order_of_members_means_nothing() -> None:
    """JSON objects have none."""
    one = log(exposure(excluded={"own_family": 1, "same_text": 2}))
    value = json.loads(json.dumps(one.as_json(), sort_keys=True))
    assert RunLog.read(value) == one
    assert RunLog.read(value) != replace_exposure(one)


def replace_exposure(one: RunLog) -> RunLog:
    """The same log with one count changed."""
    changed = replace(one.exposures[0], excluded={"own_family": 2, "same_text": 2})
    return one.model_copy(update={"exposures": (changed,)})
