from __future__ import annotations

from collections.abc import Callable

import pytest

from amd.errors import ConfigError
from amd.records import Record
from amd.session.offer import offered
from amd.trajectory import ToolSpec

PARAMETERS = {"type": "object", "properties": {"folder": {"type": "string"}}}
INNER = {"name": "cd", "description": "Change folder.", "parameters": PARAMETERS}
SPEC = ToolSpec("cd", "Change folder.", PARAMETERS)


@pytest.mark.parametrize("tool", [SPEC, INNER, {"type": "function", "function": INNER}])
def test_three_shapes_of_a_tool(tool: object):
    """A spec, a function, and a function in its wrapper are the same tool with the same schema hash."""
    offer = offered([tool])
    assert offer.specs == {"cd": SPEC}
    assert offer.hashes == {"cd": SPEC.schema_sha256}


def test_unknown_tools_judge_nothing(record: Callable[..., Record]):
    """``None`` is unknown: every record fits. No tool at all is known: none fits that uses one."""
    used = record(1, "key", tool="cd", schemas={"cd": "0" * 64})
    assert offered(None).why_unfit(used) is None
    assert offered([]).why_unfit(used) == "tool_not_offered"
    assert offered([]).why_unfit(record(1, "key")) is None


def test_each_way_to_be_unfit(record: Callable[..., Record]):
    """A foreign tool in the body or as the record's own, and a schema that has changed, of whichever tool."""
    offer = offered([SPEC, ToolSpec("ls")])
    verdicts = [
        offer.why_unfit(record(1, "key", tools=["cd", "ls"])),
        offer.why_unfit(record(1, "key", tools=["cd", "mv"])),
        offer.why_unfit(record(1, "key", tool="mv")),
        offer.why_unfit(record(1, "key", tool="cd", schemas={"cd": "0" * 64})),
        offer.why_unfit(record(1, "key", tool="cd", schemas={"cd": SPEC.schema_sha256})),
        offer.why_unfit(record(1, "key", tool="cd")),
        offer.why_unfit(record(1, "key", tools=["cd", "ls"], schemas={"cd": SPEC.schema_sha256, "ls": "0" * 64})),
        offer.why_unfit(record(1, "key", tools=["cd", "ls"], schemas={"cd": SPEC.schema_sha256})),
        offer.why_unfit(record(1, "key", tools=["mv"], schemas={"mv": "0" * 64})),
    ]
    foreign, stale = "tool_not_offered", "stale_schema"
    assert verdicts == [None, foreign, foreign, stale, None, None, stale, None, foreign]


@pytest.mark.parametrize(
    "tool", [{}, {"name": 3}, {"name": "cd", "parameters": []}, {"type": "function", "function": 1}]
)
def test_what_is_no_tool_is_refused(tool: object):
    """The error says which entry it is."""
    with pytest.raises(ConfigError, match=r"tools\[1\]"):
        offered([SPEC, tool])


def test_two_tools_with_one_name():
    """The same tool twice is one tool; two different tools with one name are refused."""
    assert offered([SPEC, INNER]).names == ("cd",)
    with pytest.raises(ConfigError, match="'cd'"):
        offered([SPEC, ToolSpec("cd")])
