"""The configurations that the README names: each can be read, and says nothing that nobody knows."""

from __future__ import annotations

import importlib
import inspect
import tomllib
from pathlib import Path
from typing import Any

import pytest

from amd.arms import Arm
from amd.experiment.plan import read_experiment
from amd.experiment.readiness import commands_of
from amd.methods import method_named
from amd.traces import readers

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
ARMS = sorted((CONFIGS / "bfcl").glob("*.toml"))
STUDENTS = sorted((CONFIGS / "students").glob("*.toml"))
EXPERIMENTS = sorted((CONFIGS / "experiments").glob("*.toml"))
COMMANDS = {
    "bfcl": ("amd_bfcl.commands.generate", "generate"),
    "toolsandbox": ("amd_toolsandbox.commands.run", "run"),
    "appworld": ("amd_appworld.commands.run", "run"),
}
VLLM = {"repo", "tool_call_parser", "reasoning_parser", "max_model_len", "chat_template", "extra"}


def read(path: Path) -> dict[str, Any]:
    """A configuration."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def test_the_configurations_are_there() -> None:
    """Those that the documentation names."""
    assert {path.stem for path in ARMS} == {"none", "amd", "amd-dynamic", "amd-replace", "in-sample"}
    assert {path.stem for path in STUDENTS} == {"qwen3-4b", "qwen3-8b", "llama-3.1-8b", "gemma-3-4b", "smollm2-135m"}


@pytest.mark.parametrize("path", ARMS, ids=lambda path: path.stem)
def test_an_arm_is_one_that_the_library_knows(path: Path) -> None:
    """Each setting is known and right, the file's name is true, and in-sample says what it is."""
    config = read(path)
    assert set(config) <= {"model", "base_url", "calling", "categories", "arm", "harness"}
    arm = Arm.of({"memory": "memory", **config["arm"]})
    assert (arm.method == "none") is (path.stem == "none")
    assert arm.excludes is (path.stem != "in-sample")
    assert arm.mode == {"amd-dynamic": "dynamic", "amd-replace": "replace"}.get(path.stem, "static")
    assert "memory" not in config["arm"]
    text = path.read_text(encoding="utf-8")
    assert ("IN-SAMPLE" in text and "never a result" in text) is (path.stem == "in-sample")


@pytest.mark.parametrize("path", STUDENTS, ids=lambda path: path.stem)
def test_a_student_is_served_as_it_is_asked_for(path: Path) -> None:
    """The served name is the file's, function calling has a parser, and the file says where its words are from."""
    config = read(path)
    assert set(config) == {"model", "calling", "vllm"}
    assert config["model"] == path.stem
    assert set(config["vllm"]) <= VLLM
    assert config["vllm"]["repo"].count("/") == 1
    assert {"fc": True, "prompting": False}[config["calling"]] is ("tool_call_parser" in config["vllm"])
    text = path.read_text(encoding="utf-8")
    assert "ocumentation of vLLM 0." in text
    assert "Not run on a GPU here." in text


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_experiment_has_its_controls(path: Path) -> None:
    """Without memory, drawn at random, and in-sample, which says what it is; the README names each file."""
    experiment = read_experiment(path)
    arms = experiment.arms()
    assert (arms["none"].method, arms["random"].method, arms["in-sample"].label) == ("none", "random", "IN-SAMPLE")
    assert {name.startswith("in-sample") for name, arm in arms.items() if not arm.excludes} == {True}
    assert not any(name.startswith("in-sample") for name, arm in arms.items() if arm.excludes)
    assert "IN-SAMPLE: an upper bound, never a result" in path.read_text(encoding="utf-8")
    assert path.stem in (CONFIGS.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_each_arm_has_its_control(path: Path) -> None:
    """Random records for the same method, of the same memory, at the same moments, laid out alike, in the same room."""
    arms = [arm for arm in read_experiment(path).arms().values() if arm.method != "none" and arm.excludes]

    def length(arm: Arm, method: str) -> Arm:
        return arm.model_copy(update={"method": method_named(method).name})

    drawn = [arm for arm in arms if method_named(arm.method).draws]
    for arm in arms:
        if arm not in drawn:
            assert length(arm, f"random-{arm.method}") in drawn, arm.method


def test_seeds_are_more_than_repetitions() -> None:
    """Who samples at a temperature near 0 repeats a run; the script of the small example needs none."""
    for path in EXPERIMENTS:
        experiment = read_experiment(path)
        assert experiment.seeds >= 2
        assert (experiment.tasks.get("temperature") == 0.7) is (path.stem != "bfcl-small"), path.stem


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_experiment_can_be_run(path: Path) -> None:
    """Its overlay's command knows every option, and each memory is built by the method that reads it."""
    experiment = read_experiment(path)
    module, name = COMMANDS[experiment.benchmark]
    known = set(inspect.signature(getattr(importlib.import_module(module), name)).parameters)
    built = {
        str(recipe.path): method_named(_option(recipe.build, "--method", "amd")).memory
        for recipe in experiment.memory.values()
    }
    for run in experiment.runs():
        assert {*run.arm_options, *run.student_options, *run.task_options} <= known
        commands_of(experiment.benchmark)(run.path, run.words())
    for arm in experiment.arms().values():
        tiers = {tier.name for tier in method_named(arm.method).tiers}
        if arm.memory is not None:
            assert tiers <= {tier.name for tier in method_named(built[str(arm.memory)]).tiers}
    assert all(recipe.build[0] in readers() for recipe in experiment.memory.values())
    assert {recipe.path for recipe in experiment.memory.values()} == {
        arm.memory for arm in experiment.arms().values() if arm.memory is not None
    }
    assert all(recipe.given for recipe in experiment.recipes())


def _option(words: tuple[str, ...], name: str, default: str) -> str:
    return words[words.index(name) + 1] if name in words else default
