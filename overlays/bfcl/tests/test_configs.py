"""Every student's configuration beside every arm's is a plan of a run."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from amd_bfcl.families import Category
from amd_bfcl.plan import read_plan

CONFIGS = Path(__file__).resolve().parents[3] / "configs"


@pytest.mark.parametrize("arm", sorted((CONFIGS / "bfcl").glob("*.toml")), ids=lambda path: path.stem)
@pytest.mark.parametrize("student", sorted((CONFIGS / "students").glob("*.toml")), ids=lambda path: path.stem)
def test_a_student_and_an_arm_make_a_plan(student, arm):
    """The served name and the calling are the student's, the rest is the arm's."""
    plan = read_plan([student, arm], {}, {"memory": Path("memory")}, [])
    served = tomllib.loads(student.read_text(encoding="utf-8"))
    assert (plan.model, plan.calling) == (served["model"], served["calling"])
    assert plan.categories == (Category.BASE,)
    assert plan.arm.method == ("none" if arm.stem == "none" else "amd")
    assert plan.harness == ("--temperature", "0.001")
