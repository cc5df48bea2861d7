"""How a run stands: which scenarios are scored, which a service spoilt, and which are left to play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amd_toolsandbox.folders import TRAJECTORIES, HarnessFolder
from amd_toolsandbox.run import Run
from amd_toolsandbox.summary import Score, read_scores

__all__ = ["Standing", "harness_folders", "standing"]


@dataclass(frozen=True, slots=True)
class Standing:
    """The scenarios that are wanted, and for each that ended its score; a service's failure is no score.

    ``faults`` names what ended a scenario: a service, or an error of ours.
    """

    wanted: tuple[str, ...]
    scores: Mapping[str, Score]
    faults: Mapping[str, str]

    @property
    def left(self) -> tuple[str, ...]:
        """The wanted scenarios without a score."""
        return tuple(name for name in self.wanted if name not in self.scores)


def harness_folders(run: Run) -> list[HarnessFolder]:
    """The harness's folders of a run, the oldest first; a ``/`` in a model's name makes folders inside each other.

    Their names say how old they are: rescoring or copying a folder changes its time.
    """
    found = [HarnessFolder.of(path.parent) for path in run.path.rglob(TRAJECTORIES) if path.is_dir()]
    return sorted(found, key=lambda folder: (folder.began.timestamp() if folder.began else 0.0, folder.name))


def standing(run: Run) -> Standing:
    """How a run stands, from its files alone; of several scores of a scenario the newest counts."""
    scores: dict[str, Score] = {}
    faults: dict[str, str] = {}
    for folder in harness_folders(run):
        for name, row in read_scores(folder.path).rows.items():
            if row.infrastructure:
                faults[name] = row.exception_type or "unknown"
            else:
                scores[name] = row
                faults.pop(name, None)
    left = {name: fault for name, fault in faults.items() if name not in scores}
    return Standing(run.settings.scenarios, scores, left)
