"""``generate`` and ``retry``: a student runs in the harness."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from amd.cli.arms import DrawOnly, GivenArm, MemoryOption, Seed, Temperature, takes_arm
from amd.cli.console import print_json, print_table
from amd.errors import AmdError, ClientError
from amd_bfcl.commands.options import (
    AnyVersion,
    BaseUrl,
    Categories,
    Json,
    RunDirectory,
    Threads,
    Timeout,
    categories_of,
    words_of,
)
from amd_bfcl.generate import Attempt, Endpoint
from amd_bfcl.generate import generate as run_student
from amd_bfcl.generate import retry as run_again
from amd_bfcl.plan import read_plan

__all__ = ["generate", "retry"]

_Config = Annotated[
    list[Path] | None, typer.Option(help="A TOML file, as in configs/bfcl; several add up, the later one counts.")
]
_Ids = Annotated[
    list[str] | None, typer.Option(help="Only these tasks, by commas: multi_turn_base_3,multi_turn_base_7.")
]
_Calling = Annotated[Literal["fc", "prompting"] | None, typer.Option(help="Function calling (default), or prompting.")]


@takes_arm
def generate(
    context: typer.Context,
    *,
    out: Annotated[
        Path, typer.Option(help="The run's directory: a new one, or that of the same run.", show_default=False)
    ],
    model: Annotated[str | None, typer.Option(help="The student, by the name its endpoint knows.")] = None,
    base_url: BaseUrl = None,
    calling: _Calling = None,
    config: _Config = None,
    arm: GivenArm,
    seed: Seed = None,
    draw_only: DrawOnly = False,
    temperature: Temperature = None,
    category: Categories = None,
    ids: _Ids = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first tasks of each category.")] = None,
    name: Annotated[str | None, typer.Option(help="What the harness calls the run.")] = None,
    threads: Threads = 1,
    timeout: Timeout = 600.0,
    any_version: AnyVersion = False,
    json: Json = False,
) -> None:
    """Run a student on multi-turn tasks in the real harness, with a memory or without one.

    The student is any model behind an OpenAI-compatible endpoint. Tasks that have a result already are not run again,
    so the same command goes on after an interruption. Further options go to the harness: --include-input-log,
    --exclude-state-log.

    Example: python -m amd_bfcl generate --out runs/none --model qwen3-4b --base-url http://127.0.0.1:8000/v1 --method none

    Example: python -m amd_bfcl generate --out runs/amd --config configs/students/qwen3-4b.toml --memory memory
    """  # noqa: E501 - what a person copies stands on one line
    given = {
        "model": model,
        "base_url": base_url,
        "calling": calling,
        "categories": categories_of(category),
        "ids": words_of(ids),
        "limit": limit,
    }
    more = [] if temperature is None else ["--temperature", str(temperature)]
    plan = read_plan(config or (), given, arm, [*more, *context.args])
    endpoint = Endpoint(base_url, timeout, threads)
    attempt = run_student(out, plan, endpoint, seed=seed, draw_only=draw_only, name=name, any_version=any_version)
    _tell(attempt, json=json)


def retry(
    run: RunDirectory,
    *,
    memory: MemoryOption = None,
    base_url: BaseUrl = None,
    threads: Threads = 1,
    timeout: Timeout = 600.0,
    any_version: AnyVersion = False,
    json: Json = False,
) -> None:
    """Run the tasks again whose result is an inference error, and those that have none.

    A normal run skips them: the harness takes an error for an answer. The old lines go to RUN/inference-errors.jsonl.

    Example: python -m amd_bfcl retry runs/amd
    """
    _tell(run_again(run, Endpoint(base_url, timeout, threads), memory=memory, any_version=any_version), json=json)


def _tell(attempt: Attempt, *, json: bool) -> None:
    """How the run stands; exit code 1 where tasks are missing, 3 where a service spoilt some."""
    run, stands, ran = attempt
    if json:
        print_json(_as_json(attempt))
    elif ran or stands.errors:
        _print(attempt)
    else:
        typer.echo(f"nothing is left to run: all {len(stands.wanted)} tasks of {run.path} are answered")
    if stands.missing:
        raise AmdError(
            f"{len(stands.missing)} of {len(stands.wanted)} tasks have no result",
            next_step=f"see {run.path}/harness.log, and run the same command again",
        )
    if stands.answered and not any(_calls(line) for line in stands.answered.values()):
        typer.echo("no task made a call: does the server give the tools to the model?", err=True)
    if stands.errors:
        raise ClientError(
            f"{len(stands.errors)} of {len(stands.wanted)} tasks ended in an inference error, {stands.first_error}",
            next_step=f"redo them: python -m amd_bfcl retry {run.path} (what the student itself caused, such as a "
            "context that is too long, stays: evaluate --count-errors)",
            errors=stands.errors,
        )
    if not json:
        typer.echo(f"next: python -m amd_bfcl evaluate {run.path}")


def _as_json(attempt: Attempt) -> dict[str, object]:
    run, stands, _ = attempt
    settings = run.settings
    return {
        "run": str(run.path),
        "name": settings.name,
        "model": settings.model,
        "method": settings.arm.method,
        "protocol": settings.arm.label,
        "memory": settings.memory_content,
        "wanted": len(stands.wanted),
        "missing": list(stands.missing),
        "inference_errors": list(stands.errors),
    }


def _print(attempt: Attempt) -> None:
    run, stands, _ = attempt
    rows = [
        ("name in the harness", run.settings.name),
        ("method", run.settings.arm.method),
        ("protocol", run.settings.arm.label),
        ("answered", f"{len(stands.answered)} of {len(stands.wanted)}"),
        ("inference errors", len(stands.errors)),
        ("missing", len(stands.missing)),
    ]
    print_table(f"run {run.path}", rows)


def _calls(line: Mapping[str, Any]) -> int:
    log = line.get("amd")
    return int(log["calls"]) if isinstance(log, dict) and isinstance(log.get("calls"), int) else 0
