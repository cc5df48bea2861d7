"""Anything may stand in somebody else's file: any change of it gives one run or one refusal, never an exception."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_folders import DRY, asks, call, context, items, result, says, score, write

from amd.build import admit
from amd.build.gate import REASONS

GOOD = context(
    call("water", {"bed": 4}, "a"),
    call("lock", {"key": "red"}, "b"),
    result("lock", call_id="b", error=DRY),
    result(call_id="a"),
    says(),
    asks(),
    call(call_id="a"),
    result(call_id="a"),
    says(),
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["USER", "AGENT", "EXECUTION_ENVIRONMENT", "a", "b", "water", "a_parameters = {}", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["sender", "content", "x"]), inner),
    max_leaves=6,
)
FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)


def places(value, at=()):
    """Every place inside a value."""
    yield at
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*at, key))


def changed(value, at, new):
    """The value with another one at a place."""
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = changed(value[at[0]], at[1:], new)
    return copy


def read(tmp_path, content, scores="all"):
    """The gate over two scenarios, of which the other one is always good."""
    write(tmp_path, {"wifi_off": content, "cellular_off": GOOD}, scores)
    gate = admit(items(tmp_path))
    assert gate.read == 2
    assert set(gate.refused) <= set(REASONS)
    return gate


def test_the_unchanged_context_is_admitted(tmp_path):
    """Positive control."""
    assert len(read(tmp_path, GOOD).admitted) == 2


@FUZZ
@given(chosen=st.data())
def test_any_change_of_a_context(tmp_path, chosen):
    """One, two or three other values anywhere in it."""
    value = GOOD
    for _ in range(chosen.draw(st.integers(1, 3))):
        value = changed(value, chosen.draw(st.sampled_from(list(places(value))[1:] or [()])), chosen.draw(VALUES))
    gate = read(tmp_path, value)
    assert "cellular_off" in [run.task.task_id for run in gate.admitted]


@FUZZ
@given(chosen=st.data())
def test_rows_left_out_doubled_and_swapped(tmp_path, chosen):
    """The conversation in any other order: never a call with another call's result."""
    rows = [row for row in GOOD["_dbs"]["SANDBOX"] if row["sender"]]
    rows = chosen.draw(st.lists(st.sampled_from(rows), max_size=12) | st.permutations(rows))
    for run in read(tmp_path, changed(GOOD, ("_dbs", "SANDBOX"), rows)).admitted:
        for step in (step for turn in run.turns for step in turn.steps):
            assert all((c.observation == DRY) == (not c.ok) == (c.name == "lock") for c in step.calls)


@FUZZ
@given(at=st.integers(0, len(json.dumps(GOOD, indent=4))), byte=st.binary(max_size=3))
def test_any_cut_and_any_flip_of_the_file(tmp_path, at, byte):
    """Bytes that were lost or changed."""
    whole = json.dumps(GOOD, indent=4).encode()
    read(tmp_path, whole[:at])
    read(tmp_path, whole[:at] + byte + whole[at + len(byte) :])


@FUZZ
@given(chosen=st.data())
def test_any_change_of_a_summary(tmp_path, chosen):
    """Rows of any shape: scored, or not."""
    value = [score("wifi_off"), score("cellular_off")]
    value = changed(value, chosen.draw(st.sampled_from(list(places(value)))), chosen.draw(VALUES))
    read(tmp_path, GOOD, value)
