"""Plays a student's scenarios in the real harness, and scores again what an interrupted run left unscored."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from amd.arms import Arm, OpenArm, replace_text
from amd.clients import check_endpoint
from amd.errors import ConfigError
from amd_toolsandbox.families import base_of, family
from amd_toolsandbox.family_table import FAMILIES
from amd_toolsandbox.folders import CONTEXT, HarnessFolder
from amd_toolsandbox.harness import play, rescore, resolve
from amd_toolsandbox.run import Model, Run, Settings
from amd_toolsandbox.standing import Standing, harness_folders, standing
from amd_toolsandbox.summary import RESCORED, SUMMARY
from amd_toolsandbox.surroundings import Progress, watched

__all__ = ["play_arm", "rescore_run"]

_PROBE = 10.0  # seconds: a server that lists its models later than that is no server to wait for


def play_arm(
    out: Path,
    arm: Arm,
    *,
    agent: Model,
    user: Model,
    scenarios: tuple[str, ...] | None = None,
    limit: int | None = None,
    seed: int | None = None,
    draw_only: bool = False,
    temperature: float | None = None,
    processes: int = 1,
    timeout: float = 600.0,
    progress: Progress = lambda *_: None,
) -> tuple[Run, Standing]:
    """Play the scenarios that have no score yet, and say how the run stands.

    Args:
        out: the run directory, new, or that of the same run begun before.
        arm: method, memory, and who may see what.
        agent: the student.
        user: the model that plays the user.
        scenarios: their names; ``None`` for all, or for those of the split's test families.
        limit: only so many of them.
        seed: sent with each request to either model, and what random records follow from.
        draw_only: do not send it.
        temperature: of the agent; the server's own if left out.
        processes: worker processes; each takes some twelve seconds and 500 MB to begin.
        timeout: seconds that one request may take.
        progress: is told how many scenarios have ended.

    Raises:
        ConfigError: the request contradicts itself, the memory, the harness or what the directory holds.
        ClientError: an endpoint cannot be reached or does not serve its model.
        LeakageError, StoreError: the memory is not fit to be shown.
    """
    run = Run(out)
    with arm.absolute().open(seed) as opened:
        names = _chosen(scenarios, opened, limit)
        settings = Settings(
            agent=agent,
            user=user,
            scenarios=names,
            temperature=temperature,
            timeout=timeout,
            draw_only=draw_only,
            **opened.facts(),
        )
    with run.locked():
        run.begin(settings)
        rescore_run(run, today=True)
        left = standing(run).left
        if left:
            for model in (agent, user):
                key = os.environ.get("OPENAI_API_KEY")
                check_endpoint(model.name, base_url=model.base_url, api_key=key, timeout=min(timeout, _PROBE))
            with watched(run.path, len(left), progress):
                play(resolve(left), run.path, processes=processes)
    return run, standing(run)


def rescore_run(run: Run, *, today: bool = False) -> int:
    """Score what an interrupted run finished and did not score; how many scenarios that were.

    Args:
        run: the run.
        today: only what was played today: the harness computes what it expects from the date.
    """
    lost = [folder for folder in harness_folders(run) if _lost(folder, today=today)]
    if not lost:
        return 0
    count = 0
    for folder in lost:
        ended = [path for path in folder.scenarios if (path / "conversation.json").exists()]
        scenarios = resolve([path.name for path in ended]) if ended else {}
        rows = [rescore(scenarios[path.name], path / CONTEXT, path.name) for path in ended]
        replace_text(folder.path / RESCORED, json.dumps({"per_scenario_results": rows}, indent=1) + "\n")
        count += len(rows)
    return count


def _lost(folder: HarnessFolder, *, today: bool) -> bool:
    """Whether a folder has no summary; one of today's if asked for."""
    if (folder.path / SUMMARY).exists() or (folder.path / RESCORED).exists():
        return False
    return not today or (folder.began is not None and folder.began.date() == datetime.now(UTC).astimezone().date())


def _chosen(scenarios: tuple[str, ...] | None, opened: OpenArm, limit: int | None) -> tuple[str, ...]:
    """The scenarios that are wanted; with a split, those of its test families, whatever the protocol."""
    if opened.split is not None:
        strange = sorted((opened.split.train | opened.split.test) - set(FAMILIES.values()))
        if strange:
            raise ConfigError(
                f"the split has {len(strange)} names that are no families of ToolSandbox, the first is {strange[0]!r}",
                next_step=f"a family is such as {min(FAMILIES.values())!r}",
                names=strange,
            )
    names = tuple(resolve(list(scenarios) if scenarios is not None else None))
    if opened.split is not None:
        names = tuple(name for name in names if family(name) in opened.split.test)
    unknown = [name for name in names if family(name) is None]
    if unknown:
        raise ConfigError(
            f"no family is known of {unknown[0]!r} ({base_of(unknown[0])!r})",
            next_step="the harness is another version: write the table anew with python -m amd_toolsandbox families",
        )
    if not names[:limit]:
        raise ConfigError("no scenario is left to play", next_step="check --scenarios and the split's test families")
    return names[:limit]
