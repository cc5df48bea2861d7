"""How families are found: by name, first message and brief, whatever the order."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd_toolsandbox.family_table import FAMILIES
from amd_toolsandbox.grouping import ScenarioTexts, families_of_bases, name_family, render

LETTERS = st.sampled_from("abcdefgh")
SCENARIOS = st.dictionaries(LETTERS, st.builds(ScenarioTexts, st.sampled_from("123456"), st.sampled_from("uvwxyz")))


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("find_days_till_holiday_low_battery_mode_insufficient_information_alt", "find_days_till_holiday"),
        (
            "update_contact_relationship_with_relationship_twice_multiple_user_turn",
            "update_contact_relationship_with_relationship",
        ),
        ("wifi_off", "wifi_off"),
        ("turn_on_wifi", "turn_on_wifi"),
        ("alternative_alt_route", "alternative_alt_route"),
    ],
)
def test_circumstances_end_a_name(base, expected):
    """Any number of them, at the end alone."""
    assert name_family(base) == expected


@given(scenarios=SCENARIOS)
def test_families_are_the_finest_partition_that_shares_nothing(scenarios):
    """Two bases of one family are linked by texts that they share; two of different ones share none."""
    found = families_of_bases(scenarios)
    for one, texts in scenarios.items():
        for other, others in scenarios.items():
            if texts.message == others.message or texts.brief == others.brief:
                assert found[one] == found[other]
    for family in set(found.values()):
        members = {base for base in found if found[base] == family}
        reached = {min(members)}
        while more := {
            base
            for base in members - reached
            for other in reached
            if set(zip("mb", scenarios[base], strict=True)) & set(zip("mb", scenarios[other], strict=True))
        }:
            reached |= more
        assert reached == members
        assert family == min(members)


@given(scenarios=SCENARIOS, chosen=st.data())
def test_the_order_of_the_scenarios_changes_nothing(scenarios, chosen):
    """Neither the table nor its bytes."""
    shuffled = dict(chosen.draw(st.permutations(list(scenarios.items()))))
    assert render(families_of_bases(shuffled)) == render(families_of_bases(scenarios))


def test_a_message_is_not_a_brief():
    """What is a message of one base and a brief of another links nothing; variants are their base."""
    texts = {"a": ScenarioTexts("x", "y"), "b_all_tools": ScenarioTexts("y", "x")}
    assert families_of_bases(texts) == {"a": "a", "b": "b"}


def test_the_table_is_what_render_writes():
    """Its source is that of its own content, so that nobody edited it by hand."""
    from amd_toolsandbox.commands.families import TABLE

    source = TABLE.read_text(encoding="utf-8")
    assert render(dict(reversed(FAMILIES.items()))) == source
    assert ast.parse(source)
