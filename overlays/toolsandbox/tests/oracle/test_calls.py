"""From goals to calls: which are known, and with which arguments."""

from __future__ import annotations

import pytest
from sheets import BLOOM, DUE, NOW, ROSE, WAIT

from amd_toolsandbox.oracle.calls import calls_of, given, is_playable
from amd_toolsandbox.oracle.goals import Changed, Said, Traced


@pytest.mark.parametrize(
    ("goal", "playable"),
    [
        (Said("Done."), True),
        (BLOOM, True),
        (NOW, True),
        (Traced("get_wifi_status", {}), True),
        (Traced("search_messages", {}), True),
        (WAIT, True),
        (Traced("prune_hedge", {}), False),
        (Traced("prune_hedge", {"hedge": "rose"}), True),
        (Changed("SETTING", "set", ({"wifi": True, "low_battery_mode": False},)), True),
        (Changed("SETTING", "set", ({"wifi": True}, {"sprinkler": True})), False),
        (Changed("CONTACT", "removed", ({"person_id": "p"},)), True),
        (Changed("MESSAGING", "added", ({"content": "x"},)), True),
        (Changed("MESSAGING", "removed", ({"content": "x"},)), False),
        (Changed("CONTACT", "set", ({"name": "x"},)), False),
    ],
)
def test_what_is_known_to_be_reached(goal, playable):
    """A call without arguments only where the tool needs none, or what it needs can be found out."""
    assert is_playable(goal) is playable


@pytest.mark.parametrize(
    ("goal", "calls"),
    [
        (Said("Done."), []),
        (Traced("search_contacts", {"name": "Rose", "is_self": None}), [("search_contacts", {"name": "Rose"})]),
        (
            Changed("SETTING", "set", ({"wifi": True}, {"cellular": False, "location_service": True})),
            [
                ("set_wifi_status", {"on": True}),
                ("set_cellular_service_status", {"on": False}),
                ("set_location_service_status", {"on": True}),
            ],
        ),
        (
            Changed("MESSAGING", "added", ({"recipient_phone_number": "garden-7", "content": "Hi", "sender": None},)),
            [("send_message_with_phone_number", {"phone_number": "garden-7", "content": "Hi"})],
        ),
        (Changed("CONTACT", "added", (ROSE,)), [("add_contact", ROSE)]),
        (Changed("CONTACT", "updated", (ROSE, ROSE)), [("modify_contact", ROSE)] * 2),
        (Changed("CONTACT", "removed", ({"person_id": "p"},)), [("remove_contact", {"person_id": "p"})]),
        (Changed("REMINDER", "added", ({"reminder_timestamp": DUE},)), [("add_reminder", {"reminder_timestamp": DUE})]),
        (Changed("REMINDER", "updated", ({"content": "x"},)), [("modify_reminder", {"content": "x"})]),
        (Changed("REMINDER", "removed", ({"reminder_id": "r"},)), [("remove_reminder", {"reminder_id": "r"})]),
    ],
)
def test_the_calls_of_a_goal(goal, calls):
    """One for each row or setting, by the tool's own argument names; nulls say nothing."""
    assert calls_of(goal) == calls


def test_false_and_empty_values_are_given():
    """Only a null says nothing."""
    assert given({"on": False, "text": "", "count": 0, "more": None}) == {"on": False, "text": "", "count": 0}
