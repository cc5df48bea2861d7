"""MemP as a tier: scripts, trajectories within bounds, keywords, and scripts adjusted after failures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.baselines.memp import MempTier, Script, fault_in_script
from amd.baselines.memp_rules import keywords_of, within
from amd.build import Options, build_memory
from amd.evidence import find_evidence
from amd.exclusion import self_excluded
from amd.session import Session
from amd.session.tokens import estimated_tokens
from amd.store import open_memory
from amd.testing import ScriptedWriter, StubEmbedder, run
from amd.tier import RULES, Hit, Question, Style
from amd.trajectory import ToolCall


def drafts(made, writer=RULES, **options):
    """What the tier writes of a run."""
    return MempTier(failures=True, **options).distill(made, find_evidence(made), writer)


def shown(record, **options):
    """The parts of a record."""
    tier = MempTier(**options)
    return [part.text for part in tier.render([Hit(record, 1.0)], Question("task", "x"), Style("python"))]


@pytest.fixture
def kept(record):
    """A record of a made-up run."""
    (draft,) = drafts(run(1, turns=1, observe=lambda *_: "done"))
    return record(MempTier(), draft.body)


def test_one_record_serves_three_representations(kept):
    """Script and calls, or either alone; the task is told once, above what comes first."""
    script, calls = shown(kept)
    assert script.split("\n")[1:3] == ["A script:", "1. Enter the given folder (`cd`) with `folder` and `n`."]
    assert calls.split("\n")[:3] == ["The calls of that run:", "cd(folder='folder_1', n=0)", "  result: done"]
    assert shown(kept, shown="script") == [script]
    (alone,) = shown(kept, shown="trajectory")
    assert alone.split("\n")[0].startswith("The task: Turn 0 of task 1")
    assert alone.split("\n")[1:] == ["Its calls:", *calls.split("\n")[1:]]


def test_a_failed_run_gives_an_adjusted_script_and_no_calls(record):
    """By the model what it should have done, by the rules its errors; a failure without an error gives nothing."""
    made = run(1, turns=1, success=False, observe=lambda turn, step: "Error: no" if step == 1 else "ok")
    (own,) = drafts(made)
    assert own.body["script"] == ["Avoid: `mv` failed with “no”."]
    assert (own.body["calls"], own.body["outcome"]) == ([], "failure")
    writer = ScriptedWriter({"adjusted_script": {"steps": ["Use `cd` first."]}})
    (told,) = drafts(made, writer)
    (text,) = shown(record(MempTier(), told.body))
    assert "A script, adjusted after a failed run:\n1. Use `cd` first." in text
    assert drafts(run(1, success=False)) == ()
    (query,) = MempTier("trajectory").ask(Question("task", "x"))
    assert query.where == {"outcome": "success"}


def test_keywords_are_the_key_and_the_query():
    """The model's, else the words of the instruction that are about something; the instruction stays in the record."""
    (own,) = drafts(run(1), keywords=True)
    assert own.key == "turn, task, move, report_1, txt, folder_1, count, word_7"
    assert own.body["task"] == run(1).task.instruction
    (told,) = drafts(run(1), ScriptedWriter({"keywords": {"keywords": ["files ", "words"]}}), keywords=True)
    assert (told.key, told.written) == ("files, words", False)
    (query,) = MempTier(keywords=True).ask(Question("task", "Please move the file on 2031-03-04"))
    assert query.text == "move, file"
    assert keywords_of("Is it on?") == ["Is it on?"]


def test_keywords_have_a_shelf_of_their_own(tmp_path):
    """Both kinds of key stand in one memory beside each other, and each method asks its own."""
    runs, options = [run(i) for i in range(3)], Options(method="memp+memp-keywords")
    build_memory(runs, tmp_path / "m", embedder=StubEmbedder(), options=options)
    with open_memory(tmp_path / "m", embedder=StubEmbedder()) as memory:
        assert {name: len(shelf) for name, shelf in memory.shelves.items()} == {"memp": 3, "memp-keywords": 3}
        session = Session(memory, viewer=self_excluded(run(1).task), method="memp-keywords")
        session.before_task(run(1).task.instruction)
        assert [exposure.tier for exposure in session.exposures] == ["memp-keywords"]


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ((), "0 steps"),
        (("a",) * 16, "16 steps"),
        ((" ",), "empty"),
        (("`ls` " * 300,), "too long"),
        (("look",), "`ls`"),
    ],
)
def test_a_script_is_checked(steps, fault):
    """Its steps are few, short, not empty, and name a tool of the run (the control: one that does)."""
    assert fault in str(fault_in_script(Script(steps), ["ls"]))
    assert fault_in_script(Script(("Call `ls`.",)), ["ls"]) is None


CALLS = st.lists(
    st.builds(ToolCall, st.sampled_from(["cd", "mv"]), st.dictionaries(st.text(max_size=9), st.text(max_size=60)),
              st.text(max_size=300), st.booleans()), max_size=60)  # fmt: skip


@given(CALLS)
def test_a_run_is_bounded_from_both_ends(calls):
    """What is kept is a beginning and an end, the one as long as the other or by one longer; the rest is counted."""
    kept, left_out = within(calls)
    head = -(-len(kept) // 2)
    assert len(kept) + left_out == len(calls)
    assert list(kept) == calls[:head] + calls[len(calls) - (len(kept) - head) :]
    assert sum(estimated_tokens(call.observation[:120]) for call in kept) <= 1_200


def test_a_long_run_says_what_is_left_out(record):
    """In the middle, with its number (the control: a short one says nothing)."""
    (draft,) = drafts(run(1, turns=9, calls=9))
    _, calls = shown(record(MempTier(), draft.body))
    assert f"({draft.body['left_out']} more calls)" in calls.split("\n")
    assert draft.body["left_out"] > 0
    (short,) = drafts(run(1, turns=1))
    assert "more calls" not in shown(record(MempTier(), short.body))[1]
