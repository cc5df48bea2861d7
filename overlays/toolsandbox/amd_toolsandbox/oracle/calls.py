"""Which calls reach a goal, as far as the goal itself tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from amd_toolsandbox.oracle.goals import Changed, Goal, Traced

__all__ = ["DATE", "DIFFERENCE", "HOLIDAY", "NOW", "Call", "calls_of", "given", "is_playable"]

Call: TypeAlias = tuple[str, Mapping[str, Any]]
"""A tool's real name and its arguments."""

NOW, DATE, DIFFERENCE, HOLIDAY = (
    "get_current_timestamp",
    "datetime_info_to_timestamp",
    "timestamp_diff",
    "search_holiday",
)
_SWITCHES = {
    "wifi": "set_wifi_status",
    "cellular": "set_cellular_service_status",
    "location_service": "set_location_service_status",
    "low_battery_mode": "set_low_battery_mode_status",
}
_WITHOUT_ARGUMENTS = frozenset({NOW, "get_wifi_status", "get_cellular_service_status"})
_FILLED = frozenset({"search_contacts", "search_messages", "search_reminder", DATE, DIFFERENCE})
_CHANGES = {
    ("CONTACT", "added"): "add_contact",
    ("CONTACT", "updated"): "modify_contact",
    ("CONTACT", "removed"): "remove_contact",
    ("MESSAGING", "added"): "send_message_with_phone_number",
    ("REMINDER", "added"): "add_reminder",
    ("REMINDER", "updated"): "modify_reminder",
    ("REMINDER", "removed"): "remove_reminder",
}
_COLUMNS = {"recipient_phone_number": "phone_number"}
"""A column -> the argument of that tool, where they differ."""


def is_playable(goal: Goal) -> bool:
    """Whether it is known how the goal is reached.

    >>> is_playable(Traced("water", {})), is_playable(Traced("water", {"bed": 1}))
    (False, True)
    """
    match goal:
        case Traced(tool, arguments):
            return bool(arguments) or tool in _WITHOUT_ARGUMENTS | _FILLED
        case Changed("SETTING", "set", rows):
            return all(set(row) <= set(_SWITCHES) for row in rows)
        case Changed(table, how):
            return (table, how) in _CHANGES
    return True


def calls_of(goal: Goal) -> list[Call]:
    """The calls that a goal names by itself, with the arguments that it gives."""
    match goal:
        case Traced(tool, arguments):
            return [(tool, given(arguments))]
        case Changed("SETTING", "set", rows):
            return [(_SWITCHES[name], {"on": value}) for row in rows for name, value in row.items()]
        case Changed(table, how, rows):
            tool = _CHANGES[table, how]
            return [(tool, {_COLUMNS.get(name, name): value for name, value in given(row).items()}) for row in rows]
    return []


def given(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row says: a null says nothing."""
    return {name: value for name, value in row.items() if value is not None}
