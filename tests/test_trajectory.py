"""What a tool's answer means, and what a run's hash covers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amd.testing import run
from amd.trajectory import Source, ToolSpec, error_class, is_error


@pytest.mark.parametrize(
    "observation",
    [
        "Error during execution: missing arg",
        '{"error": "cd: no such directory"}',
        "error during execution: lower",
        " Error during execution: missing arg",
        '{"error": {"code": 4}}',
        '{"error": "' + "x" * 600 + '"}',
        "Error: no seats left",
        "\n ERROR : no seats left",
    ],
)
def test_d19_errors(observation):
    """D19: every failing form is an error, long ones and nested ones included."""
    assert is_error(observation)


@pytest.mark.parametrize(
    "observation",
    [
        "{'errors': [], 'ok': True}",
        '{"errors": 0}',
        '{"error": null}',
        '{"error": ""}',
        "Reminder: retake failed exam",
        "No exceptions found",
        "failed login attempts: 3",
        "Errors: none",
        "terror: a film",
        "",
        "[1, 2]",
        '{"error": ',
    ],
)
def test_d19_benign(observation):
    """D19: words about errors are no errors."""
    assert not is_error(observation)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Error: train ICX030 does not run on 2031-05-13",
            "Error: train ICX223 does not run on 2031-06-01",
        ),
        ('{"error": "cd: \'a\': No such directory. Try ls."}', '{"error": "cd: \'b c\': No such directory. Look."}'),
        ("Error: payment gift_card_81 not found", "error during execution: payment credit_card_7 not found"),
    ],
)
def test_errors_that_differ_in_values_are_one_class(one, other):
    """Ids, quoted values, numbers and dates do not make a class of their own."""
    assert error_class(one) == error_class(other) != ""


def test_errors_that_differ_in_words_are_two_classes():
    """The control: what is said distinguishes."""
    assert error_class("Error: no seat is left on train ICX1") != error_class("Error: train ICX1 not found")


@pytest.mark.parametrize("piece", ["x", ">", "'a", "\u2026", "x, ", "/", "x' "])
def test_a_class_takes_linear_time(piece):
    """A student waits for it: where time grew with the square of the length, this took an hour instead of a blink."""
    text = piece * (500_000 // len(piece))
    assert len(error_class(f"Error: {text}")) <= 80
    assert error_class(f"Error: {'x' * 500_000}/y") == "…"


def test_a_value_in_quotes_goes_with_what_is_beside_it():
    """A quoted value behind an id leaves none of its words."""
    assert error_class("Error: x1:\"HAT b\" gone, id=/home/'a b'/x lost") == "… gone, … lost"


@pytest.mark.parametrize("text", ['{"error":' * 5000, '{"error":' * 3000 + "1" + "}" * 3000])
def test_nesting_without_end_is_no_error_and_has_a_class(text):
    """A student's harness asks this of every answer."""
    assert not is_error(text)
    assert len(error_class(text)) <= 80


def test_a_class_is_short_and_has_no_values():
    """A class is shown to people and students, so it carries no value of the run."""
    found = error_class(
        '{"error": "user \'ann@x.example\' has no card 4111111111111111 in /home/ann. ' + "x " * 300 + '"}'
    )
    assert found == "user … has no card … in …"


def test_the_hash_covers_what_happened_and_not_where_it_was_read():
    """Two copies of a file give one run; another observation gives another."""
    one = run(1)
    moved = replace(one, source=Source("another", "run-9", "elsewhere.json", "0" * 64))
    changed = run(1, observe=lambda turn, step: f"{turn}{step}")
    assert one.sha256 == moved.sha256 != changed.sha256


def test_a_schema_hash_ignores_what_is_only_told():
    """A tool whose words changed is the same tool, at any depth; one whose arguments changed is stale."""

    def nested(**of_bed):
        bed = {"type": "object", "properties": {"description": {"type": "string", **of_bed}}}
        return ToolSpec("f", "", {"type": "object", "properties": {"bed": bed, "beds": {"items": bed}}})

    assert nested().schema_sha256 == nested(description="Words.", title="Words").schema_sha256
    for change in ({"enum": ["x"]}, {"default": {"description": "x"}}, {"type": "integer"}):
        assert nested().schema_sha256 != nested(**change).schema_sha256
    assert nested(default={"title": "x"}).schema_sha256 != nested(default={"title": "y"}).schema_sha256
    gone = ToolSpec("f", "", {"type": "object", "properties": {"bed": {"type": "object", "properties": {}}}})
    assert nested().schema_sha256 != gone.schema_sha256
    spec = ToolSpec("f", "old words", {"type": "object"})
    assert spec.schema_sha256 == ToolSpec("f", "new words", {"type": "object"}).schema_sha256
    assert spec.schema_sha256 != ToolSpec("f", "old words", {"type": "object", "required": ["x"]}).schema_sha256
