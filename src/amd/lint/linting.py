"""The checks over a whole memory: run by run, so that a record is judged by what its run says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from amd.errors import ConfigError
from amd.lint.duplicates import Likeness
from amd.lint.findings import CHECKS, Check, Finding, Group, Report
from amd.lint.instructions import instructions_in
from amd.lint.lengths import cut_key, too_long
from amd.lint.records import Placed, RunRecords, run_by_run
from amd.lint.tools import Mention, mentions
from amd.lint.values import RunValues
from amd.lint.wording import without_cue
from amd.methods import method_named
from amd.records import Record
from amd.store import Memory
from amd.tier import Tier

__all__ = ["lint"]

Found = tuple[Check, str, tuple[str, ...]]
"""A check, what it found in words, and the words of the record that it found."""


def lint(
    memory: Memory,
    *,
    tier: str | None = None,
    only: Collection[Check] = CHECKS,
    progress: Callable[[str, int, int], None] | None = None,
) -> Report:
    """What a person should look at in a memory, by tier, line and check.

    Retired records are not judged, for nobody is shown them; they still tell what their run did.

    Args:
        memory: an open memory; it is read once and not changed.
        tier: judge only the records of this tier.
        only: the checks to make.
        progress: called with a stage, how many records are through it, and how many there are.

    Raises:
        ConfigError: the memory has no such tier.

    >>> import tempfile
    >>> import amd
    >>> from amd.testing import run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = amd.build_memory([run(1), run(2)], folder, embedder=amd.load_embedder("hash"))
    ...     with amd.open_memory(folder) as memory:
    ...         found = lint(memory, tier="workflow")
    >>> [(finding.check, finding.what) for finding in found.findings]
    [('duplicate', 'says nearly the same as 1 other: 2 families agree (2 runs; a task of theirs sees 1)')]
    """
    if tier is not None and tier not in memory.shelves:
        raise ConfigError(
            f"the memory has no shelf {tier!r}", next_step=f"its shelves are {', '.join(memory.shelves)}", tier=tier
        )
    tiers = {each.name: each for each in method_named("+".join(memory.shelves)).tiers}
    judge = _Judge(frozenset(only), {name: Likeness(each) for name, each in tiers.items()})
    total, done = sum(map(len, memory.shelves.values())), 0
    for run in run_by_run(memory):
        judge.tools |= run.tools
        values = RunValues(run)
        for placed in run.placed:
            if placed.record.status == "active" and tier in (None, placed.record.tier):
                judge.look_at(placed, run, values, tiers[placed.record.tier])
        done += len(run.placed)
        if progress:
            progress("records", done, total)
    findings = [*judge.findings, *judge.uncalled(), *judge.duplicates()]
    findings.sort(key=lambda each: (each.tier, each.line, each.check))
    return Report(dict(sorted(judge.records.items())), tuple(findings))


@dataclass(slots=True)
class _Judge:
    """Looks at records one after another; what only the whole memory can tell, it tells at the end."""

    only: frozenset[Check]
    likeness: Mapping[str, Likeness]
    records: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    tools: set[str] = field(default_factory=set)
    _mentions: list[tuple[Placed, Mention]] = field(default_factory=list)

    def look_at(self, placed: Placed, run: RunRecords, values: RunValues, tier: Tier) -> None:
        """Make every check that one record and its run are enough for."""
        record = placed.record
        self.records[record.tier] += 1
        if fault := tier.fault(record.body):
            self._note(placed, ("body", f"its tier cannot read it: {fault}", ()))
            return
        for found in _checks(record, values, tier, self.only):
            self._note(placed, found)
        if "tool" in self.only:
            self._mentions += ((placed, mention) for mention in mentions(record, run))
        if "duplicate" in self.only:
            self.likeness[record.tier].add(placed)

    def uncalled(self) -> Iterator[Finding]:
        """Names of tools that a record's run never called."""
        for placed, mention in self._mentions:
            if mention.name in self.tools:
                yield _finding(placed, ("tool", "names a tool that only other runs called", (mention.name,)))
            elif mention.surely:
                yield _finding(placed, ("tool", "names a tool that no run called", (mention.name,)))

    def duplicates(self) -> Iterator[Finding]:
        """Groups of records that say nearly the same."""
        for likeness in self.likeness.values():
            for placed, group in likeness.groups():
                yield _finding(placed, ("duplicate", _agreement(group), ()), group)

    def _note(self, placed: Placed, found: Found) -> None:
        if found[0] in self.only:
            self.findings.append(_finding(placed, found))


def _checks(record: Record, run: RunValues, tier: Tier, only: frozenset[Check]) -> Iterator[Found]:
    if "cue" in only and (cue := without_cue(record)):
        yield "cue", cue, ()
    if "instruction" in only:
        for where, words in instructions_in(record):
            yield "instruction", f"reads as an instruction {where}", (words,)
    if "key" in only and (cut := cut_key(record)):
        yield "key", cut, ()
    if "long" in only and (long := too_long(record, tier)):
        yield "long", long, ()
    if "value" in only and (values := tuple(run.in_prose(record))):
        yield "value", "has values of its run in its words", values


def _finding(placed: Placed, found: Found, group: Group | None = None) -> Finding:
    record = placed.record
    check, what, quotes = found
    return Finding(
        check, record.tier, placed.line, record.id, record.task.family, record.task.task_id, what, quotes, group
    )


def _agreement(group: Group) -> str:
    """How many say it, how many families agree, and how many runs a task of one of these families may see."""
    others, families = len(group.records) - 1, len(group.visible)
    says = f"says nearly the same as {others} other{'s' if others > 1 else ''}"
    if families == 1:
        return f"{says}, all of one family: its tasks see none, others see {_runs(group.runs)}"
    seen = "-".join(str(number) for number in sorted({min(group.visible.values()), max(group.visible.values())}))
    return f"{says}: {families} families agree ({_runs(group.runs)}; a task of theirs sees {seen})"


def _runs(number: int) -> str:
    return f"{number} run{'s' if number > 1 else ''}"
