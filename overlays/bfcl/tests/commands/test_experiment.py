"""How an experiment runs a student on BFCL: its words are those of the command, and its arms are its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from amd.errors import ConfigError
from amd_bfcl.commands.experiment import commands

CONFIGS = Path(__file__).resolve().parents[4] / "configs"


def words(*names):
    """The words of a student's files."""
    return ["--config", str(CONFIGS / names[0]), *(word for name in names[1:] for word in ("--config", str(name)))]


def test_a_students_file_cannot_bring_an_arm():
    """It would win over each arm of the experiment where that says nothing; one that says who it is, is the control."""
    assert commands(Path("out"), words("students/qwen3-4b.toml"))[0][:2] == ["amd_bfcl", "generate"]
    for name in ("bfcl/in-sample.toml", "bfcl/amd-dynamic.toml"):
        with pytest.raises(ConfigError, match=r"has a table \[arm\], and an experiment has its arms"):
            commands(Path("out"), words("students/qwen3-4b.toml", CONFIGS / name))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--category", "orchard"], "orchard"),
        (["--temperature", "inf"], "--temperature"),
        (["--colour", "red"], "--colour"),
        (["--help"], "runs nothing"),
        (["--workflow-tokens", "many"], "--workflow-tokens"),
    ],
)
def test_what_the_command_would_refuse_is_refused_before(more, said):
    """Every run of an experiment is looked at before the first one begins."""
    with pytest.raises(ConfigError, match=said):
        commands(Path("out"), ["--model", "m", *more])
