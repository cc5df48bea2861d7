"""SASM (arXiv 2602.21611): the experience of parts of a run, found by their category first and their description then.

A record is one part: category z, description d, experience e. The category is a gate, similarity to the description
ranks behind it, and one record of each category that is asked for is shown. A session asks it with the parts that a
student decomposes the task into, with the instruction, or turn by turn. There is no floor: no threshold is known.

Where this departs from the paper: its categories are those of repairing software, ours those of acting with tools; all
parts of a run and their experience are asked for in one reply; the category of a question is read off its words, where
the paper lets the student's model name it, for a tier asks no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from amd.baselines.categories import CATEGORIES, categories_in, category_of
from amd.evidence import Evidence
from amd.json_text import JSON
from amd.records import Record
from amd.sentences import failures, origins, seen_in, tools_of
from amd.tier import Assignment, Draft, Hit, Part, Prompt, Query, Question, Style, Writer
from amd.trajectory import ToolCall, ToolSpec, Trajectory
from amd.transcript import excerpt, fault_in_names, join, phrase

__all__ = ["SUBTASKS", "SasmTier", "Subtask", "Subtasks", "fault_in_subtasks"]

MOST_SUBTASKS, MOST_BULLETS = 7, 8
"""Parts of a run, and sentences of experience of one."""

_LONGEST_DESCRIPTION, _LONGEST_BULLET = 400, 300  # characters
_REQUEST_LENGTH = 200
_MOST_TOOLS, _MOST_ARGUMENTS = 5, 5


@dataclass(frozen=True, slots=True)
class Subtask:
    """One part of a run: its first and last call (from 1), category, description, and what it teaches."""

    start_step: int
    end_step: int
    category: str
    description: str
    experience: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Subtasks:
    """A writer's reply: the parts of a run in order."""

    subtasks: tuple[Subtask, ...]


SUBTASKS = Prompt(
    "experiences",
    f"""You read a finished run in which an assistant solved a task with tools; its calls are numbered. Divide it \
into at least 1 and at most {MOST_SUBTASKS} parts, in order, none of which shares a call with another.
start_step and end_step are numbers of calls. category: one of {join(CATEGORIES, "or")}. description: one sentence \
that says what the part is to achieve. experience: 2 to {MOST_BULLETS} short sentences for somebody who has to do such \
a part, each beginning with Do or Avoid, that say which tool to call in backticks, what it needs, and what went wrong. \
Names, ids, dates, amounts and other values of this run stand in none of them.""",
    Subtasks,
    room=2048,
)
"""Asked for a run with calls."""


def fault_in_subtasks(reply: Subtasks, calls: int) -> str | None:
    """What is wrong with the parts of a run of ``calls`` calls, or ``None``: they stand in order and share no call.

    >>> fault_in_subtasks(Subtasks((Subtask(1, 2, "query", "Find it.", ("Do look.",)),)), 1)
    'steps 1-2 of a run of 1 calls, where the last part ended at 0'
    """
    if not 1 <= len(reply.subtasks) <= MOST_SUBTASKS:
        return f"{len(reply.subtasks)} parts, at least one and at most {MOST_SUBTASKS} are possible"
    last = 0
    for part in reply.subtasks:
        if not last < part.start_step <= part.end_step <= calls:
            steps = f"steps {part.start_step}-{part.end_step}"
            return f"{steps} of a run of {calls} calls, where the last part ended at {last}"
        last = part.end_step
    return next((fault for part in reply.subtasks if (fault := _fault_in_words(part))), None)


def _fault_in_words(part: Subtask) -> str | None:
    if part.category not in CATEGORIES:
        return f"{part.category[:40]!r} is no category: use {join(CATEGORIES, 'or')}"
    if not part.description.strip() or len(part.description) > _LONGEST_DESCRIPTION:
        return "a description is empty or too long: write one sentence"
    if not 1 <= len(part.experience) <= MOST_BULLETS or not all(text.strip() for text in part.experience):
        return f"an experience has {len(part.experience)} sentences: write 2 to {MOST_BULLETS}, none of them empty"
    if any(len(text) > _LONGEST_BULLET for text in part.experience):
        return "a sentence of an experience is too long: write short ones"
    return None


@dataclass(frozen=True, slots=True)
class SasmTier:
    """Up to seven records a run, asked with decomposed labels, with the instruction, or turn by turn."""

    name: str = "sasm"
    heading: str = "Experience with similar parts of earlier tasks:"
    accepts: frozenset[bool] = field(default=frozenset({True}))
    prompts: tuple[Prompt[Subtasks], ...] = (SUBTASKS,)
    needs_calls: bool = True
    fused: bool = False
    floored: bool = False  # the category is its gate

    def distill(self, run: Trajectory, evidence: Evidence, writer: Writer) -> Sequence[Draft]:
        """The writer's parts, else calls of one category in one turn, with the facts that they bear out."""
        calls = run.calls
        if not calls:
            return ()
        reply = writer.write(Assignment(SUBTASKS, run, lambda reply: fault_in_subtasks(reply, len(calls))))
        parts = reply.subtasks if reply else _own_parts(run, evidence)
        tools = tools_of(run)
        return [_draft(part, calls, tools, written=reply is not None) for part in parts]

    def ask(self, question: Question) -> Sequence[Query]:
        """One query for each category that the labels or the text speak of, with the words that do."""
        if question.at == "error":
            return ()
        wanted: dict[str, str] = {}
        for text in question.labels or (question.text,):
            for category in categories_in(text):
                wanted.setdefault(category, text)
        return [Query(text, where={"category": category}) for category, text in wanted.items()]

    def render(self, hits: Sequence[Hit], question: Question, style: Style) -> Sequence[Part]:  # noqa: ARG002 - protocol
        """Category and description, then the experience, a sentence a line."""
        return [_part(hit) for hit in hits]

    def gist(self, record: Record) -> str:
        """The description and the experience."""
        return " ".join([record.key, *_bullets(record.body)])

    def fault(self, body: Mapping[str, JSON]) -> str | None:
        """A body has a category, a description, an experience, and the names of its tools."""
        if body.get("category") not in CATEGORIES:
            return f"a sasm record's body needs a category: {join(CATEGORIES, 'or')}"
        if not isinstance(body.get("description"), str) or not str(body["description"]).strip():
            return "a sasm record's body needs a description"
        experience = body.get("experience")
        if not isinstance(experience, list) or not experience or len(_bullets(body)) < len(experience):
            return "a sasm record's body needs an experience, which is a list of texts"
        return fault_in_names(body)


def _bullets(body: Mapping[str, JSON]) -> list[str]:
    experience = body.get("experience")
    return [text for text in experience if isinstance(text, str)] if isinstance(experience, list) else []


def _draft(part: Subtask, calls: Sequence[ToolCall], tools: Sequence[str], *, written: bool) -> Draft:
    own = {call.name for call in calls[part.start_step - 1 : part.end_step]}
    named = tuple(name for name in tools if name in own)
    body: dict[str, JSON] = {
        "category": part.category,
        "description": part.description.strip(),
        "experience": [text.strip() for text in part.experience],
        "tools": [*named],
    }
    steps = (part.start_step, part.end_step)
    return Draft(part.description.strip(), body, steps, calls_of=named, written=written)


def _part(hit: Hit) -> Part:
    body = hit.record.body
    title = f"{str(body['category']).capitalize()}: {body['description']}{seen_in(hit.support)}"
    return Part("\n".join([title, *(f"- {text}" for text in _bullets(body))]), hit.record.id)


def _own_parts(run: Trajectory, evidence: Evidence) -> Iterable[Subtask]:
    """Ranges of calls by category and turn; the shortest neighbours are joined while there are more than seven."""
    specs = {spec.name: spec for spec in run.tools or ()}
    ranges: list[tuple[int, int, str]] = []  # first call, last call, what the user said
    said, number, before = run.task.instruction, 0, None
    for turn in run.turns:
        said = turn.user or said
        for call in turn.calls:
            number += 1
            kind = (id(turn), category_of(call.name, specs.get(call.name)))
            if kind == before:
                ranges[-1] = (ranges[-1][0], number, said)
            else:
                ranges.append((number, number, said))
            before = kind
    while len(ranges) > MOST_SUBTASKS:
        at = min(range(len(ranges) - 1), key=lambda i: ranges[i + 1][1] - ranges[i][0])
        ranges[at : at + 2] = [(ranges[at][0], ranges[at + 1][1], ranges[at + 1][2])]
    for first, last, words in ranges:
        part = _own_part(run, range(first, last + 1), words, evidence, specs)
        if part is not None:
            yield part


def _own_part(
    run: Trajectory, numbers: range, said: str, evidence: Evidence, specs: Mapping[str, ToolSpec]
) -> Subtask | None:
    """The facts of these calls; nothing where none of them was good."""
    calls = run.calls
    good = list({calls[number - 1].name: calls[number - 1] for number in numbers if calls[number - 1].ok}.values())
    if not good:
        return None
    does = join([phrase(call.name, specs.get(call.name)) for call in good[:_MOST_TOOLS]], last="then")
    own = Evidence(
        tuple(link for link in evidence.links if link.call in numbers),
        tuple(repair for repair in evidence.repairs if repair.failed in numbers or repair.repaired in numbers),
    )
    facts = [*map(_use, good[:_MOST_TOOLS]), origins(calls, own), failures(calls, own, tools_of(run))]
    return Subtask(
        numbers[0],
        numbers[-1],
        category_of(good[-1].name, specs.get(good[-1].name)),
        f"{does[0].upper()}{does[1:]}: {excerpt(said.strip(), _REQUEST_LENGTH)}".rstrip(": "),
        tuple(fact for fact in facts if fact),
    )


def _use(call: ToolCall) -> str:
    names = [f"`{name}`" for name in call.arguments][:_MOST_ARGUMENTS]
    return f"Call `{call.name}`{f' with {join(names)}' if names else ''}."
