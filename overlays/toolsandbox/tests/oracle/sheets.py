"""Made-up answer keys of a garden: names of real scenarios and tools, invented texts, people and figures."""

from __future__ import annotations

from datetime import UTC, datetime

from amd_toolsandbox.oracle.goals import Changed, Said, Sheet, Traced

LOW_BATTERY = Changed("SETTING", "set", ({"low_battery_mode": False},))
WIFI, CELLULAR, PLACE = (
    Changed("SETTING", "set", ({name: True},)) for name in ("wifi", "cellular", "location_service")
)
NOW = Traced("get_current_timestamp", {})
BLOOM = Traced("search_holiday", {"holiday_name": "Bloom Day"})
WAIT = Traced("timestamp_diff", {"timestamp_0": None}, linked=True)
ROSE = {"person_id": "p-rose", "name": "Rose", "phone_number": "garden-7", "relationship": "hedge", "is_self": False}
FERN = {"person_id": "p-fern", "name": "Fern", "phone_number": "garden-9", "relationship": "hedge", "is_self": False}
GARDENER = {"person_id": "p-me", "name": "Ivy", "phone_number": "garden-1", "relationship": "self", "is_self": True}
DUE = datetime(2031, 5, 13, 8, 30, 5, tzinfo=UTC).timestamp()

SWITCH_TOOLS = frozenset({"set_wifi_status", "set_low_battery_mode_status"})
SEND_TOOLS = frozenset({"search_contacts", "send_message_with_phone_number", "set_cellular_service_status"})
HOLIDAY_TOOLS = frozenset({"get_current_timestamp", "search_holiday", "timestamp_diff"})
SENT = Changed("MESSAGING", "added", ({"recipient_phone_number": "garden-7", "content": "The tulips are up"},))


def hedges(relationship, *people):
    """A change of what several people are."""
    return Changed("CONTACT", "updated", tuple({**person, "relationship": relationship} for person in people))


def sheet(base, first, tools, *goals):
    """A sheet whose user's brief is made of its first words."""
    return Sheet(base, first, f"You tend a garden. {first}.", frozenset(tools), goals)


SWITCH = sheet(
    "turn_on_wifi_low_battery_mode",
    "The shed must be online",
    SWITCH_TOOLS,
    LOW_BATTERY,
    WIFI,
    Said("The shed is online."),
)
SEND = sheet(
    "send_message_with_contact_content_cellular_off",
    "Tell Rose that the tulips are up",
    SEND_TOOLS,
    CELLULAR,
    Traced("search_contacts", {"name": "Rose", "is_self": None}),
    SENT,
    Said("Rose knows it."),
)
SEND_ASKED = sheet(
    "send_message_with_contact_content_cellular_off_multiple_user_turn",
    "Somebody must hear of the tulips",
    SEND_TOOLS,
    *SEND.goals,
)
HOLIDAY = sheet(
    "find_days_till_holiday_wifi_off",
    "How long is it to Bloom Day",
    HOLIDAY_TOOLS | SWITCH_TOOLS,
    NOW,
    LOW_BATTERY,
    WIFI,
    BLOOM,
    WAIT,
    Said("It is {days} days to Bloom Day."),
)
HEDGES = sheet(
    "update_contact_relationship_with_relationship_twice_multiple_user_turn",
    "Something is to be done about the hedges",
    {"search_contacts", "modify_contact"},
    Traced("search_contacts", {"relationship": "hedge"}),
    hedges("friend", ROSE, FERN),
    Said("The hedges are friends now."),
    hedges("bed", ROSE, FERN),
    Said("The hedges are beds now."),
)
NOTHING = sheet("find_current_location_insufficient_information", "Where is the rake", {"search_contacts"})
SHEETS = (SWITCH, SEND, SEND_ASKED, HOLIDAY, HEDGES, NOTHING)

SCRAMBLED = {
    name: f"garden_{number}"
    for number, name in enumerate(sorted(SWITCH_TOOLS | SEND_TOOLS | HOLIDAY_TOOLS | {"modify_contact"}))
}
