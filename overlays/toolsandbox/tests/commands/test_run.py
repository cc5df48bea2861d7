"""How ``run`` ends: with which exit code, and with what in its one line."""

from __future__ import annotations

import json

import pytest
from garden import BASES, row, summary

from amd.errors import AmdError
from amd_toolsandbox.commands import run as command
from amd_toolsandbox.commands.options import words
from amd_toolsandbox.run import Run
from amd_toolsandbox.standing import standing

A, B, C, D = BASES


@pytest.fixture
def tell(run_settings, tmp_path):
    """Says how a run of four scenarios with these rows stands: what it raises, if it does."""

    def call(*rows, machine=True):
        run = Run(tmp_path / "run")
        run.begin(run_settings())
        summary(run, *rows)
        command._tell(run, standing(run), json=machine)

    return call


@pytest.mark.parametrize(
    ("fault", "code", "told"),
    [
        (
            "APIConnectionError",
            3,
            "1 of 4 scenarios were ended by a service, .* wifi_off: APIConnectionError",
        ),
        ("ClientError", 3, "ended by a service"),
        ("ConfigError", 1, "1 of 4 scenarios were ended by amd, the first is wifi_off: ConfigError"),
        ("DigestDoesNotMatch", 1, "ended by amd"),
        ("LeakageError", 4, "ended by amd"),
    ],
)
def test_a_fault_has_the_exit_code_of_its_kind(tell, capsys, fault, code, told):
    """The figures are printed before it, and the line says what to do."""
    with pytest.raises(AmdError, match=told) as caught:
        tell(row(A, 0.0, fault), row(B), row(C, 0.0, "KeyError"), row(D))
    assert caught.value.exit_code == code
    assert "run the same command again" in caught.value.next_step
    said = json.loads(capsys.readouterr().out)
    assert said["infrastructure"] == {A: fault}
    assert said["scored"] == {B: 1.0, C: 0.0, D: 1.0}
    assert said["left"] == [A]


def test_a_leak_comes_before_every_other_fault(tell):
    """Whichever was the first."""
    with pytest.raises(AmdError, match="3 of 4 scenarios were ended by amd") as caught:
        tell(row(A, 0.0, "APIConnectionError"), row(B, 0.0, "LeakageError"), row(C, 0.0, "ConfigError"), row(D))
    assert caught.value.exit_code == 4


def test_scenarios_without_a_score_are_no_success(tell):
    """The harness ended without a row of them."""
    with pytest.raises(AmdError, match=f"2 of 4 scenarios have no score, {C} first") as caught:
        tell(row(A), row(B))
    assert caught.value.exit_code == 1
    assert "harness.log" in caught.value.next_step


def test_a_run_that_is_done_says_what_comes_next(tell, capsys):
    """A student's own failures are part of it."""
    tell(row(A, 0.0, "KeyError"), row(B), row(C), row(D, 0.3), machine=False)
    out = capsys.readouterr().out
    assert "4 of 4" in out
    assert "next: python -m amd_toolsandbox report" in out


def test_names_come_one_by_one_or_by_commas():
    """In their order; nothing given is no choice."""
    assert words(["a, b", "c,"]) == ("a", "b", "c")
    assert words(None) is None
    assert words([]) is None
