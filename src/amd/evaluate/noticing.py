"""What a reader must know before any figure, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from amd.evaluate.comparison import Comparison
from amd.evaluate.grouping import ArmResults, Missing, bare_name, split_of
from amd.evaluate.wording import counted
from amd.json_text import digest

__all__ = ["notices"]


def notices(
    first: ArmResults,
    others: Sequence[tuple[ArmResults, Comparison | None]],
    controls: Sequence[tuple[ArmResults, ArmResults, Comparison | None]],
    missing: Missing,
) -> Iterator[str]:
    """Of each arm and of each comparison; those that begin with NOT COMPARABLE spoil one.

    Args:
        first: the baseline.
        others: each other arm, with its comparison if there is one.
        controls: each arm with its random records, and their comparison if there is one.
        missing: what a result that is not there counts as.
    """
    arms = [first, *(arm for arm, _ in others)]
    for arm in arms:
        yield from _lacking(arm, missing)
        yield from _repeating(arm)
        yield from _unchecked(arm)
    yield from _changed(arms)
    yield from _rebuilt(arms)
    for arm, found in others:
        yield from _beside(arm, first, found)
    for arm, other, found in controls:
        if first not in (arm, other):  # these two have been beside each other
            yield from _beside(arm, other, found)


def _lacking(arm: ArmResults, missing: Missing) -> Iterator[str]:
    if arm.faults:
        found = ", ".join(f"{reason} {count}" for reason, count in arm.faults.items())
        treated = "counted as failed" if missing == "failed" else "left out (--missing drop)"
        yield f"{arm.title}: results that are not there: {found}; {treated}."
    if arm.unequal:
        yield (
            f"The runs of {arm.title} are of unequal tasks: {counted(arm.unequal, 'missing result')} of tasks that one "
            "run wants and another one lacks."
        )


def _repeating(arm: ArmResults) -> Iterator[str]:
    """Seeds that ended alike task by task, though some tasks were solved and some not.

    Where all were solved, or none, there is nothing that could have varied.
    """
    several = [trials for trials in arm.trials.values() if len(trials) > 1]
    if all(len(set(trials)) == 1 for trials in several) and len({trials[0] for trials in several}) == 2:
        yield (
            f"The {len(arm.runs)} runs of {arm.title} ended alike in each of {counted(len(several), 'task')}, as "
            "repetitions of one run do (greedy decoding, temperature 0): then its pass^k and its intervals say nothing "
            "of the variation between runs."
        )
    seeds = Counter(run.seed for run in arm.runs if run.seed is not None)
    twice = sorted(seed for seed, count in seeds.items() if count > 1)
    if twice:
        yield f"Several runs of {arm.title} have the seed {twice[0]}: they are repetitions of one another."


def _unchecked(arm: ArmResults) -> Iterator[str]:
    """A split that cannot be compared with what was shown."""
    if arm.arm.protocol == "cross-split" and arm.arm.method != "none" and split_of(arm.runs[0]) is None:
        yield (
            f"NOT CHECKED: {arm.title} kept no split, and there is none at {arm.arm.split} any more, so nobody can say "
            "whether it was shown more than train families. Own families were looked for as ever."
        )


def _changed(arms: Sequence[ArmResults]) -> Iterator[str]:
    """Arms that would be one but for the seal of their memory."""
    alike: dict[str, list[ArmResults]] = {}
    for arm in arms:
        but_seal = {name: value for name, value in arm.runs[0].identity().items() if name != "seal"}
        alike.setdefault(digest({**but_seal, "split": arm.split}), []).append(arm)
    for group in alike.values():
        if len(group) > 1:
            yield (
                f"{' and '.join(arm.title for arm in group)} differ in their memory's seal alone: the memory was "
                "changed between these runs (records retired, other floors, or built anew), so they are no seeds of "
                "one arm."
            )


def _rebuilt(arms: Sequence[ArmResults]) -> Iterator[str]:
    """Arms of one name that would be one but for what is in their memory, as where it was built anew between seeds."""
    alike: dict[str, list[ArmResults]] = {}
    for arm in arms:
        but_memory = {name: value for name, value in arm.runs[0].identity().items() if name not in ("memory", "seal")}
        alike.setdefault(digest({**but_memory, "split": arm.split, "name": bare_name(arm.name)}), []).append(arm)
    for group in alike.values():
        if len({arm.runs[0].memory_content for arm in group}) > 1:
            yield (
                f"{' and '.join(arm.title for arm in group)} are alike but for their memories: their memories differ "
                "in content, so they are no seeds of one arm."
            )


def _beside(arm: ArmResults, first: ArmResults, found: Comparison | None) -> Iterator[str]:
    both = f"{arm.title} and {first.title}"
    if found is None:
        yield f"{both} have no task in common: they are not compared."
    elif found.left_out:
        yield (
            f"{both} are compared on the {counted(found.n, 'task')} that both have; "
            f"{found.left_out} that only one of them has are left out."
        )
    if found and found.unlike:
        yield f"NOT COMPARABLE: {both} differ in {'; '.join(found.unlike)}."
    ours, theirs = arm.runs[0].student, first.runs[0].student
    if ours != theirs:
        yield f"{arm.title} has the student {ours}, {first.title} has {theirs}."
