from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.errors import ConfigError
from amd.session.budget import Limits, fit
from amd.session.tokens import estimated_tokens
from amd.tier import Part


def test_limits_by_tier():
    """Each tier has its own limit; one that nobody named has what ours may show together at that moment."""
    limits = Limits(subtask=7, others={"memp": 9})
    named = [limits.of(tier, "task") for tier in ("workflow", "subtask", "function", "memp")]
    assert named == [400, 7, 400, 9]
    assert [limits.of("sasm", moment) for moment in ("task", "turn", "error")] == [407, 7, 400]
    with pytest.raises(ConfigError, match="'memp' is -1"):
        Limits(others={"memp": -1})


def test_d24_a_part_that_does_not_fit_is_passed_over_whole():
    """D24: a long part in front does not evict a short one behind it, and nothing is cut."""
    parts = [Part("x" * 300, "long"), Part("y" * 30, "short")]
    kept, dropped, tokens = fit(parts, "H:", 20, estimated_tokens)
    assert ([part.record_id for part in kept], dropped) == (["short"], 1)
    assert tokens == estimated_tokens("H:\n" + "y" * 30)
    assert fit(parts, "H:", 0, estimated_tokens) == ((), 2, 0)


def test_examples_are_counted_without_the_heading():
    """An example is read as two messages: the heading does not stand before it."""
    kept, _, tokens = fit([Part("", "r", ("ab", "cd"))], "A long heading:", 2, estimated_tokens)
    assert len(kept) == 1
    assert tokens == estimated_tokens("ab\ncd") == 2


@given(st.lists(st.text(max_size=40), max_size=6), st.text(max_size=10), st.integers(0, 60))
def test_what_is_kept_is_within_the_limit_and_in_order(texts: list[str], heading: str, limit: int):
    """Kept parts are a subsequence within the limit, and none that was dropped would still have fitted."""
    parts = [Part(text, str(at)) for at, text in enumerate(texts)]
    kept, dropped, tokens = fit(parts, heading, limit, estimated_tokens)
    assert tokens <= limit
    assert len(kept) + dropped == len(parts)
    assert [part.record_id for part in kept] == sorted(part.record_id for part in kept)
    for at, part in enumerate(parts):
        if part not in kept:
            before = [each.text for each in kept if int(each.record_id) < at]
            assert estimated_tokens("\n".join([heading, *before, part.text])) > limit


def test_a_result_is_not_kept_without_its_call():
    """What follows a part of the same record falls with it; other records and parts of none go on."""
    call, result, other, free = Part("x" * 90, "a"), Part("y", "a"), Part("z", "b"), Part("s")
    kept, lost, _ = fit([call, result, other, free], "", 20, len)
    assert kept == (other, free)
    assert lost == 2
    assert fit([call, result, other, free], "", 200, len)[0] == (call, result, other, free)
