"""The reader of BFCL's result files, format ``bfcl``: each line of a result file is one run of one multi-turn task.

``amd build bfcl PATH... [--score FILE]``, where PATH is a result file or any folder that holds ``result/`` and
``score/``: a run directory, or a download.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from amd.traces import Item, Note, ReaderOptions
from amd_bfcl.families import BENCHMARK
from amd_bfcl.reading import Benchmark, FileReading, survey
from amd_bfcl.result_files import find_result_files
from amd_bfcl.scores import belongs_to, read_score

__all__ = ["BfclOptions", "BfclReader", "reader"]


class BfclOptions(ReaderOptions):
    """How to read BFCL's result files."""

    score: str = Field(
        "",
        description="the score file of exactly one of the result files; all others are then unscored. Without it, "
        "each file below result/ takes the one of the same name below score/",
    )
    """A score file, for results that have none beside them."""
    teacher: str = Field("", description="the name of the agent that made the runs; the model's directory if not given")
    """The name of the agent that made the runs."""
    kind: Literal["teacher", "student"] = Field("teacher", description="who made the runs")
    """Who made the runs."""
    any_version: bool = Field(
        default=False, description="use an installed bfcl-eval whose families and tasks nobody checked"
    )
    """Use an installed bfcl-eval of another version than the one that was checked."""


class BfclReader:
    """Reads the result files of BFCL's multi-turn categories, versions 3 and 4."""

    name = BENCHMARK
    benchmark = BENCHMARK
    options = BfclOptions

    def read(self, paths: Sequence[Path], options: BfclOptions) -> Iterator[Item]:
        """One trajectory or refusal for each line.

        Raises:
            TrajectoryError: A path cannot be read, or a folder holds no results.
            ConfigError: The score file is of none of the results, or another version of bfcl-eval is installed.
        """
        files, passed_over = find_result_files(paths)
        if passed_over:
            yield Note("files_of_other_categories", passed_over)
        benchmark = Benchmark(any_version=options.any_version)
        surveyed = [(file, survey(file)) for file in files]
        scores = {file.path: read_score(file.score) for file in files if file.score and not options.score}
        if options.score:
            score = read_score(Path(options.score))
            scores = {belongs_to(score, surveyed).path: score}
        for file, tasks in surveyed:
            score_file = scores.get(file.path)
            yield from FileReading(
                file, tasks, score_file, benchmark, teacher=options.teacher, kind=options.kind
            ).items()


reader = BfclReader()
