"""From one admitted run to its records: evidence, masking, the tiers' drafts, and masking again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from amd.evidence import Evidence, Repair, find_evidence
from amd.exclusion import instruction_sha256
from amd.json_text import replace_surrogates
from amd.mask import Mask
from amd.records import Record, RecordSource, RecordTask, record_id
from amd.tier import Draft, Tier, Writer
from amd.trajectory import Trajectory, error_class

__all__ = ["LONGEST_KEY", "Distilled", "distill"]

LONGEST_KEY = 8_000
"""Characters of a key that are embedded and stored: beyond this, embedding models cut off or refuse."""


@dataclass(slots=True)
class Distilled:
    """The records of some runs by tier, and what happened to drafts on the way (``notes``: name -> count)."""

    records: dict[str, dict[str, Record]] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)


def distill(runs: Iterable[Trajectory], tiers: Sequence[Tier], writer: Writer, *, created_at: str) -> Distilled:
    """The records of ``runs``; each tier takes the runs whose outcome it accepts.

    A tier sees the masked run, and what it writes passes the mask again, for a model may repeat what it should
    not. Equal drafts of one run are one record. A draft without a key, or with one that masking emptied, is
    counted as ``empty_text`` and left out.
    """
    result = Distilled({tier.name: {} for tier in tiers})
    for run in runs:
        mask = Mask.of(run)
        masked = mask.run(run)
        evidence = _told(find_evidence(run), run, masked)
        scribe = _Scribe(mask, _task(run), _source(run), writer.id, created_at, result.notes)
        for tier in tiers:
            if run.outcome.success not in tier.accepts or (tier.needs_calls and not run.calls):
                continue
            for draft in tier.distill(masked, evidence, writer):
                record = scribe.record(tier.name, draft)
                if record is not None:
                    result.records[tier.name].setdefault(record.id, record)
    return result


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
            distiller=self.distiller,
            created_at=self.created_at,
            tool=draft.tool,
            schema_sha256=draft.schema_sha256,
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
