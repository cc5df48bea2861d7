"""What a run held beside its calls does not recur either, and no file tells of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from amd.mask import Mask
from amd.mask.beside import without_beside
from amd.testing import run
from amd.trajectory import Step, ToolCall, ToolSpec, Turn

LOG = ({"username": ["tess@example.org"], "password": ["sunflowers", 99_887_766], "page": [77_665]},)
PRINTED = ('{"account": "music", "pin_code": "Marigold"}',)
TOLD = "I log in to the Music app with sunflowers or Marigold, then with 99887766, on page 77665."


def made(*beside, text=TOLD, instruction="List my songs.", **calls):
    """A run of two calls whose own arguments and answers tell of no secret."""
    tool = ToolSpec("music.login", "", {"properties": {"password": {"type": "string"}}})
    call = ToolCall("music.login", {"note": "try sunflowers", "numbers": [99_887_766, 5]}, "hello", ok=True)
    steps = (Step(text, (call,)), Step("Done.", (replace(call, observation='"Marigold" it was', **calls),)))
    base = run(1)
    task = replace(base.task, instruction=instruction)
    return replace(base, task=task, turns=(Turn(instruction, steps),), tools=(tool,), beside=beside)


def texts(masked):
    """All that a run says."""
    return json.dumps(
        [masked.task.instruction]
        + [
            [turn.user, [[step.text, [[c.observation, dict(c.arguments)] for c in step.calls]] for step in turn.steps]]
            for turn in masked.turns
        ]
    )


def test_values_beside_the_calls_do_not_recur():
    """Those that stand under a telling key there: the words around them stay, and so do other values."""
    masked = Mask.of(made(*LOG, *PRINTED)).run(made(*LOG, *PRINTED))
    assert masked.turns[0].steps[0].text == (
        "I log in to the Music app with <password> or <pin_code>, then with <password>, on page 77665."
    )
    assert "Marigold" not in texts(masked)


def test_without_them_they_do():
    """The control."""
    assert Mask.of(made()).text(TOLD) == TOLD


@pytest.mark.parametrize("word", ["music", "login", "Password", "music.login"])
def test_a_word_of_the_interface_is_nobodys(word):
    """The names of apps, APIs and arguments, though one is somebody's password too."""
    beside = ({"password": [word.lower(), word]},)
    assert Mask.of(made(*beside)).text(f"I call {word} now.") == f"I call {word} now."
    other = ({"password": [f"{word}9"]},)
    assert Mask.of(made(*other)).text(f"I call {word}9 now.") == "I call <password> now."


def test_it_is_no_part_of_what_happened():
    """Neither compared nor hashed nor printed."""
    assert made(*LOG) == made()
    assert made(*LOG).sha256 == made().sha256
    assert "sunflowers" not in repr(replace(made(*LOG), turns=()))


def test_a_run_for_a_file():
    """Nothing stands beside it, and what only that told of is in none of its texts, arguments and numbers."""
    asked = "Use sunflowers."
    written = without_beside(made(*LOG, *PRINTED, instruction=asked))
    assert written.beside == ()
    assert not any(value in texts(written) for value in ("sunflowers", "Marigold", "99887766"))
    assert written.turns[0].steps[0].calls[0].arguments == {"note": "try <password>", "numbers": ["<password>", 5]}
    assert "77665" in texts(written)


def test_a_file_keeps_what_its_own_calls_tell():
    """The reader of the file knows such a value by its key, wherever it recurs: in the instruction too."""
    arguments = {"password": "sunflowers"}
    asked = "Use sunflowers."
    written = without_beside(made(*LOG, instruction=asked, arguments=arguments))
    assert written.task.instruction == asked
    assert "sunflowers" not in texts(Mask.of(written).run(written))


def test_a_run_without_any_is_written_as_it_is():
    """The same object."""
    one = made()
    assert without_beside(one) is one
