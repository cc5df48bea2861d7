"""Runs kept as OpenAI chat messages, format ``openai-chat``: JSON lines or one JSON array, an object for each run.

A run has its messages under ``messages``, ``traj`` or ``conversation``, its score under ``score`` or ``reward``, its
task under ``task_id`` or ``id``, perhaps a ``trial``, and perhaps the offered ``tools``; the option ``map`` names
other keys. ``amd`` is the record that our own agents leave. No other member is read: benchmarks like to store
their answer key beside the run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from amd.errors import ConfigError, TrajectoryError
from amd.json_text import JSON
from amd.traces.chat_options import ChatOptions
from amd.traces.chat_turns import Conversation, read_conversation, read_tools
from amd.traces.families import families_of, family_of
from amd.traces.lines import Line, read_jsonl
from amd.traces.reader import Item, Note
from amd.trajectory import Outcome, Refusal, Source, Task, Trajectory, is_error

__all__ = ["OpenAIChatReader", "reader"]

_MOST_LISTED = 12


class OpenAIChatReader:
    """Reads runs kept as chat messages. ``failed`` judges an observation; the default is the library's own."""

    name = "openai-chat"
    benchmark = "openai-chat"
    options = ChatOptions

    def __init__(self, failed: Callable[[str], bool] = is_error) -> None:
        self._failed = failed

    def read(self, paths: Sequence[Path], options: ChatOptions) -> Iterator[Item]:
        """One trajectory or refusal for each run.

        Raises:
            TrajectoryError: A path cannot be read.
            ConfigError: ``map`` names a key that no run has; raised at the end, when that is known.
        """
        unseen, members = dict(options.mapped()), set[str]()
        for item in read_jsonl(paths):
            if not isinstance(item, Line):
                yield item
                continue
            members.update(item.value)
            unseen = {name: key for name, key in unseen.items() if _follow(item.value, key) is None}
            yield from self._read_run(item, options)
        if unseen and members:
            pair = "=".join(next(iter(unseen.items())))
            raise ConfigError(
                f"no run has the key of --map {pair}", next_step=f"a run has: {_listed(members)}", unseen=unseen
            )

    def _read_run(self, line: Line, options: ChatOptions) -> Iterator[Item]:
        fields = _Fields(line.value, options.keys())
        task_id = None
        if isinstance(own := line.value.get("format"), str) and own.startswith("amd-trajectory/"):
            yield Refusal("unreadable", line.where, "this is a run of the format amd: read it as that")
            return
        try:
            task_id = fields.required("task_id")
            chat = read_conversation(
                fields.get("messages"),
                think={name.strip() for name in options.think_tools.split(",")},
                failed=self._failed,
            )
            run = Trajectory(
                _task(fields, task_id, chat, options),
                chat.turns,
                read_tools(fields.get("tools")),
                _outcome(fields, options.success_score),
                _source(line, fields, task_id, chat, options),
            )
        except TrajectoryError as error:
            yield Refusal("unreadable", line.where, str(error), task_id)
            return
        yield from (Note(name, count) for name, count in chat.notes.items() if count)
        yield run


class _Fields:
    """The members of a run that may be read, by name. Everything else stays unseen."""

    def __init__(self, run: Mapping[str, JSON], keys: Mapping[str, Sequence[str]]) -> None:
        self._run = run
        self._keys = keys

    def mapped(self, name: str) -> bool:
        """Whether any key stands for this name."""
        return bool(self._keys[name])

    def get(self, name: str) -> JSON:
        """The first value that one of the name's keys has; ``None`` if none has."""
        return self._found(name)[1]

    def key(self, name: str) -> str:
        """The key that has the value, for a message."""
        return self._found(name)[0]

    def text(self, name: str) -> str | None:
        """An identifier: text, or a whole number as text; ``None`` if it is not there."""
        key, value = self._found(name)
        if value is None or (isinstance(value, str) and not value):
            return None
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise TrajectoryError(f"{key!r} is neither text nor a whole number but a {type(value).__name__}")
        return str(value)

    def required(self, name: str) -> str:
        """As :meth:`text`, but there."""
        found = self.text(name)
        if found is None:
            raise TrajectoryError(
                f"no {name}: nothing under {' or '.join(map(repr, self._keys[name]))}",
                next_step=f"name its key with --map {name}=KEY; the run has: {_listed(self._run)}",
            )
        return found

    def _found(self, name: str) -> tuple[str, JSON]:
        for key in self._keys[name]:
            value = _follow(self._run, key)
            if value is not None:
                return key, value
        return " or ".join(self._keys[name]), None


def _listed(members: Collection[str]) -> str:
    """The first names of members, for a message; never a value."""
    names = sorted(members)
    return ", ".join(names[:_MOST_LISTED]) + (", ..." if len(names) > _MOST_LISTED else "")


def _follow(run: Mapping[str, JSON], key: str) -> JSON:
    """The value under a key as it is spelled, else under the path that its dots make."""
    if key in run:
        return run[key]
    value: JSON = run
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _task(fields: _Fields, task_id: str, chat: Conversation, options: ChatOptions) -> Task:
    """The task with the user's first words; its family is what a key says, else what an overlay knows, else its own."""
    instruction = next((turn.user for turn in chat.turns if turn.user and turn.user.strip()), None)
    if instruction is None:
        raise TrajectoryError("no user message has a text, so there is no instruction")
    benchmark = fields.required("benchmark") if fields.mapped("benchmark") else options.benchmark
    family = fields.required("family") if fields.mapped("family") else _family(benchmark, task_id)
    return Task(benchmark, task_id, family, instruction)


def _family(benchmark: str, task_id: str) -> str:
    """The family that an overlay knows; without an overlay of this benchmark, the task's own."""
    known = family_of(benchmark, task_id)
    if known is None and families_of(benchmark) is not None:
        raise TrajectoryError(
            f"{task_id!r} is no task of {benchmark!r} that the installed overlay knows, so nobody knows its family",
            next_step="correct the id, or name the key that holds the family: --map family=KEY",
        )
    return known or task_id


def _outcome(fields: _Fields, success_score: float) -> Outcome:
    score = fields.get("score")
    if score is None:
        return Outcome(None, None, "no score")
    if not isinstance(score, bool | int | float):
        raise TrajectoryError(f"{fields.key('score')!r} is no number but a {type(score).__name__}")
    try:
        number = float(score)
    except OverflowError as error:
        raise TrajectoryError(f"{fields.key('score')!r} is too large a number") from error
    # The evidence leaves the threshold out: a run that succeeds with two of them keeps its hash.
    return Outcome(number >= success_score, number, f"{fields.key('score')} {number}")


def _source(line: Line, fields: _Fields, task_id: str, chat: Conversation, options: ChatOptions) -> Source:
    trial = fields.text("trial")
    run_id = f"{line.path.stem}:{line.number}" if trial is None else f"{line.path.stem}:{task_id}:{trial}"
    assisted = _memory_assisted(line.value, chat, options)
    return Source(options.teacher, run_id, str(line.path), line.sha256, options.kind, assisted)


def _memory_assisted(run: Mapping[str, JSON], chat: Conversation, options: ChatOptions) -> bool | None:
    """Whether memory helped: a block in the text proves it, the record of our own agents says it.

    A student's run without that record may have had memory that was shown some other way: that is unknown.
    """
    if chat.memory_assisted:
        return True
    record = run.get("amd")
    said = record.get("memory_assisted") if isinstance(record, Mapping) else None
    if isinstance(said, bool):
        return said
    return None if options.kind == "student" else False


reader = OpenAIChatReader()
