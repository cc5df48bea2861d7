"""The workflow tier: one short strategy for a whole task, found by the task's instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from amd.evidence import Evidence
from amd.json_text import JSON
from amd.records import Record
from amd.sentences import (
    check_at_the_end,
    failures,
    fault_in_naming,
    order_of,
    origins,
    seen_in,
    tools_of,
    without_call,
)
from amd.tier import Assignment, Draft, Hit, Part, Prompt, Query, Question, Style, Writer
from amd.trajectory import Trajectory
from amd.transcript import fault_in_names

__all__ = ["INSIGHT", "INSIGHT_WITHOUT_CALLS", "Insight", "WorkflowTier", "fault_in_insight"]


@dataclass(frozen=True, slots=True)
class Insight:
    """A writer's reply: two to four sentences with a validation cue and a failure to avoid."""

    text: str


_FORM = """Write 2 to 4 sentences of plain prose, at most 100 words, and no list.
Names, ids, dates, amounts and other values of this run are of no use to the reader: say what kind of value is \
needed, and where it comes from."""

INSIGHT = Prompt(
    "insight",
    f"""You read a finished run in which an assistant solved a task with tools. Advise somebody who will get a similar \
task and cannot see this run: which steps, in which order, and why. Name tools in backticks, and only tools that \
the run called. Say one check that shows that the task is done: what to look for, in which tool's result. Say \
one failure to avoid, if the run shows one.
{_FORM}""",
    Insight,
)
"""Asked for a run with calls."""

INSIGHT_WITHOUT_CALLS = Prompt(
    "insight_without_calls",
    f"""You read a finished run in which an assistant did right without calling any tool, most often because something \
was missing. Advise somebody who may get a similar task and cannot see this run: what was missing or needed no \
tool, how one could tell, and how the assistant said so. Say one check before answering so, and one failure to \
avoid.
{_FORM}""",
    Insight,
)
"""Asked for a run without a call."""

_LONGEST = 1_500  # characters: more is no advice of four sentences


def fault_in_insight(reply: Insight, tools: Sequence[str] = ()) -> str | None:
    """What is wrong with an insight, or ``None``.

    Args:
        reply: the writer's.
        tools: those that the run called. An insight that names none of them is about nothing that happened.

    >>> fault_in_insight(Insight(" ")), fault_in_insight(Insight("Ask who it is for."))
    ('the text is empty', None)
    >>> fault_in_insight(Insight("Look first."), ["ls", "mv"])
    'the text names none of the tools that the run called, which are `ls` and `mv`'
    """
    if not reply.text.strip():
        return "the text is empty"
    length = len(reply.text)
    if length > _LONGEST:
        return f"the text has {length} characters; write at most 100 words"
    return fault_in_naming(reply.text, tools)


@dataclass(frozen=True, slots=True)
class WorkflowTier:
    """One record a run, keyed on the instruction, asked once before the task."""

    name: str = "workflow"
    heading: str = "How a similar task was solved:"
    accepts: frozenset[bool] = field(default=frozenset({True}))
    prompts: tuple[Prompt[Insight], ...] = (INSIGHT, INSIGHT_WITHOUT_CALLS)
    needs_calls: bool = False
    fused: bool = False
    floored: bool = True

    def distill(self, run: Trajectory, evidence: Evidence, writer: Writer) -> Sequence[Draft]:
        """One draft: the writer's insight, else the sentences that the calls themselves bear out."""
        if not run.task.instruction.strip():
            return (Draft("", {}),)  # a build counts what nothing can find; no model is asked to write it
        prompt = INSIGHT if run.calls else INSIGHT_WITHOUT_CALLS
        tools = tools_of(run)
        reply = writer.write(Assignment(prompt, run, partial(fault_in_insight, tools=tools)))
        text = reply.text.strip() if reply else " ".join(_sentences(run, evidence))
        steps = (min(1, len(run.calls)), len(run.calls))
        return (Draft(run.task.instruction, {"text": text, "tools": [*tools]}, steps, written=reply is not None),)

    def ask(self, question: Question) -> Sequence[Query]:
        """The instruction, once, before the task."""
        return (Query(question.text),) if question.at == "task" else ()

    def render(self, hits: Sequence[Hit], question: Question, style: Style) -> Sequence[Part]:  # noqa: ARG002 - protocol
        """The strategy, and how many other runs agree with it."""
        return [Part(f"{hit.record.body['text']}{seen_in(hit.support)}", hit.record.id) for hit in hits]

    def gist(self, record: Record) -> str:
        """The strategy's own words."""
        return str(record.body["text"])

    def fault(self, body: Mapping[str, JSON]) -> str | None:
        """A body has a text and the names of its tools."""
        if not isinstance(body.get("text"), str) or not str(body["text"]).strip():
            return "a workflow's body needs a text"
        return fault_in_names(body)


def _sentences(run: Trajectory, evidence: Evidence) -> list[str]:
    """The facts of the calls as sentences; one that would have no fact is left out."""
    calls = run.calls
    if not calls:
        return [f"Solved {without_call(run)}"]
    found = (order_of(run), origins(calls, evidence), check_at_the_end(calls), failures(calls, evidence, tools_of(run)))
    return [sentence for sentence in found if sentence]
