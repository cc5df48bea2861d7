"""From a scenario's goals to what the agent does: a generator that yields moves and is sent what came of them.

The agent goes straight for its goals. Where a call fails because a setting of the phone is in the way, it mends that
and calls again, so its runs have errors and their repairs. A script that is run again on the same answers does the
same, so that a server that remembers nothing can play it.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar

from amd_toolsandbox.oracle.calls import DATE, DIFFERENCE, HOLIDAY, NOW, Call, calls_of, given
from amd_toolsandbox.oracle.goals import Changed, Said, Sheet, Traced

__all__ = ["CLOSING", "QUESTION", "SORRY", "Answer", "Move", "Script", "play"]

Move: TypeAlias = str | Sequence[Call]
"""Words for the user, or calls."""

_Returned = TypeVar("_Returned")
Script: TypeAlias = Generator[Move, "Sequence[Answer]", _Returned]

QUESTION = "What exactly should I do?"
SORRY = "I am sorry, I cannot do that with the tools that I have."
CLOSING = "Nothing is left to do."


class StuckError(Exception):
    """A call failed, and no precondition is left that could be in its way."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a tool's result as the harness prints it, an error, or the user's words.

    >>> Answer("[{'name': 'roses'}]").value[0]["name"], Answer("ValueError: the gate is locked").failed
    ('roses', True)
    """

    text: str

    @property
    def value(self) -> Any:  # noqa: ANN401 - whatever a tool returned
        """The result; ``ValueError`` or ``SyntaxError`` if this is none."""
        return ast.literal_eval(self.text)

    @property
    def failed(self) -> bool:
        """Whether a call failed: an error is the only answer that is no Python literal."""
        try:
            ast.literal_eval(self.text)
        except (SyntaxError, ValueError):
            return True
        return False


def play(sheet: Sheet) -> Script[None]:
    """Play a base to its end, and then say for ever that nothing is left; ask the user first where it must."""
    if sheet.asks:
        yield QUESTION
    try:
        if sheet.goals:
            yield from _Play(sheet).goals()
        else:
            yield SORRY
    except StuckError:
        yield SORRY
    while True:
        yield CLOSING


class _Play:
    """One play: what was found out so far."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._preconditions = list(sheet.preconditions)
        self._results: dict[str, Any] = {}
        self._people: dict[str, Mapping[str, Any]] = {}

    def goals(self) -> Script[None]:
        """One after the other. The time is asked for once it is needed, or before anything is changed or said."""
        for goal in self._sheet.wanted:
            match goal:
                case Traced(tool) if tool in self._results or tool == NOW:
                    pass
                case Traced(tool):
                    yield from self._call(tool, (yield from self._arguments(goal)))
                case Changed():
                    yield from self._asked_time()
                    yield from self._change(goal)
                case Said(text):
                    yield from self._asked_time()
                    yield text.replace("{days}", str((self._results.get(DIFFERENCE) or {}).get("days")))
        yield from self._asked_time()

    def _asked_time(self) -> Script[None]:
        if Traced(NOW, {}) in self._sheet.goals:
            yield from self._result(NOW)

    def _result(self, tool: str) -> Script[Any]:
        """The result of a call without arguments, made once."""
        if tool not in self._results:
            yield from self._call(tool, {})
        return self._results[tool]

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> Script[Any]:
        """Call until it works; each failure mends the next precondition, the last one first."""
        (answer,) = yield [(tool, arguments)]
        while answer.failed:
            if not self._preconditions:
                raise StuckError
            yield from self._change(self._preconditions.pop())
            (answer,) = yield [(tool, arguments)]
        self._results[tool] = answer.value
        if tool == "search_contacts":
            self._people |= {person["person_id"]: person for person in answer.value}
        return answer.value

    def _arguments(self, goal: Traced) -> Script[dict[str, Any]]:
        """The arguments that a goal gives, else those that its tool needs."""
        found: dict[str, Any] = given(goal.arguments)
        if found:
            return found
        match goal.tool:
            case "search_contacts":
                found = {"is_self": True}
            case "search_messages":
                found = yield from self._which_messages()
            case "search_reminder":
                upcoming = goal.linked or any(isinstance(each, Changed) for each in self._sheet.goals)
                bound = "lower" if upcoming else "upper"
                found = {f"reminder_timestamp_{bound}bound": (yield from self._result(NOW))}
            case "timestamp_diff":
                found = {"timestamp_0": (yield from self._result(NOW)), "timestamp_1": self._results[HOLIDAY]}
            case "datetime_info_to_timestamp":
                found = self._date()
        return found

    def _which_messages(self) -> Script[dict[str, Any]]:
        """Those that the user sent, where that is known; else those until now, or all."""
        own = next((identity for identity, person in self._people.items() if person["is_self"]), None)
        if own is not None:
            yield from self._asked_time()
            return {"sender_person_id": own}
        if NOW in self._sheet.tools:
            return {"creation_timestamp_upperbound": (yield from self._result(NOW))}
        return {"creation_timestamp_lowerbound": 1_000_000_000.0}

    def _date(self) -> dict[str, int]:
        """The reminder's time as its parts, in the phone's time zone, which is this machine's."""
        rows = (row for goal in self._sheet.goals for row in goal.named)
        time = next(row["reminder_timestamp"] for row in rows if "reminder_timestamp" in row)
        local = datetime.fromtimestamp(float(str(time)), UTC).astimezone()
        return {part: getattr(local, part) for part in ("year", "month", "day", "hour", "minute", "second")}

    def _change(self, goal: Changed) -> Script[None]:
        """Make the change; several rows in one message, whose results may come back in another order."""
        if DATE in self._sheet.tools and any("reminder_timestamp" in row for row in goal.rows):
            yield from self._call(DATE, self._date())
        calls = [(tool, self._news(tool, arguments)) for tool, arguments in calls_of(goal)]
        if len(calls) == 1:
            yield from self._call(*calls[0])
        elif any(answer.failed for answer in (yield calls)):
            raise StuckError
        changed = {str(row.get("person_id")): row for row in goal.rows}
        self._people |= {who: {**known, **changed[who]} for who, known in self._people.items() if who in changed}

    def _news(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without what is so already."""
        known = self._people.get(str(arguments.get("person_id")), {}) if tool == "modify_contact" else {}
        return {
            name: value for name, value in arguments.items() if name.endswith("_id") or known.get(name, self) != value
        }
