"""What MemP's record has without a model: steps that the calls bear out, keywords, a run within bounds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from amd.evidence import Evidence
from amd.json_text import dumps
from amd.sentences import check_at_the_end, failures, tools_of, without_call
from amd.trajectory import ToolCall, Trajectory
from amd.transcript import excerpt, join, phrase, tool_words

__all__ = ["MOST_KEYWORDS", "OBSERVATION_LENGTH", "keywords_of", "steps_of", "within"]

MOST_KEYWORDS = 10
"""Keywords of a task."""

OBSERVATION_LENGTH = 120
"""Characters of an observation that are kept."""

_OWN_STEPS, _MOST_ARGUMENTS = 11, 4  # of the rules' scripts
_RUN_BYTES = 1_800  # of a trajectory: with a script it fits 1,200 tokens of bytes/3
_WORD = re.compile(r"(?=[\w'-]*[^\W\d])\w+(?:['-]\w+)*")
_PLACEHOLDER = re.compile(r"<\w{1,64}>")
_EMPTY_WORDS = frozenset(
    [
        *("a", "about", "above", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been"),
        *("before", "both", "but", "by", "can", "could", "did", "do", "does", "each", "for", "from", "had", "has"),
        *("have", "he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just"),
        *("let", "like", "me", "more", "my", "need", "no", "not", "now", "of", "off", "on", "once", "one", "only"),
        *("or", "other", "our", "out", "over", "please", "she", "should", "so", "some", "such", "than", "that"),
        *("the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "under", "up"),
        *("us", "very", "was", "we", "well", "were", "what", "when", "where", "which", "while", "who", "whom"),
        *("will", "with", "would", "you", "your"),
    ]
)


def keywords_of(text: str) -> list[str]:
    """The words of a text that are about something, each once, the first ten; the text itself where none is.

    Numbers, dates and what stands for a masked value are about this one case.

    >>> keywords_of("Please move the report into the archive, and then the other report.")
    ['move', 'report', 'archive']
    """
    plain = _PLACEHOLDER.sub(" ", text.casefold())
    words = list(dict.fromkeys(word for word in _WORD.findall(plain) if word not in _EMPTY_WORDS))
    return words[:MOST_KEYWORDS] or [text.strip()]


def _size(call: ToolCall) -> int:
    shown = (call.name, dumps(call.arguments).decode(), excerpt(call.observation, OBSERVATION_LENGTH))
    return sum(len(text.encode()) for text in shown) + 40  # what stands around them in JSON


def within(calls: Sequence[ToolCall]) -> tuple[tuple[ToolCall, ...], int]:
    """The calls that fit, as many from the beginning as from the end or one more, and how many are left out."""
    head: list[ToolCall] = []
    tail: list[ToolCall] = []
    left, room = list(calls), _RUN_BYTES
    while left:
        of_head = len(head) <= len(tail)
        size = _size(left[0] if of_head else left[-1])
        if size > room:
            break
        room -= size
        if of_head:
            head.append(left.pop(0))
        else:
            tail.insert(0, left.pop())
    return (*head, *tail), len(left)


def steps_of(run: Trajectory, evidence: Evidence, *, good: bool) -> list[str]:
    """The facts of a run as steps; of a failed run only its errors, for its order was not right."""
    errors = failures(run.calls, evidence, tools_of(run))
    if not good:
        return [errors] if errors else []
    if not run.calls:
        return [f"Solved {without_call(run)}"]
    found = _call_steps(run, evidence)
    if len(found) > _OWN_STEPS:
        later = dict.fromkeys(f"`{name}`" for name, _ in found[_OWN_STEPS - 1 :])
        found = [*found[: _OWN_STEPS - 1], ("", f"Then call {join(later)}.")]
    return [text for text in (*(text for _, text in found), check_at_the_end(run.calls), errors) if text]


def _call_steps(run: Trajectory, evidence: Evidence) -> list[tuple[str, str]]:
    """For each group of good calls of one tool its name, and what it does with which arguments, from where."""
    specs = {spec.name: spec for spec in run.tools or ()}
    sources = {(link.call, link.argument): run.calls[link.source - 1].name for link in evidence.links}
    numbered = [(number, call) for number, call in enumerate(run.calls, start=1) if call.ok]
    steps = []
    for name, group in groupby(numbered, key=lambda pair: pair[1].name):
        same = list(group)
        number, call = same[0]
        words = phrase(name, specs.get(name))
        what = f"Call `{name}`" if words == tool_words(name) else f"{words[0].upper()}{words[1:]} (`{name}`)"
        given = [
            f"`{argument}`" + (f" from `{sources[number, argument]}`" if (number, argument) in sources else "")
            for argument in list(call.arguments)[:_MOST_ARGUMENTS]
        ]
        times = f", {len(same)} times" if len(same) > 1 else ""
        steps.append((name, f"{what}{f' with {join(given)}' if given else ''}{times}."))
    return steps
