"""MemP (arXiv 2508.06433): a script of steps and the run that it was drawn from, found by the task or by keywords.

A record keeps both; which of them a student reads is chosen when it is asked (``shown``), so that one memory serves
the three representations of the paper. Updates: a run is taken in only if its score validates it; where failures are
included, a failed run gives an adjusted script, which says what it should have done, and no trajectory.

Where this departs from the paper: keywords (``keywords``) are joined into one key, and the question's keywords, found
without a model, into one query, where the paper averages the similarity over matching keywords: a record has one row.
The trajectory is bounded, so that it fits a student's budget: calls in the middle are left out, and it says how many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from amd.baselines.memp_rules import MOST_KEYWORDS, OBSERVATION_LENGTH, keywords_of, steps_of, within
from amd.evidence import Evidence
from amd.json_text import JSON
from amd.records import Record
from amd.sentences import fault_in_naming, seen_in, tools_of
from amd.tier import Assignment, Draft, Hit, Part, Prompt, Query, Question, Style, Writer
from amd.trajectory import Trajectory
from amd.transcript import excerpt, fault_in_names, render_call

__all__ = ["ADJUSTED", "KEYWORDS", "SCRIPT", "Keywords", "MempTier", "Script", "fault_in_script"]

Shown = Literal["both", "script", "trajectory"]

MOST_STEPS = 15
"""Steps of a script."""

_LONGEST_SCRIPT, _LONGEST_KEYWORD = 1_300, 60  # characters
_TASK_LENGTH = 160  # characters


@dataclass(frozen=True, slots=True)
class Script:
    """A writer's reply: the steps of a task in order."""

    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keywords:
    """A writer's reply: what a task is about."""

    keywords: tuple[str, ...]


_FORM = f"""Give at least 2 and at most {MOST_STEPS} steps, each one short sentence of at most 20 words that says what \
to do, with which tool in backticks, and where the values that it needs come from. Names, ids, dates, amounts and \
other values of this run do not stand in a step."""

SCRIPT = Prompt(
    "script",
    f"""You read a finished run in which an assistant solved a task with tools. Write the script by which somebody who \
cannot see this run would solve a similar task: the steps in order, general enough to fit the next task of its kind.
{_FORM}""",
    Script,
    room=1024,
)
"""Asked for a run that succeeded."""

ADJUSTED = Prompt(
    "adjusted_script",
    f"""You read a finished run in which an assistant tried to solve a task with tools and failed. Find the step at \
which it went wrong, then write the script that it should have followed: the steps in order, with what was missing or \
wrong put right.
{_FORM}""",
    Script,
    room=1024,
)
"""Asked for a run that failed."""

KEYWORDS = Prompt(
    "keywords",
    f"""You read a finished run in which an assistant worked on a task with tools. Name what its task is about: at \
least 3 and at most {MOST_KEYWORDS} keywords of one to three words, the kinds of things and the actions on them. \
Names, ids, dates, amounts and other values of this run are no keywords.""",
    Keywords,
    room=256,
)
"""Asked for every run, if records are found by keywords."""


def fault_in_script(reply: Script, tools: Sequence[str] = ()) -> str | None:
    """What is wrong with a script, or ``None``; ``tools`` are those that the run called.

    >>> fault_in_script(Script(("Look around with `ls`.", " ")))
    'a step is empty'
    """
    if not 1 <= len(reply.steps) <= MOST_STEPS:
        return f"{len(reply.steps)} steps, at least one and at most {MOST_STEPS} are possible"
    if not all(step.strip() for step in reply.steps):
        return "a step is empty"
    if sum(map(len, reply.steps)) > _LONGEST_SCRIPT:
        return "the script is too long: write short sentences of at most 20 words"
    return fault_in_naming(" ".join(reply.steps), tools)


def _fault_in_keywords(reply: Keywords) -> str | None:
    if not 1 <= len(reply.keywords) <= MOST_KEYWORDS:
        return f"{len(reply.keywords)} keywords, at least one and at most {MOST_KEYWORDS} are possible"
    if not all(0 < len(word.strip()) <= _LONGEST_KEYWORD for word in reply.keywords):
        return "a keyword is empty or too long: write one to three words"
    return None


@dataclass(frozen=True, slots=True)
class MempTier:
    """One record a run, asked once before the task.

    Args:
        shown: what a student reads of a record.
        keywords: find records by keywords instead of the instruction; they are kept on a shelf of their own.
        failures: take failed runs too, for adjusted scripts.
    """

    shown: Shown = "both"
    keywords: bool = False
    failures: bool = False
    heading: str = "How a similar task was done:"
    needs_calls: bool = False
    fused: bool = False
    floored: bool = True

    @property
    def name(self) -> str:
        """The shelf: one for each kind of key."""
        return "memp-keywords" if self.keywords else "memp"

    @property
    def accepts(self) -> frozenset[bool]:
        """Successes, and failures if it was made with ``failures``."""
        return frozenset({True, False} if self.failures else {True})

    @property
    def prompts(self) -> tuple[Prompt[Script] | Prompt[Keywords], ...]:
        """The scripts, and the keywords if they are the key."""
        return (SCRIPT, ADJUSTED, KEYWORDS) if self.keywords else (SCRIPT, ADJUSTED)

    def distill(self, run: Trajectory, evidence: Evidence, writer: Writer) -> Sequence[Draft]:
        """One draft: the writer's script, else the steps that the calls themselves bear out, and the run."""
        task = run.task.instruction.strip()
        if not task:
            return (Draft("", {}),)  # a build counts what nothing can find; no model is asked to write it
        good = run.outcome.success is not False
        tools = tools_of(run)
        reply = writer.write(Assignment(SCRIPT if good else ADJUSTED, run, partial(fault_in_script, tools=tools)))
        steps = [step.strip() for step in reply.steps] if reply else steps_of(run, evidence, good=good)
        if not steps:
            return ()  # a failed run without an error: the rules do not know what would have been right
        calls, left_out = within(run.calls) if good else ((), 0)
        body: dict[str, JSON] = {
            "outcome": "success" if good else "failure",
            "task": excerpt(task, _TASK_LENGTH),
            "script": [*steps],
            "calls": [{"name": call.name, "arguments": call.arguments} for call in calls],
            "observations": [excerpt(call.observation, OBSERVATION_LENGTH) for call in calls],
            "left_out": left_out,
            "tools": [*tools],
        }
        covered = (min(1, len(run.calls)), len(run.calls))
        key = self._key(run, task, writer)
        return (Draft(key, body, covered, calls_of=tuple(tools), written=reply is not None),)

    def _key(self, run: Trajectory, task: str, writer: Writer) -> str:
        if not self.keywords:
            return task
        reply = writer.write(Assignment(KEYWORDS, run, _fault_in_keywords))
        return ", ".join(word.strip() for word in reply.keywords) if reply else ", ".join(keywords_of(task))

    def ask(self, question: Question) -> Sequence[Query]:
        """The instruction or its keywords, once, before the task; a trajectory alone is a success's."""
        if question.at != "task":
            return ()
        text = ", ".join(keywords_of(question.text)) if self.keywords else question.text
        return (Query(text, where={"outcome": "success"} if self.shown == "trajectory" else {}),)

    def render(self, hits: Sequence[Hit], question: Question, style: Style) -> Sequence[Part]:  # noqa: ARG002 - protocol
        """The script, then the run: each whole or not at all."""
        return [part for hit in hits for part in self._parts(hit, style)]

    def _parts(self, hit: Hit, style: Style) -> list[Part]:
        body, parts = hit.record.body, []
        title = f"The task: {body['task']}{seen_in(hit.support)}"
        if self.shown != "trajectory":
            script = [f"{number}. {step}" for number, step in enumerate(_listed(body, "script"), start=1)]
            said = "A script, adjusted after a failed run:" if body["outcome"] == "failure" else "A script:"
            parts.append(Part("\n".join([title, said, *script]), hit.record.id))
        lines = _run_lines(body, style)
        if self.shown != "script" and lines:
            above = [title, "Its calls:"] if not parts else ["The calls of that run:"]
            parts.append(Part("\n".join([*above, *lines]), hit.record.id, (str(body["task"]), "\n".join(lines))))
        return parts or [Part(f"{title}\nSolved without a call.", hit.record.id)]

    def gist(self, record: Record) -> str:
        """The script."""
        return " ".join(map(str, _listed(record.body, "script")))

    def fault(self, body: Mapping[str, JSON]) -> str | None:
        """A body has an outcome, its task, a script, calls with as many observations, and the names of its tools."""
        script, calls, seen = body.get("script"), body.get("calls"), body.get("observations")
        if body.get("outcome") not in ("success", "failure") or not isinstance(body.get("task"), str):
            return "a memp record's body needs its task, and the outcome success or failure"
        if not isinstance(script, list) or not script or not all(isinstance(step, str) for step in script):
            return "a memp record's body needs a script, which is a list of texts"
        if not isinstance(calls, list) or not all(_is_call(call) for call in calls):
            return "a memp record's body needs calls, each with a name and arguments"
        if not isinstance(seen, list) or len(seen) != len(calls) or not all(isinstance(text, str) for text in seen):
            return "a memp record's body needs an observation for each call"
        if type(body.get("left_out")) is not int:
            return "a memp record's body says in left_out how many calls it leaves out"
        return fault_in_names(body)


def _is_call(value: JSON) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("arguments"), Mapping)
    )


def _listed(body: Mapping[str, JSON], name: str) -> list[JSON]:
    value = body[name]
    return value if isinstance(value, list) else []


def _run_lines(body: Mapping[str, JSON], style: Style) -> list[str]:
    """Each call on a line, its result below; the calls left out are the ones after the head."""
    calls, left_out = _listed(body, "calls"), body["left_out"]
    head = -(-len(calls) // 2)
    lines = []
    for number, (call, seen) in enumerate(zip(calls, _listed(body, "observations"), strict=True)):
        assert isinstance(call, Mapping)
        arguments = call["arguments"]
        assert isinstance(arguments, Mapping)
        if number == head and left_out:
            lines.append(f"({left_out} more calls)")
        lines += [render_call(str(call["name"]), arguments, style.call_format), f"  result: {seen}"]
    return lines
