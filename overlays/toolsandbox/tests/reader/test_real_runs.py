"""Runs that the real harness made, where a folder of them is named; the figures were counted by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from run_folders import items, notes, runs

from amd.build import admit

ROOT = os.environ.get("AMD_TOOLSANDBOX_RUNS", "")
pytestmark = pytest.mark.skipif(not ROOT, reason="AMD_TOOLSANDBOX_RUNS names no folder of real runs")

# Scenario -> turns, calls, failed calls.
TEACHER = {
    "cellular_off": (1, 1, 0),
    "cellular_off_3_distraction_tools_tool_description_scrambled": (1, 1, 0),
    "find_days_till_holiday_insufficient_information": (1, 2, 0),
    "find_days_till_holiday_wifi_off": (1, 5, 1),
    "remove_contact_by_phone": (1, 2, 0),
    "remove_contact_by_phone_all_tools": (1, 2, 0),
    "remove_contact_by_phone_no_remove_contact_insufficient_information": (1, 0, 0),
    "search_relationship_with_phone_number": (1, 15, 15),
    "send_message_with_contact_content_cellular_off": (1, 4, 1),
    "send_message_with_contact_content_cellular_off_multiple_user_turn": (2, 4, 1),
    "turn_on_location_low_battery_mode": (1, 4, 2),
    "turn_on_wifi_low_battery_mode": (1, 3, 1),
    "turn_on_wifi_low_battery_mode_3_distraction_tools_tool_name_scrambled": (1, 3, 1),
    "update_contact_relationship_with_relationship": (1, 3, 0),
    "wifi_off": (1, 2, 1),
    "wifi_off_3_distraction_tools_arg_type_scrambled": (1, 2, 1),
}


def run_of(folder, task_id):
    """One scenario's run."""
    (run,) = [run for run in runs(Path(ROOT) / folder) if run.task.task_id == task_id]
    return run


@pytest.mark.parametrize(
    ("folder", "admitted", "refused"),
    [
        ("teacher", 14, {"failed": 2}),
        ("same", 3, {}),
        ("dead", 0, {"inference_error": 2}),
        ("nogit", 0, {"unscored": 1}),
        (".", 14, {"failed": 2, "inference_error": 2, "unscored": 1, "worse_trial": 3}),
    ],
)
def test_admitted_and_refused(folder, admitted, refused):
    """Each folder, and all together."""
    gate = admit(items(Path(ROOT) / folder))
    assert (len(gate.admitted), gate.refused) == (admitted, refused)


def test_turns_calls_and_errors():
    """Of every scenario; the names are the tools' own where the agent knew scrambled ones."""
    found = runs(Path(ROOT) / "teacher")
    assert {
        run.task.task_id: (len(run.turns), len(run.calls), sum(not c.ok for c in run.calls)) for run in found
    } == TEACHER
    assert {c.name for run in found for c in run.calls if "wifi" in run.task.task_id} >= {"set_wifi_status"}
    assert notes(Path(ROOT) / "teacher") == {"message_limit": 1}


def test_d17_permuted_results_go_to_their_own_calls():
    """D17: the harness answered two parallel calls in the order that failed."""
    step = run_of("teacher", "turn_on_location_low_battery_mode").turns[0].steps[0]
    assert [(c.name, c.ok) for c in step.calls] == [
        ("set_low_battery_mode_status", True),
        ("set_location_service_status", False),
    ]


def test_ids_that_repeat_and_names_that_are_scrambled():
    """The same turns as with ids of their own, and as with the tools' own names; only the ids differ."""
    plain = run_of("teacher", "turn_on_wifi_low_battery_mode")
    scrambled = run_of("teacher", "turn_on_wifi_low_battery_mode_3_distraction_tools_tool_name_scrambled")
    same = run_of("same", "turn_on_wifi_low_battery_mode")
    shape = [(c.name, c.arguments, c.observation, c.ok) for c in plain.calls]
    for other in (scrambled, same):
        assert [(c.name, c.arguments, c.observation, c.ok) for c in other.calls] == shape
    assert {c.call_id for c in same.calls} == {"call_0"}
