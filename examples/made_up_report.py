"""A report worth looking at, of runs that never happened: 5 arms x 60 tasks x 3 seeds, all of it invented.

    python examples/made_up_report.py              # shows the tables and leaves nothing behind
    python examples/made_up_report.py DIR          # keeps the runs and the report in DIR

It shows what ``amd report`` makes of run directories, and how an agent that no overlay knows writes its results down.
Every run is marked as made up, and the report says so wherever it could be taken for a measurement.
"""

from __future__ import annotations

import hashlib
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import amd
from amd.arms import Arm, OpenArm, RunLog, RunResults, TaskResult, write_results
from amd.cli.app import run
from amd.records import Exposure
from amd.testing import run as made_up_run

FAMILIES, DRESSES, SEEDS = 20, 3, 3
ARMS = {
    "none": ({"method": "none"}, 0.0, {}),
    "workflow": ({"method": "workflow"}, 0.4, {"workflow": 160}),
    "amd": ({"method": "amd"}, 1.3, {"workflow": 150, "subtask": 300, "function": 120}),
    "random": ({"method": "random"}, 0.2, {"workflow": 150, "subtask": 300, "function": 120}),
    "amd-in-sample": (
        {"method": "amd", "protocol": "in-sample"},
        2.3,
        {"workflow": 170, "subtask": 380, "function": 140},
    ),
}
"""Name -> its settings, how much easier it makes tasks (log odds), and the tokens that its tiers show."""


def main() -> None:
    """Invent the runs and report them."""
    if len(sys.argv) > 1:
        report_into(Path(sys.argv[1]))
        return
    with TemporaryDirectory() as folder:
        report_into(Path(folder))


def report_into(folder: Path) -> None:
    """The memory, the runs and the report, below a folder."""
    amd.build_memory([made_up_run(i) for i in range(FAMILIES)], folder / "memory", embedder=amd.load_embedder("hash"))
    with Arm.of({"memory": folder / "memory"}).open() as opened:
        runs = [invent(folder / "runs", name, seed, opened) for name in ARMS for seed in range(1, SEEDS + 1)]
    code = run(["report", *map(str, runs), "--out", str(folder / "report")])
    print(f"amd report ended with {code}; nothing of this was measured")


def invent(folder: Path, name: str, seed: int, opened: OpenArm) -> Path:
    """One run of an arm: the directory that its results are in."""
    values, ease, tokens = ARMS[name]
    arm = Arm.of({"memory": opened.arm.memory, **values})
    none = arm.method == "none"
    results = RunResults(
        path=folder / f"{name}-seed-{seed}",
        benchmark="garden",
        student="made-up-student",
        arm=arm,
        tasks=tuple(
            task_result(arm, None if none else opened.content, family, dress, seed, ease, tokens)
            for family in range(FAMILIES)
            for dress in range(DRESSES)
        ),
        memory_content=None if none else opened.content,
        memory_seal=None if none else opened.seal,
        memory_from=() if none else opened.teachers,
        terms={"max_steps": 9, "temperature": 0.7, "tasks_sha256": hashlib.sha256(b"the garden's tasks").hexdigest()},
        seed=seed,
        made_up=True,
    )
    write_results(results)
    return results.path


def task_result(
    arm: Arm, content: str | None, family: int, dress: int, seed: int, ease: float, tokens: dict[str, int]
) -> TaskResult:
    """An invented outcome: families differ in difficulty, and a memory that helps one of them may harm another."""
    own, task_id = f"family_{family:02}", f"task_{family:02}_{dress}"
    hard = random.Random(f"hard {family}").gauss(0.6, 1.4)  # noqa: S311 - an invention needs no cryptography
    fit = random.Random(f"fit {family}").gauss(ease, 0.8 if ease else 0.0)  # noqa: S311 - as above
    chance = random.Random(f"{arm.label} {arm.method} {task_id} {seed}")  # noqa: S311 - as above
    success = chance.random() < 1 / (1 + 2.7183 ** (hard - fit))
    steps = chance.randint(4, 9) - (1 if tokens else 0)
    log = RunLog(
        method=arm.method,
        protocol=arm.protocol,
        mode=arm.mode,
        layout=arm.layout,
        memory=content,
        task_id=task_id,
        family=own,
        exposures=tuple(exposure(arm, own, task_id, tier, most, chance) for tier, most in tokens.items()),
        calls=steps,
        failed_calls=chance.randint(0, 2),
        hints=int("function" in tokens),
        placeholders=int(bool(tokens) and chance.random() < 0.05),
        system_changes=0,
    )
    seconds = round(steps * chance.uniform(0.8, 1.4), 2)
    return TaskResult(
        task_id,
        own,
        success=success,
        steps=steps,
        seconds=seconds,
        prompt_tokens=steps * 900 + sum(tokens.values()),
        completion_tokens=steps * 60,
        log=log,
    )


def exposure(arm: Arm, own: str, task_id: str, tier: str, most: int, chance: random.Random) -> Exposure:
    """An invented answer of a tier: another family's record, or the own one where nothing is hidden."""
    if chance.random() < 0.12:
        return Exposure(tier, "task", arm.protocol, task_id, "0" * 64, below_floor=3)
    family = own if not arm.excludes else f"family_{(int(own[-2:]) + chance.randint(1, FAMILIES - 1)) % FAMILIES:02}"
    return Exposure(
        tier,
        "task",
        arm.protocol,
        task_id,
        "0" * 64,
        record_ids=(f"{chance.getrandbits(128):032x}",),
        families=(family,),
        scores=(0.7,),
        supports=(1,),
        considered=FAMILIES,
        excluded={"own_family": DRESSES} if arm.excludes else {},
        own_family=int(family == own),
        tokens=round(most * chance.uniform(0.7, 1.3)),
    )


if __name__ == "__main__":
    main()
