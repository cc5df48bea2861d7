"""Result lines as they lie on the disk: read whatever the file is in, and written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from amd.arms import replace_text

__all__ = ["is_error_line", "read_lines", "replace_lines"]

_BOM = b"\xef\xbb\xbf"


def is_error_line(line: Mapping[str, Any]) -> bool:
    """Whether a task ended in a failure of the service: the harness writes the error's text where turns should be."""
    return isinstance(line.get("result"), str)


def read_lines(path: Path) -> tuple[list[dict[str, Any]], bool]:
    """The objects of a file of lines, and whether anything in it is no such line: a torn end, say."""
    if not path.exists():
        return [], False
    lines, broken = [], False
    pieces = path.read_bytes().split(b"\n")
    for at, raw in enumerate(pieces, 1):
        if not raw.strip():
            broken |= bool(raw) or at < len(pieces)  # the harness takes no empty line
            continue
        broken |= raw.startswith(_BOM)
        try:
            value = json.loads(raw.removeprefix(_BOM).decode("utf-8"))
        except (ValueError, RecursionError):
            broken = True
            continue
        if isinstance(value, dict) and isinstance(value.get("id"), str) and "result" in value:
            lines.append(value)
        else:
            broken = True
    return lines, broken


def replace_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Put these lines in place of the file, whole or not at all."""
    replace_text(path, "".join(json.dumps(line) + "\n" for line in lines))
