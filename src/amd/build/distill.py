"""From one admitted run to its records: evidence, masking, the tiers' drafts, and masking again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from amd.build.working import each
from amd.evidence import Evidence, Repair, find_evidence
from amd.exclusion import instruction_sha256
from amd.json_text import replace_surrogates
from amd.mask import Mask
from amd.records import Record, RecordSource, RecordTask, record_id
from amd.tier import RULES, Assignment, Draft, Reply, Tier, Writer
from amd.trajectory import Trajectory, error_class

__all__ = ["LONGEST_KEY", "Distilled", "distill"]

LONGEST_KEY = 8_000
"""Characters of a key that are embedded and stored: beyond this, embedding models cut off or refuse."""


@dataclass(slots=True)
class Distilled:
    """The records of some runs by tier, and what happened to drafts on the way (``notes``: name -> count).

    ``fallbacks`` names, by the hash of a run, the tiers that asked a writer and wrote by their own rules.
    """

    records: dict[str, dict[str, Record]] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    fallbacks: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _silent(done: int, total: int) -> None:
    """Tell nobody."""


def distill(
    runs: Sequence[Trajectory],
    tiers: Sequence[Tier],
    writer: Writer,
    *,
    created_at: str,
    workers: int = 1,
    only: Mapping[str, Collection[str]] | None = None,
    progress: Callable[[int, int], None] = _silent,
) -> Distilled:
    """The records of ``runs``; each tier takes the runs whose outcome it accepts.

    A tier sees the masked run, and what it writes passes the mask again, for a model may repeat what it should
    not. Equal drafts of one run are one record. A draft without a key, or with one that masking emptied, is
    counted as ``empty_text`` and left out.

    Args:
        runs: the runs to write.
        tiers: those of the method.
        writer: asked by the tiers, from as many threads as there are workers.
        created_at: what every record says of its time.
        workers: runs that are written at the same time. The result does not depend on it.
        only: by the hash of a run, the tiers that are written of it; all where it is not named.
        progress: told how many runs are done, and how many there are.

    Raises:
        AmdError: what the writer raised. Runs that were not begun are not begun any more.
    """
    result = Distilled({tier.name: {} for tier in tiers})

    def one(run: Trajectory) -> _Written:
        wanted = (only or {}).get(run.sha256)
        return _one(run, [tier for tier in tiers if wanted is None or tier.name in wanted], writer, created_at)

    for run, (records, notes) in zip(runs, each(runs, one, workers, progress), strict=True):
        result.notes += notes
        for tier, record in records:
            result.records[tier].setdefault(record.id, record)
        if left := sorted({tier for tier, record in records if record.distiller != writer.id and _asks(tiers, tier)}):
            result.fallbacks[run.sha256] = tuple(left)
    return result


_Written = tuple[list[tuple[str, Record]], Counter[str]]


def _one(run: Trajectory, tiers: Sequence[Tier], writer: Writer, created_at: str) -> _Written:
    mask = Mask.of(run)
    masked = mask.run(run)
    evidence = _told(find_evidence(run), run, masked)
    notes: Counter[str] = Counter()
    schemas = {tool.name: tool.schema_sha256 for tool in run.tools or ()}
    scribe = _Scribe(mask, _task(run), _source(run), schemas, writer.id, created_at, notes)
    found = []
    for tier in tiers:
        if run.outcome.success not in tier.accepts or (tier.needs_calls and not run.calls):
            continue
        for draft in tier.distill(masked, evidence, _Masked(writer, mask)):
            record = scribe.record(tier.name, draft)
            if record is not None:
                found.append((tier.name, record))
    return found, notes


def _asks(tiers: Sequence[Tier], name: str) -> bool:
    return any(tier.prompts for tier in tiers if tier.name == name)


@dataclass(frozen=True, slots=True)
class _Masked:
    """The writer as the tiers of one run know it: whatever a model writes is masked before it is read or kept."""

    writer: Writer
    mask: Mask

    @property
    def id(self) -> str:
        return self.writer.id

    @property
    def prompts(self) -> str:
        return self.writer.prompts

    @property
    def calls(self) -> Mapping[str, int]:
        return self.writer.calls

    @property
    def costs(self) -> Mapping[str, int | float]:
        return self.writer.costs

    def write(self, assignment: Assignment[Reply]) -> Reply | None:
        return self.writer.write(replace(assignment, clean=self.mask.value))

    def settle(self) -> None:
        self.writer.settle()


def _told(evidence: Evidence, run: Trajectory, masked: Trajectory) -> Evidence:
    """The evidence with its errors told as the masked run tells them: a class quotes the observation's words."""
    calls = list(zip(run.calls, masked.calls, strict=True))

    def told(repair: Repair) -> Repair:
        raw, shown = calls[repair.failed - 1]
        return replace(repair, error_class=error_class(shown.observation, raw.arguments))

    return replace(evidence, repairs=tuple(map(told, evidence.repairs)))


@dataclass(frozen=True, slots=True)
class _Scribe:
    """Makes records of one run's drafts."""

    mask: Mask
    task: RecordTask
    source: RecordSource
    schemas: Mapping[str, str]
    distiller: str
    created_at: str
    notes: Counter[str]

    def record(self, tier: str, draft: Draft) -> Record | None:
        """The masked record, or ``None`` if nothing is left to find it by."""
        clean, surrogates = replace_surrogates([draft.key, draft.body])
        self.notes["replaced_surrogates"] += surrogates
        assert isinstance(clean, list)
        key, body = self._cut(self.mask.text(str(clean[0])).strip()), self.mask.value(clean[1])
        if not key:
            self.notes["empty_text"] += 1
            return None
        assert isinstance(body, Mapping)
        return Record(
            id=record_id(tier, self.task.benchmark, self.task.task_id, key, body),
            tier=tier,
            key=key,
            body=body,
            task=self.task,
            source=replace(self.source, steps=draft.steps),
            distiller=self.distiller if draft.written else RULES.id,
            created_at=self.created_at,
            tool=draft.tool,
            schemas={name: self.schemas[name] for name in sorted(set(draft.calls_of)) if name in self.schemas},
        )

    def _cut(self, key: str) -> str:
        """Cut after masking: half a secret would not be found any more."""
        self.notes["truncated_key"] += len(key) > LONGEST_KEY
        return key[:LONGEST_KEY]


def _task(run: Trajectory) -> RecordTask:
    task = run.task
    return RecordTask(
        benchmark=task.benchmark,
        task_id=task.task_id,
        family=task.family,
        instruction_sha256=instruction_sha256(task.instruction),
        split=task.split,
    )


def _source(run: Trajectory) -> RecordSource:
    return RecordSource(
        teacher=run.source.teacher,
        run_id=run.source.run_id,
        kind=run.source.kind,
        trajectory_sha256=run.sha256,
        steps=(0, 0),
        success=bool(run.outcome.success),
    )
