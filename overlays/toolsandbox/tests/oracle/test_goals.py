"""What a scenario is scored by: what the user tells when asked, and which goals are gone for."""

from __future__ import annotations

import dataclasses

import pytest
from sheets import BLOOM, CELLULAR, HEDGES, LOW_BATTERY, NOTHING, NOW, ROSE, SEND, SEND_ASKED, SWITCH, WIFI, sheet

from amd_toolsandbox.oracle.goals import Changed, Said, Traced


def test_what_the_user_tells_is_the_wish_and_the_values_that_the_goals_name():
    """Each once and in order; ids, figures, nulls and what is to be said are no user's words."""
    assert SEND_ASKED.answer == (
        "Please send message with contact content: name is Rose, recipient phone number is garden-7, "
        "content is The tulips are up."
    )
    row = {**ROSE, "reminder_timestamp": 12.5, "name": None}
    twice = sheet("add_contact", "", (), Changed("CONTACT", "added", (row, row)), Said("name is Fern"))
    assert twice.answer == "Please add contact: phone number is garden-7, relationship is hedge."


def test_a_wish_without_a_value():
    """A setting is no text, and a scenario may have no goals."""
    assert SWITCH.answer == "Please turn on wifi."
    assert NOTHING.answer == "Please find current location."


@pytest.mark.parametrize(
    ("base", "asks"),
    [
        ("wifi_off", False),
        ("find_days_till_holiday_multiple_user_turn", True),
        ("update_contact_relationship_with_relationship_twice_multiple_user_turn_alt", True),
        ("send_message_with_contact_content_cellular_off", False),
    ],
)
def test_the_agent_asks_where_the_first_words_do_not_say_everything(base, asks):
    """The base's name tells."""
    assert sheet(base, "", ()).asks is asks


def test_a_setting_before_another_goal_is_a_precondition():
    """An error will tell of it; the others are gone for, in their order."""
    assert SWITCH.preconditions == (LOW_BATTERY,)
    assert SWITCH.wanted == (WIFI, Said("The shed is online."))
    assert SEND.preconditions == (CELLULAR,)
    assert CELLULAR not in SEND.wanted
    both = sheet("x", "", (), LOW_BATTERY, WIFI, BLOOM)
    assert both.preconditions == (LOW_BATTERY, WIFI)


def test_a_setting_before_nothing_but_words_is_what_was_asked_for():
    """So is one at the end; a change of another table is never a precondition."""
    assert sheet("x", "", (), WIFI, Said("On."), Said("Bye.")).preconditions == ()
    assert sheet("x", "", (), NOW, WIFI).wanted == (NOW, WIFI)
    assert HEDGES.preconditions == ()
    assert HEDGES.wanted == HEDGES.goals


def test_shapes_are_frozen():
    """A sheet is shared by all threads of a server."""
    for each in (Said("x"), Traced("x", {}), WIFI, SWITCH):
        with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
            each.text = "other"
