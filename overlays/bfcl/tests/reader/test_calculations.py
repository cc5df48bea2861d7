"""Replay of a calculator: what an ordinary number needs no time for, another one takes for ever."""

from __future__ import annotations

import pytest

from amd.errors import TrajectoryError
from amd_bfcl.backends import Backend, to_python
from amd_bfcl.tasks import entry

MATHS = [
    ("power", {"base": 9, "exponent": 99_999_999_999}),
    ("power", {"base": 10_001, "exponent": 2}),
    ("power", {"base": 9.5e9, "exponent": 2}),
    ("power", {"base": 2, "exponent": -99_999_999_999}),
    ("round_number", {"number": 5, "decimal_places": -99_999_999_999}),
    ("square_root", {"number": 2, "precision": 99_999_999_999}),
    ("logarithm", {"value": 7, "base": 2, "precision": 99_999_999_999}),
    ("logarithm", {"value": 7, "base": 2, "precision": "99999999"}),
    ("logarithm", {"value": 7, "base": 2, "precision": "9_9_9_9_9_9"}),
    ("logarithm", {"value": 7, "base": 2, "precision": "٩٩٩٩٩٩٩"}),
    ("logarithm", {"value": "1e-99999999999", "base": 2, "precision": 5}),
    ("sum_values", {"numbers": [1, [2, {"x": 10_001}]]}),
]
FINE = [
    ("power", {"base": 2, "exponent": 10}),
    ("power", {"base": 10_000, "exponent": 10_000}),
    ("square_root", {"number": 2, "precision": 10_000}),
    ("logarithm", {"value": "9999.5", "base": "-2", "precision": "30"}),
    ("sum_values", {"numbers": [10_000, -10_000, 0.5]}),
    ("imperial_si_conversion", {"value": 3, "unit_in": "km", "unit_out": "miles"}),
    ("mean", {"numbers": [True, None, "a"]}),
    ("echo", {"content": 99_999_999_999}),
    ("tail", {"file_name": "a", "lines": "99999999999"}),
]


@pytest.fixture
def calculator(package):
    """A task with a calculator and a file system."""
    with Backend(entry("multi_turn_base_15", package)) as backend:
        yield backend


@pytest.mark.parametrize(("name", "arguments"), MATHS)
def test_a_calculation_without_end_is_refused(calculator, name, arguments):
    """A number beyond ten thousand, wherever and however it is written; the message has none of it."""
    with pytest.raises(TrajectoryError, match=f"'{name}' cannot be replayed: a number is beyond 10000"):
        calculator.checked(to_python(name, arguments))


@pytest.mark.parametrize(("name", "arguments"), FINE)
def test_an_ordinary_calculation_is_run(calculator, name, arguments):
    """Positive control: up to that number, in units, and whatever the other tools are given."""
    assert calculator.checked(to_python(name, arguments)) == (name, arguments)
    assert calculator.execute((name, arguments))
