"""Scores a run by the benchmark's own evaluator."""

from __future__ import annotations

from dataclasses import dataclass

from amd.errors import AmdError, ClientError, ConfigError, TrajectoryError
from amd_bfcl.families import Category, category
from amd_bfcl.harness import Harness
from amd_bfcl.journal import Journal
from amd_bfcl.package import find_package
from amd_bfcl.run import Run
from amd_bfcl.scores import read_score
from amd_bfcl.standing import Standing, standing

__all__ = ["Score", "evaluate", "scores_of"]


@dataclass(frozen=True, slots=True)
class Score:
    """How many tasks of a category the evaluator found right, of how many."""

    correct: int
    total: int


def evaluate(
    run: Run, *, partial: bool = False, count_errors: bool = False, any_version: bool = False
) -> dict[Category, Score]:
    """Score a run; neither its memory nor a key is needed.

    Args:
        run: the run.
        partial: score it although tasks are missing.
        count_errors: count an inference error as a wrong answer, as the harness does.
        any_version: allow a bfcl-eval whose families nobody checked.

    Raises:
        ConfigError: tasks are missing.
        ClientError: lines are inference errors: a service failed, and a zero would look like the student's answer.
    """
    package, settings = find_package(any_version=any_version), run.settings
    with run.locked():
        Journal(run).close()  # what a kill left torn, or in the journal alone, the harness could not read
        stands = standing(run)
        _check(run, stands, partial=partial, count_errors=count_errors)
        harness = Harness(run.path, package.version)
        harness.register(settings)
        whole = settings.ids is None and not stands.missing
        there = [name for name in settings.categories if any(category(task_id) is name for task_id in stands.lines)]
        for name in settings.categories:  # so that what is read afterwards is what was scored now
            run.score_file(name).unlink(missing_ok=True)
        options = {"--model": settings.name, "--test-category": ",".join(there)}
        harness.call("evaluate", options, () if whole else ("--partial-eval",))
    scores = scores_of(run)
    if len(scores) < len(there):
        raise AmdError(f"the evaluator wrote no score for {run.path}", next_step=f"see {run.path / 'harness.log'}")
    return scores


def _check(run: Run, stands: Standing, *, partial: bool, count_errors: bool) -> None:
    """Refuse what the harness would fall over, or count as the student's answer although it is none."""
    if not stands.lines or (stands.missing and not partial):
        raise ConfigError(
            f"{len(stands.missing)} of {len(stands.wanted)} tasks have no result in {run.path}",
            next_step="generate again into it" + (", or take what is there: --partial" if stands.lines else ""),
            missing=stands.missing,
        )
    if stands.errors and not count_errors:
        raise ClientError(
            f"{len(stands.errors)} of {len(stands.wanted)} tasks of {run.path} ended in an inference error, "
            f"{stands.first_error}",
            next_step="redo them with retry, or, if they are the student's own doing, count them as wrong answers: "
            "--count-errors",
            errors=stands.errors,
        )
    strange = sorted(set(stands.lines) - set(stands.wanted))
    others = sorted(path.name for path in run.path.glob("score/*/") if path.name != run.settings.name)
    if strange or others:
        what = "results" if strange else "scores"
        raise ConfigError(
            f"{run.path} has {what} of {(strange or others)[0]!r}, which is none of its own",
            next_step="take it out, and evaluate again",
        )


def scores_of(run: Run) -> dict[Category, Score]:
    """The scores that are there, by category; ``TrajectoryError`` for a score file that says nothing of value."""
    scores = {}
    for name in run.settings.categories:
        path = run.score_file(name)
        if not path.exists():
            continue
        found = read_score(path)
        if found.fault:
            raise TrajectoryError(f"{path}: {found.fault}", next_step="evaluate the run again")
        scores[name] = Score(found.correct, found.total)
    return scores
