"""The workflow tier: one short strategy for a whole task, found by the task's instruction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

from amd.evidence import Evidence
from amd.json_text import JSON, loads
from amd.records import Record
from amd.tier import Assignment, Draft, Hit, Part, Prompt, Query, Question, Style, Writer
from amd.trajectory import ToolCall, ToolSpec, Trajectory
from amd.transcript import fault_in_names, join, phrase, tool_words

__all__ = ["INSIGHT", "INSIGHT_WITHOUT_CALLS", "Insight", "WorkflowTier", "fault_in_insight"]

# Beyond these a text says more than a small model reads, and no longer fits the tier's budget.
_MOST_STAGES = 8
_MOST_LINKS = 3
_MOST_KEYS = 4


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

_MOST_NAMED = 8  # tools, in words for a model
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
    if tools and not any(re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", reply.text) for tool in tools):
        names = join(f"`{tool}`" for tool in tools[:_MOST_NAMED])
        return f"the text names none of the tools that the run called, which are {names}"
    return None


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
        tools = list(dict.fromkeys(call.name for call in run.calls))
        reply = writer.write(Assignment(prompt, run, partial(fault_in_insight, tools=tools)))
        text = reply.text.strip() if reply else " ".join(_sentences(run, evidence))
        steps = (min(1, len(run.calls)), len(run.calls))
        return (Draft(run.task.instruction, {"text": text, "tools": [*tools]}, steps, written=reply is not None),)

    def ask(self, question: Question) -> Sequence[Query]:
        """The instruction, once, before the task."""
        return (Query(question.text),) if question.at == "task" else ()

    def render(self, hits: Sequence[Hit], question: Question, style: Style) -> Sequence[Part]:  # noqa: ARG002 - protocol
        """The strategy, and how many other runs agree with it."""
        return [Part(f"{hit.record.body['text']}{_agreement(hit.support)}", hit.record.id) for hit in hits]

    def gist(self, record: Record) -> str:
        """The strategy's own words."""
        return str(record.body["text"])

    def fault(self, body: Mapping[str, JSON]) -> str | None:
        """A body has a text and the names of its tools."""
        if not isinstance(body.get("text"), str) or not str(body["text"]).strip():
            return "a workflow's body needs a text"
        return fault_in_names(body)


def _agreement(support: int) -> str:
    return f" (Seen in {support} runs.)" if support > 1 else ""


def _sentences(run: Trajectory, evidence: Evidence) -> list[str]:
    """The facts of the calls as sentences; one that would have no fact is left out."""
    calls = run.calls
    if not calls:
        turns = len(run.turns)
        exchange = "one exchange" if turns == 1 else f"{turns} exchanges"
        offered = f", although {len(run.tools)} tools were offered" if run.tools else ""
        return [f"Solved in {exchange} with the user and without a tool call{offered}."]
    found = (_order(run), _origins(calls, evidence), _check(calls), _failures(calls, evidence))
    return [sentence for sentence in found if sentence]


def _order(run: Trajectory) -> str:
    """The tools in the order of first use, each with what it does, turn by turn."""
    specs = {spec.name: spec for spec in run.tools or ()}
    named: set[str] = set()
    stages: list[list[str]] = []
    later: dict[str, None] = {}
    for turn in run.turns:
        good = [call.name for call in turn.calls if call.ok]
        if len(stages) == _MOST_STAGES:
            later.update((f"`{name}`", None) for name in good if name not in named)
            continue
        steps = [_step(name, len(list(same)), specs, named) for name, same in groupby(good)]
        if steps and (not stages or steps != stages[-1]):
            stages.append(steps)
    if not stages:
        return ""
    text = "; then ".join(join(steps) for steps in stages) + (f"; later {join(later)}" if later else "")
    return f"Call {text}." if text.startswith("`") else f"{text[0].upper()}{text[1:]}."


def _step(name: str, times: int, specs: Mapping[str, ToolSpec], named: set[str]) -> str:
    again = f" {times} times" if times > 1 else ""
    words = phrase(name, specs.get(name))
    if name in named or words == tool_words(name):
        named.add(name)
        return f"`{name}`{again}"
    named.add(name)
    return f"{words} (`{name}`{again})"


def _origins(calls: Sequence[ToolCall], evidence: Evidence) -> str:
    """Which arguments were taken from earlier results."""
    taken: dict[tuple[str, str], dict[str, None]] = {}
    for link in evidence.links:
        call, source = calls[link.call - 1], calls[link.source - 1]
        if call.ok and call.name != source.name:
            taken.setdefault((call.name, source.name), {})[f"`{link.argument}`"] = None
    facts = [
        f"{join(list(names)[:_MOST_KEYS])} for `{tool}` from `{source}`"
        for (tool, source), names in list(taken.items())[:_MOST_LINKS]
    ]
    return f"Take {', and '.join(facts)}." if facts else ""


def _check(calls: Sequence[ToolCall]) -> str:
    """The validation cue: what the last good call answers with when all went well."""
    last = next((call for call in reversed(calls) if call.ok), None)
    keys = [key for key in _answer_keys(last.observation) if key not in last.arguments] if last else []
    if last is None or not keys:
        return ""
    return f"At the end, check that the result of `{last.name}` has {join(f'`{key}`' for key in keys[:_MOST_KEYS])}."


def _answer_keys(observation: str) -> list[str]:
    try:
        value = loads(observation)
    except ValueError:
        return []
    return [key for key in value if key.isidentifier()] if isinstance(value, dict) else []


def _failures(calls: Sequence[ToolCall], evidence: Evidence) -> str:
    """Each kind of error that was met, and what repaired it."""
    facts: dict[tuple[str, str], str] = {}
    for repair in evidence.repairs:
        tool = calls[repair.failed - 1].name
        kind = (tool, repair.error_class)
        fact = f"`{tool}` failed with “{repair.error_class}”"
        if repair.repaired is None:
            facts.setdefault(kind, fact)
        elif repair.changed:
            facts[kind] = f"{fact} until {join(f'`{name}`' for name in repair.changed)} changed"
        else:
            facts[kind] = f"{fact} and went through when called again"
    return f"Avoid: {'; '.join(facts.values())}." if facts else ""
