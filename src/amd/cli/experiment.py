"""``amd experiment``: arms x students x seeds, as one file says it, and what came of it."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from amd.cli.console import Watching, print_json, print_table
from amd.cli.exits import check_words
from amd.cli.options import Json
from amd.cli.reporting import check_installed, report_on_runs
from amd.errors import AmdError, ConfigError
from amd.experiment.plan import Experiment, read_experiment
from amd.experiment.planned import REPORTS, PlannedRun
from amd.experiment.readiness import unready
from amd.experiment.running import run_experiment
from amd.experiment.standing import Standing

__all__ = ["experiment"]


def experiment(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A TOML file, as in configs/.", show_default=False)],
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="In place of what the file says, again and again; KEY= unsets."
        ),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what would be run, and what is finished.")] = False,
    json: Json = False,
) -> None:
    """Run every arm with every student and seed on one benchmark, each in the harness's own environment.

    What is finished is kept, so the same command goes on after an interruption. A service that is down ends it with
    exit code 3, a leak with 4. At the end stands a report for each student: OUT/report/STUDENT/report.html.

    Example: amd experiment configs/experiments/bfcl-main.toml --plan

    Example: amd experiment configs/experiments/bfcl-main.toml --set student.qwen3-4b.base_url=http://127.0.0.1:8000/v1
    """
    asked = read_experiment(config, changes or ())
    standing, runs = Standing(asked.out), list(asked.runs())
    lacking = _lacking(asked, runs, standing, context.find_root().command)
    if plan:
        lacking = [*unready(asked), *standing.faults(runs, asked.recipes()), *lacking]
        _tell_plan(asked, runs, standing, lacking, json=json)
        return
    if lacking:
        raise lacking[0]
    signal.signal(signal.SIGTERM, _interrupt)  # what timeout and batch systems send: no command may outlive this one
    with Watching() as watching:
        run_experiment(asked, tell=watching.tell, watch=watching.watch)
    if json:
        print_json({"out": str(asked.out), "runs": [_as_json(run, done=True) for run in runs]})
    _report(asked, runs, quiet=json)


def _lacking(
    asked: Experiment,
    runs: Sequence[PlannedRun],
    standing: Standing,
    commands: Any,  # noqa: ANN401 - click's own type moved between releases
) -> list[AmdError]:
    """What only a command line knows to be lacking: the extra of reports, and the words by which things are made."""
    found: list[AmdError] = []
    try:
        check_installed()
    except ConfigError as error:
        found.append(error)
    own = [run.path for run in runs]
    for recipe in asked.recipes():
        if not recipe.given or recipe.there or all(standing.is_done(run) for run in runs):
            continue
        try:
            given, _ = check_words(commands, recipe.command())
        except ConfigError as error:
            found.append(ConfigError(f"{recipe.kind} {recipe.path}: {error.message}", next_step=error.next_step))
        else:
            # In older releases of typer a path in a list is a text here.
            lost = [path for path in map(Path, given["paths"]) if not path.exists() and not recipe.reads(own)]
            found += [
                ConfigError(f"{recipe.kind} {recipe.path}: there are no runs at {path}", next_step="correct its words")
                for path in lost
            ]
    return found


def _tell_plan(
    asked: Experiment, runs: Sequence[PlannedRun], standing: Standing, lacking: Sequence[AmdError], *, json: bool
) -> None:
    """What would be made and run, what is finished, and what keeps it from being run."""
    to_make = [recipe for recipe in asked.recipes() if recipe.given and not recipe.there]
    if json:
        print_json(
            {
                "out": str(asked.out),
                "unready": [str(error) for error in lacking],
                "to_make": [["amd", *recipe.command()] for recipe in to_make],
                "runs": [_as_json(run, done=standing.is_done(run)) for run in runs],
            }
        )
    else:
        rows = [
            (str(recipe.path), "is there" if recipe.there else f"to be made: amd {' '.join(recipe.command())}")
            for recipe in asked.recipes()
        ]
        for who in asked.student:
            for arm in asked.arm:
                done = [standing.is_done(run) for run in runs if (run.student, run.arm) == (who, arm)]
                rows.append((f"{who}-{arm}", f"{sum(done)} of {len(done)} runs finished"))
        print_table(f"{len(runs)} runs in {asked.out}", rows)
    for error in lacking[1:]:
        typer.echo(f"not ready: {error}", err=True)
    if lacking:
        raise lacking[0]


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _report(asked: Experiment, runs: Sequence[PlannedRun], *, quiet: bool) -> None:
    """A report for each student, whose arms are compared with its own baseline; then the leaks, if there are any."""
    found = []
    for student in asked.student:
        paths = [run.path for run in runs if run.student == student]
        baseline = f"{student}-{asked.baseline}-0"
        found.append(report_on_runs(paths, asked.out / REPORTS / student, baseline=baseline, quiet=quiet))
    for report in found:
        report.check_leaks()


def _as_json(run: PlannedRun, *, done: bool) -> dict[str, object]:
    return {
        "run": str(run.path),
        "arm": run.arm,
        "student": run.student,
        "seed": run.seed,
        "words": run.words(),
        "done": done,
    }
