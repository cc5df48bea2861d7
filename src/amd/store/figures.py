"""The shapes of a manifest: what is published, and where it comes from. Its bytes are in ``manifest.py``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from amd.trajectory import Kind

__all__ = [
    "FORMAT",
    "KEYS",
    "RECORDS",
    "EmbedderFigures",
    "Floor",
    "Manifest",
    "Previous",
    "Run",
    "ShelfFigures",
    "Sources",
]

FORMAT: Final = "amd-memory/1"
RECORDS = "records.json"
KEYS = "keys.npy"
_Count = Annotated[int, Field(ge=0)]
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# A shelf's name is a folder's name: it must not lead anywhere else.
_ShelfName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]


@dataclass(frozen=True, slots=True)
class Run:
    """One admitted run: what a later build decides by whether this run counts.

    ``family`` and ``instruction_sha256`` are what its records must have. ``calls`` and ``failed_calls`` order the
    trials of a task; ``distiller`` and ``prompts`` say who wrote its records, ``fallbacks`` in which tiers the rules
    did, because the distiller gave no reply that could be used.
    """

    benchmark: str
    task_id: str
    family: str
    instruction_sha256: str
    trajectory_sha256: str
    teacher: str
    run_id: str
    kind: Kind
    success: bool
    calls: int
    failed_calls: int
    distiller: str
    prompts: str
    fallbacks: tuple[str, ...] = ()


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class EmbedderFigures(_Part):
    """The vector space of the keys: the embedder's id, the width of its rows, and its own floor."""

    id: str
    dim: _Count
    floor: float


class Floor(_Part):
    """A shelf's floor, where it comes from, and from how many pairs of keys it was measured."""

    value: Annotated[float, Field(ge=-1, le=1)]
    source: Literal["quantile", "constant", "pinned"]
    pairs: _Count


class ShelfFigures(_Part):
    """How many records a shelf has, how wide its rows are, and the sha256 of its two files by name."""

    rows: _Count
    width: _Count
    files: dict[str, _Sha256]

    @model_validator(mode="after")
    def _both_files(self) -> Self:
        if self.files.keys() != {RECORDS, KEYS}:
            raise ValueError(f"a shelf has the files {RECORDS} and {KEYS}, here {', '.join(sorted(self.files))}")
        return self


class Sources(_Part):
    """Where the records come from.

    ``runs`` and its summaries (``teachers``, ``run_ids``, ``families``) tell of all that is published, whichever build
    brought it. ``read``, ``admitted`` and ``refused`` count the input of one build alone: the last one that changed
    what is published; ``admitted`` + ``refused`` = ``read``.
    """

    teachers: tuple[str, ...]
    run_ids: tuple[str, ...]
    families: tuple[str, ...]
    read: _Count
    admitted: int
    refused: dict[str, _Count]
    terms: str | None
    runs: tuple[Run, ...]


class Previous(_Part):
    """The figures of the generation that is kept beside the published one."""

    generation: _Count
    shelves: dict[_ShelfName, ShelfFigures]


class Manifest(_Part):
    """What is published. ``content`` depends on the records alone, ``seal`` on every byte of the manifest.

    ``distiller`` (id, hash of the prompts) and ``costs`` are those of one build, the last one that changed what is
    published; who wrote the records of each run stands in ``sources.runs``. A reindex keeps all of them as they were.
    """

    format: Literal["amd-memory/1"]
    amd: str
    generation: Annotated[int, Field(ge=1)]
    benchmark: str
    method: str
    all_trials: bool
    embedder: EmbedderFigures
    floors: dict[_ShelfName, Floor]
    sources: Sources
    distiller: dict[str, str]
    costs: dict[str, int | float]
    shelves: dict[_ShelfName, ShelfFigures]
    previous: Previous | None
    content: _Sha256
    seal: str

    @model_validator(mode="after")
    def _one_width(self) -> Self:
        for tier, figures in self.shelves.items():
            if figures.width != self.embedder.dim:
                raise ValueError(f"shelf {tier!r} is {figures.width} wide, the embedder {self.embedder.dim}")
        return self
