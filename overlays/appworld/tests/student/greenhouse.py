"""An invented garden: a root with its tasks, the runs that a memory of it is made of, and a student of it."""

from __future__ import annotations

import json
from pathlib import Path

from amd.traces import Outcome, Source, Step, Task, ToolCall, Trajectory, Turn
from amd_appworld.api_docs import ApiDocs
from amd_appworld.tasks import BENCHMARK, family

HERE = Path(__file__).parent
DOCS = json.loads((HERE / "greenhouse_docs.json").read_text(encoding="utf-8"))
ADA = {
    "first_name": "Ada",
    "last_name": "Quill",
    "email": "ada.quill@example.com",
    "phone_number": "5550000001",
}
# Three scenarios, two variants each; the third is that of a test set.
WORDS = {
    "0a0a0a0": "Water the {} before the sun is up.",
    "0b0b0b0": "The {} are dry. Give them water, please.",
    "0c0c0c0": "Please see to it that the {} get their water today.",
}
BEDS = ("roses", "beans")
TASKS = tuple(f"{scenario}_{number}" for scenario in WORDS for number in (1, 2))
TRAIN, TEST = TASKS[:4], TASKS[4:]

SOLUTION = """def solution(apis, requester):
    passwords = {{row["account_name"]: row["password"] for row in apis.supervisor.show_account_passwords()}}
    print(sorted(passwords))

    token = apis.garden.login(username="ada.quill@example.com", password=passwords["garden"])["access_token"]
    print(apis.garden.show_beds(access_token=token))

    print(apis.garden.water_bed(access_token=token, bed="{}"))

    apis.supervisor.complete_task()
"""


def bed_of(task_id):
    """The bed that a task is about."""
    return BEDS[int(task_id[-1]) - 1]


def instruction_of(task_id):
    """What a task asks for."""
    return WORDS[task_id[:7]].format(bed_of(task_id))


def plant(root):
    """Write the root's data."""
    data = root / "data"
    (data / "datasets").mkdir(parents=True)
    (data / "datasets" / "train.txt").write_text("\n".join(TRAIN) + "\n")
    (data / "datasets" / "test_normal.txt").write_text("\n".join(TEST) + "\n")
    for task_id in TASKS:
        truth = data / "tasks" / task_id / "ground_truth"
        truth.mkdir(parents=True)
        specs = {"instruction": instruction_of(task_id), "supervisor": ADA, "datetime": "2031-05-18T12:00:00"}
        (truth.parent / "specs.json").write_text(json.dumps(specs))
        (truth / "metadata.json").write_text(json.dumps({"difficulty": 1}))
        (truth / "private_data.json").write_text(json.dumps({"bed": bed_of(task_id)}))
        (truth / "evaluation.py").write_text("def evaluate():\n    pass\n")
        (truth / "solution.py").write_text(SOLUTION.format(bed_of(task_id)))
    return root


def garden_run(task_id, *, split="train"):
    """A teacher's run of a task: one call fails and is repaired."""
    bed = bed_of(task_id)
    denied = 'Response status code is 401:\n{"message": "You are not authorized to access this garden API endpoint."}'
    calls = (
        ToolCall("garden.show_beds", {}, denied, ok=False),
        ToolCall("garden.login", {"username": "u", "password": "p"}, '{"access_token": "x1"}', ok=True),
        ToolCall("garden.show_beds", {"access_token": "x1"}, '[{"bed": "roses"}]', ok=True),
        ToolCall("garden.water_bed", {"access_token": "x1", "bed": bed}, '{"message": "wet"}', ok=True),
        ToolCall("supervisor.complete_task", {}, '{"message": "done"}', ok=True),
    )
    instruction = instruction_of(task_id)
    return Trajectory(
        Task(BENCHMARK, task_id, family(task_id), instruction, split=split),
        (Turn(instruction, tuple(Step(f"Now {call.name}.", (call,)) for call in calls)),),
        tools=ApiDocs.of(DOCS).tools,
        outcome=Outcome(True, 1.0, "all tests pass"),
        source=Source("gardener", "run-1", "x", "0" * 64, "teacher"),
    )


def cell(code, words="Next."):
    """A reply with one cell."""
    return f"{words}\n```python\n{code}\n```"
