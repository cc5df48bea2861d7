"""Which files hold results, whose they are, and which score file lies beside them.

The harness writes ``result/MODEL/[GROUP/]BFCL_vN_CATEGORY_result.json`` and its scores under the same names in
``score/``, with ``_score`` for ``_result``; version 3 had no groups. Both are looked for at any depth, so that a run
directory, a folder of one model and a download of many may be named alike.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from amd.arms import RUN_SETTINGS
from amd.errors import TrajectoryError

__all__ = ["FileName", "ResultFile", "find_result_files"]

_NAME = re.compile(r"(BFCL_v[0-9]+)_(.+)_(result|score)\.json")
# The folders that version 4 groups categories by; a model is none of them.
_GROUPS = ("agentic", "format_sensitivity", "live", "memory", "multi_turn", "non_live")


@dataclass(frozen=True, slots=True)
class FileName:
    """What the name of a result or score file says.

    >>> FileName.of(Path("BFCL_v3_multi_turn_base_score.json"))
    FileName(version='BFCL_v3', category='multi_turn_base', kind='score')
    >>> FileName.of(Path("data_overall.csv")) is None
    True
    """

    version: str
    category: str
    kind: str

    @classmethod
    def of(cls, path: Path) -> FileName | None:
        """The parts of a name; ``None`` for one that the harness does not give."""
        match = _NAME.fullmatch(path.name)
        return cls(match[1], match[2], match[3]) if match else None


@dataclass(frozen=True, slots=True)
class ResultFile:
    """A file of results: its model's directory (``None`` where its place does not tell) and the score file beside it.

    ``run`` is the run directory of this overlay that it lies in: then each line says what memory it had.
    """

    path: Path
    model: str | None = None
    score: Path | None = None
    run: Path | None = None

    @property
    def student(self) -> str | None:
        """The model that the run directory names; ``None`` if there is none, or its settings cannot be read."""
        if self.run is None:
            return None
        try:
            settings = json.loads((self.run / RUN_SETTINGS).read_bytes())
        except (ValueError, RecursionError):
            return None
        model = settings.get("model") if isinstance(settings, dict) else None
        return model if isinstance(model, str) and model else None

    @property
    def run_id(self) -> str:
        """The run's name as provenance gives it: the model's directory and the file, the same on every machine."""
        stem = self.path.stem.removesuffix("_result")
        return f"{self.model}/{stem}" if self.model else stem


def find_result_files(paths: Sequence[Path]) -> tuple[list[ResultFile], int]:
    """The result files that the paths name, each once, and how many of other categories a folder held besides.

    A file is taken as it is. Of a folder, the files whose category is a multi-turn one.

    Raises:
        TrajectoryError: A path is not there or cannot be looked at, is a score file, or is a folder without results.
    """
    found: dict[Path, ResultFile] = {}
    passed_over = 0
    for path in paths:
        try:
            files, others = _files_at(path)
            passed_over += others
            for file in files:
                found.setdefault(file.resolve(), _placed(file))
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead to each other
            what = getattr(error, "strerror", None) or error
            raise TrajectoryError(
                f"{path}: cannot be looked at: {what}", next_step="check its permissions and links", path=path
            ) from error
    return list(found.values()), passed_over


def _files_at(path: Path) -> tuple[list[Path], int]:
    if not path.exists():
        raise TrajectoryError(f"{path}: no such file or folder", next_step="check the path", path=path)
    if not path.is_dir():
        name = FileName.of(path)
        if name and name.kind == "score":
            raise TrajectoryError(
                f"{path} is a score file, not a result file", next_step="name the result file, and this with --score"
            )
        return [path], 0
    named = [(file, FileName.of(file)) for file in _below(path)]
    results = [(file, name) for file, name in named if name and name.kind == "result"]
    wanted = [file for file, name in results if name.category.startswith("multi_turn_")]
    if not wanted:
        raise TrajectoryError(
            f"{path}: the folder holds no BFCL_v4_multi_turn_..._result.json, and {len(results)} of other categories",
            next_step="name a run directory, or the folder that holds result/ and score/",
            path=path,
        )
    return wanted, len(results) - len(wanted)


def _below(path: Path) -> Iterator[Path]:
    """All files below a folder, in the order of their names; ``OSError`` for a folder that cannot be looked at."""

    def refuse(error: OSError) -> None:
        raise error

    for folder, inside, files in os.walk(path, onerror=refuse):
        inside.sort()
        yield from (Path(folder, file) for file in sorted(files))


def _placed(path: Path) -> ResultFile:
    """A file with what its place says."""
    folders = path.absolute().parts[:-1]
    if "result" not in folders[:-1]:
        grouped = len(folders) > 1 and folders[-1] in _GROUPS
        return ResultFile(path, folders[-2] if grouped else None)
    at = max(place for place, folder in enumerate(folders[:-1]) if folder == "result")
    run = Path(*folders[:at])
    score = run.joinpath("score", *folders[at + 1 :], path.name.replace("_result.json", "_score.json"))
    paired = score.name != path.name and score.is_file()
    return ResultFile(path, folders[at + 1], score if paired else None, run if (run / RUN_SETTINGS).is_file() else None)
