"""The script: what the agent does, one move after the other, given what came of them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from sheets import (
    BLOOM,
    CELLULAR,
    DUE,
    FERN,
    GARDENER,
    HEDGES,
    HOLIDAY,
    LOW_BATTERY,
    NOTHING,
    NOW,
    PLACE,
    ROSE,
    SEND,
    SEND_ASKED,
    SWITCH,
    hedges,
    sheet,
)

from amd_toolsandbox.oracle.goals import Changed, Said, Traced
from amd_toolsandbox.oracle.script import CLOSING, QUESTION, SORRY, Answer, play

DENIED = "PermissionError: not now"
DONE = "None"
ROSE_A_FRIEND = sheet("x", "", (), hedges("friend", ROSE))
PARTS = ("year", "month", "day", "hour", "minute", "second")


def driven(sheet, *answers):
    """The moves of a script that is sent these answers, each a text, or several for parallel calls."""
    script = play(sheet)
    moves = [next(script)]
    for answer in answers:
        texts = [answer] if isinstance(answer, str) else answer
        moves.append(script.send([Answer(text) for text in texts]))
    return moves


def switch(name, on=True):
    """The move that changes a setting."""
    tool = {"cellular": "set_cellular_service_status", "location": "set_location_service_status"}.get(
        name, f"set_{name}_status"
    )
    return [(tool, {"on": on})]


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("None", False),
        ("[{'name': 'Rose'}]", False),
        ("'m-1'", False),
        ("-3.5", False),
        ("True", False),
        ("PermissionError: not now", True),
        ("polars.exceptions.NoDataError: no bed at <Expr at 0x7F00>", True),
        ("Error", True),
        ("", True),
        ("{'open': ", True),
    ],
)
def test_an_error_is_the_only_answer_that_is_no_literal(text, failed):
    """A result is what the harness prints of a value."""
    assert Answer(text).failed is failed


def test_goals_in_their_order_and_then_nothing_for_ever():
    """Straight to what is wanted; whatever is answered at the end, there is nothing left."""
    found = driven(SEND, repr([ROSE]), "'m-1'", "Thanks", "Really?", "!")
    assert found == [
        [("search_contacts", {"name": "Rose"})],
        [("send_message_with_phone_number", {"phone_number": "garden-7", "content": "The tulips are up"})],
        "Rose knows it.",
        CLOSING,
        CLOSING,
        CLOSING,
    ]


def test_no_goals_are_told_at_once():
    """Where the information is missing, nothing is called."""
    assert driven(NOTHING, "Oh", "Well") == [SORRY, CLOSING, CLOSING]


def test_the_agent_asks_first_where_it_must():
    """What it is told does not change what it does."""
    assert driven(SEND_ASKED, "whatever")[:2] == [QUESTION, driven(SEND)[0]]


def test_a_precondition_is_not_touched_before_something_fails():
    """The setting may be right already."""
    assert driven(SWITCH, DONE) == [switch("wifi"), "The shed is online."]


def test_a_failure_mends_the_last_precondition_first():
    """Then calls again; each further failure mends the one before it."""
    three = sheet("x", "", (), LOW_BATTERY, CELLULAR, PLACE, BLOOM, Said("Here."))
    call = [("search_holiday", {"holiday_name": "Bloom Day"})]
    assert driven(three, DENIED, DONE, DENIED, DONE, DENIED, DONE, "12.5") == [
        *(call, switch("location"), call, switch("cellular"), call, switch("low_battery_mode", on=False), call),
        "Here.",
    ]


def test_what_fails_while_it_is_mended_is_mended_too():
    """Wifi is in the way of the call, and low battery mode in that of wifi."""
    found = driven(HOLIDAY, DENIED, DENIED, DONE, DONE, str(DUE))
    call = [("search_holiday", {"holiday_name": "Bloom Day"})]
    assert found[:-1] == [call, switch("wifi"), switch("low_battery_mode", on=False), switch("wifi"), call]


@pytest.mark.parametrize("failures", [1, 2])
def test_a_failure_with_nothing_left_to_mend_ends_with_sorry(failures):
    """And then there is nothing left; the goals after it are not gone for."""
    stuck = sheet("x", "", (), *([LOW_BATTERY] * (failures - 1)), BLOOM, Said("It is near."))
    answers = [DENIED, *([DONE, DENIED] * (failures - 1))]
    assert driven(stuck, *answers, "Oh")[-2:] == [SORRY, CLOSING]


def test_several_rows_are_changed_in_one_message():
    """Whatever the order of the results; one that fails ends it."""
    start = driven(HEDGES, "yes", repr([ROSE, FERN]))
    assert start[2] == [
        ("modify_contact", {"person_id": "p-rose", "relationship": "friend"}),
        ("modify_contact", {"person_id": "p-fern", "relationship": "friend"}),
    ]
    assert driven(HEDGES, "yes", repr([ROSE, FERN]), [DONE, DONE])[-1] == "The hedges are friends now."
    for answers in ([DENIED, DONE], [DONE, DENIED]):
        assert driven(HEDGES, "yes", repr([ROSE, FERN]), answers)[-1] == SORRY


def test_what_is_so_already_is_not_given_again():
    """A person's other values are known from the search, and after a change the new ones are."""
    later = driven(HEDGES, "yes", repr([ROSE, FERN]), [DONE, DONE], "go on")[-1]
    assert later[0] == ("modify_contact", {"person_id": "p-rose", "relationship": "bed"})
    back = sheet("x", "", (), HEDGES.goals[0], hedges("friend", ROSE), hedges("hedge", ROSE))
    assert driven(back, repr([ROSE]), DONE)[-1] == [
        ("modify_contact", {"person_id": "p-rose", "relationship": "hedge"})
    ]
    assert driven(ROSE_A_FRIEND) == [[("modify_contact", {**ROSE, "relationship": "friend"})]]


def test_the_time_is_asked_for_once_it_is_needed():
    """Once, wherever its goal stands; the result goes into what needs it, and into the words."""
    found = driven(HOLIDAY, str(DUE), "100.0", "{'days': 3, 'seconds': 7}")
    assert found == [
        [("search_holiday", {"holiday_name": "Bloom Day"})],
        [("get_current_timestamp", {})],
        [("timestamp_diff", {"timestamp_0": 100.0, "timestamp_1": DUE})],
        "It is 3 days to Bloom Day.",
    ]


def test_the_time_is_asked_for_before_anything_is_changed_or_said():
    """And at the very end where nothing is."""
    clock = [("get_current_timestamp", {})]
    assert driven(sheet("x", "", (), NOW, hedges("friend", ROSE)), "1.0") == [clock, driven(ROSE_A_FRIEND)[0]]
    assert driven(sheet("x", "", (), Said("Now."), NOW), "1.0", "ok") == [clock, "Now.", CLOSING]
    assert driven(sheet("x", "", (), BLOOM, NOW), str(DUE), "1.0")[1:] == [clock, CLOSING]


def test_a_call_that_was_made_is_not_made_again():
    """Two goals may be reached by one call."""
    assert driven(sheet("x", "", (), BLOOM, BLOOM, Said("x")), str(DUE)) == [
        [("search_holiday", {"holiday_name": "Bloom Day"})],
        "x",
    ]


def test_whose_messages_are_searched():
    """The user's own where it is known who that is, else those until now, else all of them."""
    look = Traced("search_messages", {"content": None})
    own = sheet("x", "", (), Traced("search_contacts", {}), look, NOW)
    assert driven(own, repr([ROSE, GARDENER]), "5.0") == [
        [("search_contacts", {"is_self": True})],
        [("get_current_timestamp", {})],
        [("search_messages", {"sender_person_id": "p-me"})],
    ]
    until = sheet("x", "", ("get_current_timestamp",), look)
    assert driven(until, "5.0")[-1] == [("search_messages", {"creation_timestamp_upperbound": 5.0})]
    (always,) = driven(sheet("x", "", (), look))
    assert always == [("search_messages", {"creation_timestamp_lowerbound": 1_000_000_000.0})]


@pytest.mark.parametrize(
    ("more", "linked", "bound"),
    [
        ((), True, "lower"),
        ((), False, "upper"),
        ((Changed("REMINDER", "removed", ({"reminder_id": "r"},)),), False, "lower"),
    ],
)
def test_which_reminders_are_searched(more, linked, bound):
    """Those to come where they are compared or changed, else the past ones."""
    base = sheet("x", "", (), Traced("search_reminder", {}, linked=linked), *more)
    assert driven(base, "5.0") == [
        [("get_current_timestamp", {})],
        [("search_reminder", {f"reminder_timestamp_{bound}bound": 5.0})],
    ]


@pytest.fixture(params=["UTC", "Asia/Tokyo"])
def time_zone(request, monkeypatch):
    """The machine's time zone for the length of a test."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


@pytest.mark.usefixtures("time_zone")
def test_a_reminders_time_in_its_parts():
    """By the machine's clock, as a goal of its own, and before a reminder where the tool is offered."""
    tool = "datetime_info_to_timestamp"
    added = Changed("REMINDER", "added", ({"content": "Water the roses", "reminder_timestamp": DUE},))
    asked = driven(sheet("x", "", (tool,), Traced(tool, {}), added), str(DUE), str(DUE))
    ((name, arguments),) = asked[0]
    assert (name, set(arguments)) == (tool, set(PARTS))
    local = datetime(*(arguments[part] for part in PARTS)).astimezone(UTC)
    assert local.timestamp() == DUE
    assert asked == [
        asked[0],
        asked[0],
        [("add_reminder", {"content": "Water the roses", "reminder_timestamp": DUE})],
    ]
    assert driven(sheet("x", "", (), added))[0][0][0] == "add_reminder"
    other = Changed("REMINDER", "added", ({"content": "Water the roses"},))
    assert driven(sheet("x", "", (tool,), other))[0][0][0] == "add_reminder"


def test_a_difference_that_nobody_asked_for_is_not_made_up():
    """The words then say that there is none."""
    assert driven(sheet("x", "", (), Said("In {days} days."))) == ["In None days."]
