"""The figures of each arm over the items that are answered, as a table for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from amd.arms.placeholders import writes_placeholder
from next_call.arms import ARMS
from next_call.figures import MEASURES, Call, Interval, Score, judge, paired
from next_call.items import Item

__all__ = ["ArmFigures", "Outcome", "figures", "print_figures"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one item in one arm.

    ``call`` is what was written, ``None`` if it is no call. ``shown`` counts the records that stood in the prompt,
    ``tokens`` the tokens of the prompt; 0 where no model was asked.
    """

    item: Item
    call: Call | None
    shown: int = 0
    tokens: int = 0

    @property
    def score(self) -> Score:
        """The call against the first one of the turn."""
        return judge(self.call, self.item.right.name, self.item.right.arguments)


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """The figures of one arm: means over its items, counts of items, and the differences to another arm.

    ``placeholders`` counts calls in which a masked value's placeholder was written out, ``cut_off`` answers without a
    whole call, ``no_record`` items for which nothing was found. ``helped`` and ``harmed`` count the items whose tool is
    right in this arm only, and in the other only.
    """

    words: str
    items: int
    tool: float
    keys: float
    whole: float
    placeholders: int
    cut_off: int
    no_record: int
    tokens: float
    differences: Mapping[str, Interval] | None = None
    helped: int = 0
    harmed: int = 0


def figures(outcomes: Mapping[str, Sequence[Outcome]], over: str, seed: int) -> dict[str, ArmFigures]:
    """The figures of each arm, with its differences to the arm ``over`` if that was run.

    The arms have the same items in the same order, at least one.
    """
    scores = {arm: [outcome.score for outcome in found] for arm, found in outcomes.items()}
    return {
        arm: _figures(arm, found, scores[arm], scores.get(over) if arm != over else None, seed)
        for arm, found in outcomes.items()
    }


def _figures(
    arm: str, outcomes: Sequence[Outcome], ours: Sequence[Score], theirs: Sequence[Score] | None, seed: int
) -> ArmFigures:
    arguments = [outcome.call[1] if outcome.call else None for outcome in outcomes]
    pairs = list(zip(ours, theirs, strict=True)) if theirs is not None else []
    families = [outcome.item.task.family for outcome in outcomes]
    return ArmFigures(
        words=ARMS[arm].words,
        items=len(outcomes),
        tool=fmean(score.tool for score in ours),
        keys=fmean(score.keys for score in ours),
        whole=fmean(score.whole for score in ours),
        placeholders=sum(writes_placeholder(found) for found in arguments if found is not None),
        cut_off=sum(outcome.tokens > 0 and found is None for outcome, found in zip(outcomes, arguments, strict=True)),
        no_record=sum(outcome.shown == 0 for outcome in outcomes),
        tokens=fmean(outcome.tokens for outcome in outcomes),
        differences={
            measure: paired(
                [getattr(one, measure) for one, _ in pairs], [getattr(two, measure) for _, two in pairs], families, seed
            )
            for measure in MEASURES
        }
        if pairs
        else None,
        helped=sum(one.tool > other.tool for one, other in pairs),
        harmed=sum(one.tool < other.tool for one, other in pairs),
    )


def print_figures(title: str, found: Mapping[str, ArmFigures], over: str) -> None:
    """A line for each arm, and below them what each arm is."""
    print(title)
    head = f"{'arm':<14} right tool  key F1  whole   {f'right tool over {over}':<26} helped harmed"
    print(f"{head}   placeholders  cut off  no record  prompt tokens")
    for arm, its in found.items():
        line = f"{arm:<14}      {its.tool:.3f}   {its.keys:.3f}  {its.whole:.3f}"
        gain = its.differences["tool"] if its.differences else None
        beside = f"{gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]" if gain else ""
        both = f"{its.helped:6} {its.harmed:6}" if gain else ""
        counted = f"{its.placeholders:12}  {its.cut_off:7}  {its.no_record:9}  {its.tokens:13.0f}"
        print(f"{line}   {beside:<26} {both:<13}   {counted}")
    for arm, its in found.items():
        print(f"{arm}: {its.words}")
