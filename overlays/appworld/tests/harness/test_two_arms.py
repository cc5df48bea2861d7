"""The scripted student in real worlds, without memory and with what it left: two arms from end to end."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from amd_appworld.oracle.player import Player
from amd_appworld.tasks import family, is_test


@pytest.fixture(scope="module")
def shown(memory, root, cli, served, words, asked_of):
    """The arm with the memory: how it ended, and what was asked in each task."""
    tasks = ",".join(Player(root).tasks)
    with served() as server:
        done = cli(*words(server, "amd", "--memory", memory, "--tasks", tasks, "-w", "2"))
    assert (done.code, done.err) == (0, "")
    return done, asked_of(server)


def logs_of(root, experiment):
    """What each task of a run was shown."""
    files = (root.experiment(experiment) / "exposures").glob("*.json")
    return {path.stem: json.loads(path.read_text())["amd"] for path in files}


def test_each_task_is_done_rightly_in_two_worlds_at_once(none, root):
    """By AppWorld's own evaluation; each worker had a server."""
    tasks = Player(root).tasks
    assert none.json["success"] == dict.fromkeys(tasks, True)
    assert none.json["scenarios"]["right"] == len({family(task) for task in tasks})
    assert len(list(root.experiment("none").glob("server-*.log"))) == 2


def test_appworlds_own_evaluation_takes_the_folder_and_agrees(none, root):
    """The same figures, task by task."""
    command = [Path(os.environ["AMD_APPWORLD_PYTHON"]).parent / "appworld", "evaluate", "none", "train"]
    subprocess.run([*command, "--root", root.path], check=True, capture_output=True, timeout=120)
    folder = root.experiment("none") / "evaluations"
    theirs = json.loads((folder / "train.json").read_text())["individual"]
    ours = json.loads((folder / "amd.json").read_text())["individual"]
    assert set(theirs) == set(root.datasets["train"])
    assert theirs == {task: ours[task] for task in theirs}
    for path in folder.glob("train.*"):
        path.unlink()


def test_what_was_written_is_read_back(none, root, cli, tmp_path):
    """Each run of a train task, as an answer key's; test tasks are refused."""
    done = cli("read", "appworld", root.experiment("none"), "--out", tmp_path / "runs.jsonl", module="amd")
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().split("\n") if line]
    tasks = [task for task in Player(root).tasks if not is_test(root.split(task))]
    assert {line["task"]["task_id"] for line in lines} == set(tasks)
    assert {line["source"]["kind"] for line in lines} == {"oracle"}
    assert {line["outcome"]["success"] for line in lines} == {True}
    said = [step["text"] for line in lines for turn in line["turns"] for step in turn["steps"]]
    # The cells print the names of the apps beside their passwords: the words about these apps stay.
    assert all(text.startswith("Next I ") and "<" not in text for text in said)
    assert all(any(app in text for text in said) for app in ("simple_note", "venmo"))


def test_a_401_is_hinted_and_then_solved(shown, root):
    """The hint stands behind the output, and names the API as a cell writes it."""
    done, asked = shown
    hinted = {task: log for task, log in logs_of(root, "amd").items() if log["hints"]}
    assert hinted
    assert all(done.json["success"][task] for task in hinted)
    outputs = [each["content"] for messages in asked.values() for each in messages if each["role"] == "user"]
    found = [text for text in outputs if "status code is 401" in text and "<memory_hint>" in text]
    assert found
    assert all("apis." in text.partition("<memory_hint>")[2] for text in found)
    assert all(text.index("\n```\n\n<memory_hint>") for text in found)


def test_an_unknown_api_gets_the_nearest_of_its_app(shown):
    """And of no other app."""
    _, asked = shown
    outputs = [each["content"] for messages in asked.values() for each in messages if each["role"] == "user"]
    found = [text for text in outputs if "No API named" in text and "nearest names" in text]
    assert found
    for text in found:
        app = text.partition("found in the ")[2].partition(" app")[0]
        named = text.partition("nearest names: ")[2].split(".\n")[0].split(", ")
        assert all(name.startswith(f"apis.{app}.") for name in named)


def test_no_task_sees_its_own_scenario_and_twins_see_each_other(shown, root):
    """A guard that always says no would pass the first."""
    seen = {
        task: {name for exposure in log["exposures"] for name in exposure.get("families", ())}
        for task, log in logs_of(root, "amd").items()
    }
    assert all(family(task) not in names for task, names in seen.items())
    assert sum(bool(names) for names in seen.values()) >= 3


def test_the_report_of_both(shown, root, cli):
    """Nothing leaked; both can be compared; a leak that is planted ends with exit code 4."""
    none, amd = root.experiment("none"), root.experiment("amd")
    done = cli("report", none, amd)
    assert (done.code, done.err) == (0, "")
    path = next(path for path in (amd / "exposures").glob("*.json") if "record_ids" in path.read_text())
    before = path.read_text()
    value = json.loads(before)
    exposure = next(each for each in value["amd"]["exposures"] if each.get("families"))
    exposure["families"] = [value["amd"]["family"]] * len(exposure["families"])
    path.write_text(json.dumps(value))
    assert cli("report", amd).code == 4
    path.write_text(before)


def test_a_memory_that_shows_nothing_changes_no_byte(root, cli, served, words, asked_of):
    """One of the own scenario alone: the requests are those of the method ``none``."""
    task = root.datasets["train"][0]
    memory = root.path / "own"
    asked = []
    for experiment, options in (("bare", ("--method", "none")), ("own", ("--memory", memory))):
        with served() as server:
            done = cli(*words(server, experiment, *options, "--tasks", task))
        assert done.code == 0, done.err
        asked.append(asked_of(server))
        cli("build", "appworld", root.experiment("bare"), "--out", memory, "--embedder", "hash", module="amd")
    assert asked[0] == asked[1]
    (log,) = logs_of(root, "own").values()
    assert sum(exposure.get("excluded", {}).get("own_family", 0) for exposure in log["exposures"]) > 0
