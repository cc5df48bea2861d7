"""How often each record was shown in evaluated runs, and how often those runs succeeded: what MemP forgets by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from amd.arms.run_log import RunLog
from amd.errors import TrajectoryError
from amd.json_text import loads

__all__ = ["LEAST_HITS", "LEAST_SUCCESS", "EvaluatedRun", "Usage", "read_evaluated", "usage_of"]

LEAST_HITS, LEAST_SUCCESS = 3, 0.5
"""A record that was shown in so many runs, of which less than this part succeeded, is forgotten: MemP's figures."""


@dataclass(frozen=True, slots=True)
class EvaluatedRun:
    """What a run was shown, and whether it succeeded; ``None`` where nobody scored it."""

    log: RunLog
    success: bool | None


@dataclass(frozen=True, slots=True)
class Usage:
    """In how many scored runs a record was shown, at however many places, and how many of them succeeded.

    >>> Usage(4, 1).rate, Usage(4, 1).is_poor(3, 0.5), Usage(2, 0).is_poor(3, 0.5), Usage(4, 2).is_poor(3, 0.5)
    (0.25, True, False, False)
    """

    hits: int
    successes: int

    @property
    def rate(self) -> float:
        """The part of the runs that succeeded."""
        return self.successes / self.hits

    def is_poor(self, least_hits: int, least_success: float) -> bool:
        """Whether it was shown often enough to tell, and helped too seldom."""
        return self.hits >= least_hits and self.rate < least_success


def usage_of(runs: Iterable[EvaluatedRun]) -> Mapping[str, Usage]:
    """The usage of each record that a scored run was shown, by its id. Unscored runs count for nothing."""
    hits: Counter[str] = Counter()
    successes: Counter[str] = Counter()
    for run in runs:
        if run.success is None:
            continue
        for record_id in {shown for exposure in run.log.exposures for shown in exposure.record_ids}:
            hits[record_id] += 1
            successes[record_id] += run.success
    return {record_id: Usage(count, successes[record_id]) for record_id, count in sorted(hits.items())}


def read_evaluated(path: Path) -> Iterator[EvaluatedRun]:
    """The evaluated runs of a JSONL file: one object a line, its run log under ``amd`` and its ``success``.

    Raises:
        TrajectoryError: the file cannot be read, or a line is no evaluated run; named by file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TrajectoryError(f"{path}: {error}", next_step="name a file of evaluated runs", path=str(path)) from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _evaluated(line, f"{path}:{number}")


def _evaluated(line: str, where: str) -> EvaluatedRun:
    step = 'write one object a line: {"amd": the run log, "success": true, false or null}'
    try:
        value = loads(line)
    except ValueError as error:
        raise TrajectoryError(f"{where}: not JSON: {error}", next_step=step, where=where) from error
    success = value.get("success", "missing") if isinstance(value, Mapping) else "missing"
    if not isinstance(value, Mapping) or not (success is None or isinstance(success, bool)):
        raise TrajectoryError(f"{where}: its success is {success!r}", next_step=step, where=where)
    try:
        return EvaluatedRun(RunLog.read(value.get("amd")), success)
    except TrajectoryError as error:
        raise TrajectoryError(f"{where}: {error.message}", next_step=error.next_step, where=where) from error
