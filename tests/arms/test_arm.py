"""The settings of an arm: typed, checked, and told in one line where they are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amd.arms import Arm
from amd.errors import ConfigError
from amd.session import Limits


def test_what_nobody_says() -> None:
    """The defaults are the paper's: all tiers, its own family hidden, asked once, 400, 800 and 400 tokens."""
    arm = Arm.of({"memory": "memory"})
    assert (arm.method, arm.protocol, arm.mode, arm.layout) == ("amd", "self-excluded", "static", "block")
    assert arm.limits == Limits(400, 800, 400, None)
    assert arm.excludes
    assert arm.label == "self-excluded"


def test_every_setting_has_a_description() -> None:
    """So that an overlay can offer each of them as an option."""
    assert all(field.description for field in Arm.model_fields.values())


def test_without_memory() -> None:
    """The method none needs no memory and drops one that is named; any other method needs it and says so."""
    where = {"embedder": "onnx:model", "embedder_url": "http://127.0.0.1:1/v1"}
    arm = Arm.of({"method": "none", "memory": "memory", "pin": "0" * 64, **where})
    assert (arm.memory, arm.pin, arm.embedder, arm.embedder_url) == (None, None, None, None)
    assert arm.label == "no memory"
    with pytest.raises(ConfigError, match="give --memory DIR, or --method none"):
        Arm.of({"method": "workflow"})


def test_in_sample_is_said_in_capitals() -> None:
    """An arm that hides nothing is labelled so."""
    arm = Arm.of({"memory": "memory", "protocol": "in-sample"})
    assert (arm.excludes, arm.label) == (False, "IN-SAMPLE")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"method": "amd+"}, "method: no method is called 'amd[+]'.* use amd, none, or a sum of"),
        ({"method": None}, "method: "),
        ({"memory": 7}, "memory: "),
        ({"protocol": "deployed"}, "protocol: "),
        ({"mode": "often"}, "mode: "),
        ({"layout": "prose"}, "layout: "),
        ({"workflow_tokens": -1}, "workflow_tokens: "),
        ({"subtask_tokens": "800"}, "subtask_tokens: "),
        ({"function_tokens": True}, "function_tokens: "),
        ({"model": "qwen"}, "model: .*; its settings are: method, memory, protocol"),
        ({"mode": "often", "layout": "prose"}, "mode: .*; layout: "),
    ],
)
def test_a_wrong_setting_is_named(values: dict[str, object], words: str) -> None:
    """Each of them, in one line, as a ConfigError and never as pydantic's own."""
    with pytest.raises(ConfigError, match=words) as caught:
        Arm.of({"memory": "memory", **values})
    assert "\n" not in str(caught.value)
    assert caught.value.fields["fields"] == [*values]


def test_what_contradicts_itself() -> None:
    """A split that is not named, and a mode that the layout has no block for."""
    with pytest.raises(ConfigError, match="give --split FILE"):
        Arm.of({"memory": "memory", "protocol": "cross-split"})
    with pytest.raises(ConfigError, match="mode 'replace' swaps a block"):
        Arm.of({"memory": "memory", "mode": "replace", "layout": "turns"})
    assert Arm.of({"memory": "memory", "mode": "replace"}).mode == "replace"


def test_an_arm_does_not_change() -> None:
    """Threads share it, and a run's settings are what the run was made with."""
    with pytest.raises(ValidationError, match="frozen"):
        Arm.of({"memory": "memory"}).mode = "dynamic"


@given(
    st.fixed_dictionaries(
        {"memory": st.just("memory"), "split": st.just("split.json")},
        optional={
            "method": st.sampled_from(["amd", "none", "workflow", "subtask+function"]),
            "protocol": st.sampled_from(["self-excluded", "cross-split", "in-sample"]),
            "mode": st.sampled_from(["static", "dynamic"]),
            "layout": st.sampled_from(["block", "turns"]),
            "workflow_tokens": st.integers(0, 9999),
            "tokenizer": st.none() | st.just("tokenizer.json"),
            "pin": st.none() | st.text(max_size=5),
        },
    )
)
def test_settings_are_kept_as_json(values: dict[str, Any]) -> None:
    """What a run writes down of its arm gives the same arm, and loses nothing that was said."""
    arm = Arm.of(values)
    dumped = arm.model_dump(mode="json")
    assert Arm.of(dumped) == arm
    dropped = {"memory", "pin"} if arm.method == "none" else set()
    assert {name: value for name, value in values.items() if name not in dropped}.items() <= dumped.items()
    assert arm.split == Path("split.json")


def test_paths_hold_in_every_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of memory, split, tokenizer and of an embedder's folder; nothing else changes."""
    monkeypatch.chdir(tmp_path)
    arm = Arm.of({"memory": "m", "split": "s.json", "tokenizer": "t.json", "embedder": "onnx:e"})
    there = arm.absolute()
    assert (there.memory, there.split, there.tokenizer) == (tmp_path / "m", tmp_path / "s.json", tmp_path / "t.json")
    assert there.embedder == f"onnx:{tmp_path / 'e'}"
    assert Arm(method="none").absolute() == Arm(method="none")
    assert Arm.of({"memory": "m", "embedder": "openai:x"}).absolute().embedder == "openai:x"
