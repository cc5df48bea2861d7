"""The answers of a student, kept as they come: a run that was killed goes on, and asks nothing twice."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from amd.errors import StoreError
from amd.json_text import dumps

__all__ = ["Answer", "Answers"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a student answered to one request, and what that cost. ``item`` and ``arm`` say who asked it first."""

    request: str
    item: str
    arm: str
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float


_LINE = TypeAdapter(Answer)


class Answers:
    r"""A JSONL file of answers, one line each, found by the digest of the request; one command at a time writes to it.

    A last line that a kill tore is cut off when the file is read: its request is made again.

    Raises:
        StoreError: another line is no answer.

    >>> from tempfile import TemporaryDirectory
    >>> answer = Answer("1f0c", "shed_1:1", "none", "{}", "stop", 300, 2, 0.5)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answers.jsonl"
    ...     Answers(path).add(answer)
    ...     _ = path.write_bytes(path.read_bytes() + b'{"request": "2e')
    ...     Answers(path).get("1f0c") == answer, len(Answers(path)), path.read_bytes()[-2:]
    (True, 1, b'}\n')
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[str, Answer] = {}
        text = path.read_bytes() if path.exists() else b""
        *lines, torn = text.split(b"\n")
        for number, line in enumerate(lines, 1):
            answer = _read(line, f"{path}:{number}")
            self._kept[answer.request] = answer
        if torn:
            os.truncate(path, len(text) - len(torn))

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, request: str) -> Answer | None:
        """The answer to a request, if there is one."""
        return self._kept.get(request)

    def add(self, answer: Answer) -> None:
        """Keep an answer; it is on the disk when this returns."""
        with self._path.open("ab") as file:
            file.write(dumps(asdict(answer)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._kept[answer.request] = answer


def _read(line: bytes, where: str) -> Answer:
    try:
        return _LINE.validate_json(line)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise StoreError(f"{where}: no answer: {fault['msg']}", next_step="remove that line", where=where) from error
