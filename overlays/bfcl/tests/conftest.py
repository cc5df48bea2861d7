"""What the overlay's tests share: the installed benchmark, or a reason to skip; and a made-up garden with a memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

import amd
from amd.arms import Arm
from amd.errors import ConfigError
from amd.traces import Outcome, Source, Step, Task, ToolCall, ToolSpec, Trajectory, Turn
from amd_bfcl.commands.app import main
from amd_bfcl.families import BENCHMARK, Category, category, family
from amd_bfcl.lines import replace_lines
from amd_bfcl.package import Package, find_package
from amd_bfcl.run import Run, Settings
from amd_bfcl.tasks import Entry
from amd_bfcl.trial import Trial

# As for the library's own tests: a property must not fail because the machine is busy, nor in CI by another draw.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def package() -> Package:
    """The installed bfcl-eval; a test that needs it is skipped without it, and says why."""
    try:
        return find_package()
    except ConfigError as error:
        pytest.skip(str(error))


def _tool(name: str, description: str, *arguments: str) -> ToolSpec:
    properties = {argument: {"type": "string", "description": f"The {argument}."} for argument in arguments}
    return ToolSpec(name, description, {"type": "object", "properties": properties, "required": [*arguments]})


TOOLS = (
    _tool("water", "Water a bed of the garden.", "bed"),
    _tool("measure", "Measure how warm the soil of a bed is.", "bed", "scale"),
    _tool("lock_shed", "Lock the shed.", "key"),
)
LOCK_GATE = _tool("lock_gate", "Lock the gate of the garden.", "key")
SCALE = "celsius-deep"


def _texts(index: int) -> list[str]:
    return [
        f"Please water bed_{index} in the garden and measure how warm its soil is.",
        f"Lock the gate of the garden for the night, number {index}.",
        f"Water bed_{index} once more, then measure its soil again.",
    ]


def _call(name: str, number: int, **arguments: str) -> Step:
    return Step(calls=(ToolCall(name, arguments, '{"done": true, "soil": "moist"}', ok=True, call_id=f"c{number}"),))


def _run(index: int) -> Trajectory:
    """A teacher's run: each turn calls what it was asked for; every run measures on the same scale."""
    first, second, third = _texts(index)
    bed = f"bed_{index}"
    care = (_call("water", 1, bed=bed), _call("measure", 2, bed=bed, scale=SCALE), Step("Done."))
    task_id = f"multi_turn_base_{index}"
    return Trajectory(
        task=Task(BENCHMARK, task_id, family(task_id) or "", first),
        turns=(
            Turn(first, care),
            Turn(second, (_call("lock_gate", 3, key=f"key_{index}"), Step("Locked."))),
            Turn(third, care),
        ),
        tools=(*TOOLS, LOCK_GATE),
        outcome=Outcome(success=True, score=1.0),
        source=Source("made-up-teacher", "run-1", f"{task_id}.json", "0" * 64),
    )


@dataclass(frozen=True)
class Garden:
    """A benchmark's tasks in miniature: a memory of the base tasks 1 to 4, and entries of any id."""

    memory: Path

    def arm(self, **values: object) -> Arm:
        """An arm with that memory; ``method="none"`` is without."""
        return Arm.of({"memory": str(self.memory), **values})

    def entry(self, task_id: str = "multi_turn_base_9") -> Entry:
        """The entry of a task. The gate's tool is held back until turn 1 in the category that holds tools back."""
        kind = category(task_id)
        assert kind is not None
        first, second, third = _texts(int(task_id.rpartition("_")[2]))
        held = kind == Category.MISS_FUNC
        return Entry(
            task=Task(BENCHMARK, task_id, family(task_id) or "", first),
            category=kind,
            users=(first, None, third) if held else (first, second, third),
            tools=TOOLS if held else (*TOOLS, LOCK_GATE),
            later={1: (LOCK_GATE,)} if held else {},
            classes=("Garden",),
            initial_config={},
            where="made-up.json:1",
            line="{}",
        )


@pytest.fixture(scope="session")
def garden(tmp_path_factory) -> Garden:
    """The garden, its memory built once."""
    folder = tmp_path_factory.mktemp("garden") / "memory"
    report = amd.build_memory([_run(index) for index in (1, 2, 3, 4)], folder, embedder=amd.load_embedder("hash"))
    assert report.admitted == 4
    return Garden(folder)


@pytest.fixture(scope="session")
def run_settings():
    """Settings of a run without memory, but for what a test gives."""

    def made(**values: object) -> Settings:
        usual = {
            "name": "student-none-FC",
            "model": "student",
            "calling": "fc",
            "base_url": "http://127.0.0.1:8000/v1",
            "categories": ["multi_turn_base"],
            "ids": None,
            "arm": {"method": "none"},
            "memory_content": None,
            "memory_seal": None,
            "harness": (),
            "bfcl_eval": "2026.3.23",
            "tasks_sha256": "0" * 64,
            "created_at": "2031-05-13T08:00:00+00:00",
        }
        return Settings.model_validate(usual | values)

    return made


GARDEN_IDS = ("multi_turn_base_2", "multi_turn_base_9", "multi_turn_miss_func_9")
SPOILT = {"result": "Error during inference: timed out", "traceback": "..."}


@pytest.fixture
def made(garden, run_settings, tmp_path):
    """Makes a run directory: each task says a word to its memory, fails in one call, and has a line."""

    def make(name="run", *, ids=GARDEN_IDS, spoilt=(), **values):
        run, arm = Run(tmp_path / name), garden.arm(**values)
        by_category = {}
        with arm.open() as opened:
            for task_id in ids:
                entry = garden.entry(task_id)
                trial = Trial(entry, opened, "json")
                trial.first_turn([{"role": "user", "content": entry.users[0]}])
                trial.hinted(["measure(bed='x')", "water(bed='<bed>')"], ['{"error": "no such bed"}', "None"])
                rest = SPOILT if task_id in spoilt else {"result": [[""]], "amd": trial.log().as_json()}
                by_category.setdefault(entry.category, []).append({"id": task_id, **rest})
            run.begin(
                run_settings(
                    name=f"{name}-FC",
                    categories=[*by_category],
                    ids=ids,
                    arm=arm.model_dump(mode="json"),
                    memory_content=opened.content,
                )
            )
        for kind, lines in by_category.items():
            replace_lines(run.result_file(kind), lines)
        return run

    return make


@pytest.fixture
def told(capsys, monkeypatch):
    """Runs ``report`` and gives its exit code and output, on a wide screen."""
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments):
        code = main(["report", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call
