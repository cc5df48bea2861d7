"""What a task's cells ask of the apps, read while the task runs: the last request names the API that failed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["RequestLog"]


class RequestLog:
    """The requests of one task, as AppWorld appends them to ``logs/api_calls.jsonl`` after each cell."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def last_new(self) -> Mapping[str, Any] | None:
        """The last request since this was asked before; ``None`` if there is no new one, or it cannot be read."""
        if not self._path.exists():
            return None
        with self._path.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        self._read += len(new)
        lines = [line for line in new.split(b"\n") if line.strip()]
        try:
            last = json.loads(lines[-1]) if lines else None
        except ValueError:
            return None
        return last if isinstance(last, dict) else None
