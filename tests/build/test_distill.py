"""From one run to its records, whatever a tier writes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from amd.build.distill import LONGEST_KEY, distill
from amd.errors import BudgetSpent
from amd.exclusion import instruction_sha256
from amd.methods import method_named
from amd.testing import ScriptedWriter, run
from amd.tier import RULES, Draft, Prompt
from amd.trajectory import Outcome

METHOD = method_named("amd").tiers
MODEL = ScriptedWriter({"insight": {"text": "Look first."}})


@dataclass(frozen=True)
class Wordy:
    """A tier that writes what it is told to."""

    drafts: tuple = ()
    prompts: tuple = ()
    name: str = "wordy"
    accepts: frozenset = field(default=frozenset({True}))
    needs_calls: bool = False

    def distill(self, trajectory, evidence, writer):
        """The drafts that it was made with."""
        return self.drafts


def written(*drafts, runs=None, **fields):
    """The records and notes of a wordy tier, of run 0 unless others are named."""
    found = distill(runs or [run(0)], [Wordy(drafts, **fields)], RULES, created_at="now")
    return list(found.records["wordy"].values()), +found.notes


def test_a_record_says_where_it_comes_from():
    """Task, family, instruction hash before masking, run, steps, writer and time."""
    (record,), _ = written(Draft("key", {"text": "words"}, (2, 3), tool="cd"))
    assert (record.task.task_id, record.task.family) == ("multi_turn_base_0", "multi_turn_0")
    assert record.task.instruction_sha256 == instruction_sha256(run(0).task.instruction)
    assert (record.source.trajectory_sha256, record.source.steps) == (run(0).sha256, (2, 3))
    assert (record.tool, record.distiller, record.created_at) == ("cd", "rules", "now")


def test_a_record_keeps_the_schemas_of_the_tools_whose_calls_it_tells():
    """Of each that was offered, by name; of no other tools, of none where they are unknown. The id is without."""
    draft = Draft("key", {"text": "words"}, calls_of=("mv", "guessed", "cd", "mv"))
    (record,), _ = written(draft)
    hashes = {tool.name: tool.schema_sha256 for tool in run(0).tools}
    assert list(record.schemas.items()) == [("cd", hashes["cd"]), ("mv", hashes["mv"])]
    (unknown,), _ = written(draft, runs=[replace(run(0), tools=None)])
    (silent,), _ = written(replace(draft, calls_of=()))
    assert unknown.schemas == silent.schemas == {}
    assert record.id == unknown.id == silent.id


def test_equal_drafts_are_one_record_and_ids_are_content():
    """The same words again are the same record, at any time; other words are another."""
    (one,), _ = written(Draft("key", {"text": "words"}), Draft("key", {"text": "words"}, (1, 1)))
    (again,) = distill([run(0)], [Wordy((Draft("key", {"text": "words"}),))], RULES, created_at="later").records[
        "wordy"
    ]
    (other,), _ = written(Draft("key", {"text": "other words"}))
    assert one.id == again != other.id


@pytest.mark.parametrize("key", ["", "  \n "])
def test_nothing_to_find_it_by(key):
    """C04: a draft without a key is left out and counted, and the next is kept."""
    records, notes = written(Draft(key, {"text": "lost"}), Draft("key", {"text": "kept"}))
    assert [record.body["text"] for record in records] == ["kept"]
    assert notes == {"empty_text": 1}


def test_a_long_key_is_cut_after_masking():
    """C04: cut off and counted; a secret at the cut does not survive as its half."""
    key = "x" * (LONGEST_KEY - 10) + " jane.roe@mail.example and more"
    (record,), notes = written(Draft(key, {}))
    assert len(record.key) <= LONGEST_KEY
    assert notes == {"truncated_key": 1}
    assert "jane" not in record.key


def test_what_a_tier_writes_is_masked_again():
    """The key, the body's values at any depth, and its keys."""
    (record,), _ = written(Draft("ask jane@acme.com", {"a": [{"to jane@acme.com": "sk-live-abcdef1234567890"}]}))
    assert "jane" not in f"{record.key}{record.body}"
    assert "sk-live" not in f"{record.body}"


def test_lone_surrogates_are_replaced_and_counted():
    """D11a: in key and body, before anything is hashed."""
    (record,), notes = written(Draft("a\ud83d", {"text": "b\ud83d"}))
    assert (record.key, record.body["text"]) == ("a\ufffd", "b\ufffd")
    assert notes == {"replaced_surrogates": 2}


def test_a_tier_gets_the_outcomes_that_it_accepts():
    """A failed run reaches only a tier that accepts failures, and its records say so; unscored reaches none."""
    failed = replace(run(0), outcome=Outcome(False))
    unscored = replace(run(0), outcome=Outcome(None))
    draft = Draft("key", {})
    assert written(draft, runs=[failed, unscored])[0] == []
    (record,), _ = written(draft, runs=[failed, unscored], accepts=frozenset({True, False}))
    assert record.source.success is False


def test_a_tier_that_needs_calls_is_spared_the_others():
    """A run without a call gives it nothing."""
    silent = replace(run(0), turns=(replace(run(0).turns[0], steps=()),))
    assert written(Draft("key", {}), runs=[silent], needs_calls=True)[0] == []
    assert len(written(Draft("key", {}), runs=[silent])[0]) == 1


def test_the_three_tiers_see_masked_runs():
    """No argument of the run is in any record; the names of arguments are."""
    found = distill([run(3)], method_named("amd").tiers, RULES, created_at="")
    bodies = [str(record.body) for records in found.records.values() for record in records.values()]
    assert len(bodies) == 13
    assert not [body for body in bodies if "'folder_3'" in body]
    assert any("<folder>" in body for body in bodies)


def test_the_words_of_rules_are_called_so_whoever_is_the_writer():
    """A record says who wrote it: the model, or the tier's own rules; the run says in which tiers those did."""
    prompt = Prompt("words", "Write.", str)
    tiers = [Wordy((Draft("key", {}, written=written),), (prompt,), name=str(written)) for written in (True, False)]
    found = distill([run(0)], [*tiers, Wordy((Draft("key", {}),), name="asks nobody")], MODEL, created_at="")
    who = {tier: record.distiller for tier, records in found.records.items() for record in records.values()}
    assert who == {"True": "scripted", "False": "rules", "asks nobody": "rules"}
    assert found.fallbacks == {run(0).sha256: ("False",)}


@pytest.mark.parametrize("workers", [2, 7, 30])
def test_workers_change_nothing_but_the_time(workers):
    """The same records in the same order, whoever comes first; each run is told of as it ends."""
    runs = [run(i, turns=1 + i % 3) for i in range(20)]
    told = []
    alone, together = (
        distill(runs, METHOD, MODEL, created_at="", workers=count, progress=lambda *done: told.append(done))
        for count in (1, workers)
    )
    assert [list(records) for records in together.records.values()] == [
        list(records) for records in alone.records.values()
    ]
    assert together == alone
    assert told == [(n + 1, 20) for n in range(20)] * 2


def test_a_fault_of_the_writer_ends_it_and_what_was_not_begun_is_not():
    """The error itself comes out, and waits for nobody."""
    begun = []

    def fail(trajectory):
        begun.append(trajectory.task.task_id)
        raise BudgetSpent("spent")

    writer = ScriptedWriter({"insight": fail})
    with pytest.raises(BudgetSpent):
        distill([run(i) for i in range(200)], METHOD, writer, created_at="", workers=4)
    assert len(begun) < 200
