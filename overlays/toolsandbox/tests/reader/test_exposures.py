"""Whether memory helped: the harness records nothing of it, so our own log beside the run does."""

from __future__ import annotations

import json

import pytest
from run_folders import READER, context, items, runs, write

import amd
from amd.arms import Arm, RunLog
from amd.build import admit
from amd.traces import reader_options
from amd_toolsandbox.exposures import exposures_file

NAME = "agent_student_user_gpt_05_13_2031_08_00_00"
COUNTS = {"calls": 1, "failed_calls": 0, "hints": 0, "placeholders": 0, "system_changes": 0}


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """A memory of one run, so that other families are shown it."""
    folder = tmp_path_factory.mktemp("memory")
    read = READER.read(
        [write(folder / NAME, {"cellular_off": context(asked="Please water bed 7 in the garden")})],
        reader_options(READER, {}),
    )
    amd.build_memory(read, folder / "memory", embedder=amd.load_embedder("hash"))
    return folder / "memory"


def log(run, memory=None):
    """What our agent writes of a run: with a memory it asked, without one it could not."""
    arm = Arm.of({"memory": str(memory), "protocol": "self-excluded"}) if memory else Arm(method="none")
    with arm.open() as opened:
        session = opened.session(run.task, tools=None, call_format="json") if memory else None
        if session:
            session.before_task(run.task.instruction)
        return RunLog.of(opened, run.task, session, **COUNTS).as_json()


def ours(folder, value):
    """A run directory of ours with one scenario and what lies in its log (``None``: no file)."""
    write(folder / NAME, {"wifi_off": context()})
    (folder / "amd-run.json").write_text("{}", encoding="utf-8")
    if value is not None:
        path = exposures_file(folder, "wifi_off")
        path.parent.mkdir()
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return folder


def assisted(folder, **options):
    """What the reader says."""
    (run,) = runs(folder, **options)
    return run.source.memory_assisted


def test_the_log_tells(tmp_path, memory):
    """Shown a record: assisted, and refused; without memory: not, and admitted, as any teacher's run is."""
    (run,) = runs(write(tmp_path / "plain" / NAME, {"wifi_off": context()}))
    assert run.source.memory_assisted is False
    assert assisted(ours(tmp_path / "without", {"amd": log(run)})) is False
    shown = ours(tmp_path / "with", {"amd": log(run, memory)})
    assert assisted(shown) is True
    assert admit(items(shown)).refused == {"memory_assisted": 1}


@pytest.mark.parametrize(
    "value", [None, "", "{", "[]", "{}", {"amd": {}}, {"amd": {"format": "amd-run/9"}}, "[" * 9999]
)
def test_no_log_or_a_broken_one_leaves_it_open(tmp_path, value):
    """Refused unless told otherwise."""
    folder = ours(tmp_path, value)
    assert assisted(folder) is None
    assert admit(items(folder)).refused == {"memory_assisted": 1}
    assert len(admit(items(folder), assume_unassisted=True).admitted) == 1


def test_the_log_of_another_scenario_says_nothing(tmp_path):
    """It was copied, or renamed."""
    (other,) = runs(write(tmp_path / "other" / NAME, {"cellular_off": context()}))
    assert assisted(ours(tmp_path / "run", {"amd": log(other)})) is None


def test_a_log_needs_no_settings_beside_it(tmp_path):
    """A log is believed where only the exposures were kept."""
    (run,) = runs(write(tmp_path / "plain" / NAME, {"wifi_off": context()}))
    folder = ours(tmp_path / "run", {"amd": log(run)})
    (folder / "amd-run.json").unlink()
    assert assisted(folder, kind="student") is False


def test_a_student_of_another_harness_may_have_had_memory(tmp_path):
    """A teacher's folder without any sign of ours had none of ours; of a student's nobody knows."""
    folder = write(tmp_path / NAME, {"wifi_off": context()})
    assert assisted(folder) is False
    assert assisted(folder, kind="student") is None


def test_a_model_with_a_slash_in_its_name(tmp_path):
    """The run directory is above the first of the folders that its name makes."""
    nested = NAME.replace("student", "org/student")
    write(tmp_path / nested, {"wifi_off": context()})
    assert assisted(tmp_path) is False
    (tmp_path / "amd-run.json").write_text("{}", encoding="utf-8")
    assert assisted(tmp_path) is None


def test_memory_in_a_message_proves_itself(tmp_path, memory):
    """Our agent keeps it out of the saved messages; where it stands in one, it was shown."""
    (run,) = runs(write(tmp_path / "plain" / NAME, {"wifi_off": context()}))
    with amd.open_memory(memory) as opened:
        block = str(amd.Session(opened, viewer=amd.self_excluded(run.task)).before_task(run.task.instruction))
    assert "Call `water`" in block
    (shown,) = runs(write(tmp_path / "shown" / NAME, {"wifi_off": context(asked=f"{block}\n\nWater it")}))
    assert shown.source.memory_assisted is True
    assert shown.task.instruction == "Water it"
