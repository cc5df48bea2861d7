r"""The library's own run file, format ``amd``: one trajectory a line, written by ``amd read``, read back exactly.

Each line is a JSON object with ``"format": "amd-trajectory/1"`` and the members of :class:`Trajectory`, in the
canonical bytes of ``amd.json_text``. Lines end with ``\n``, and nothing else ends a line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

from pydantic import ValidationError

from amd.errors import SchemaTooNew, TrajectoryError
from amd.json_text import JSON, dumps, replace_surrogates
from amd.mask.beside import without_beside
from amd.traces.lines import Line, read_jsonl
from amd.traces.reader import Item, Note, ReaderOptions
from amd.traces.schema import RunLine, as_json, count_unknown
from amd.trajectory import Refusal, Trajectory

__all__ = ["FORMAT", "CanonicalReader", "reader", "write"]

FORMAT = "amd-trajectory/1"
"""What the member ``format`` of each line says."""

_VERSION = re.compile(r"amd-trajectory/([1-9][0-9]*)")


def write(path: Path, trajectories: Iterable[Trajectory]) -> int:
    """Write the runs to ``path``, all or nothing, and return how many there were. Lone surrogates are replaced.

    What a run held beside its calls is not written: values that are known from there alone become placeholders.

    Raises:
        TrajectoryError: The file cannot be written, or a run holds what JSON cannot: ``NaN``, nesting without end.

    >>> from tempfile import TemporaryDirectory
    >>> from amd.testing import run
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "runs.jsonl"
    ...     write(path, [run(1), run(2)]), list(reader.read([path], ReaderOptions())) == [run(1), run(2)]
    (2, True)
    """
    beside = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        try:
            written = _write_lines(beside, trajectories)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        raise TrajectoryError(
            f"{path}: cannot be written: {error.strerror}", next_step="check the folder and the space left", path=path
        ) from error
    return written


def _write_lines(path: Path, trajectories: Iterable[Trajectory]) -> int:
    written = 0
    with path.open("xb") as file:
        for run in trajectories:
            file.write(_encode(run) + b"\n")
            written += 1
        file.flush()
        os.fsync(file.fileno())
    return written


def _encode(run: Trajectory) -> bytes:
    """The canonical bytes of one run."""
    try:
        clean, _ = replace_surrogates({"format": FORMAT, **as_json(without_beside(run))})
        return dumps(clean, sort_keys=False)
    except ValueError as error:
        raise TrajectoryError(
            f"run {run.source.run_id!r} of task {run.task.task_id!r} cannot be written as JSON: {error}",
            next_step="correct the reader that made it",
            run_id=run.source.run_id,
        ) from error


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, where the system can open a folder."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class CanonicalReader:
    """Reads ``amd-trajectory/1``. Unknown members are counted as the note ``unknown_field``."""

    name = "amd"
    benchmark = None
    options = ReaderOptions

    def read(self, paths: Sequence[Path], options: ReaderOptions) -> Iterator[Item]:  # noqa: ARG002 - it has none
        """The runs as they were written, ``source`` included.

        Raises:
            SchemaTooNew: A line was written by a later version of the format.
            TrajectoryError: A path cannot be read.
        """
        for item in read_jsonl(paths):
            if isinstance(item, Line):
                yield from _decode(item)
            else:
                yield item


def _decode(line: Line) -> Iterator[Item]:
    """The run that a line holds, or why it holds none."""
    fault = _wrong_format(line.value.get("format"), line.where)
    if fault:
        yield Refusal("unreadable", line.where, fault)
        return
    try:
        run = RunLine.model_validate(line.value)
    except ValidationError as error:
        yield Refusal("unreadable", line.where, _first_fault(error), _task_id(line.value))
        return
    unknown = count_unknown(run)
    if unknown:
        yield Note("unknown_field", unknown)
    yield run.shape()


def _wrong_format(found: JSON, where: str) -> str:
    """What is wrong with the member ``format``; empty if nothing is."""
    if found == FORMAT:
        return ""
    version = _VERSION.fullmatch(found) if isinstance(found, str) else None
    if version:
        raise SchemaTooNew(
            f"{where}: the line has the format {found!r}, this version of amd knows {FORMAT!r}",
            next_step="read it with a newer amd",
            found=found,
            known=FORMAT,
        )
    return f"the member 'format' is {found!r}, not {FORMAT!r}" if isinstance(found, str) else f"no format {FORMAT!r}"


def _first_fault(error: ValidationError) -> str:
    """The first fault of a line and how many more there are, without any of the line's values."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    place = ".".join(map(str, faults[0]["loc"]))
    more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{place}: {faults[0]['msg']}{more}"


def _task_id(value: Mapping[str, JSON]) -> str | None:
    """The task id of a line that is refused, if it has one."""
    task = value.get("task")
    found = task.get("task_id") if isinstance(task, Mapping) else None
    return found if isinstance(found, str) else None


reader = CanonicalReader()
