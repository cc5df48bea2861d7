"""Which failed calls get a hint, which do not, and by what they are told."""

from __future__ import annotations

import pytest
from garden import FROZEN, SYSTEM, calls, result, said, tools, user

from amd.inject import HINT_OPEN
from amd_toolsandbox.trial import Trial

GOOD_CALL = "A call of measure that worked before"
FIRST = [SYSTEM, user()]
ONE = calls(("measure", {"bed": "b"}, "call_1"))


@pytest.fixture
def trial(garden):
    """A trial with a memory."""
    with garden.arm().open() as opened:
        yield Trial("get_cellular", opened)


def hints(shown):
    """Which of the tool messages have a hint."""
    return [HINT_OPEN in message["content"] for message in shown if message["role"] == "tool"]


@pytest.mark.parametrize(
    "error",
    [
        "ConnectionError: Wifi is not enabled",
        "TypeError: got an unexpected keyword argument 'nme'",
        "polars.exceptions.NoDataError: No db entry matching predicate=<Expr [...] at 0x7F1A5DEB2C90> found",
        '  File "<input>", line 1\n    x_parameters = {\nSyntaxError: invalid syntax',
        "x",
    ],
)
def test_an_exception_gets_its_hint(trial, error):
    """D19, C16: after the harness's own words, which stand first and whole; also where they are no error to look at."""
    shown = trial.request([*FIRST, ONE, result(content=error)], tools(), [error])
    assert shown[-1]["content"].startswith(f"{error}\n\n{HINT_OPEN}\n")
    assert GOOD_CALL in shown[-1]["content"]
    assert "0x7F1A5DEB2C90" not in shown[-1]["content"].partition(HINT_OPEN)[2]
    assert (trial.log().failed_calls, trial.log().hints) == (1, 1)


@pytest.mark.parametrize(
    "content",
    [
        "None",
        "[]",
        "Error: nothing was found",
        '{"error": "no such bed"}',
        "Traceback (most recent call last):",
        "PermissionError: in a message that was found",
        "failed",
    ],
)
def test_without_an_exception_there_is_no_hint(trial, content):
    """D19, C16: whatever the answer sounds like, nobody recorded a failure."""
    talk = [*FIRST, ONE, result(content=content)]
    assert trial.request(talk, tools(), [None])[1:] == talk[1:]
    assert (trial.log().failed_calls, trial.log().hints) == (0, 0)


@pytest.mark.parametrize(
    "error",
    [
        "PermissionError: Please provide 'RAPID_API_KEY'.",
        "requests.exceptions.ConnectionError: no route",
    ],
)
def test_a_fault_of_the_machine_gets_no_hint(trial, error):
    """No other call would help; it is counted as failed."""
    talk = [*FIRST, ONE, result(content=error)]
    assert trial.request(talk, tools(), [error])[-1] == talk[-1]
    assert (trial.log().failed_calls, trial.log().hints) == (1, 0)


def test_permuted_results_are_told_by_their_ids(trial):
    """C16, D17: after a failure, parallel results come in another order; the hint is about the call that failed."""
    both = calls(("water", {"bed": "b"}, "call_1"), ("measure", {"bed": "b"}, "call_2"))
    results = [result("measure", "call_2"), result("water", "call_1", "None")]
    shown = trial.request([*FIRST, both, *results], tools(), [FROZEN, None])
    assert hints(shown) == [True, False]
    assert GOOD_CALL in shown[-2]["content"]


def test_permuted_results_of_one_id_are_told_by_their_tools(trial):
    """Some servers give one id to all calls."""
    both = calls(("water", {"bed": "b"}, "call_0"), ("measure", {"bed": "b"}, "call_0"))
    results = [result("measure", "call_0"), result("water", "call_0", "None")]
    shown = trial.request([*FIRST, both, *results], tools(), [FROZEN, None])
    assert hints(shown) == [True, False]
    assert GOOD_CALL in shown[-2]["content"]


def test_a_repeated_id_is_another_place_each_time(trial):
    """Each result has its own place, counted over the scenario; one kind of error has one hint, the first time."""
    once = [calls(("measure", {"bed": "b"}, "call_0")), result(call_id="call_0")]
    other = result(call_id="call_0", content="ValueError: no such scale")
    talk = [*FIRST, *once, *once, once[0], other]
    exceptions = [FROZEN, FROZEN, other["content"]]
    shown = trial.request(talk, tools(), exceptions)
    assert hints(shown) == [True, False, True]
    assert hints(trial.request(talk, tools(), exceptions)) == [True, False, True]
    places = [each.place for each in trial.log().exposures if each.tier == "function"]
    assert places == ["0", "1", "2"]
    assert (trial.log().calls, trial.log().failed_calls, trial.log().hints) == (3, 3, 2)


def test_exceptions_are_those_of_the_tool_messages(trial):
    """The k-th one belongs to the k-th result, whatever is said in between."""
    talk = [*FIRST, ONE, result(content="None"), said(), user(turn=1), ONE, result()]
    assert hints(trial.request(talk, tools(), [None, FROZEN])) == [False, True]


@pytest.mark.parametrize("arguments", [{}, [], None, "text", 7])
def test_arguments_that_are_no_object_have_a_hint_too(trial, arguments):
    """The tool's name is enough."""
    shown = trial.request([*FIRST, calls(("measure", arguments, "call_1")), result()], tools(), [FROZEN])
    assert hints(shown) == [True]


def test_arguments_that_are_no_json_have_a_hint_too(trial):
    """The harness ends before it shows such a call; nothing is raised here."""
    called = calls(("measure", {}, "call_1"))
    called["tool_calls"][0]["function"]["arguments"] = "{"
    assert hints(trial.request([*FIRST, called, result()], tools(), [FROZEN])) == [True]


def test_a_result_without_a_call_is_only_counted(trial):
    """No harness shows one; nothing is hinted, nothing is raised."""
    assert hints(trial.request([*FIRST, result()], tools(), [FROZEN])) == [False]
    assert (trial.log().calls, trial.log().failed_calls) == (1, 1)


@pytest.mark.parametrize(("bed", "said_again"), [("moist", False), ("dry", True)])
def test_a_hint_never_repeats_what_failed(trial, bed, said_again):
    """C16: what the memory would say with a failed value in it is left out."""
    called = calls(("measure", {"bed": bed}, "call_1"))
    shown = trial.request([*FIRST, called, result()], tools(), [FROZEN])
    assert hints(shown) == [True]
    assert ("moist" in shown[-1]["content"]) == said_again


def test_a_placeholder_that_was_copied_is_said_and_counted(trial):
    """In a call that failed; in one that did not it is only counted."""
    talk = [
        *FIRST,
        calls(("water", {"bed": "<bed>"}, "call_1"), ("measure", {"bed": "<bed>"}, "call_2")),
        result("water", "call_1", "None"),
        result("measure", "call_2"),
    ]
    shown = trial.request(talk, tools(), [None, FROZEN])
    assert hints(shown) == [False, True]
    assert "<bed> stands for a value that was left out" in shown[-1]["content"]
    assert trial.log().placeholders == 2
