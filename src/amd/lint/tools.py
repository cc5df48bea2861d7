"""Tools that a record's words name although its run never called them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from amd.lint.records import RunRecords, prose_of
from amd.records import Record

__all__ = ["Mention", "mentions"]

_NAME = r"[^\W\d][\w-]{0,80}+(?:\.[^\W\d][\w-]{0,80}+){0,8}+"
_WORD = r"[^\W\d]\w{0,80}+(?:\.[^\W\d]\w{0,80}+){0,8}+"
_ARGUMENTS = r"\((?:\)|\w{1,40}\s?=|[\"'<])"
# A name in code marks; or a word that only a programmer writes, or that arguments follow.
_MENTION = re.compile(
    rf"`(?P<code>{_NAME})(?P<opened>\()?[^`\n]{{0,200}}`"
    rf"|(?<![\w<`])(?=[^\W_]*+(?:_|\.\w|\()|[a-z]++[A-Z])(?P<word>{_WORD})(?![\w>])(?P<arguments>{_ARGUMENTS})?"
)
_BEFORE = 30  # characters in which "calling the" fits
_CALLING = re.compile(
    r"\b(?:(?P<use>us(?:e|es|ing)|via)|call(?:s|ing)?|invok(?:e|es|ing))\s+(?:the\s+)?$", re.IGNORECASE
)
_A_TOOL = re.compile(r"\s+(?:tool|function|api|command|endpoint)\b", re.IGNORECASE)
_CODE = re.compile(r"\w[_.]\w|[a-z][A-Z]")  # one uses a format or a value too, but those look otherwise


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that a record's words use, which its run did not call. ``surely`` if the words say that it is a tool."""

    name: str
    surely: bool


def mentions(record: Record, run: RunRecords) -> list[Mention]:
    """The names in a record's prose that may be tools which the run never called, each once.

    A name of an argument or of an answer's member is no tool. Whether a mention that is not ``surely`` one is a tool,
    only the whole memory can tell: it is, if some other run called it.
    """
    found: dict[str, bool] = {}
    for text in prose_of(record).values():
        for match in _MENTION.finditer(text):
            name = match["code"] or match["word"]
            if name not in run.names:
                found[name] = found.get(name, False) or _is_called(match)
    return [Mention(name, surely) for name, surely in found.items()]


def _is_called(match: re.Match[str]) -> bool:
    """Whether the words around a name say that it is a tool."""
    if match["word"]:
        return match["arguments"] is not None
    if match["opened"] or _A_TOOL.match(match.string, match.end()):
        return True
    verb = _CALLING.search(match.string[max(0, match.start() - _BEFORE) : match.start()])
    return verb is not None and (verb["use"] is None or _CODE.search(match["code"]) is not None)
