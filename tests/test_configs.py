"""The configurations that the README names: each can be read, and says nothing that nobody knows."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from amd.arms import Arm

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
ARMS = sorted((CONFIGS / "bfcl").glob("*.toml"))
STUDENTS = sorted((CONFIGS / "students").glob("*.toml"))
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
