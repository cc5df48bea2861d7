"""What the rules write of all 200 base tasks: texts that tell tasks apart and give no value away."""

from __future__ import annotations

import re

import pytest

import amd
from amd.build.distill import distill
from amd.json_text import dumps
from amd.methods import method_named
from amd.tier import RULES
from amd_bfcl.families import Category
from amd_bfcl.record import record


@pytest.fixture(scope="module")
def written(package):
    """Each recorded run with the text that its workflow record has, masked as it is stored."""
    runs = [item for item in record(Category.BASE, package) if isinstance(item, amd.Trajectory)]
    found = distill(runs, method_named("workflow").tiers, RULES, created_at="").records["workflow"]
    texts = {each.task.task_id: str(each.body["text"]) for each in found.values()}
    return [(run, texts[run.task.task_id]) for run in runs]


def test_texts_are_distinct(written):
    """At least 95 % of the 200 texts occur once."""
    texts = [text for _, text in written]
    assert len(texts) == 200
    assert sum(texts.count(text) == 1 for text in texts) >= 190


def test_tools_stand_in_the_order_of_first_use(written):
    """Each tool that worked is named, the first use decides."""
    for run, text in written:
        order = re.split(r"\. (?:Take|At the end|Avoid)", text)[0]
        used = list(dict.fromkeys(call.name for call in run.calls))
        assert list(dict.fromkeys(re.findall(r"`(\w+)", order))) == used


def test_no_argument_value_is_given_away(written):
    """No text argument of a run stands in its text, unless it is a word of the tools themselves."""
    for run, text in written:
        own = dumps([[tool.name, tool.description, tool.parameters] for tool in run.tools]).decode()
        values = {str(value) for call in run.calls for value in call.arguments.values() if isinstance(value, str)}
        given_away = [
            value
            for value in values
            if len(value) > 2 and value not in own and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)
        ]
        assert given_away == []
