"""Families from ids alone, and their completeness against the installed benchmark."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from importlib.metadata import entry_points

import pytest
from hypothesis import given
from hypothesis import strategies as st

import amd
from amd.errors import ConfigError
from amd.testing import openai_chat, run
from amd.traces import load_reader
from amd_bfcl.families import INDEXES, TWINS, Category, category, family

EVERY_ID = [f"{each}_{index}" for each in Category for index in range(INDEXES)]


def test_there_are_197_families():
    """800 ids, 200 indexes, three twin pairs."""
    assert len({family(task_id) for task_id in EVERY_ID}) == 197


def test_equal_indexes_are_one_family():
    """D01: excluding a task by its id alone would show its three variants."""
    for index in range(INDEXES):
        assert len({family(f"{each}_{index}") for each in Category}) == 1


@pytest.mark.parametrize(("one", "other"), [(40, 43), (107, 136), (120, 124)])
def test_twins_are_one_family_in_every_category(one, other):
    """The three pairs share a message or their calls; a neighbour of each does not."""
    for each in Category:
        assert family(f"{each}_{one}") == family(f"multi_turn_base_{other}")
        assert family(f"{each}_{one + 1}") != family(f"{each}_{one}")


@pytest.mark.parametrize(
    "task_id",
    [
        "",
        "multi_turn_base",
        "multi_turn_base_",
        "multi_turn_base_012",
        "multi_turn_base_-1",
        "multi_turn_base_200",
        "multi_turn_base_1 ",
        "multi_turn_base_1\n",
        "multi_turn_base_١",
        "multi_turn_composite_1",
        "simple_python_1",
    ],
)
def test_an_id_that_the_benchmark_lacks_has_no_family(task_id):
    """A family is never guessed."""
    assert family(task_id) is None
    assert category(task_id) is None


@given(st.sampled_from(EVERY_ID))
def test_a_family_is_named_after_its_smallest_index(task_id):
    """A family's name is stable: it comes from the table alone, and its smallest index belongs to it."""
    name = family(task_id)
    assert name is not None
    smallest = int(name.removeprefix("multi_turn_"))
    assert smallest not in TWINS
    assert family(f"multi_turn_base_{smallest}") == name


def test_families_need_nothing_but_the_standard_library():
    """``amd ask`` loads this module to know a family: nothing heavy may hang on it."""
    code = "import amd_bfcl.families, sys; print([m for m in ('bfcl_eval', 'pydantic', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _groups(labels: Iterable[tuple[int, str]]) -> set[frozenset[int]]:
    """The sets of two or more indexes that share a label, joined where they overlap."""
    by_label: dict[str, set[int]] = defaultdict(set)
    for index, label in labels:
        by_label[label].add(index)
    groups: list[set[int]] = []
    for members in by_label.values():
        overlapping = [group for group in groups if group & members]
        groups = [group for group in groups if not group & members] + [members.union(*overlapping)]
    return {frozenset(group) for group in groups if len(group) > 1}


def _labels(package):
    """(index, what an equal task would share): the first message, and the calls in order, turns ignored."""
    for each in Category:
        for text in package.lines(f"BFCL_v4_{each}.json"):
            entry = json.loads(text)
            first = next(message["content"] for turn in entry["question"] for message in turn)
            yield int(entry["id"].rpartition("_")[2]), "message: " + " ".join(first.casefold().split())
        for text in package.lines(f"possible_answer/BFCL_v4_{each}.json"):
            answer = json.loads(text)
            calls = [ast.unparse(ast.parse(call, mode="eval")) for turn in answer["ground_truth"] for call in turn]
            yield int(answer["id"].rpartition("_")[2]), "calls: " + "; ".join(calls)


def test_the_table_of_twins_is_complete(package):
    """Recomputed from the installed data: no other two indexes share a first message or the calls."""
    assert _groups(_labels(package)) == {frozenset(pair) for pair in TWINS.items()}


def test_the_recomputation_finds_a_planted_twin(package):
    """Positive control: two more indexes with one message are found."""
    planted = [*_labels(package), (7, "message: planted"), (199, "message: planted")]
    assert frozenset({7, 199}) in _groups(planted)


def test_d01_any_reader_of_our_benchmark_knows_the_families(tmp_path):
    """D01: runs kept as chat messages get the benchmark's families; a family that contradicts them is refused."""
    if "bfcl" not in {entry.name for entry in entry_points(group="amd.families")}:
        pytest.skip("the overlay is on the path and not installed, so nobody can find its families")
    entry = {**openai_chat(run(43)), "task_id": "multi_turn_miss_func_43"}
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(entry), encoding="utf-8")
    reader = load_reader("openai-chat")
    (read,) = reader.read([path], reader.options(benchmark="bfcl"))
    assert read.task.family == family("multi_turn_base_40") == "multi_turn_40"
    wrong = reader.read([path], reader.options(benchmark="bfcl", map="family=family"))
    with pytest.raises(ConfigError, match=r"'multi_turn_40', this input says 'multi_turn_43'"):
        amd.build_memory(wrong, tmp_path / "memory", embedder=amd.load_embedder("hash"))
