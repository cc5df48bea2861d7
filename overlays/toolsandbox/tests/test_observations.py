"""Addresses and faults of the machine: one answer for both sides."""

from __future__ import annotations

import pytest

from amd_toolsandbox.observations import is_environment_fault, without_addresses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<Expr at 0x7F1A5DEB2C90> and <Expr at 0x7f1a>", "<Expr at 0x…> and <Expr at 0x…>"),
        ("0x", "0x"),
        ("120x45", "120x45"),
        ("no address", "no address"),
        ("0x…", "0x…"),
    ],
)
def test_addresses(text, expected):
    """Each is replaced; what only looks like one is not; twice is once."""
    assert without_addresses(text) == expected
    assert without_addresses(expected) == expected


@pytest.mark.parametrize(
    ("exception", "fault"),
    [
        ("PermissionError: Please provide 'RAPID_API_KEY' somewhere", True),
        ("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x')", True),
        ("requests.exceptions.JSONDecodeError: Expecting value", True),
        ("PermissionError: Location service is not enabled.", False),
        ("ConnectionError: Wifi is not enabled", False),
        ("ValueError: 'RAPID_API_KEY'", False),
        ("", False),
        (None, False),
    ],
)
def test_faults_of_the_machine(exception, fault):
    """The service's key and its client; never the state of the simulated phone, nor the agent's mistakes."""
    assert is_environment_fault(exception) is fault
