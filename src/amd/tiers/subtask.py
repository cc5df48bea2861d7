"""The subtask tier: labelled segments of a run, found by their label and description."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from amd.evidence import Evidence
from amd.json_text import JSON
from amd.records import Record
from amd.sentences import seen_in
from amd.tier import Assignment, Draft, Hit, Part, Prompt, Query, Question, Style, Writer
from amd.trajectory import ToolCall, ToolSpec, Trajectory
from amd.transcript import excerpt, fault_in_names, join, phrase, render_call, tool_words

__all__ = ["LABELS", "MOST_SEGMENTS", "SEGMENTS", "Labels", "Segment", "Segments", "SubtaskTier", "fault_in"]

MOST_SEGMENTS = 6
"""Segments of a run (the paper's figure) and labels that a student decomposes a task into."""

_LONGEST_LABEL, _LONGEST_SENTENCE = 120, 600  # characters: more is neither
_MOST_CALLS_SHOWN = 8
_OBSERVATION_LENGTH = 300
_REQUEST_LENGTH = 240
_LABEL_TOOLS = 3
# Shorter, a user's turn ("Yes, please.") says nothing about what the segment does.
_LEAST_REQUEST_WORDS = 5
# Three letters before the stop, so that "Dr." and "No." end nothing.
_SENTENCE_END = re.compile(r"(?<=\w\w\w[.!?])\s|\n")


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment: its first and last call (from 1, over all calls of the run), a label and one sentence."""

    start_step: int
    end_step: int
    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Segments:
    """A writer's reply: the segments of a run in order."""

    segments: tuple[Segment, ...]


SEGMENTS = Prompt(
    "segments",
    f"""You read a finished run in which an assistant solved a task with tools; its calls are numbered. Divide the \
calls into parts of the task: at least 1 and at most {MOST_SEGMENTS} segments, in order. The first segment starts with \
call 1, each next one with the call after the last one of the segment before, and the last segment ends with the \
last call.
start_step and end_step are numbers of calls. label: at most 5 words that say what is done, a different one for \
each segment. description: one sentence that says what is done, from what, and what comes out. Names, ids, \
dates, amounts and other values of this run stand in neither.""",
    Segments,
    room=1024,
)
"""Asked for a run with calls."""


@dataclass(frozen=True, slots=True)
class Labels:
    """A student's reply: the parts of a task that it is about to begin, in order."""

    labels: tuple[str, ...]


LABELS = Prompt(
    "labels",
    f"""You read a task, and the names of the tools that can be called for it. Name the parts of the task in the order \
in which they will be done: at least 1 and at most {MOST_SEGMENTS} labels of at most 5 words, each saying what \
is done and to what kind of thing. Names, ids, dates, amounts and other values of the task do not stand in a \
label.""",
    Labels,
    room=256,
)
"""Asked of a student's model before the task, to decompose it."""


def fault_in(segments: Sequence[Segment], calls: int) -> str | None:
    """What is wrong with a division of ``calls`` calls, or ``None``: it must cover all, once, in order."""
    if not 1 <= len(segments) <= MOST_SEGMENTS:
        return f"{len(segments)} segments, at least one and at most {MOST_SEGMENTS} are possible"
    expected = 1
    for segment in segments:
        if segment.start_step != expected or segment.end_step < segment.start_step:
            return f"steps {segment.start_step}-{segment.end_step} where {expected} should begin"
        expected = segment.end_step + 1
    if expected != calls + 1:
        return f"the segments end at step {expected - 1} of {calls}"
    return _fault_in_words(segments)


def _fault_in_words(segments: Sequence[Segment]) -> str | None:
    if not all(segment.label.strip() for segment in segments):
        return "a segment has no label"
    if len({segment.label for segment in segments}) < len(segments):
        return "two segments have the same label"
    if any(len(segment.label) > _LONGEST_LABEL or len(segment.description) > _LONGEST_SENTENCE for segment in segments):
        return "a label or a description is too long: write at most 5 words, and one sentence"
    return None


@dataclass(frozen=True, slots=True)
class SubtaskTier:
    """Up to six records a run, asked with decomposed labels, with the instruction, or turn by turn.

    With ``words`` alone a student reads what was done and with which tools, and no call: one of the paper's
    representations.
    """

    words: bool = False
    name: str = "subtask"
    heading: str = "Calls that solved similar parts of earlier tasks:"
    accepts: frozenset[bool] = field(default=frozenset({True}))
    prompts: tuple[Prompt[Segments], ...] = (SEGMENTS,)
    needs_calls: bool = True
    fused: bool = True
    floored: bool = True

    def distill(self, run: Trajectory, evidence: Evidence, writer: Writer) -> Sequence[Draft]:  # noqa: ARG002 - protocol
        """The writer's segments where they divide the run, else its turns."""
        calls = run.calls
        if not calls:
            return ()
        reply = writer.write(Assignment(SEGMENTS, run, lambda reply: fault_in(reply.segments, len(calls))))
        segments = reply.segments if reply else _turns_as_segments(run)
        drafts = (_draft(segment, calls, written=reply is not None) for segment in segments)
        return [draft for draft in drafts if draft]

    def ask(self, question: Question) -> Sequence[Query]:
        """Each label, else the instruction or the turn's text."""
        if question.at == "error":
            return ()
        return [Query(text) for text in question.labels[:MOST_SEGMENTS] or (question.text,)]

    def render(self, hits: Sequence[Hit], question: Question, style: Style) -> Sequence[Part]:  # noqa: ARG002 - protocol
        """Label and description, then the calls, each on a line of its own."""
        return [_in_words(hit) if self.words else _part(hit, style) for hit in hits]

    def gist(self, record: Record) -> str:
        """What was done and with which tools."""
        return f"{record.key} {' '.join(tool_words(str(name)) for name in _names(record))}"

    def fault(self, body: Mapping[str, JSON]) -> str | None:
        """A body has a label, a description, calls with a name and arguments, and the names of its tools."""
        calls = body.get("calls")
        if not isinstance(body.get("label"), str) or not isinstance(body.get("description"), str):
            return "a subtask's body needs a label and a description"
        if not isinstance(calls, list) or not calls or not all(_is_call(call) for call in calls):
            return "a subtask's body needs calls, each with a name and arguments"
        return fault_in_names(body)


def _is_call(value: JSON) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("arguments"), Mapping)
    )


def _names(record: Record) -> list[JSON]:
    tools = record.body["tools"]
    return tools if isinstance(tools, list) else []


def _draft(segment: Segment, calls: Sequence[ToolCall], *, written: bool) -> Draft | None:
    """The segment with exactly the good calls of its range; nothing if there is none."""
    good = [call for call in calls[segment.start_step - 1 : segment.end_step] if call.ok]
    if not good:
        return None
    tools = tuple(dict.fromkeys(call.name for call in good))
    body: dict[str, JSON] = {
        "label": segment.label,
        "description": segment.description,
        "calls": [{"name": call.name, "arguments": call.arguments} for call in good],
        "observations": [excerpt(call.observation, _OBSERVATION_LENGTH) for call in good],
        "tools": list(tools),
    }
    key = f"{segment.label}: {segment.description}" if segment.description else segment.label
    return Draft(key, body, (segment.start_step, segment.end_step), calls_of=tools, written=written)


def _turns_as_segments(run: Trajectory) -> list[Segment]:
    """The turns that have calls; while there are more than six, the shortest adjacent pair is joined."""
    groups: list[tuple[list[str], list[ToolCall]]] = []
    words: list[str] = []
    for turn in run.turns:
        words.append(turn.user or "")
        if turn.calls:
            groups.append((words, list(turn.calls)))
            words = []
    while len(groups) > MOST_SEGMENTS:
        at = min(range(len(groups) - 1), key=lambda i: len(groups[i][1]) + len(groups[i + 1][1]))
        left, right = groups[at], groups[at + 1]
        groups[at : at + 2] = [(left[0] + right[0], left[1] + right[1])]
    specs = {spec.name: spec for spec in run.tools or ()}
    segments, start = [], 1
    for said, calls in groups:
        end = start + len(calls) - 1
        good = list(dict.fromkeys(call.name for call in calls if call.ok))
        label, does = _label(good), _does(good, specs)
        request = _request(said)
        description = f"{request} ({does})" if request and does else request or does
        segments.append(Segment(start, end, label, description))
        start = end + 1
    return segments


def _label(names: Sequence[str]) -> str:
    """The last tools of the segment in words: earlier ones mostly prepare."""
    return join(tool_words(name) for name in names[-_LABEL_TOOLS:]) or "failed calls"


def _does(names: Sequence[str], specs: dict[str, ToolSpec]) -> str:
    """What the tools do by their own descriptions; empty where there are none, for the label has their names."""
    phrases = [phrase(name, specs.get(name)) for name in names]
    return join(phrases, last="then") if phrases != [tool_words(name) for name in names] else ""


def _request(said: Sequence[str]) -> str:
    """The longest first sentence that the user said; empty if the user only nodded."""
    sentences = [_SENTENCE_END.split(text.strip(), maxsplit=1)[0] for text in said]
    longest = max(sentences, key=len, default="")
    return excerpt(longest, _REQUEST_LENGTH) if len(longest.split()) >= _LEAST_REQUEST_WORDS else ""


def _in_words(hit: Hit) -> Part:
    tools = join(f"`{name}`" for name in _names(hit.record))
    return Part(f"{hit.record.key}{seen_in(hit.support)} (With {tools}.)", hit.record.id)


def _part(hit: Hit, style: Style) -> Part:
    body = hit.record.body
    calls = body["calls"] if isinstance(body["calls"], list) else []
    lines = [_line(call, style) for call in calls[:_MOST_CALLS_SHOWN]]
    if len(calls) > _MOST_CALLS_SHOWN:
        lines.append(f"({len(calls) - _MOST_CALLS_SHOWN} more calls)")
    title = hit.record.key
    text = "\n".join([f"{title}{seen_in(hit.support)}", *lines])
    return Part(text, hit.record.id, (str(body["description"] or body["label"]), "\n".join(lines)))


def _line(call: JSON, style: Style) -> str:
    assert isinstance(call, Mapping)
    arguments = call["arguments"]
    assert isinstance(arguments, Mapping)
    return render_call(str(call["name"]), arguments, style.call_format)
