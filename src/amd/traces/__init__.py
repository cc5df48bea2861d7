"""What the reader of a trace format needs: the protocol, the shapes and the ways into a file.

A reader is an entry point of the group ``amd.traces``. An overlay's reader is written against this face alone.
This one reads lines of ``{"job", "ask", "good"}``; examples/own_reader.py has it with tool calls and options.

>>> from collections.abc import Iterator, Sequence
>>> from pathlib import Path
>>> class LogReader:
...     name = "office-log"
...     benchmark = "office"
...     options = ReaderOptions
...
...     def read(self, paths: Sequence[Path], options: ReaderOptions) -> Iterator[Item]:
...         for item in read_jsonl(paths):
...             yield self._run(item) if isinstance(item, Line) else item
...
...     def _run(self, line: Line, kind: Kind = "teacher") -> Trajectory | Refusal:
...         if not isinstance(line.value.get("ask"), str):
...             return Refusal("unreadable", line.where, "a line needs an ask")
...         ask, job = line.value["ask"], str(line.value.get("job"))
...         return Trajectory(
...             Task(self.benchmark, job, job, ask),
...             (Turn(ask, (Step("Done."),)),),
...             tools=None,
...             outcome=Outcome(line.value.get("good")),
...             source=Source("office-agent", job, str(line.path), line.sha256, kind),
...         )
>>> isinstance(LogReader(), Reader)
True

Runs that a program has at hand go into a file of the library's own format, which ``amd read`` writes too.

>>> FORMAT
'amd-trajectory/1'
"""

from __future__ import annotations

from amd.inject import strip_memory
from amd.traces.canonical import FORMAT, write
from amd.traces.chat_turns import Conversation, read_conversation, read_tools
from amd.traces.folders import folders_with
from amd.traces.lines import Line, read_jsonl
from amd.traces.reader import Item, Note, Reader, ReaderOptions, load_reader, reader_options, readers
from amd.trajectory import (
    Kind,
    Outcome,
    Refusal,
    Source,
    Step,
    Task,
    ToolCall,
    ToolSpec,
    Trajectory,
    Turn,
    is_error,
)

__all__ = [
    "FORMAT",
    "Conversation",
    "Item",
    "Kind",
    "Line",
    "Note",
    "Outcome",
    "Reader",
    "ReaderOptions",
    "Refusal",
    "Source",
    "Step",
    "Task",
    "ToolCall",
    "ToolSpec",
    "Trajectory",
    "Turn",
    "folders_with",
    "is_error",
    "load_reader",
    "read_conversation",
    "read_jsonl",
    "read_tools",
    "reader_options",
    "readers",
    "strip_memory",
    "write",
]
