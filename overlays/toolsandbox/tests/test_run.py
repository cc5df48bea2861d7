"""A run directory: its settings, what may be added to it, its lock and its files."""

from __future__ import annotations

import json

import pytest
from garden import BASES, row, summary

import amd
from amd.arms import RUN_SETTINGS
from amd.errors import ConfigError
from amd_toolsandbox.run import Run, Settings


def test_settings_come_back_as_they_went(garden, run_settings, tmp_path):
    """All fields, the arm and its paths among them."""
    settings = run_settings(
        agent={"name": "näme/with ünicode 日本", "base_url": "http://127.0.0.1:1/v1"},
        arm=garden.arm(split=tmp_path / "split.json", mode="dynamic"),
        memory_content="0" * 64,
        memory_seal="1" * 64,
        memory_from=("a teacher (teacher)", "another (oracle)"),
    )
    run = Run(tmp_path / "new" / "run")
    run.begin(settings)
    assert run.settings == Run(run.path).settings == settings
    assert Settings.model_validate_json(settings.model_dump_json()) == settings


def test_settings_say_with_what_and_when(run_settings):
    """Without being told: this version, and the moment in UTC. No key is in them."""
    value = json.loads(run_settings().model_dump_json())
    assert not any("key" in name for name in (*value, *value["agent"], *value["user"]))
    del value["amd"], value["created_at"]
    settings = Settings.model_validate(value)
    assert settings.amd == amd.__version__
    assert settings.created_at.endswith("+00:00")


COUNTS = [
    ("agent", {"name": "other", "base_url": "x"}, "agent: 'student', not 'other'"),
    ("user", {"name": "other", "base_url": "x"}, "user: 'user', not 'other'"),
    ("memory_content", "2" * 64, "memory_content: '000"),
    ("memory_seal", "3" * 64, "memory_seal: '111"),
    ("temperature", 0.5, "temperature: None, not 0.5"),
    ("seed", 1, "seed: None, not 1"),
    ("arm", {"memory": "m", "mode": "dynamic"}, "arm.mode: 'static', not 'dynamic'"),
    ("arm", {"memory": "m", "protocol": "in-sample"}, "arm.protocol: 'self-excluded', not 'in-sample'"),
    ("arm", {"memory": "m", "layout": "turns"}, "arm.layout: 'block', not 'turns'"),
    ("arm", {"memory": "m", "function_tokens": 7}, "arm.function_tokens: "),
    ("arm", {"method": "none"}, "arm.method: 'amd', not 'none'"),
]
COUNTS_NOT = [
    ("created_at", "2032-01-01T00:00:00+00:00"),
    ("agent", {"name": "student", "base_url": "http://127.0.0.1:9/v1"}),
    ("memory_from", ("somebody",)),
    ("timeout", 7.0),
    ("arm", {"memory": "elsewhere", "pin": "4" * 64, "embedder": "onnx:m", "embedder_url": "http://127.0.0.1:1/v1"}),
]


@pytest.fixture
def begun(run_settings, tmp_path):
    """A run that the harness has begun."""
    run = Run(tmp_path)
    run.begin(run_settings(arm={"memory": "m"}, memory_content="0" * 64, memory_seal="1" * 64))
    summary(run)
    return run


@pytest.mark.parametrize(("field", "value", "told"), COUNTS)
def test_scenarios_of_another_arm_are_not_added_to(begun, field, value, told):
    """What makes scores unlike each other; the message says the field and both values, the old settings stay."""
    before = begun.settings
    with pytest.raises(ConfigError, match=r"has scenarios of another arm: .*--out") as caught:
        begun.begin(Settings.model_validate({**before.model_dump(), field: value}))
    assert any(each.startswith(told) for each in caught.value.fields["differences"])
    assert begun.settings == Run(begun.path).settings == before


@pytest.mark.parametrize(("field", "value"), COUNTS_NOT)
def test_what_may_change_between_two_commands_of_one_run(begun, field, value):
    """The control: an endpoint or a memory may move, and the run goes on under its first date."""
    before = begun.settings
    after = Settings.model_validate({**before.model_dump(), field: value})
    begun.begin(after)
    assert begun.settings == after.model_copy(update={"created_at": before.created_at})


def test_scenarios_are_added_and_never_taken_out(begun):
    """What was played stays in the figures, in its order."""
    wish = begun.settings.model_copy(update={"scenarios": ("get_cellular", BASES[1])})
    begun.begin(wish)
    assert begun.settings.scenarios == Run(begun.path).settings.scenarios == (*BASES, "get_cellular")


def test_settings_without_a_harness_folder_may_be_anything(run_settings, tmp_path):
    """A first attempt that came to nothing is no arm; a folder of a model with a / in its name is one."""
    run = Run(tmp_path)
    run.begin(run_settings())
    run.begin(run_settings(agent={"name": "other", "base_url": "x"}))
    assert run.settings.agent.name == "other"
    summary(run, row(BASES[0]), model="org/model")
    with pytest.raises(ConfigError, match="agent: 'other', not 'student'"):
        run.begin(run_settings())


def test_scenarios_whose_settings_are_gone_are_not_added_to(begun):
    """Nobody knows which arm they are of."""
    before = begun.settings
    (begun.path / RUN_SETTINGS).unlink()
    with pytest.raises(ConfigError, match=r"is no run: it has no amd-run\.json"):
        Run(begun.path).begin(before)
    assert not (begun.path / RUN_SETTINGS).exists()
