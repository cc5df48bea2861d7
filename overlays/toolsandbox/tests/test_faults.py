"""Whose fault an exception is, by the name that the harness keeps of it."""

from __future__ import annotations

import openai
import pytest

from amd import errors
from amd_toolsandbox.faults import ours
from amd_toolsandbox.summary import INFRASTRUCTURE, OURS, Score


def score(exception):
    """A row that ended so."""
    return Score(name="wifi_off", exception_type=exception, similarity=0.0, minefield_similarity=0.0)


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_of_ours_is_no_score(name):
    """Also those that are added to the library one day."""
    assert score(name).infrastructure
    assert (name in OURS) != (name in INFRASTRUCTURE)


@pytest.mark.parametrize("name", sorted(INFRASTRUCTURE - {"ClientError", "RetryError"}))
def test_a_service_s_errors_are_those_of_the_client(name):
    """A name that the client does not have would match nothing."""
    assert issubclass(getattr(openai, name), openai.OpenAIError)


@pytest.mark.parametrize("name", [None, "KeyError", "JSONDecodeError", "ValueError", "BadRequestError"])
def test_a_model_s_own_errors_are_scores(name):
    """The control: a tool that is not there, arguments that are none, a history that a server cannot read."""
    assert not score(name).infrastructure


@pytest.mark.parametrize("fault", [OSError(28, "No space left"), KeyError("x"), AssertionError(), RecursionError()])
def test_whatever_fails_in_our_part_is_ours(fault):
    """A full disk must not look like a model's zero."""
    with pytest.raises(errors.AmdError, match="amd failed") as caught, ours():
        raise fault
    assert type(caught.value).__name__ in OURS
    assert caught.value.__cause__ is fault


def test_errors_of_ours_and_interrupts_go_through():
    """As they are."""
    for fault in (errors.LeakageError("x"), KeyboardInterrupt()):
        with pytest.raises(type(fault)) as caught, ours():
            raise fault
        assert caught.value is fault
