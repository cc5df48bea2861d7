"""Arms: what every overlay's student side shares. An arm is a method, a viewer and a mode, run with one student.

    arm = Arm.of({"memory": "memory", "protocol": "self-excluded"})
    with arm.open() as opened:
        session = opened.session(task, tools=specs, call_format="python")  # None for the method none
        ...
        line["amd"] = RunLog.of(opened, task, session, calls=9, failed_calls=2, hints=1, ...).as_json()
    figures = report([RunLog.read(line["amd"]) for line in lines], family=family)

An overlay's student gets messages, and knows how its model writes calls:

>>> def first_turn(session: amd.Session, messages: list[Message]) -> list[Message]:
...     return amd.prepend_memory(messages, session.before_task(messages[-1]["content"]))
>>> calling: CallFormat = "python"

A run directory is told by its settings:

>>> RUN_SETTINGS
'amd-run.json'

Names are loaded when they are first used: reading logs back opens no memory.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as typing's, which a bare import would load; type checkers know the name
if TYPE_CHECKING:
    from amd.arms.arm import Arm
    from amd.arms.figures import ArmReport, report
    from amd.arms.kept_split import known_split
    from amd.arms.opened import OpenArm
    from amd.arms.placeholders import writes_placeholder
    from amd.arms.results import RunResults, TaskResult
    from amd.arms.results_file import write_results
    from amd.arms.run_directory import RunDirectory, RunSettings, replace_text, run_format
    from amd.arms.run_log import RunLog
    from amd.arms.toml import read_toml
    from amd.arms.words import RUN_SETTINGS
    from amd.chat import CallFormat, Message

__all__ = [
    "RUN_SETTINGS",
    "Arm",
    "ArmReport",
    "CallFormat",
    "Message",
    "OpenArm",
    "RunDirectory",
    "RunLog",
    "RunResults",
    "RunSettings",
    "TaskResult",
    "known_split",
    "read_toml",
    "replace_text",
    "report",
    "run_format",
    "write_results",
    "writes_placeholder",
]

_HOMES = {
    "RUN_SETTINGS": "amd.arms.words",
    "Arm": "amd.arms.arm",
    "ArmReport": "amd.arms.figures",
    "CallFormat": "amd.chat",
    "Message": "amd.chat",
    "OpenArm": "amd.arms.opened",
    "RunDirectory": "amd.arms.run_directory",
    "RunLog": "amd.arms.run_log",
    "RunResults": "amd.arms.results",
    "RunSettings": "amd.arms.run_directory",
    "TaskResult": "amd.arms.results",
    "known_split": "amd.arms.kept_split",
    "read_toml": "amd.arms.toml",
    "replace_text": "amd.arms.run_directory",
    "report": "amd.arms.figures",
    "run_format": "amd.arms.run_directory",
    "write_results": "amd.arms.results_file",
    "writes_placeholder": "amd.arms.placeholders",
}


def __getattr__(name: str) -> object:
    """Load a public name from its home (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'amd.arms' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
