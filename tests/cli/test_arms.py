"""What the overlays' commands share: every setting of an arm is an option of each of them."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from amd.arms import Arm
from amd.cli.arms import GivenArm, Seed, takes_arm
from amd.cli.exits import check_words, run_app
from amd.errors import ConfigError

RUNS = {"amd_bfcl": "generate", "amd_toolsandbox": "run", "amd_appworld": "run"}


@pytest.fixture
def garden():
    """An overlay's app of one command, and what it was called with."""
    app, heard = typer.Typer(), []

    @app.command()
    @takes_arm
    def water(*, bed: Annotated[str, typer.Option()], arm: GivenArm, seed: Seed = None) -> None:
        heard.append((bed, arm, seed))

    @app.command()
    def dig() -> None:
        heard.append("dig")

    return app, heard


def test_what_is_given_reaches_the_arm(garden):
    """Typed as the arm's field is; what is not given is left to it."""
    app, heard = garden
    words = ["--memory", "m", "--workflow-tokens", "800", "--mode", "dynamic", "--seed", "2"]
    assert run_app(app, "garden", ["water", "--bed", "north", *words]) == 0
    (bed, arm, seed) = heard.pop()
    assert (bed, arm, seed) == ("north", {"memory": Path("m"), "workflow_tokens": 800, "mode": "dynamic"}, 2)
    assert Arm.of(arm).limits.workflow == 800
    assert run_app(app, "garden", ["water", "--bed", "north"]) == 0
    assert heard == [("north", {}, None)]


@pytest.mark.parametrize("module", RUNS)
def test_each_overlay_takes_every_setting(module):
    """By its own name: a field that is added is an option of all three at once."""
    command = getattr(importlib.import_module(f"{module}.commands.{RUNS[module]}"), RUNS[module])
    assert {*Arm.model_fields, "seed", "temperature"} <= set(inspect.signature(command).parameters)
    app = importlib.import_module(f"{module}.commands.app").app
    group: Any = typer.main.get_command(app)
    options = {option for each in group.commands[RUNS[module]].params for option in each.opts}
    assert {f"--{name.replace('_', '-')}" for name in Arm.model_fields} <= options


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--bed", "north", "--workflow-tokens", "many"], "'--workflow-tokens'"),
        (["--bed", "north", "--colour", "red"], "--colour"),
        ([], "'--bed'"),
        (["--bed", "north", "--seed", "-1"], "'--seed'"),
    ],
)
def test_words_are_checked_without_running(garden, words, said):
    """As the command would refuse them; right ones are the control."""
    app, heard = garden
    given, unknown = check_words(app, ["water", "--bed", "north", "--seed", "3"])
    assert (given["bed"], given["seed"], given["memory"], unknown) == ("north", 3, None, [])
    with pytest.raises(ConfigError, match=said):
        check_words(app, ["water", *words])
    assert not heard
