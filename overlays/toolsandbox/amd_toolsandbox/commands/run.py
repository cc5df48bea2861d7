"""``run`` and ``rescore``: a student plays scenarios in the harness."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from amd.arms import Arm
from amd.cli.arms import DrawOnly, GivenArm, Seed, Temperature, takes_arm
from amd.cli.console import StageProgress, print_json, print_table
from amd.errors import AmdError, ClientError, LeakageError
from amd_toolsandbox.commands.options import Json, RunDirectory, words
from amd_toolsandbox.playing import play_arm, rescore_run
from amd_toolsandbox.run import Model, Run
from amd_toolsandbox.standing import Standing
from amd_toolsandbox.summary import OURS

__all__ = ["rescore", "run"]


@takes_arm
def run(
    *,
    out: Annotated[
        Path, typer.Option(help="The run's directory: a new one, or that of the same run.", show_default=False)
    ],
    agent_model: Annotated[str, typer.Option(help="The student, by the name its endpoint knows.", show_default=False)],
    agent_base_url: Annotated[str, typer.Option(help="Its endpoint, up to and with /v1.", show_default=False)],
    user_model: Annotated[str, typer.Option(help="The model that plays the user.", show_default=False)],
    user_base_url: Annotated[str | None, typer.Option(help="Its endpoint; the student's if left out.")] = None,
    arm: GivenArm,
    seed: Seed = None,
    draw_only: DrawOnly = False,
    temperature: Temperature = None,
    scenarios: Annotated[
        list[str] | None,
        typer.Option(
            "--scenarios", "-s", help="Only these, one by one or by commas; 'turn_on_*' is all that begin so."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many of them.")] = None,
    processes: Annotated[int, typer.Option("--processes", "-p", min=1, help="Worker processes.")] = 1,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that one request may take.")] = 600.0,
    json: Json = False,
) -> None:
    """Play scenarios with a student in the real harness, with a memory or without one, and score them.

    Student and user are any models behind OpenAI-compatible endpoints; the key is OPENAI_API_KEY. Scenarios that have
    a score are not played again, so the same command goes on after an interruption.

    Example: python -m amd_toolsandbox run --out runs/none --method none --agent-model qwen3-4b --agent-base-url
    http://127.0.0.1:8000/v1 --user-model gpt-4o --user-base-url https://api.openai.com/v1 -s wifi_off,cellular_off
    """
    chosen = Arm.of(arm)
    # What the harness prints goes to a log, and progress to where standard error was before.
    with os.fdopen(os.dup(2), "w") as terminal, StageProgress(console=Console(file=terminal)) as progress:
        played, stands = play_arm(
            out,
            chosen,
            agent=Model(name=agent_model, base_url=agent_base_url),
            user=Model(name=user_model, base_url=user_base_url or agent_base_url),
            scenarios=words(scenarios),
            limit=limit,
            seed=seed,
            draw_only=draw_only,
            temperature=temperature,
            processes=processes,
            timeout=timeout,
            progress=progress,
        )
    _tell(played, stands, json=json)


def rescore(run: RunDirectory, *, json: Json = False) -> None:
    """Score what a run finished before it was interrupted, on the day that it was played.

    The harness writes its scores at the very end of a run. What it expects of some scenarios follows from the date.

    Example: python -m amd_toolsandbox rescore runs/amd
    """
    opened = Run(run)
    _ = opened.settings  # told before anything is made there
    with opened.locked():
        count = rescore_run(opened)
    if json:
        print_json({"run": str(opened.path), "rescored": count})
    else:
        typer.echo(f"{count} scenarios scored again in {opened.path}")


def _tell(run: Run, stands: Standing, *, json: bool) -> None:
    """How the run stands; exit code 3 where a service spoilt scenarios."""
    settings = run.settings
    if json:
        print_json(
            {
                "run": str(run.path),
                "method": settings.arm.method,
                "protocol": settings.arm.label,
                "wanted": len(stands.wanted),
                "scored": {name: score.similarity for name, score in stands.scores.items()},
                "infrastructure": dict(stands.faults),
                "left": list(stands.left),
            }
        )
    else:
        rows = [
            ("method", settings.arm.method),
            ("protocol", settings.arm.label),
            ("scored", f"{len(stands.scores)} of {len(stands.wanted)}"),
            ("spoilt by a service or amd", len(stands.faults)),
        ]
        print_table(f"run {run.path}", rows)
    if stands.faults:
        raise _fault(run, stands)
    if stands.left:
        raise AmdError(
            f"{len(stands.left)} of {len(stands.wanted)} scenarios have no score, {stands.left[0]} first",
            next_step=f"see {run.path}/harness.log, and run the same command again",
        )
    if not json:
        typer.echo(f"next: python -m amd_toolsandbox report {run.path}")


def _fault(run: Run, stands: Standing) -> AmdError:
    """The error for scenarios that ended by no fault of the student."""
    name, what = next(iter(stands.faults.items()))
    ours = {fault for fault in stands.faults.values() if fault in OURS}
    kind = LeakageError if "LeakageError" in ours else AmdError if ours else ClientError
    return kind(
        f"{len(stands.faults)} of {len(stands.wanted)} scenarios were ended by {'a service' if not ours else 'amd'}, "
        f"the first is {name}: {what}",
        next_step=f"see {run.path} for the traceback, then run the same command again",
    )
