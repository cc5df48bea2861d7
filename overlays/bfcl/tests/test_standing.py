"""How a run stands, from its settings and its files alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd_bfcl.families import Category
from amd_bfcl.lines import is_error_line, replace_lines
from amd_bfcl.run import Run
from amd_bfcl.standing import Standing, standing, wanted_ids
from amd_bfcl.tasks import tasks

SPOILT = "Error during inference: timed out"


def fine(task_id):
    """A line of a task that came to its end."""
    return {"id": task_id, "result": [["Done."]]}


def spoilt(task_id, said=SPOILT):
    """A line of a task whose service failed."""
    return {"id": task_id, "result": said, "traceback": "..."}


@pytest.fixture
def made(run_settings, tmp_path):
    """Makes a run with these lines, each in its category's file."""

    def make(*lines, **values):
        run = Run(tmp_path / "run")
        run.begin(run_settings(**values))
        for name in Category:
            own = [line for line in lines if line["id"].startswith(f"{name}_")]
            if own:
                replace_lines(run.result_file(name), own)
        return run

    return make


def test_chosen_ids_are_what_is_wanted(run_settings):
    """In their order, whatever the categories have besides."""
    ids = ("multi_turn_base_7", "multi_turn_base_3")
    assert wanted_ids(run_settings(ids=ids)) == ids


def test_without_chosen_ids_all_tasks_of_the_categories_are_wanted(package, run_settings):
    """In the benchmark's order: the ids are made, and are those that the benchmark has."""
    settings = run_settings(categories=["multi_turn_miss_func", "multi_turn_base"])
    known = [task.task_id for name in settings.categories for task in tasks(name, package)]
    assert list(wanted_ids(settings)) == known
    assert len(known) == 400


def test_a_run_that_has_not_begun_to_answer(made):
    """No file is a run without lines."""
    found = standing(made(ids=("multi_turn_base_1",)))
    assert (found.wanted, found.missing) == (("multi_turn_base_1",), ("multi_turn_base_1",))
    assert (found.lines, found.errors, found.answered) == ({}, {}, {})


def test_answers_errors_and_what_is_missing(made):
    """Of two categories: each wanted task is in one of the three; the last of several lines of a task counts."""
    ids = ("multi_turn_base_1", "multi_turn_base_2", "multi_turn_base_3", "multi_turn_miss_func_1")
    found = standing(
        made(
            *(spoilt(ids[0]), fine(ids[0]), fine(ids[1]), spoilt(ids[1]), spoilt(ids[3])),
            ids=ids,
            categories=["multi_turn_base", "multi_turn_miss_func"],
        )
    )
    assert found.missing == (ids[2],)
    assert found.answered == {ids[0]: fine(ids[0])}
    assert found.errors == {ids[1]: SPOILT, ids[3]: SPOILT}
    assert list(found.lines) == [ids[0], ids[1], ids[3]]


def test_the_first_error_is_short_enough_for_a_line():
    """The harness's own words before it say nothing, and a server's answer may be a page."""
    found = Standing(("a", "b", "c"), {"a": fine("a"), "b": spoilt("b"), "c": spoilt("c", "x")})
    assert found.first_error == "the first is b: timed out"
    long = Standing(("a",), {"a": spoilt("a", "Error during inference: " + "page " * 900)})
    assert len(long.first_error) < 230
    assert "page page" in long.first_error


IDS = st.sampled_from([f"multi_turn_base_{index}" for index in range(5)])


@given(wanted=st.lists(IDS, unique=True), lines=st.lists(st.builds(fine, IDS) | st.builds(spoilt, IDS)))
def test_every_line_is_an_answer_or_an_error(wanted, lines):
    """And every wanted task has a line or is missing, never both."""
    found = Standing(tuple(wanted), {line["id"]: line for line in lines})
    assert {*found.answered} | {*found.errors} == {*found.lines}
    assert not {*found.answered} & {*found.errors}
    assert not any(map(is_error_line, found.answered.values()))
    assert {*found.missing} == {*wanted} - {*found.lines}
    assert [task_id for task_id in wanted if task_id in found.missing] == [*found.missing]
