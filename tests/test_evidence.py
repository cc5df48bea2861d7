"""What the values of a run tell: where arguments came from, and what repaired an error."""

from __future__ import annotations

from amd.evidence import Link, Repair, find_evidence
from amd.trajectory import Outcome, Source, Step, Task, ToolCall, Trajectory, Turn, is_error


def trajectory(*turns):
    """A run of (user text, [(tool, arguments, observation), ...]) turns."""
    made = tuple(
        Turn(user, tuple(Step(calls=(ToolCall(name, args, seen, not is_error(seen)),)) for name, args, seen in calls))
        for user, calls in turns
    )
    return Trajectory(Task("b", "t", "f", turns[0][0]), made, None, Outcome(True), Source("t", "r", "p", "0"))


def test_an_argument_from_an_earlier_result_is_linked():
    """At any depth of the result and of the arguments, in JSON and in Python's own notation."""
    found = find_evidence(
        trajectory(
            ("book it", [("profile", {}, '{"pay": [{"id": "card_8812"}]}'), ("seats", {}, "{'free': ['row 12A']}")]),
            ("yes", [("book", {"payment": [{"payment_id": "card_8812"}], "seat": "row 12A"}, "ok")]),
        )
    )
    assert found.links == (Link(3, "payment_id", 1), Link(3, "seat", 2))


def test_what_the_user_said_is_not_linked():
    """The control: the same value, once said by the user, came from the user."""
    found = find_evidence(
        trajectory(
            ("use card_8812", [("profile", {}, '{"id": "card_8812"}'), ("book", {"payment_id": "card_8812"}, "ok")])
        )
    )
    assert found.links == ()


def test_plain_words_short_values_and_failed_results_say_nothing():
    """A word such as economy meets its equal by chance, and an error's text is no result."""
    found = find_evidence(
        trajectory(
            (
                "go",
                [
                    ("look", {}, '{"cabin": "economy", "n": 12, "ok": true}'),
                    ("look", {}, '{"error": "no flight HAT0301"}'),
                    ("book", {"cabin": "economy", "n": 12, "flight": "HAT0301"}, "ok"),
                ],
            )
        )
    )
    assert found.links == ()


def test_a_repair_names_what_changed():
    """Changed, added and dropped arguments by name; the next good call of the same tool repairs."""
    found = find_evidence(
        trajectory(
            (
                "go",
                [
                    ("book", {"seat": "1A", "price": 3, "old": 1}, "Error: seat 1A taken"),
                    ("look", {}, "2B"),
                    ("book", {"seat": "2B", "price": 3, "new": 1}, "ok"),
                    ("book", {"seat": "9Z"}, "Error: seat 9Z taken"),
                ],
            )
        )
    )
    assert found.repairs == (
        Repair(1, "seat … taken", 3, ("seat", "old", "new")),
        Repair(4, "seat … taken"),
    )
