"""What ``generate`` and ``retry`` make of a wish before a student is asked: which tasks, and what the run says of it.

A run whose tasks all have their line needs no harness, so that all this can be seen without one.
"""

from __future__ import annotations

import json

import pytest

from amd.errors import ConfigError
from amd.store.retiring import retire
from amd_bfcl.families import Category, category
from amd_bfcl.generate import Endpoint, generate, retry
from amd_bfcl.lines import replace_lines
from amd_bfcl.names import registry_name
from amd_bfcl.plan import read_plan
from amd_bfcl.run import Run

BASE, MISS_FUNC = Category.BASE, Category.MISS_FUNC
ENDPOINT = Endpoint("http://127.0.0.1:9/v1")


def ids(name, *indexes):
    """Task ids of a category."""
    return tuple(f"{name}_{index}" for index in indexes)


@pytest.fixture
def split(tmp_path):
    """Writes a split file."""

    def write(train, test):
        path = tmp_path / "split.json"
        value = {"format": "amd-split/1", "benchmark": "bfcl", "train": train, "test": test}
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write


@pytest.fixture
def wish(package, run_settings, tmp_path):
    """Runs ``generate`` into a directory that has a line for each of the expected tasks already."""

    def run(expected, *, arm=None, content=None, seal=None, **given):
        plan = read_plan((), {"model": "student", **given}, arm or {"method": "none"}, ())
        path = tmp_path / "run"
        begun = Run(path)
        split = json.loads(plan.arm.split.read_text("utf-8")) if plan.arm.split else None
        begun.begin(
            run_settings(
                name=registry_name(plan.model, plan.arm, plan.calling),
                categories=plan.categories,
                ids=expected[:1],
                arm=plan.arm,
                memory_content=content,
                memory_seal=seal,
                split=split and {name: split[name] for name in ("benchmark", "train", "test")},
                tasks_sha256=package.sha256(f"BFCL_v4_{name}.json" for name in plan.categories),
            )
        )
        for name in plan.categories:
            lines = [{"id": task_id, "result": []} for task_id in expected if category(task_id) == name]
            replace_lines(begun.result_file(name), lines)
        return generate(path, plan, ENDPOINT)

    return run


def test_without_a_choice_all_tasks_are_wanted(wish):
    """And the settings keep no list of them."""
    attempt = wish(ids(BASE, *range(200)))
    assert attempt.run.settings.ids is None
    assert (len(attempt.stands.wanted), attempt.stands.missing, attempt.ran) == (200, (), False)


def test_a_limit_counts_for_each_category(wish):
    """Two of two categories are four tasks."""
    expected = ids(BASE, 0, 1) + ids(MISS_FUNC, 0, 1)
    attempt = wish(expected, categories=(MISS_FUNC, BASE), limit=2)
    assert attempt.run.settings.ids == attempt.stands.wanted == expected


def test_chosen_ids_come_in_the_benchmarks_order_and_are_limited_too(wish):
    """However they were given."""
    chosen = (*ids(MISS_FUNC, 7, 3), *ids(BASE, 9, 4, 2))
    expected = ids(BASE, 2, 4) + ids(MISS_FUNC, 3, 7)
    assert wish(expected, categories=(BASE, MISS_FUNC), ids=chosen, limit=2).run.settings.ids == expected


@pytest.mark.parametrize("protocol", ["self-excluded", "cross-split", "in-sample"])
def test_a_split_chooses_its_test_families_whatever_the_protocol(wish, split, protocol):
    """Arms that are to be compared run the same tasks; twins are one family."""
    path = split(["multi_turn_1"], ["multi_turn_7", "multi_turn_40"])
    expected = ids(BASE, 7, 40, 43) + ids(MISS_FUNC, 7, 40, 43)
    arm = {"method": "none", "split": path, "protocol": protocol}
    assert wish(expected, arm=arm, categories=(BASE, MISS_FUNC)).run.settings.ids == expected


@pytest.mark.parametrize(
    ("train", "test", "said"),
    [
        (["multi_turn_1"], ["multi_turn_base_7"], "1 names .*'multi_turn_base_7'; write 'multi_turn_7'"),
        (["multi_turn_miss_func_43"], ["multi_turn_7"], "'multi_turn_miss_func_43'; write 'multi_turn_40'"),
        (["multi_turn_1"], ["multi_turn_43"], "'multi_turn_43'; write 'multi_turn_40'"),
        (["multi_turn_1"], ["garden", "multi_turn_200"], "2 names .*'garden'; a family is such as 'multi_turn_12'"),
    ],
)
def test_a_split_of_names_that_are_no_families_is_refused(package, split, tmp_path, train, test, said):
    """It would hold out nothing, in silence; nothing is begun."""
    plan = read_plan((), {"model": "student"}, {"method": "none", "split": split(train, test)}, ())
    with pytest.raises(ConfigError, match=said) as caught:
        generate(tmp_path / "run", plan, ENDPOINT)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_nothing_to_run_is_refused(package, split, tmp_path):
    """A split whose test families have none of the chosen tasks."""
    arm = {"method": "none", "split": split(["multi_turn_1"], ["multi_turn_7"])}
    plan = read_plan((), {"model": "student", "ids": ids(BASE, 1)}, arm, ())
    with pytest.raises(ConfigError, match="no task is left to run"):
        generate(tmp_path / "run", plan, ENDPOINT)
    assert not (tmp_path / "run").exists()


def test_a_run_says_whose_memory_it_was_shown_and_over_which_tasks(wish, garden, package):
    """The teachers of the memory, the hash of the benchmark's files, the address that was asked for."""
    with garden.arm().open() as opened:
        content, seal = opened.content, opened.seal
    more = {"content": content, "seal": seal, "ids": ids(BASE, 9), "base_url": "http://x/v1"}
    attempt = wish(ids(BASE, 9), arm={"memory": garden.memory}, **more)
    settings = attempt.run.settings
    assert settings.memory_from == ("made-up-teacher (teacher)",)
    assert (settings.memory_content, settings.memory_seal, settings.base_url) == (content, seal, "http://x/v1")
    assert settings.tasks_sha256 == package.sha256(["BFCL_v4_multi_turn_base.json"])
    assert settings.arm.memory == garden.memory.absolute()


def test_a_memory_that_was_changed_half_way_is_another_one(wish, garden):
    """Retired records are in the seal alone: the tasks before and after would be shown two memories."""
    with garden.arm().open() as opened:
        content, seal = opened.content, opened.seal
        one = next(record.id for record in opened.memory.shelves["workflow"].records())
    more = {"content": content, "seal": seal, "ids": ids(BASE, 9)}
    assert wish(ids(BASE, 9), arm={"memory": garden.memory}, **more).stands.answered
    retire(garden.memory, [one])
    with pytest.raises(ConfigError, match="memory_seal: "):
        wish(ids(BASE, 9), arm={"memory": garden.memory}, **more)


def test_a_complete_run_is_not_run_again(wish):
    """Neither by the same command nor by ``retry``: no server is asked, and no journal is left."""
    run = wish(ids(BASE, 1, 2), ids=ids(BASE, 1, 2)).run
    before = run.result_file(BASE).read_bytes()
    attempt = retry(run.path, ENDPOINT)
    assert (attempt.ran, attempt.stands.missing, list(attempt.stands.answered)) == (False, (), [*ids(BASE, 1, 2)])
    assert run.result_file(BASE).read_bytes() == before
    assert not (run.path / "journal.jsonl").exists()


def test_a_retry_with_another_memory_is_refused(wish, garden):
    """A run without memory does not go on with one."""
    run = wish(ids(BASE, 1), ids=ids(BASE, 1)).run
    with pytest.raises(ConfigError, match="memory"):
        retry(run.path, ENDPOINT, memory=garden.memory)
