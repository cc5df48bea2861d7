"""What a person may make of a record's body: its tier says what is wrong, or it can be shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.build.distill import distill
from amd.methods import fault_in, method_named
from amd.testing import run
from amd.tier import RULES, FailedCall, Hit, Question, Style
from amd.trajectory import ToolCall

TIERS = {tier.name: tier for tier in method_named("amd").tiers}
FAILED = replace(run(1, turns=1).turns[0].steps[0], calls=(ToolCall("mv", {"folder": "x9"}, "Error: no", ok=False),))
TURN = replace(run(1, turns=1).turns[0], steps=(FAILED, *run(1, turns=1).turns[0].steps))
RECORDS = [
    record
    for records in distill(
        [replace(run(1), turns=(TURN,))], tuple(TIERS.values()), RULES, created_at=""
    ).records.values()
    for record in records.values()
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def test_what_the_rules_write_is_good():
    """Every record of every tier, calls and pitfalls."""
    assert {(record.tier, record.body.get("kind")) for record in RECORDS} >= {
        ("workflow", None), ("subtask", None), ("function", "call"), ("function", "pitfall"),
    }  # fmt: skip
    assert [fault_in(record.tier, record.body) for record in RECORDS] == [None] * len(RECORDS)


@given(st.sampled_from(RECORDS), st.data())
def test_a_body_is_faulty_or_can_be_shown(record, data):
    """Any member replaced or removed: either the tier names a fault, or it renders and compares without an error."""
    body = dict(record.body)
    member = data.draw(st.sampled_from(sorted(body)))
    if data.draw(st.booleans()):
        body[member] = data.draw(JSON)
    else:
        del body[member]
    if fault_in(record.tier, body) is None:
        edited = replace(record, body=body)
        question = Question("error", "x", failed=FailedCall(record.tool or "", {}, "Error: no", place=1))
        for style in (Style("json"), Style("python")):
            TIERS[record.tier].render([Hit(edited, 1.0)], question, style)
        TIERS[record.tier].gist(edited)


@pytest.mark.parametrize("tier", ["workflow", "subtask", "function"])
def test_an_empty_body_is_faulty(tier):
    """The control; the body of somebody's own tier is theirs to judge."""
    assert fault_in(tier, {})
    assert fault_in(f"my_{tier}", {}) is None
