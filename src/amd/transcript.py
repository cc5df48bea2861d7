"""How calls and tools read: in a student's own call format, and as words.

Calls are always shown as calls, one a line, in the format in which the student writes its own: of all that a
memory can decide, this moved a small student most.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from amd.chat import CallFormat
from amd.json_text import JSON, dumps
from amd.trajectory import ToolSpec

__all__ = ["excerpt", "fault_in_names", "join", "phrase", "render_call", "tool_words"]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CLAUSE_END = re.compile(r"[.;:,(\n]| (?:from|using|based on|by|if|that|which|when|whose|where|so|of any|in the) ")
_PHRASE_WORDS = 8


def render_call(name: str, arguments: Mapping[str, JSON], call_format: CallFormat) -> str:
    """A call on one line: ``json`` for function calling, ``python`` for prompting and code agents.

    A call that Python cannot spell, for a name with a dash or a blank, is written as JSON.

    >>> render_call("mv", {"source": "<source>", "force": True}, "json")
    '{"name": "mv", "arguments": {"source": "<source>", "force": true}}'
    >>> render_call("mv", {"source": "<source>", "force": True}, "python")
    "mv(source='<source>', force=True)"
    """
    if call_format == "python" and all(part.isidentifier() for part in (*name.split("."), *arguments)):
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    members = ", ".join(f"{_json(key)}: {_json(value)}" for key, value in arguments.items())
    return f'{{"name": {_json(name)}, "arguments": {{{members}}}}}'


def _json(value: JSON) -> str:
    return dumps(value, sort_keys=False).decode()


def excerpt(text: str, limit: int) -> str:
    """The text, or its head and tail with a mark between them, at most ``limit`` characters.

    >>> excerpt("abcdefghijklmnopqrstuvwxyz", 11)
    'abcdef … yz'
    """
    if len(text) <= limit:
        return text
    mark = " … "
    tail = (limit - len(mark)) // 4 or 1
    tail = min(tail, limit - len(mark) - 1)
    head = limit - len(mark) - tail
    return f"{text[:head]}{mark}{text[-tail:]}"


def tool_words(name: str) -> str:
    """A tool's name in words.

    >>> tool_words("get_user_details"), tool_words("spotify.showSong")
    ('get user details', 'spotify show song')
    """
    return " ".join(re.split(r"[\W_]+", _CAMEL.sub(" ", name).lower())).strip() or name


def phrase(name: str, spec: ToolSpec | None) -> str:
    """What a tool does: the first clause of its own description, at most eight words, else its name in words.

    >>> phrase("mv", ToolSpec("mv", "Move a file or folder from here to there."))
    'move a file or folder'
    >>> phrase("aim", ToolSpec("aim", "Point the large south telescope at the given star of the catalogue."))
    'point the large south telescope'
    """
    if spec is None:
        return tool_words(name)
    words = _CLAUSE_END.split(spec.description.strip(), maxsplit=1)[0].split()
    if len(words) > _PHRASE_WORDS:
        joints = [at for at in range(2, _PHRASE_WORDS) if words[at].lower() in _JOINTS]
        words = words[: joints[-1] if joints else _PHRASE_WORDS]
    if len(words) < 2:
        return tool_words(name)
    first = words[0] if words[0].isupper() else words[0].lower()
    return " ".join([first, *words[1:]])


# A long clause is cut before the last of these, so that no phrase ends in the air.
_JOINTS = frozenset(("and", "at", "by", "for", "in", "into", "of", "on", "or", "to", "with"))


def join(items: Iterable[str], last: str = "and") -> str:
    """Items as a list in prose.

    >>> join(["a", "b", "c"])
    'a, b and c'
    """
    *head, tail = list(items) or [""]
    return f"{', '.join(head)} {last} {tail}" if head else tail


def fault_in_names(body: Mapping[str, JSON]) -> str | None:
    """What is wrong with the names of tools that a record's body lists under ``tools``, or ``None``.

    >>> fault_in_names({"tools": ["cd"]}) is None, fault_in_names({"tools": "cd"})
    (True, 'tools is no list of names')
    """
    names = body.get("tools")
    good = isinstance(names, list) and all(isinstance(name, str) and name for name in names)
    return None if good else "tools is no list of names"
