"""Whose data a root holds: the invented world of this folder, or what must be left alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["MARK", "Mark", "NotOursError", "digest_of", "publish", "standing"]

MARK = "invented-world.json"
"""The file in ``ROOT/data`` that says who made it."""

FORMAT = "amd-invented-world/1"
TERMS = (
    "The tasks are invented and free. The API docs and databases beside them are made by AppWorld's protected code: "
    "its licence asks not to publish them in plain text."
)


class NotOursError(Exception):
    """There is something in the place of the world that this program did not make.

    Attributes:
        path: what is there.
        why: what shows that it is not ours.
    """

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"{path} is not touched: {why}; give another folder, or remove that one yourself if you can spare it"
        )
        self.path = path
        self.why = why


@dataclass(frozen=True, slots=True)
class Mark:
    """What a world is made from.

    Attributes:
        digest: of the sources that made it and of AppWorld's version.
        tasks: the ids of its tasks, sorted.
    """

    digest: str
    tasks: tuple[str, ...]

    def write(self, data: Path) -> None:
        """Mark this folder of data as ours."""
        fields = {"format": FORMAT, "digest": self.digest, "terms": TERMS, "tasks": self.tasks}
        (data / MARK).write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")


def digest_of(sources: Path, appworld: str) -> str:
    """Sha256 of every Python file below a folder, by its path there, and of AppWorld's version."""
    total = hashlib.sha256(appworld.encode())
    for path in sorted(sources.rglob("*.py")):
        total.update(f"\0{path.relative_to(sources).as_posix()}\0".encode() + path.read_bytes())
    return total.hexdigest()


def _marked(data: Path) -> Mark:
    """The mark in a folder of data.

    Raises:
        NotOursError: there is none, or none of ours.
    """
    path = data / MARK
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotOursError(data, f"it has no {MARK}, so it is not a world of this program's making") from None
    except (OSError, ValueError) as error:
        raise NotOursError(data, f"its {MARK} cannot be read ({error})") from error
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise NotOursError(data, f"its {MARK} is not of the format {FORMAT}")
    return Mark(str(fields.get("digest")), tuple(map(str, fields.get("tasks", ()))))


def standing(root: Path, digest: str) -> Literal["absent", "current", "outdated"]:
    """What is in ``root/data``.

    Raises:
        NotOursError: something else than a world that was made here, or one with tasks that were not.
    """
    data = root / "data"
    if data.is_symlink():
        raise NotOursError(data, f"it is a link to {data.readlink()}")
    if not data.exists():
        return "absent"
    mark = _marked(data)
    tasks = data / "tasks"
    strange = sorted({path.name for path in tasks.iterdir()} - set(mark.tasks)) if tasks.is_dir() else []
    if strange:
        raise NotOursError(tasks, f"it holds {len(strange)} that were not made here, {strange[0]} the first of them")
    return "current" if mark.digest == digest else "outdated"


def publish(built: Path, root: Path) -> None:
    """Put ``built/data`` in the place of ``root/data``, which ``standing`` has looked at.

    Both are renames: what was there before goes with the folder ``built``, which is the caller's to remove.
    """
    if (root / "data").exists():
        (root / "data").rename(built / "before")
    (built / "data").rename(root / "data")
