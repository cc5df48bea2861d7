"""What the reader of a trace format needs: the protocol, the shapes and the ways into a file.

A reader is an entry point of the group ``amd.traces``. An overlay's reader is written against this face alone::

    class Options(ReaderOptions):
        '''How to read the runs of one harness.'''

        teacher: str = Field("", description="the name of the teacher")


    class MyReader:
        name = "my-harness"
        benchmark = "my-benchmark"
        options = Options

        def read(self, paths: Sequence[Path], options: Options) -> Iterator[Item]:
            for item in read_jsonl(paths):
                if isinstance(item, Line):
                    ...  # yield a Trajectory, or a Refusal("unreadable", item.where, "what is wrong")
                else:
                    yield item


    reader = MyReader()
"""

from __future__ import annotations

from amd.traces.canonical import FORMAT, write
from amd.traces.chat_turns import Conversation, read_conversation, read_tools
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
    "is_error",
    "load_reader",
    "read_conversation",
    "read_jsonl",
    "read_tools",
    "reader_options",
    "readers",
    "write",
]
