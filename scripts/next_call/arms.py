"""The arms: what each shows of a memory for an item, by the library's own search and rendering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import amd
from amd.exclusion import Protocol, Viewer
from amd.inject import Block
from amd.records import Record
from amd.session.offer import offered
from amd.session.terms import Layout
from amd.tier import Query, Question, Tier
from amd.tiers.subtask import SubtaskTier
from amd.tiers.workflow import WorkflowTier
from next_call.items import Item, generator

__all__ = ["ARMS", "NONE", "PARROT", "Arm", "Shown", "show"]

NONE, PARROT = "none", "no-model"


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm: its tiers, who asks, how records are shown, whether they are drawn at random, and words for a report."""

    words: str
    tiers: tuple[Tier, ...] = (WorkflowTier(), SubtaskTier())
    protocol: Protocol = "self-excluded"
    layout: Layout = "block"
    at_random: bool = False

    def viewer(self, task: amd.Task) -> Viewer:
        """Who asks for an item of the task."""
        return amd.in_sample(task) if self.protocol == "in-sample" else amd.self_excluded(task)


ARMS: Mapping[str, Arm] = {
    NONE: Arm("no memory", tiers=()),
    "random": Arm("random records, as many as there are tiers", at_random=True),
    "block": Arm("amd, layout block (the default)"),
    "turns": Arm("amd, layout turns", layout="turns"),
    "subtask": Arm("subtask alone, layout block", tiers=(SubtaskTier(),)),
    "subtask-turns": Arm("subtask alone, layout turns", tiers=(SubtaskTier(),), layout="turns"),
    "workflow": Arm("workflow alone", tiers=(WorkflowTier(),)),
    "in-sample": Arm("IN-SAMPLE: amd, layout block, own records too", protocol="in-sample"),
    PARROT: Arm("no model: the first call of the best subtask", tiers=(SubtaskTier(),)),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What an arm shows for an item: before the task, before the turn, and the records that both came from."""

    task: Block
    turn: Block
    records: tuple[Record, ...]

    @property
    def tools(self) -> frozenset[str]:
        """The tools that the records name."""
        return frozenset(name for record in self.records for name in _tools_of(record))


@dataclass(frozen=True, slots=True)
class _RandomWorkflow(WorkflowTier):
    """Asks for one record by its own key, whatever the question."""

    key: str = ""

    def ask(self, question: Question) -> Sequence[Query]:
        return [Query(self.key)] if question.at == "task" else ()


@dataclass(frozen=True, slots=True)
class _RandomSubtask(SubtaskTier):
    """Asks for one record by its own key, whatever the question."""

    key: str = ""

    def ask(self, question: Question) -> Sequence[Query]:
        return [Query(self.key)] if question.at != "error" else ()


def show(arm: Arm, item: Item, memory: amd.Memory, records: Mapping[str, Record], seed: int) -> Shown:
    """What the arm shows for the item.

    The memory is asked as a session in the mode ``dynamic`` is: about the task by its instruction, about the turn by
    the turn's own text. A random arm asks for records by their own keys, drawn among those that its viewer may see and
    that use only tools of the task: what is shown then goes through the same rendering and the same budgets.

    Args:
        arm: what is shown.
        item: for whom.
        memory: of the tiers workflow and subtask.
        records: all that it holds, by id.
        seed: of the random arm.
    """
    viewer = arm.viewer(item.task)
    tiers = tuple(_random(arm.tiers, item, records, viewer, seed)) if arm.at_random else arm.tiers
    session = amd.Session(memory, viewer=viewer, method=tiers, tools=item.tools, mode="dynamic", layout=arm.layout)
    task, turn = session.before_task(item.task.instruction), session.before_turn(item.text, item.turn)
    ids = [record_id for exposure in session.exposures for record_id in exposure.record_ids]
    return Shown(task, turn, tuple(records[record_id] for record_id in ids))


def _random(
    tiers: Sequence[Tier], item: Item, records: Mapping[str, Record], viewer: Viewer, seed: int
) -> Iterator[Tier]:
    kinds = {"workflow": _RandomWorkflow, "subtask": _RandomSubtask}
    offer = offered(item.tools)
    for tier in tiers:
        keys = [
            record.key
            for record in records.values()
            if record.tier == tier.name
            and viewer.why_hidden(record.task.family, record.task.instruction_sha256) is None
            and offer.why_unfit(record) is None
        ]
        if keys:
            yield kinds[tier.name](key=str(generator(seed, item.name, tier.name).choice(keys)))


def _tools_of(record: Record) -> list[str]:
    listed = record.body["tools"]
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
