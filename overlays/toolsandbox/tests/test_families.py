"""Families from names alone."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd_toolsandbox.families import base_of, family
from amd_toolsandbox.family_table import FAMILIES

SCRAMBLED = ["tool_name", "tool_description", "arg_type", "arg_description"]
SUFFIXES = [
    "",
    "_3_distraction_tools",
    "_10_distraction_tools",
    "_all_tools",
    *(f"_3_distraction_tools_{what}_scrambled" for what in SCRAMBLED),
]
NAMES = [base + suffix for base in FAMILIES for suffix in SUFFIXES]


def test_1032_names_129_bases_40_families():
    """Every name leads to its base and the base's family."""
    assert len(set(NAMES)) == 1032
    assert len({base_of(name) for name in NAMES}) == len(FAMILIES) == 129
    assert len({family(name) for name in NAMES}) == 40


@given(base=st.sampled_from(sorted(FAMILIES)))
def test_the_eight_variants_of_a_base_are_one_family(base):
    """Excluding a scenario by its name alone would show its seven siblings."""
    assert {family(base + suffix) for suffix in SUFFIXES} == {FAMILIES[base]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("remove_contact_by_phone", "remove_contact_by_phone_no_remove_contact_insufficient_information"),
        ("find_days_till_holiday", "find_days_till_holiday_wifi_off_alt"),
        ("add_reminder_content_and_date_and_time", "add_reminder_content_and_week_delta_and_time"),
        ("search_message_with_recency_latest", "search_message_with_recency_oldest"),
        ("convert_currency", "convert_currency_canonicalize"),
    ],
)
def test_what_shares_a_circumstance_or_a_text_is_one_family(one, other):
    """By name, by first message, by brief; a neighbour is not."""
    assert family(one) == family(other)
    assert family("wifi_off") != family("cellular_off")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "wifi",
        "wifi_off_all_tools_all_tools",
        "wifi_off_3_distraction_tools_arg_name_scrambled",
        "wifi_off_20_distraction_tools",
        "wifi_off\n",
        "wifi_off_all_tools\n",
        "Wifi_off",
        "_all_tools",
    ],
)
def test_a_name_that_the_benchmark_lacks_has_no_family(name):
    """A family is never guessed."""
    assert family(name) is None


def test_families_need_nothing_but_the_standard_library():
    """``amd ask`` loads this module to know a family: nothing heavy may hang on it."""
    heavy = ("tool_sandbox", "pydantic", "rich")
    code = f"import amd_toolsandbox.families, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_entry_points_lead_here():
    """Other readers find the families, and the command line the reader, by the benchmark's name."""
    found = {entry.group: entry.load() for entry in entry_points(name="toolsandbox")}
    assert found["amd.families"] is family
    assert found["amd.traces"].name == "toolsandbox"
