"""Concrete values in a record's words: each rule has an example beside something that looks alike."""

from __future__ import annotations

import pytest

from amd.lint.values import RunValues


def values(garden, text, **about):
    """The values in a workflow's text, the run being that of the garden."""
    record = garden.workflow(text, **about)
    return list(
        RunValues(garden.one_run(record, garden.subtask("part", "Does it."), garden.function())).in_prose(record)
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mail tess@example.org first.", ["tess@example.org"]),
        ("Open /home/tess/plan and check it.", ["/home/tess/plan"]),
        ("See https://example.org/a?b=1 for it.", ["https://example.org/a?b=1"]),
        ("Read final_report.pdf, then check.", ["final_report.pdf"]),
        ("It must be done by 2031-05-09.", ["2031-05-09"]),
        ("It must be done by May 9 at 14:30.", ["May 9", "14:30"]),
        ("Look up order HAT039 and check.", ["HAT039"]),
    ],
)
def test_a_value_by_its_shape(garden, text, found):
    """Secrets, paths, files, dates and ids are values, whatever the run says."""
    assert values(garden, text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Open valve V-0033 first.", ["V-0033"]),
        ("Water with 42.5 litres.", []),
        ("Set `minutes` to 30 and check.", ["30"]),
        ("Go to 'north bed' and check.", ["north bed"]),
        ("Ask Ines for the bed.", ["Ines"]),
        ("Call the gardener at LXP.", ["LXP"]),
    ],
)
def test_a_value_that_the_run_has(garden, text, found):
    """Words with digits, codes, names and quotes count because the run's own records have them."""
    assert values(garden, text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Open the valve of <bed> with `openValve`, then check that the result has `status` and `litres`.",
        "Go to 'south bed', ask Tom at QXZ, and use 31 minutes for A17B.",  # of this shape, but not of this run
        'Check that the status is "open"; avoid “valve is stuck”.',  # what tools answer is a cue
        "The date is YYYY-MM-DD, the text UTF-8 or ISO-8601, the answer JSON.",
        "Water at most 3 times a day, that is 30 times a week, and/or check.",
        "Verify the order and/or the bed, e.g. the 2nd one of 10.",
        "Ines? Water",  # the first word of a sentence is in capitals anyway
    ],
)
def test_ordinary_words_are_no_values(garden, text):
    """Placeholders, names of tools and members, standards, counts, and values of other runs."""
    assert values(garden, text) == []


def test_names_are_joined_and_nothing_is_told_twice(garden):
    """``Las Vegas`` is one value; what stands inside another is left out."""
    key = "Please fly to Las Vegas with order K67C4W."
    record = garden.workflow("Fly to Las Vegas (K67C4W). In Las Vegas check K67C4W.", key=key)
    assert list(RunValues(garden.one_run(record)).in_prose(record)) == ["Las Vegas", "K67C4W"]


def test_rules_may_quote_the_user_and_a_model_may_not(garden):
    """A segment's description by ``rules`` is the user's own sentence, kept on purpose; the label is not."""
    about = {"label": "open valve", "description": "Open the valve V-0033."}
    by_rules, by_model = garden.subtask(**about, distiller="rules"), garden.subtask(**about)
    label = garden.subtask("V-0033", "Opens it.", distiller="rules")
    run = RunValues(garden.one_run(garden.function()))
    assert [list(run.in_prose(record)) for record in (by_rules, by_model, label)] == [[], ["V-0033"], ["V-0033"]]
