"""The shape of a run: one trajectory of one task, and what a run's tool results mean.

A trajectory is read once and never changed; every part is frozen. Text is never a call, a call is paired with
its own observation, and parallel calls are all kept: the readers in ``amd.traces`` see to that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from amd.json_text import JSON, digest, loads

__all__ = [
    "Kind",
    "Outcome",
    "Refusal",
    "Source",
    "Step",
    "Task",
    "ToolCall",
    "ToolSpec",
    "Trajectory",
    "Turn",
    "error_class",
    "is_error",
]

Kind = Literal["teacher", "oracle", "student"]


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a benchmark.

    ``family`` names the tasks that share an answer and is required: exclusion works on it. ``instruction`` is the
    first message that the *agent* can see, never a brief written for a simulated user.

    >>> Task(benchmark="demo", task_id="t1", family="f1", instruction="Move the file").split is None
    True
    """

    benchmark: str
    task_id: str
    family: str
    instruction: str
    split: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the agent was offered it: its name, its description and the JSON schema of its arguments.

    >>> ToolSpec("ls", "List the folder.").schema_sha256 == ToolSpec("ls", "Other words.").schema_sha256
    True
    """

    name: str
    description: str = ""
    parameters: Mapping[str, JSON] = field(default_factory=dict)

    @property
    def schema_sha256(self) -> str:
        """What staleness is judged by: the hash of the name and of the arguments' schema, without its descriptions."""
        return digest({"name": self.name, "parameters": _without_words(self.parameters)})


_WORDS = frozenset({"description", "title", "examples", "$comment"})
_BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_VALUES = frozenset({"default", "const", "enum", "required", "dependentRequired"})


def _without_words(schema: JSON) -> JSON:
    """A JSON schema without what is only told to a reader; an argument may be called ``description``."""
    if isinstance(schema, list):
        return [_without_words(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, JSON] = {}
    for key, value in schema.items():
        if key in _BY_NAME and isinstance(value, Mapping):
            found[key] = {name: _without_words(each) for name, each in value.items()}
        elif key not in _WORDS:
            found[key] = value if key in _VALUES else _without_words(value)
    return found


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call with its own observation; ``ok`` is false if the tool reported an error.

    >>> ToolCall("ls", {"folder": "a"}, "Error: no such folder", ok=False).call_id is None
    True
    """

    name: str
    arguments: Mapping[str, JSON]
    observation: str
    ok: bool
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One message of the agent: its text, which may be empty, and its calls, which may be parallel.

    >>> Step("I am done.").calls
    ()
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user said (``None`` where the harness gave the turn without a word) and what the agent did.

    >>> look = Step("I look.", (ToolCall("pwd", {}, "/home", ok=True),))
    >>> [call.name for call in Turn("Where am I?", (look, Step("At home."))).calls]
    ['pwd']
    """

    user: str | None
    steps: tuple[Step, ...] = ()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of all steps, in order."""
        return tuple(call for step in self.steps for call in step.calls)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the run ended. ``success`` is ``None`` where nobody scored it; unscored is not successful.

    >>> Outcome(success=True, score=1.0).success, Outcome(success=None).score
    (True, None)
    """

    success: bool | None
    score: float | None = None
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the run comes from.

    ``sha256`` is the hash of the bytes that the run was read from. ``kind`` is ``"oracle"`` for a benchmark's own
    answer key, replayed; that is never called a teacher's. ``memory_assisted`` is ``None`` where it is unknown.
    ``terms`` is a sentence on redistribution that a memory made of the run keeps in its manifest.

    >>> from amd.json_text import digest
    >>> Source("gpt-4o", "run-7", "runs.jsonl:7", digest(b"the line")).kind
    'teacher'
    """

    teacher: str
    run_id: str
    path: str
    sha256: str
    kind: Kind = "teacher"
    memory_assisted: bool | None = False
    terms: str | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One run of one task. ``tools`` is ``None`` where the offered tools are unknown.

    ``beside`` is what the run held that stands in none of its calls, such as a log of requests or what a program
    printed: mappings and texts. It is searched for what must not recur, as the calls are (``amd.mask``), and serves
    nothing else: it is no part of what happened, so neither compared, hashed nor written to a file.

    >>> from amd.testing import run
    >>> [call.name for call in run(1).calls[:3]], run(1).outcome.success
    (['cd', 'mv', 'wc'], True)
    """

    task: Task
    turns: tuple[Turn, ...]
    tools: tuple[ToolSpec, ...] | None
    outcome: Outcome
    source: Source
    beside: tuple[JSON, ...] = field(default=(), repr=False, compare=False)
    _hash: list[str] = field(default_factory=list, init=False, repr=False, compare=False)  # filled when it is asked for

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of all turns, in order."""
        return tuple(call for turn in self.turns for call in turn.calls)

    @property
    def sha256(self) -> str:
        """The hash of what happened: task, turns, tools and outcome, but not where the run was read from."""
        if not self._hash:
            told = {"task": self.task, "turns": self.turns, "tools": self.tools, "outcome": self.outcome}
            self._hash.append(digest(told))
        return self._hash[0]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A run that was read and not taken, with the reason that is counted and the place to look.

    ``reason`` is one of the gate's words (``failed``, ``unscored``, ``unreadable`` ...); ``where`` is ``file:line``.

    >>> Refusal("unreadable", "runs.jsonl:3", "not JSON").task_id is None
    True
    """

    reason: str
    where: str
    detail: str = ""
    task_id: str | None = None


_ERROR_PREFIX = re.compile(r"\s*(?:error during execution|error)\s*:\s*", re.IGNORECASE)


def _error_text(observation: str) -> str | None:
    """The message of an error observation, or ``None`` if it is no error."""
    prefix = _ERROR_PREFIX.match(observation)
    if prefix:
        return observation[prefix.end() :]
    if observation.lstrip().startswith("{"):
        try:
            value = loads(observation)
        except ValueError:
            return None
        if isinstance(value, Mapping) and value.get("error"):
            message = value["error"]
            return message if isinstance(message, str) else str(message)
    return None


def is_error(observation: str) -> bool:
    """The default answer to "did this call fail?", used by readers and by students alike.

    An error is a JSON object with a non-empty ``error``, or text that starts, in any case and after any white
    space, with ``error:`` or ``error during execution:``.

    >>> [is_error(text) for text in ('{"error": "no such file"}', " Error: no seats", '{"errors": []}', "failed exam")]
    [True, True, False, False]
    """
    return _error_text(observation) is not None


# What differs between two errors of one class: quoted and bracketed values; then words with a path, an id or a number.
_QUOTED = re.compile(r"""(?<!\w)'[^'\n]*'(?!\w) | "[^"\n]*" | `[^`\n]*` | <[^<>\n]*>""", re.VERBOSE)
_VARIABLE = re.compile(r"(?<!\S)[^\s/\\@\d]*+[/\\@\d]\S*+")
_CLASS_LENGTH = 80


def _names_in(arguments: Mapping[str, JSON]) -> list[str]:
    """The arguments that name something, the longest first; a plain word such as ``read`` may be one of the message."""
    values = {value.strip() for value in arguments.values() if isinstance(value, str)}
    return sorted((value for value in values if len(value) > 1 and not value.islower()), key=len, reverse=True)


def error_class(observation: str, arguments: Mapping[str, JSON] | None = None) -> str:
    r"""What kind of error it is: the first sentence of its message without the values of this one case.

    Two errors of one class get one hint, and a pitfall is matched by its class. ``arguments`` are those of the failed
    call: a message that repeats one of them is of the same class as one that repeats another.

    >>> error_class("Error: train ICX030 does not run on 2031-05-13")
    'train … does not run on …'
    >>> error_class('{"error": "cd: \'no_such\': No such directory. Try ls."}')
    'cd: …: No such directory'
    >>> error_class("Error: no book called Moby Dick, search first", {"title": "Moby Dick"})
    'no book called …, search first'
    """
    text = _error_text(observation)
    sentence = re.split(r"(?<=\w)[.!?](?=\s|$)|\n", (observation if text is None else text).strip(), maxsplit=1)[0]
    for value in _names_in(arguments or {}):
        if value in sentence:
            sentence = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "…", sentence)
    plain = re.sub(r"(?:…[\s,:;]*){2,}", "… ", _VARIABLE.sub("…", _QUOTED.sub("…", sentence)))
    return _cut(" ".join(plain.split()))


def _cut(text: str) -> str:
    """At most 80 characters, to the end of a word."""
    if len(text) <= _CLASS_LENGTH:
        return text
    head = text[: _CLASS_LENGTH - 2]
    return f"{head.rpartition(' ')[0] or head} …"
