"""What the values of a run tell: where arguments came from, and what repaired an error."""

from __future__ import annotations

import pytest

from amd.evidence import Link, Repair, find_evidence
from amd.trajectory import Outcome, Source, Step, Task, ToolCall, Trajectory, Turn, is_error


def step(*calls):
    """A step of parallel calls (tool, arguments, observation)."""
    return Step(calls=tuple(ToolCall(name, args, seen, not is_error(seen)) for name, args, seen in calls))


def trajectory(*turns):
    """A run of (user text, [(tool, arguments, observation) or a step, ...]) turns."""
    made = tuple(
        Turn(user, tuple(part if isinstance(part, Step) else step(part) for part in parts)) for user, parts in turns
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
                    ("look", {}, '{"error": "no flight ICX0301"}'),
                    ("book", {"cabin": "economy", "n": 12, "flight": "ICX0301"}, "ok"),
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


def test_parallel_calls_are_no_source_and_no_repair():
    """The calls of one step were asked for before any of them answered; the next step is the control."""
    look, book = ("look", {}, '{"id": "card_8812"}'), ("book", {"payment": "card_8812"}, "ok")
    assert find_evidence(trajectory(("go", [step(look, book)]))).links == ()
    assert find_evidence(trajectory(("go", [step(look), step(book)]))).links == (Link(2, "payment", 1),)
    failed, good = ("mv", {"s": "a"}, "Error: no such file"), ("mv", {"s": "b"}, "ok")
    assert find_evidence(trajectory(("go", [step(failed, good)]))).repairs == (Repair(1, "no such file"),)
    assert find_evidence(trajectory(("go", [step(failed, look), step(good)]))).repairs == (
        Repair(1, "no such file", 3, ("s",)),
    )


def test_numbers_count_parallel_calls():
    """A later step's call knows which of two parallel calls gave the value."""
    parts = [step(("a", {}, '"x"'), ("b", {}, '{"id": "card_8812"}')), step(("c", {"id": "card_8812"}, "ok"))]
    assert find_evidence(trajectory(("go", parts))).links == (Link(3, "id", 2),)


@pytest.mark.parametrize(
    ("failed", "later", "repaired"),
    [
        ({"s": "a.txt"}, {"s": "b.txt"}, None),
        ({"s": "a.txt", "d": "x"}, {"s": "b.txt", "d": "y"}, None),
        ({"s": "a.txt"}, {"t": "b.txt"}, None),
        ({"s": "a.txt", "d": "x"}, {"s": "a.txt", "d": "y"}, 2),
        ({"s": "a.txt"}, {"s": "a.txt", "d": "y"}, 2),
        ({"s": "a.txt", "d": "x", "e": 1}, {"s": "a.txt", "d": "y", "e": 2}, None),
        ({}, {}, 2),
    ],
)
def test_a_later_turn_repairs_only_what_it_is_about(failed, later, repaired):
    """Half of the common arguments are equal, or the call is about another item: "until `s` changed" would be wrong."""
    calls = [("mv", failed, "Error: no such file")], [("mv", later, "ok")]
    found = find_evidence(trajectory(("move a", calls[0]), ("move b", calls[1]))).repairs[0]
    assert found.repaired == repaired
    assert find_evidence(trajectory(("move", [*calls[0], *calls[1]]))).repairs[0].repaired == 2


def test_values_nested_without_end_are_left_alone():
    """An observation that no parser takes is text, and arguments made by hand may be as deep as they like."""
    deep = "card_8812"
    for _ in range(5000):
        deep = [deep]
    found = find_evidence(
        trajectory(("go", [("look", {}, '{"a":' * 5000), ("look", {}, '"card_8812"'), ("book", {"x": deep}, "ok")]))
    )
    assert found.links == ()
