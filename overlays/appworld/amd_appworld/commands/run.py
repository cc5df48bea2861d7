"""``run``: a student plays tasks in AppWorld's worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from amd.arms import Arm
from amd.cli.arms import DrawOnly, GivenArm, Seed, Temperature, takes_arm
from amd.cli.console import StageProgress, print_json, print_table
from amd.errors import AmdError, ClientError
from amd_appworld.commands.options import Json, RootFolder, words
from amd_appworld.playing import Limits, Played, play_arm
from amd_appworld.report import MARK, scenarios_of
from amd_appworld.root import Root
from amd_appworld.run import Model

__all__ = ["run"]

_PYTHON = Path(".venvs/appworld/bin/python")  # where scripts/setup_appworld.sh puts it


@takes_arm
def run(
    *,
    root: RootFolder,
    experiment: Annotated[
        str, typer.Option(help="The run's name: a new one, or that of the same run.", show_default=False)
    ],
    model: Annotated[str, typer.Option(help="The student, by the name its endpoint knows.", show_default=False)],
    base_url: Annotated[str, typer.Option(help="Its endpoint, up to and with /v1.", show_default=False)],
    arm: GivenArm,
    seed: Seed = None,
    draw_only: DrawOnly = False,
    temperature: Temperature = None,
    tasks: Annotated[
        list[str] | None, typer.Option("--tasks", "-t", help="Only these, one by one or by commas.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="All of train, dev, test_normal or test_challenge.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many of them.")] = None,
    workers: Annotated[int, typer.Option("--workers", "-w", min=1, help="Worlds at the same time.")] = 1,
    max_steps: Annotated[int, typer.Option(min=1, help="Cells that one task may take.")] = 40,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens that one reply may take.")] = 3000,
    cell_timeout: Annotated[int, typer.Option(min=1, help="Seconds that one cell may take.")] = 100,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that one request to the model may take.")] = 600.0,
    appworld_python: Annotated[Path, typer.Option(help="The interpreter of AppWorld's own environment.")] = _PYTHON,
    allow_test_source: Annotated[
        bool, typer.Option("--allow-test-source", help="Take a memory of test tasks; reports are marked.")
    ] = False,
    json: Json = False,
) -> None:
    """Play tasks with a student in AppWorld, with a memory or without one, and evaluate them.

    The student is any model behind an OpenAI-compatible endpoint; the key is OPENAI_API_KEY. Tasks that are evaluated
    are not played again, so the same command goes on after an interruption.

    Example: python -m amd_appworld run --root appworld-world --experiment none --method none --model qwen3-4b
    --base-url http://127.0.0.1:8000/v1 --dataset train
    """
    chosen = Arm.of(arm)
    with StageProgress() as progress:
        played = play_arm(
            Root(root),
            experiment,
            chosen,
            agent=Model(name=model, base_url=base_url),
            python=appworld_python,
            tasks=words(tasks),
            dataset=dataset,
            limit=limit,
            workers=workers,
            seed=seed,
            draw_only=draw_only,
            temperature=temperature,
            limits=Limits(max_steps, max_tokens, cell_timeout, timeout),
            allow_test_source=allow_test_source,
            progress=progress,
        )
    _tell(played, json=json)


def _tell(played: Played, *, json: bool) -> None:
    """How the run stands; exit code 3 where something spoilt tasks that is no fault of the student."""
    run, stands, settings = played.run, played.stands, played.run.settings
    scenarios = scenarios_of(run, stands)
    if json:
        print_json(
            {
                "run": str(run.path),
                "method": settings.arm.method,
                "protocol": settings.arm.label,
                "test_source": settings.test_source,
                "wanted": len(stands.wanted),
                "success": dict(stands.success),
                "unscored": list(stands.unscored),
                "scenarios": scenarios.as_json(),
                "infrastructure": dict(played.faults),
                "left": list(stands.left),
            }
        )
    else:
        rows: list[tuple[str, object]] = [
            ("method", settings.arm.method),
            ("protocol", settings.arm.label),
            ("tasks right", f"{stands.right} of {len(stands.success)}"),
            ("scenarios right", f"{scenarios.right} of {scenarios.whole} run whole"),
            ("scenarios not run whole", scenarios.incomplete),
            ("without ground truth", len(stands.unscored)),
            ("left to play", len(stands.left)),
        ]
        rows += [(MARK, "yes")] if settings.test_source else []
        print_table(f"run {run.path}", rows)
    if played.faults:
        name, what = next(iter(played.faults.items()))
        raise ClientError(
            f"{len(played.faults)} of {len(stands.wanted)} tasks were ended by an environment server, or their first "
            f"request was refused; the first is {name}: {what}",
            next_step="no zero was counted; run the same command again",
        )
    if stands.left:
        raise AmdError(
            f"{len(stands.left)} of {len(stands.wanted)} tasks have no result, {stands.left[0]} first",
            next_step="run the same command again",
        )
    if not json:
        typer.echo(f"next: python -m amd_appworld report {run.path}")
