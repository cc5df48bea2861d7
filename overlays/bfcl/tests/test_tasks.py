"""The benchmark's entries as an agent is given them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from amd.errors import ConfigError, TrajectoryError
from amd_bfcl.families import Category, family
from amd_bfcl.package import Package
from amd_bfcl.tasks import by_id, entries, entry, tasks

HARNESS = """
import json, sys
from bfcl_eval.utils import populate_test_cases_with_predefined_functions as populate
rows = populate([json.loads(line) for line in open(sys.argv[1], encoding="utf-8")])
names = lambda functions: [function["name"] for function in functions]
later = lambda row: {turn: names(functions) for turn, functions in row.get("missed_function", {}).items()}
print(json.dumps({row["id"]: [names(row["function"]), later(row)] for row in rows}))
"""


@pytest.mark.parametrize(("category", "turns"), list(zip(Category, (734, 934, 934, 734), strict=True)))
def test_each_category_has_its_200_tasks(package, category, turns):
    """Ids in order, the family of each, the first message as the instruction."""
    found = list(entries(category, package))
    assert [each.task.task_id for each in found] == [f"{category}_{index}" for index in range(200)]
    assert sum(len(each.users) for each in found) == turns
    for each in found:
        assert each.task.family == family(each.task.task_id)
        assert each.task.benchmark == "bfcl"
        assert each.task.instruction == each.users[0]


def test_only_the_turns_that_bring_tools_are_without_words(package):
    """miss_func: a held-back tool arrives in a turn in which the user says nothing, and only there."""
    for category in Category:
        for each in entries(category, package):
            silent = {turn for turn, words in enumerate(each.users) if words is None}
            assert silent == set(each.later)
            assert bool(silent) == (category is Category.MISS_FUNC)


@pytest.mark.parametrize("category", Category)
def test_tools_are_offered_as_the_harness_offers_them(package, category, tmp_path):
    """Compared with the harness's own function, in a process of its own: it makes folders when it is imported."""
    path = package.root / "data" / f"BFCL_v4_{category}.json"
    done = subprocess.run(
        [sys.executable, "-c", HARNESS, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={"BFCL_PROJECT_ROOT": str(tmp_path)},
    )
    theirs = json.loads(done.stdout)
    for each in entries(category, package):
        later = {str(turn): [tool.name for tool in tools] for turn, tools in each.later.items()}
        assert [[tool.name for tool in each.tools], later] == theirs[each.task.task_id]
        assert len({tool.name for tool in each.all_tools}) == len(each.all_tools)


def test_tasks_are_the_tasks_of_the_entries(package):
    """The short way to a category's tasks."""
    assert tasks("multi_turn_base", package) == tuple(each.task for each in entries(Category.BASE, package))


def test_one_entry_by_its_id(package):
    """The id alone finds the entry; an id that is not there is an error."""
    assert entry("multi_turn_miss_func_3", package).later.keys() == {1}
    for unknown in ("multi_turn_base_200", "simple_python_0"):
        with pytest.raises(ConfigError, match=unknown):
            entry(unknown, package)


def test_a_task_that_this_version_lacks_is_an_error(package, tmp_path):
    """Another version may have fewer; what it has is found (the control)."""
    for name in ("multi_turn_func_doc", "BFCL_v4_multi_turn_base.json"):
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / name).symlink_to(package.root / "data" / name)
    whole = Package("whole", tmp_path)
    assert entry("multi_turn_base_7", whole).task.task_id == "multi_turn_base_7"
    lines = package.lines("BFCL_v4_multi_turn_base.json")
    (tmp_path / "data" / "BFCL_v4_multi_turn_base.json").unlink()
    (tmp_path / "data" / "BFCL_v4_multi_turn_base.json").write_text("\n".join(lines[:5]), encoding="utf-8")
    fewer = Package("fewer", tmp_path)
    assert len(by_id(Category.BASE, fewer)) == 5
    with pytest.raises(ConfigError, match="multi_turn_base_7"):
        entry("multi_turn_base_7", fewer)


def test_an_unknown_category_is_named(package):
    """The message lists the four."""
    with pytest.raises(ConfigError, match=r"'multi_turn_composite' .*multi_turn_long_context"):
        next(entries("multi_turn_composite", package))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, None),
        ({"id": "multi_turn_miss_func_0"}, "no task of multi_turn_base"),
        ({"id": "multi_turn_base_999"}, "no task of multi_turn_base"),
        ({"question": []}, "no task of multi_turn_base"),
        ({"question": [[]]}, "no task of multi_turn_base"),
        ({"question": [[{"role": "system", "content": "x"}]]}, r"question\.0\.0\.role"),
        ({"involved_classes": ["WebSearchAPI"]}, "'WebSearchAPI'"),
        ({"missed_function": {"1": ["no_such_tool"]}}, "'no_such_tool'"),
        ({"initial_config": 3}, "initial_config"),
    ],
)
def test_a_line_that_is_wrong_is_named_with_its_place(package, tmp_path, change, fault):
    """Every fault of a line says file, line and what is wrong; an unchanged line passes (the control)."""
    line = json.loads(package.lines("BFCL_v4_multi_turn_base.json")[0]) | change
    copy = _package_with(tmp_path, package, json.dumps(line))
    if fault is None:
        assert next(entries(Category.BASE, copy)).task.task_id == "multi_turn_base_0"
        return
    with pytest.raises(TrajectoryError, match=f"BFCL_v4_multi_turn_base.json:1: .*{fault}"):
        next(entries(Category.BASE, copy))


def test_a_line_that_is_no_json_is_named(package, tmp_path):
    """A torn line."""
    copy = _package_with(tmp_path, package, '{"id": "multi_turn_base_0", ')
    with pytest.raises(TrajectoryError, match=r"BFCL_v4_multi_turn_base.json:1: not JSON"):
        next(entries(Category.BASE, copy))


def _package_with(folder: Path, package: Package, line: str) -> Package:
    """A package of one task: the real tool documents and this line."""
    (folder / "data").mkdir()
    (folder / "data" / "multi_turn_func_doc").symlink_to(package.root / "data" / "multi_turn_func_doc")
    (folder / "data" / "BFCL_v4_multi_turn_base.json").write_text(line + "\n", encoding="utf-8")
    return Package(package.version, folder)
