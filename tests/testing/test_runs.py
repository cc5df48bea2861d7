"""The made-up runs are what the acceptance cases say they are."""

from __future__ import annotations

import json

from amd.testing import openai_chat, run


def test_a_run_has_the_shape_that_the_cases_count_on() -> None:
    """Three turns of cd, mv, wc, one a step, each with its own observation, then a step that is text only."""
    trajectory = run(2)
    assert [call.name for call in trajectory.calls] == ["cd", "mv", "wc"] * 3
    assert [len(turn.steps) for turn in trajectory.turns] == [4, 4, 4]
    assert trajectory.turns[1].user == "Turn 1 of task 2: move report_2.txt into folder_2 and count word_15"
    assert trajectory.turns[1].steps[-1].text == "Done with turn 1."
    observation = json.loads(trajectory.turns[1].steps[2].calls[0].observation)["current_working_directory"]
    assert observation == "t1s2 " + "x" * 200
    assert trajectory.calls[2].arguments == {"folder": "folder_2", "n": 2}
    assert trajectory.tools is not None
    assert [tool.name for tool in trajectory.tools] == ["cd", "mv", "wc", "pwd"]
    assert trajectory.outcome.success is True


def test_two_tasks_are_two_runs_and_one_task_is_one() -> None:
    """A run is a function of its number."""
    assert run(1) == run(1)
    assert run(1).sha256 != run(2).sha256
    assert run(1).task.family != run(2).task.family


def test_turns_calls_and_observations_can_be_chosen() -> None:
    """D02: a run in which every call fails says so in every call."""
    trajectory = run(0, turns=2, calls=4, observe=lambda turn, step: '{"error":"No such directory"}')
    assert [call.name for call in trajectory.calls] == ["cd", "mv", "wc", "cd"] * 2
    assert not any(call.ok for call in trajectory.calls)


def test_the_chat_form_holds_the_same_run() -> None:
    """Every user text, call and observation is there, with ids that pair them."""
    trajectory = run(1)
    entry = json.loads(json.dumps(openai_chat(trajectory)))
    assert (entry["task_id"], entry["family"], entry["score"]) == ("multi_turn_base_1", "multi_turn_1", 1.0)
    users = [message["content"] for message in entry["messages"] if message["role"] == "user"]
    assert users == [turn.user for turn in trajectory.turns]
    answers = {m["tool_call_id"]: m["content"] for m in entry["messages"] if m["role"] == "tool"}
    asked = [call for m in entry["messages"] for call in m.get("tool_calls", [])]
    assert [answers[call["id"]] for call in asked] == [call.observation for call in trajectory.calls]
    assert [json.loads(call["function"]["arguments"]) for call in asked] == [c.arguments for c in trajectory.calls]
    assert [tool["function"]["name"] for tool in entry["tools"]] == ["cd", "mv", "wc", "pwd"]


def test_an_unscored_run_has_no_score() -> None:
    """The difference between failed and unscored survives."""
    assert openai_chat(run(0, success=None))["score"] is None
    assert openai_chat(run(0, success=False))["score"] == 0.0
