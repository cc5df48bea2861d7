"""Finished lines of a run, each kept from the moment it is there until the harness's own file is known to hold it.

The harness appends its lines, and at the end, or with chosen ids after every task, it writes a whole result file anew
in place: a kill or a full disk at that moment would take hours of work. While a run lasts the journal only ever grows,
and it is removed when the run came to its end.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from threading import Lock
from typing import Any

from amd_bfcl.families import Category, category
from amd_bfcl.lines import is_error_line, read_lines, replace_lines
from amd_bfcl.run import JOURNAL, Run

__all__ = ["Journal"]


class Journal:
    """The file ``journal.jsonl`` of a run. Threads may share it."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._path = run.path / JOURNAL
        self._lock = Lock()

    def add(self, line: Mapping[str, Any]) -> None:
        """Keep a finished line; it is on the disk when this returns."""
        # A line end comes first too: where the file's end is torn, only that is lost.
        text = f"\n{json.dumps(line)}\n"
        with self._lock, self._path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def restore(self) -> int:
        """Put back what the harness's files lack, cut their torn ends, and say how many lines were put back.

        From then on the journal holds what was in the files as well, since the harness may write any of them anew.
        """
        kept: dict[Category, dict[str, Mapping[str, Any]]] = {name: {} for name in self._run.settings.categories}
        finished = (line for line in read_lines(self._path)[0] if not is_error_line(line))
        for line in finished:
            name = category(line["id"])
            if name is not None:
                kept.setdefault(name, {})[line["id"]] = line
        restored = 0
        whole: list[Mapping[str, Any]] = []
        for name, lines in kept.items():
            path = self._run.result_file(name)
            there, torn = read_lines(path)
            # The harness refuses a file that holds a task twice: the last line counts.
            present: dict[str, Mapping[str, Any]] = {line["id"]: line for line in there}
            twice = len(present) < len(there)
            lost = {key: line for key, line in lines.items() if key not in present or is_error_line(present[key])}
            present |= lost
            if torn:  # nothing is thrown away for good
                shutil.copyfile(path, self._run.path / f"torn-{name}.jsonl")
            empty = path.exists() and not present
            if empty:
                path.unlink()  # the harness divides by the number of lines
            elif lost or torn or twice:
                replace_lines(path, list(present.values()))
            if empty or lost or torn or twice:
                self._run.score_file(name).unlink(missing_ok=True)  # it was about other lines
            restored += len(lost)
            whole += present.values()
        replace_lines(self._path, whole)
        return restored

    def close(self) -> None:
        """Remove the file, if the harness's files hold all that is in it."""
        self.restore()
        self._path.unlink(missing_ok=True)
