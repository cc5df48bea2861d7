"""Which failed calls get a hint, which do not, and what a hint may not say."""

from __future__ import annotations

import pytest

from amd.inject import HINT_OPEN
from amd_bfcl.trial import Trial

RAISED = "Error during execution: measure() missing 1 required positional argument"
RETURNED = '{"error": "measure: the soil is frozen"}'
FINE = '{"done": true}'
GOOD_CALL = "A call of measure that worked before"


def begun(garden, opened, calling="json"):
    """A trial in its first turn."""
    entry = garden.entry()
    trial = Trial(entry, opened, calling)
    trial.first_turn([{"role": "user", "content": entry.users[0]}])
    return trial


@pytest.fixture
def trial(garden):
    """A trial with a memory, in its first turn."""
    with garden.arm().open() as opened:
        yield begun(garden, opened)


@pytest.mark.parametrize("calling", ["json", "python"])
@pytest.mark.parametrize(
    "result",
    [
        "Error during execution: missing arg",
        " Error during execution: missing arg",
        "error during execution: lower",
        '{"error": "measure: no such bed"}',
        '{"error": {"kind": "a mapping"}}',
        '{"error": "' + "long " * 200 + '"}',
    ],
)
def test_both_shapes_of_an_error_get_their_hint(garden, result, calling):
    """D19, C16: what was raised and what was returned; the raw result stands first, whole."""
    with garden.arm().open() as opened:
        trial = begun(garden, opened, calling)
        (shown,) = trial.hinted(["measure(bed='bed_9')"], [result])
        log = trial.log()
    assert shown.startswith(f"{result}\n\n{HINT_OPEN}\n")
    assert GOOD_CALL in shown
    assert ("measure(bed=" in shown) == (calling == "python")
    assert (log.failed_calls, log.hints) == (1, 1)


@pytest.mark.parametrize(
    "result",
    [
        "{'errors': [], 'ok': True}",
        '{"errors": 0}',
        '{"error": ""}',
        '{"error": null}',
        "failed login attempts: 3",
        "Reminder: retake failed exam",
        "No exceptions found",
        "{'result': mpf('0.30')}",
        "None",
        "{}",
        "",
    ],
)
def test_a_benign_result_gets_no_hint(trial, result):
    """D19, C16: words that only sound like a failure."""
    assert trial.hinted(["measure(bed='bed_9')"], [result]) == [result]
    assert (trial.log().failed_calls, trial.log().hints) == (0, 0)


def test_parallel_calls_of_which_one_fails(trial):
    """C16, D17: the hint goes to the result of the call that failed; the others, and what was given, stay as is."""
    results = [FINE, RETURNED, FINE]
    shown = trial.hinted(["water(bed='a')", "measure(bed='a')", "water(bed='b')"], results)
    assert shown[::2] == results[::2]
    assert shown[1].startswith(f"{RETURNED}\n\n{HINT_OPEN}")
    assert results == [FINE, RETURNED, FINE]


def test_two_failures_of_one_class_get_one_hint(garden, trial):
    """C16: none for the repeat, in the same step or in a later turn; another class of error has its own."""
    frozen = ['{"error": "no bed \'bed_7\'"}', '{"error": "no bed \'bed_8\'"}']
    shown = trial.hinted(["measure(bed='bed_7')", "measure(bed='bed_8')"], frozen)
    assert [HINT_OPEN in result for result in shown] == [True, False]
    trial.next_turn([], [{"role": "user", "content": garden.entry().users[1]}])
    assert trial.hinted(["measure(bed='bed_7')"], frozen[:1]) == frozen[:1]
    assert HINT_OPEN in trial.hinted(["measure(bed='bed_7')"], [RETURNED])[0]
    log = trial.log()
    assert (log.failed_calls, log.hints) == (4, 2)
    assert [each.place for each in log.exposures if each.tier == "function"] == ["0.0.0", "0.0.1", "1.0.0", "1.1.0"]
    assert sum(each.dropped.get("repeat_error", 0) for each in log.exposures) == 2


@pytest.mark.parametrize("call", ["measure(my-bed='a')", "measure(bed=soil)", "measure(", "measure", " measure ('a') "])
def test_a_call_that_cannot_be_read_gets_its_hint_by_its_name(trial, call):
    """The name is enough to find a good call of the same tool."""
    (shown,) = trial.hinted([call], ["Error during execution: invalid syntax (<string>, line 1)"])
    assert GOOD_CALL in shown


@pytest.mark.parametrize("call", ["", "(", "('a')(b)", "{'name': 'x'}", "\x00", "lambda: 1", "f'{x}'(1)", "[" * 9999])
def test_a_call_without_any_name_is_only_counted(trial, call):
    """Nothing is hinted, nothing is raised."""
    assert trial.hinted([call], [RAISED]) == [RAISED]
    assert (trial.log().failed_calls, trial.log().hints) == (1, 0)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("measure(bed='dry', scale='x')", True),
        ("measure(bed='moist', scale='x')", False),
        ("measure(bed=['very', 'MOIST'])", False),
        ("measure(my-bed='moist')", False),
        ('measure(my-bed="it\'s", x="moist")', False),
    ],
)
def test_a_hint_never_repeats_what_failed(trial, call, said):
    """C16: what the memory would say with a failed value in it is left out, for a call that cannot be read as well."""
    (shown,) = trial.hinted([call], [RETURNED])
    assert GOOD_CALL in shown
    assert ("moist" in shown) == said


@pytest.mark.parametrize("values", [{}, {"method": "none"}])
def test_placeholders_that_a_student_copies_are_counted(garden, values):
    """In calls that failed and in calls that did not, read or not; a value in angle brackets of a text is none."""
    calls = {
        "water(bed='<bed>')": FINE,
        "measure(bed='<bed>', scale=['<scale>'])": RETURNED,
        "measure(my-bed='<bed>')": RAISED,
        "water(bed='a <b> c')": FINE,
        "water(bed='bed_9')": FINE,
    }
    with garden.arm(**values).open() as opened:
        trial = begun(garden, opened)
        trial.hinted([*calls], [*calls.values()])
        assert trial.log().placeholders == 3


@pytest.mark.parametrize("calling", ["json", "python"])
def test_a_copied_placeholder_is_told_before_the_good_call(garden, calling):
    """The note and the records, in the one hint; a call with values of its own has no note (the control)."""
    with garden.arm().open() as opened:
        trial = begun(garden, opened, calling)
        (shown,) = trial.hinted(["measure(bed='<bed>')"], [RETURNED])
        (own,) = trial.hinted(["measure(bed='bed_9')"], [RETURNED])
    assert shown.startswith(f"{RETURNED}\n\n{HINT_OPEN}\n")
    assert shown.index("<bed> stands for a value") < shown.index(GOOD_CALL)
    assert GOOD_CALL in own
    assert "stands for a value" not in own


def test_what_a_student_thought_finds_the_hint(garden):
    """The reasoning before a call is what is asked with, where there is one."""

    def asked(reasoning):
        with garden.arm().open() as opened:
            trial = begun(garden, opened)
            trial.hinted(["measure(bed='a')"], [RETURNED], reasoning)
            return trial.log().exposures[-1].query_sha256

    assert asked("I shall measure the soil.") == asked("I shall measure the soil.") != asked("")


def test_a_hint_is_held_to_its_budget(garden):
    """No token for functions, no hint; the failure is counted all the same."""
    with garden.arm(function_tokens=0).open() as opened:
        trial = begun(garden, opened)
        assert trial.hinted(["measure(bed='a')", "measur(bed='a')"], [RETURNED, RAISED]) == [RETURNED, RAISED]
        assert (trial.log().failed_calls, trial.log().hints) == (2, 0)


def test_calls_and_results_must_be_as_many(trial):
    """A harness that pairs them otherwise is told so."""
    with pytest.raises(ValueError, match="argument 2 is longer"):
        trial.hinted(["measure(bed='a')"], [FINE, FINE])
