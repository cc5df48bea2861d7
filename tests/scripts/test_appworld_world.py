"""The invented world for AppWorld, as far as it can be told without AppWorld: tasks, and whose folder is touched."""

from __future__ import annotations

import ast
import doctest
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from amd_appworld.tasks import family
from appworld_world import people
from appworld_world.place import MARK, Mark, NotOursError, digest_of, publish, standing
from appworld_world.scenarios import SCENARIOS
from appworld_world.scenarios.errands import ERRANDS
from appworld_world.scenarios.notes import LINE, REMINDER
from appworld_world.scenarios.payments import DEBT, PAYMENT
from appworld_world.scenarios.songs import PLAYED

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "appworld_synthetic.py"
TASKS = {task_id: (each, variant) for each in SCENARIOS for task_id, variant in each.tasks.items()}


def test_there_are_six_scenarios_of_three():
    """Their ids are of AppWorld's shape, so that families are told from them; no two tasks say the same."""
    assert Counter(map(family, TASKS)) == {each.scenario_id: 3 for each in SCENARIOS}
    assert len({variant.instruction for _, variant in TASKS.values()}) == len(TASKS) == 18
    assert {each.dataset for each in SCENARIOS} == {"train", "dev", "test_normal"}
    needed = {app for each in SCENARIOS for app in each.apps}
    assert needed == {"spotify", "venmo", "simple_note", "file_system", "phone", "todoist"} == set(people.ACCOUNTS)


def test_twins_need_the_same_apps_and_say_it_in_other_words():
    """Each of them in a split of its own, so that one can be learned from while the other is played."""
    for one, other in ((LINE, REMINDER), (PAYMENT, DEBT)):
        assert one.apps == other.apps
        assert len(one.apis & other.apis) >= len(one.apis) - 1
        assert one.dataset != other.dataset
        words = [set(re.findall(r"\w+", each.variants[0].instruction.lower())) for each in (one, other)]
        assert len(words[0] & words[1]) < len(words[0]) / 2
    assert not set(PLAYED.apps) & set(ERRANDS.apps)


@pytest.mark.parametrize("task_id", TASKS)
def test_a_solution_is_a_function_of_cells(task_id):
    """Between blank lines; each is a program of its own, the last one completes, and every value is filled in."""
    scenario, variant = TASKS[task_id]
    text = scenario.solution(variant)
    (function,) = ast.parse(text).body
    assert ast.unparse(function).startswith("def solution(apis, requester):")
    cells = text.partition("\n")[2].rstrip("\n").split("\n\n")
    assert len(cells) == len(scenario.cells) + 1
    for cell in cells:
        ast.parse("if True:\n" + cell)
    assert "complete_task(" in cells[-1]
    assert "complete_task(" not in "".join(cells[:-1])
    assert "$" not in text
    assert "print(" in "".join(cells[:-1])
    assert all(repr(value) in text for value in variant.public.values())


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.scenario_id)
def test_an_evaluation_tests_what_is_listed(scenario):
    """Each requirement once, in order, under the words that AppWorld labels it by."""
    (function,) = (each for each in ast.parse(scenario.evaluation).body if isinstance(each, ast.FunctionDef))
    asked = [each.items[0].context_expr.args[0].value.strip() for each in function.body if isinstance(each, ast.With)]
    assert asked == [each.requirement for each in scenario.checks]
    assert len(set(asked)) == len(asked) >= 2
    assert "no_op_fail" in {each.idle for each in scenario.checks}


def test_a_value_that_is_not_public_is_no_value_of_a_solution():
    """The mistake is seen where the world is made."""
    with pytest.raises(KeyError, match="title"):
        LINE.solution(PLAYED.variants[0])


def test_everybody_has_names_and_passwords_of_their_own():
    """AppWorld finds its people by first name; contacts are people."""
    assert doctest.testmod(people).failed == 0
    for values in ([each.first_name for each in people.PEOPLE], [each.phone_number for each in people.PEOPLE]):
        assert len(set(values)) == len(people.PEOPLE)
    known = {each.password(app) for each in people.PEOPLE for app in people.ACCOUNTS}
    assert len(known) == len(people.PEOPLE) * len(people.ACCOUNTS)
    assert all(people.person(name) for each in people.PEOPLE for name in each.contacts.values())


def a_world(root: Path, digest: str = "new", tasks: tuple[str, ...] = ("0a11ce1_1",)) -> Path:
    """A folder of data that says it was made by the program."""
    for task_id in tasks:
        (root / "data" / "tasks" / task_id).mkdir(parents=True)
    Mark(digest, tasks).write(root / "data")
    return root / "data"


def test_what_stands_in_a_root(tmp_path):
    """Nothing, an older world or the same one: none of them is anybody else's."""
    assert standing(tmp_path, "new") == "absent"
    a_world(tmp_path)
    assert standing(tmp_path, "new") == "current"
    assert standing(tmp_path, "newer") == "outdated"


def foreign(root: Path, what: str) -> None:
    """Something in the world's place that the program must not touch."""
    if what == "no mark":
        (root / "data" / "tasks" / "82e2fac_1").mkdir(parents=True)
    elif what == "empty folder":
        (root / "data").mkdir()
    elif what == "file":
        (root / "data").write_text("", encoding="utf-8")
    elif what == "link":
        (root / "data").symlink_to(a_world(root / "elsewhere"))
    elif what == "more tasks":
        (a_world(root) / "tasks" / "82e2fac_1").mkdir()
    else:
        mark = a_world(root) / MARK
        ours = mark.read_text(encoding="utf-8")
        another = ours.replace("amd-invented-world/1", "amd-invented-world/2")
        mark.write_text({"no JSON": ours[:-3], "a list": f"[{ours}]", "another": another}[what], encoding="utf-8")


@pytest.mark.parametrize(
    "what", ["no mark", "empty folder", "file", "link", "more tasks", "no JSON", "a list", "another"]
)
def test_what_is_not_ours_is_refused(tmp_path, what):
    """With its place and the reason; the benchmark's data above all."""
    foreign(tmp_path, what)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(NotOursError, match="is not touched: it") as refused:
        standing(tmp_path, "new")
    assert refused.value.path.is_relative_to(tmp_path / "data")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_new_world_takes_the_place_of_the_old_one(tmp_path):
    """What stands beside it stays; the old one goes with the folder that the new one was made in."""
    root, made = tmp_path / "root", tmp_path / "root" / ".building"
    old = a_world(root, "old")
    (root / "experiments").mkdir()
    a_world(made, "new", ("0b0a7e2_1",))
    publish(made, root)
    assert standing(root, "new") == "current"
    assert [path.name for path in (old / "tasks").iterdir()] == ["0b0a7e2_1"]
    assert json.loads((made / "before" / MARK).read_text(encoding="utf-8"))["digest"] == "old"
    assert (root / "experiments").is_dir()


def test_a_digest_is_of_sources_and_version(tmp_path):
    """Of names and bytes, and of nothing else in the folder."""
    (tmp_path / "a.py").write_text("1", encoding="utf-8")
    first = digest_of(tmp_path, "0.1")
    (tmp_path / "a.pyc").write_text("1", encoding="utf-8")
    assert digest_of(tmp_path, "0.1") == first
    seen = {first, digest_of(tmp_path, "0.2")}
    (tmp_path / "b.py").write_text("", encoding="utf-8")
    seen.add(digest_of(tmp_path, "0.1"))
    (tmp_path / "a.py").write_text("2", encoding="utf-8")
    seen.add(digest_of(tmp_path, "0.1"))
    assert len(seen) == 4


def test_a_python_without_appworld_is_told_so(tmp_path):
    """In one line with the next step (-S: all that was installed is hidden), and nothing is made."""
    words = [sys.executable, "-S", SCRIPT, tmp_path / "root"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "has no appworld: run scripts/setup_appworld.sh" in done.stderr
    assert not (tmp_path / "root").exists()


@pytest.fixture
def packed(tmp_path):
    """A place where Python finds an AppWorld: packed, or with the file that shows that it is not."""
    found = tmp_path / "site" / "appworld-0.1.3.dist-info"
    found.mkdir(parents=True)
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: appworld\nVersion: 0.1.3\n", encoding="utf-8")
    return found.parent


def run(site: Path, root: Path) -> subprocess.CompletedProcess[str]:
    """The program, with this place in front of what is installed."""
    words = [sys.executable, "-S", SCRIPT, root]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


def test_an_appworld_that_is_packed_is_told_so(packed, tmp_path):
    """Its models are missing until its own install has run; then the root is looked at."""
    done = run(packed, tmp_path / "root")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "is still packed (appworld/apps/spotify/models.py is missing)" in done.stderr
    unpacked = packed / "appworld" / "apps" / "spotify" / "models.py"
    unpacked.parent.mkdir(parents=True)
    unpacked.write_text("", encoding="utf-8")
    (tmp_path / "root" / "data").mkdir(parents=True)
    done = run(packed, tmp_path / "root")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert f"{tmp_path / 'root' / 'data'} is not touched" in done.stderr


def test_a_world_that_is_up_to_date_is_left_as_it_is(packed, tmp_path):
    """AppWorld is not even imported: there is none that could be."""
    unpacked = packed / "appworld" / "apps" / "spotify" / "models.py"
    unpacked.parent.mkdir(parents=True)
    unpacked.write_text("", encoding="utf-8")
    root = tmp_path / "root"
    a_world(root, digest_of(SCRIPT.parent / "appworld_world", "0.1.3"))
    done = run(packed, root)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"the invented world in {root} is up to date\n", "")
