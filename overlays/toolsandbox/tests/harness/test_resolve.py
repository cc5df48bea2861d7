"""Scenarios by name and by pattern, in the real harness."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from amd_toolsandbox.family_table import FAMILIES

# In a process of its own: importing the harness warns, and here warnings are errors.
ASK = """
import json, sys
from amd.errors import ConfigError
from amd_toolsandbox.harness import resolve
told = []
for names in json.loads(sys.argv[1]):
    try:
        told.append(list(resolve(names)))
    except ConfigError as error:
        told.append([error.exit_code, error.message, error.next_step, error.fields])
print(json.dumps(told))
"""
ASKED = {
    "none": None,
    "names": ["wifi_off_all_tools", "cellular_off"],
    "pattern": ["find_days_*_all_tools"],
    "one letter": ["wifi_of?"],
    "both, overlapping": ["wifi_off", "get_w*", "wifi_off*"],
    "nothing": ["wifi_off", "water_*"],
    "case": ["WIFI_*"],
    "misspelt": ["wifi_of"],
    "no words": [],
}


@pytest.fixture(scope="module")
def told():
    """What each of them gives: names, or the parts of an error."""
    command = [sys.executable, "-W", "ignore", "-c", ASK, json.dumps(list(ASKED.values()))]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=240)
    return dict(zip(ASKED, json.loads(done.stdout), strict=True))


def test_nothing_given_is_all_of_them(told):
    """1032, eight of each base; a list without a name is none of them."""
    assert len(told["none"]) == len(set(told["none"])) == 8 * len(FAMILIES) == 1032
    assert told["no words"] == []


def test_names_are_given_in_their_order(told):
    """As they were asked for."""
    assert told["names"] == ASKED["names"]


def test_a_pattern_is_all_that_match_it(told):
    """And nothing else; ``?`` is one letter."""
    expected = {name for name in told["none"] if name.startswith("find_days_") and name.endswith("_all_tools")}
    assert set(told["pattern"]) == expected
    assert len(told["pattern"]) == len(expected) >= 8
    assert told["one letter"] == ["wifi_off"]


def test_a_scenario_that_two_words_name_is_given_once(told):
    """Where the first of them stands."""
    found = told["both, overlapping"]
    assert found[0] == "wifi_off"
    assert len(found) == len(set(found)) == 8 + 8
    assert {name.split("_")[0] for name in found} == {"wifi", "get"}


@pytest.mark.parametrize("asked", ["nothing", "case", "misspelt"])
def test_a_pattern_that_matches_nothing_is_an_error(told, asked):
    """A usage error that names it, and not those that match; the nearest names are told where there are some."""
    code, message, next_step, fields = told[asked]
    wrong = ASKED[asked][-1]
    assert code == 2
    assert repr(wrong) in message
    assert fields == {"unknown": [wrong]}
    assert "wifi_off" in next_step if asked == "misspelt" else next_step
