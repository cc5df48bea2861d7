"""The shape of a scenario: three tasks that share their solution and their evaluation."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from string import Template
from typing import Literal

from appworld_world.people import Person

__all__ = ["ANSWERS", "LOGIN", "Check", "Scenario", "Variant"]

Value = str | int | list[str]
_EVALUATION = "def evaluate(test, public_data, private_data, main_user, models, ground_truth_answer):\n"

LOGIN = """
passwords = {row["account_name"]: row["password"] for row in apis.supervisor.show_account_passwords()}
profile = apis.supervisor.show_profile()
print(profile["first_name"], sorted(passwords))
"""
"""The first cell of every solution."""


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement of an evaluation.

    Attributes:
        requirement: the sentence of it, of one line.
        code: the statement that fails if it is not met.
        idle: what becomes of it in a run that does nothing.
    """

    requirement: str
    code: str
    idle: Literal["no_op_fail", "no_op_pass"] = "no_op_fail"


ANSWERS = Check(
    "assert answers match.",
    "test.answer(json.loads(models.end.supervisor.Task.all()[0].answer), ground_truth_answer)",
)
"""A task that asks for no answer must be completed without one."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One task of a scenario.

    Attributes:
        supervisor: who asks.
        public: what the solution is told, by name.
        private: what the evaluation is told besides.
        answer: the right answer; ``None`` if none is asked for.
    """

    supervisor: Person
    instruction: str
    public: dict[str, Value]
    private: dict[str, Value] = field(default_factory=dict)
    answer: int | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """Tasks that share an answer key.

    Attributes:
        scenario_id: seven hexadecimal digits; a task is one of them with ``_1``, ``_2`` ... behind it.
        dataset: the split that its tasks belong to.
        difficulty: from 1 to 3, as AppWorld counts it.
        cells: the code of a solution, one cell each, after ``LOGIN``; ``$name`` stands for a public value.
        found: what an evaluation looks up before its checks.
    """

    scenario_id: str
    dataset: Literal["train", "dev", "test_normal"]
    difficulty: int
    variants: tuple[Variant, ...]
    cells: tuple[str, ...]
    checks: tuple[Check, ...]
    found: str = ""

    @property
    def tasks(self) -> dict[str, Variant]:
        """Task id -> variant."""
        return {f"{self.scenario_id}_{number}": variant for number, variant in enumerate(self.variants, start=1)}

    @property
    def apps(self) -> tuple[str, ...]:
        """The apps that a solution needs, sorted."""
        return tuple(sorted({app for app, _ in self.apis} - {"supervisor"}))

    @property
    def apis(self) -> frozenset[tuple[str, str]]:
        """The APIs that a solution calls, each with its app."""
        return frozenset(re.findall(r"\bapis\.(\w+)\.(\w+)\(", "\n".join((LOGIN, *self.cells))))

    @property
    def evaluation(self) -> str:
        """The text of ``evaluation.py``, the same for every variant."""
        lines = [f"    {line}\n" for line in self.found.strip().split("\n") if line]
        tests = [f'    with test("""\n    {each.requirement}\n    """):\n        {each.code}\n' for each in self.checks]
        return "import json\n\n\n" + _EVALUATION + "".join(lines + tests)

    def solution(self, variant: Variant) -> str:
        """The text of ``solution.py`` for one variant: the cells with a blank line between any two of them.

        Raises:
            KeyError: a cell names a value that is not public.
        """
        values = {name: repr(value) for name, value in variant.public.items()}
        cells = [Template(cell.strip("\n")).substitute(values) for cell in (LOGIN, *self.cells)]
        lines = "\n\n".join(cells).split("\n")
        return "def solution(apis, requester):\n" + "".join(f"    {line}\n" if line else "\n" for line in lines)
