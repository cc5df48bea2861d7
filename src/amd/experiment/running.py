"""An experiment at work: what it reads is made where it is missing, then run after run in its harness's environment.

Every run is a command of the benchmark's overlay, which goes on where it was interrupted; what is finished is not
begun again. Whatever ends one run ends the experiment, for the next would most likely end so too, and loses nothing.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from amd.arms import RunDirectory, RunSettings
from amd.errors import AmdError, BudgetSpent, ClientError, ConfigError, LeakageError
from amd.experiment.plan import Experiment
from amd.experiment.planned import LOGS, PlannedRun
from amd.experiment.readiness import commands_of, no_python, unready
from amd.experiment.recipes import Recipe
from amd.experiment.standing import Standing

__all__ = ["run_experiment"]

_KINDS: Mapping[int, type[AmdError]] = {
    ConfigError.exit_code: ConfigError,
    ClientError.exit_code: ClientError,
    LeakageError.exit_code: LeakageError,
    BudgetSpent.exit_code: BudgetSpent,
}
_INTERRUPTED = 130
_HEARD = 2.0  # seconds in which a command that heard Ctrl-C mostly ends
_PATIENCE = 60.0  # seconds that an interrupted command has for its end


def run_experiment(
    experiment: Experiment,
    *,
    tell: Callable[[str], None] = lambda _: None,
    watch: Callable[[str], None] = lambda _: None,
) -> list[PlannedRun]:
    """Run all that is not finished, and return all runs.

    Args:
        experiment: what is to be run.
        tell: hears what is begun.
        watch: hears each line that a command writes for a person while it works, and there may be many.

    Raises:
        ConfigError: something is :func:`unready`, or a run was begun with other settings.
        AmdError: of the kind that ended a command: ``ClientError`` for a service, ``LeakageError`` for a leak.
        KeyboardInterrupt: it was interrupted; the same command goes on.
    """
    commands = commands_of(experiment.benchmark)
    runs, recipes = list(experiment.runs()), experiment.recipes()
    lacking = [*unready(experiment), *Standing(experiment.out).faults(runs, recipes)]
    if lacking:
        raise lacking[0]
    experiment.out.mkdir(parents=True, exist_ok=True)
    with RunDirectory(experiment.out, RunSettings, "amd experiment").locked():
        standing = Standing(experiment.out)
        left = [run for run in runs if not standing.is_done(run)]
        own = [run.path for run in runs]
        later = [recipe for recipe in recipes if recipe.kind == "memory" and recipe.reads(own)]
        for recipe in recipes if left else ():
            if recipe not in later:
                _keep(standing, recipe, experiment.out, tell, watch)
        for number, run in enumerate(left, start=len(runs) - len(left)):
            for recipe in later:
                if recipe.path == run.memory:
                    _keep(standing, recipe, experiment.out, tell, watch)
            standing.begin(run)
            tell(f"[{number + 1}/{len(runs)}] {run.path.name}")
            for words in commands(run.path, run.words()):
                _call([str(experiment.python), "-m", *words], run.path.name, experiment.out, watch)
            standing.finish(run)
    return runs


def _keep(
    standing: Standing, recipe: Recipe, out: Path, tell: Callable[[str], None], watch: Callable[[str], None]
) -> None:
    """Make what is missing, in this environment, for a harness's has no need of it; and write down how it is made.

    A split that somebody else drew is drawn again: ``amd split`` leaves the same one as it is, and refuses another.
    """
    made = not recipe.there or (recipe.kind == "split" and bool(recipe.given) and not standing.knows(recipe))
    if made:
        tell(f"making {recipe.path}")
        recipe.path.parent.mkdir(parents=True, exist_ok=True)
        _call([sys.executable, "-m", "amd", *recipe.command()], f"{recipe.kind}-{recipe.path.stem}", out, watch)
    standing.keep_recipe(recipe, made=made)


def _call(words: Sequence[str], name: str, out: Path, watch: Callable[[str], None]) -> None:
    """Run one command, with what it prints in a log; its last line on standard error says why it failed."""
    last = ""
    log = out / LOGS / f"{name}.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("a", encoding="utf-8") as file, _started(words, file) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                file.write(line)
                file.flush()
                if line.strip():
                    last = line.strip()
                    watch(last)
            code = process.wait()
        except KeyboardInterrupt:
            _end(process)
            raise
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    if code:
        kind = _KINDS.get(code, AmdError)
        raise kind(
            f"{name} ended with exit code {code}: {last or 'without a word'}",
            next_step=f"see {log}, then run the same command again: what is finished is kept",
        )


def _end(process: subprocess.Popen[str]) -> None:
    """Wait for a command that heard the same interrupt; tell one that did not, and end one that does not end."""
    for wait, told in ((_HEARD, signal.SIGINT), (_PATIENCE, signal.SIGTERM)):
        try:
            process.wait(wait)
        except subprocess.TimeoutExpired:
            process.send_signal(told)
        else:
            return


def _started(words: Sequence[str], log: Any) -> subprocess.Popen[str]:  # noqa: ANN401 - a text file
    try:
        return subprocess.Popen(  # noqa: S603 - the words of the experiment's own file
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.PIPE, text=True, errors="replace"
        )
    except OSError as error:
        raise no_python(words[0], str(error.strerror)) from error
