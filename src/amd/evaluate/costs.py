"""What a memory cost to build, and after how many runs of the student it is repaid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from amd.config import Price
from amd.errors import AmdError
from amd.evaluate.grouping import ArmResults
from amd.store.figures import Manifest
from amd.store.manifest import read_manifest

__all__ = ["BuildCost", "Repayment", "Teaching", "build_cost", "repayment"]


@dataclass(frozen=True, slots=True)
class BuildCost:
    """What the last build of a memory asked of its distiller; ``runs`` counts the runs that the memory is made of.

    ``read`` counts the runs that were read for it, refused ones too: the teacher was paid for those as well. The same
    run read twice is one. It is ``None`` where the manifest does not know it: the memory was published more than once,
    and what an earlier build read may have been replaced.
    ``unknown`` says why nothing is known: then all figures are 0.
    """

    distiller: str = ""
    runs: int = 0
    read: int | None = None
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class Teaching:
    """What a run of the teacher costs: the prices of models by name, and the mean tokens of one run."""

    prices: Mapping[str, Price]
    prompt_tokens: float
    completion_tokens: float


@dataclass(frozen=True, slots=True)
class Repayment:
    """``invested``: the teacher's runs and the distiller's work; ``teacher`` and ``student``: one run of each.

    ``teacher_runs`` is how many runs of the teacher are paid for: all that were read, or those that the memory is made
    of where ``admitted_only``, because nothing tells how many were read: then the true figures may be higher. A run of
    the student in the teacher's place saves the difference; ``runs`` of them repay what was invested, ``None`` if the
    student costs as much as the teacher. ``unknown`` says what is missing: then all figures are 0.
    """

    invested: float = 0.0
    teacher_runs: int = 0
    admitted_only: bool = False
    teacher: float = 0.0
    student: float = 0.0
    runs: int | None = None
    unknown: str = ""


def build_cost(arm: ArmResults) -> BuildCost | None:
    """The cost of the arm's memory by its manifest, where the memory still is what it was; ``None`` without one."""
    if arm.arm.memory is None:
        return None
    found = _manifest(arm.arm.memory, arm.runs[0].memory_content)
    if isinstance(found, str):
        return BuildCost(unknown=found)
    sums = {
        name: sum(value for key, value in found.costs.items() if key.endswith(f".{name}"))
        for name in ("requests", "prompt_tokens", "completion_tokens", "seconds")
    }
    return BuildCost(
        found.distiller.get("id", ""),
        len(found.sources.runs),
        _read(found),
        int(sums["requests"]),
        int(sums["prompt_tokens"]),
        int(sums["completion_tokens"]),
        float(sums["seconds"]),
    )


def _read(manifest: Manifest) -> int | None:
    """How many runs the published ones were chosen from; the figures are those of the last build that changed any.

    An earlier build may have read runs that better ones have replaced since, of which nothing is left.
    """
    if manifest.generation > 1:
        return None
    return manifest.sources.read - manifest.sources.refused.get("duplicate", 0)


def _manifest(place: Path, content: str | None) -> Manifest | str:
    try:
        manifest = read_manifest(place)
    except (OSError, AmdError):
        return f"{place} is not there any more, or no memory"
    if manifest.content != content:
        return f"{place} holds another memory now"
    return manifest


def repayment(arm: ArmResults, cost: BuildCost | None, teaching: Teaching | None) -> Repayment | None:
    """After how many runs the arm's memory is repaid; ``None`` where nobody gave prices, or there is no memory."""
    if teaching is None or cost is None:
        return None
    sources = arm.runs[0].memory_from
    teachers = {name.removesuffix(" (teacher)") for name in sources if name.endswith(" (teacher)")}
    student = arm.runs[0].student
    counted = [
        (task.prompt_tokens, task.completion_tokens)
        for task in arm.finished
        if task.prompt_tokens is not None and task.completion_tokens is not None
    ]
    wanted = {student, *teachers} | ({cost.distiller} if cost.requests else set())
    unpriced = sorted(wanted - teaching.prices.keys())
    unknown = (
        cost.unknown
        or (
            "" if len(teachers) == len(sources) == 1 else f"not the runs of one teacher: {', '.join(sources) or 'none'}"
        )
        or (f"no price of {', '.join(unpriced)}" if unpriced else "")
        or ("" if counted else "the harness counted no tokens of the student")
    )
    if unknown:
        return Repayment(unknown=unknown)
    teacher = teaching.prices[min(teachers)].of(teaching.prompt_tokens, teaching.completion_tokens)
    own = teaching.prices[student].of(*(sum(column) / len(counted) for column in zip(*counted, strict=True)))
    writing = teaching.prices[cost.distiller] if cost.requests else Price(prompt=0, completion=0)
    paid = cost.runs if cost.read is None else cost.read
    invested = paid * teacher + writing.of(cost.prompt_tokens, cost.completion_tokens)
    saved = teacher - own
    after = math.ceil(invested / saved) if saved > 0 else None
    return Repayment(invested, paid, cost.read is None, teacher, own, after)
