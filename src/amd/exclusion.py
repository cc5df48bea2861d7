"""Who may see what: the viewers, and the one place where a record is hidden from a task.

Exclusion works by identity, before any ranking: by the family of the task, and by the same instruction text
(a copy of a task under another name). Nothing here looks at similarity.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from amd.errors import ConfigError
from amd.json_text import JSON, digest, loads, replace_surrogates
from amd.trajectory import Task

__all__ = [
    "SPLIT_FORMAT",
    "Protocol",
    "Split",
    "Viewer",
    "cross_split",
    "deployed",
    "in_sample",
    "instruction_sha256",
    "read_split",
    "self_excluded",
]

Protocol = Literal["self-excluded", "cross-split", "in-sample", "deployed"]
Reason = Literal["own_family", "same_text", "test_family"]


def instruction_sha256(instruction: str) -> str:
    """The hash of an instruction's normal form: NFKC, case-folded, white space collapsed, nothing invisible.

    >>> instruction_sha256("Move  the file ") == instruction_sha256("move the FI\u200bLE")
    True
    """
    # A reader has replaced what UTF-8 cannot hold; an instruction straight from a harness may still have it.
    text, _ = replace_surrogates(instruction)
    plain = _seen(unicodedata.normalize("NFKC", _seen(str(text)))).casefold()
    return digest(" ".join(unicodedata.normalize("NFKC", plain).split()).encode())


# Shown as nothing, though of no category that says so: joiner, fillers, variation selectors, an empty Braille cell.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def _seen(text: str) -> str:
    """The text without characters that show nothing; white space is kept to be collapsed."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in _UNSEEN.sub("", text) if c.isspace() or unicodedata.category(c) not in ("Cf", "Cc"))


@dataclass(frozen=True, slots=True)
class Split:
    """A division of one benchmark's families into train and test, drawn once and kept as a file."""

    benchmark: str
    train: frozenset[str]
    test: frozenset[str]

    def __post_init__(self) -> None:
        """Refuse a family on both sides."""
        both = sorted(self.train & self.test)
        if both:
            raise ConfigError(
                f"{len(both)} families stand in train and in test, the first is {both[0]!r}",
                next_step="draw the split again",
                families=both,
            )

    @property
    def sha256(self) -> str:
        """What a report names a split by: the hash of its benchmark and of its two sides, in any order."""
        return digest({"benchmark": self.benchmark, "train": [*sorted(self.train)], "test": [*sorted(self.test)]})


SPLIT_FORMAT = "amd-split/1"
"""What the member ``format`` of a split file says."""


def read_split(path: Path | str) -> Split:
    """The split that a file holds.

    The file is one JSON object: ``"format": "amd-split/1"``, ``benchmark``, and the families of ``train`` and
    ``test`` as lists of strings. A ``sha256`` must be the split's own. What else it has (the seed it was drawn with,
    say) is for people.

    Raises:
        ConfigError: the file cannot be read, is no split, or not the one that its ``sha256`` names; the message begins
            with the file's name.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     _ = file.write('{"format": "amd-split/1", "benchmark": "demo", "train": ["f1"], "test": ["f2"]}')
    ...     file.flush()
    ...     print(sorted(read_split(file.name).test))
    ['f2']
    """
    try:
        value = loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise _no_split(path, str(error)) from error
    if not isinstance(value, Mapping):
        raise _no_split(path, "it is not a JSON object")
    if value.get("format") != SPLIT_FORMAT:
        raise _no_split(path, f"its format is {value.get('format')!r}, known is {SPLIT_FORMAT!r}")
    benchmark = value.get("benchmark")
    if not isinstance(benchmark, str) or not benchmark:
        raise _no_split(path, f"its benchmark is {benchmark!r}")
    train, test = _families(path, value, "train"), _families(path, value, "test")
    try:
        split = Split(benchmark, train, test)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", next_step=error.next_step, **error.fields) from error
    if value.get("sha256", split.sha256) != split.sha256:
        raise ConfigError(
            f"{path}: its families have the sha256 {split.sha256}, the file says {value['sha256']}",
            next_step="draw the split again, or leave the sha256 out of one that was written by hand",
            found=split.sha256,
            expected=value["sha256"],
        )
    return split


def _families(path: Path | str, value: Mapping[str, JSON], side: str) -> frozenset[str]:
    families = value.get(side)
    if not isinstance(families, list) or not families:
        raise _no_split(path, f"its {side} is no list of families")
    names = [family for family in families if isinstance(family, str) and family]
    if len(names) < len(families):
        strange = next(family for family in families if not isinstance(family, str) or not family)
        raise _no_split(path, f"its {side} has {strange!r}, which is no family")
    return frozenset(names)


def _no_split(path: Path | str, why: str) -> ConfigError:
    return ConfigError(
        f"{path} is no split: {why}",
        next_step=f'write {{"format": "{SPLIT_FORMAT}", "benchmark": NAME, "train": [FAMILY], "test": [FAMILY]}}',
        path=str(path),
    )


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks, and so what may be seen. Made by the four functions of this module, never by hand.

    ``asked`` has the hashes of texts under which the task was asked beside its instruction; they are hidden as it is.
    """

    protocol: Protocol
    task: Task | None = None
    split: Split | None = None
    asked: frozenset[str] = frozenset()
    # Hashed once: a shelf asks about every family and text that it holds.
    _texts: frozenset[str] = field(init=False, repr=False, compare=False, default=frozenset())

    def __post_init__(self) -> None:
        """Hash the task's own instruction; refuse a viewer that says it excludes and has nothing to exclude by."""
        if (self.excludes and self.task is None) or (self.protocol == "cross-split" and self.split is None):
            raise ConfigError(
                f"a viewer of protocol {self.protocol!r} without a task or a split hides nothing",
                next_step="make it by self_excluded(task) or cross_split(task, split)",
                protocol=self.protocol,
            )
        if self.task is not None:
            object.__setattr__(self, "_texts", self.asked | {instruction_sha256(self.task.instruction)})

    @property
    def excludes(self) -> bool:
        """Whether the asking task's own family is hidden."""
        return self.protocol in ("self-excluded", "cross-split")

    def asking(self, text: str) -> Viewer:
        """The same viewer asking with a text that may differ from the task's instruction: it is hidden too."""
        sha256 = instruction_sha256(text)
        return self if sha256 in self._texts else replace(self, asked=self.asked | {sha256})

    def why_hidden(self, family: str, instruction: str) -> Reason | None:
        """Why a record of this family and instruction hash is hidden, or ``None`` if it may be seen.

        A ``cross-split`` viewer hides its own family and text as well as all that is not a train family.
        """
        if not self.excludes or self.task is None:
            return None
        if family == self.task.family:
            return "own_family"
        if instruction in self._texts:
            return "same_text"
        if self.split is not None and family not in self.split.train:
            return "test_family"
        return None


def self_excluded(task: Task) -> Viewer:
    """The default where a benchmark task is known: neither its family nor any task with the same instruction.

    >>> viewer = self_excluded(Task("demo", "t1", "family-1", "Move the file"))
    >>> viewer.why_hidden("family-1", "…"), viewer.why_hidden("family-2", "…")
    ('own_family', None)
    """
    return Viewer("self-excluded", task)


def cross_split(task: Task, split: Split) -> Viewer:
    """Held-out evaluation: only train families. A memory that holds a test family is a ``LeakageError``.

    >>> split = Split("demo", train=frozenset({"f1"}), test=frozenset({"f2"}))
    >>> viewer = cross_split(Task("demo", "t2", "f2", "Move the file"), split)
    >>> viewer.why_hidden("f1", "…") is None, viewer.why_hidden("f3", "…")
    (True, 'test_family')
    """
    if task.benchmark != split.benchmark:
        raise ConfigError(
            f"the split is for {split.benchmark!r}, the task is of {task.benchmark!r}",
            next_step="give the split of the task's own benchmark",
            split=split.benchmark,
            task=task.benchmark,
        )
    return Viewer("cross-split", task, split)


def in_sample(task: Task) -> Viewer:
    """Everything, the task's own records included: the original's protocol, always labelled IN-SAMPLE.

    >>> in_sample(Task("demo", "t1", "f1", "Move the file")).why_hidden("f1", "…") is None
    True
    """
    return Viewer("in-sample", task)


def deployed() -> Viewer:
    """Everything, where no benchmark task is known: real use.

    >>> deployed().excludes
    False
    """
    return Viewer("deployed")
