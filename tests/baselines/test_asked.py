"""The control for length: records drawn at random, behind the same door."""

from __future__ import annotations

from collections import Counter

import pytest

from amd.build import Options, build_memory
from amd.errors import ConfigError
from amd.exclusion import Split, cross_split, in_sample, self_excluded
from amd.methods import method_named
from amd.session import Limits, Session
from amd.store import open_memory
from amd.testing import StubEmbedder, run
from amd.tier import FailedCall

RUNS = [run(i) for i in range(12)]


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """A memory of ``amd`` of twelve runs."""
    folder = tmp_path_factory.mktemp("drawn") / "memory"
    build_memory(RUNS, folder, embedder=StubEmbedder(), options=Options(floors={"workflow": -1.0, "subtask": -1.0}))
    with open_memory(folder, embedder=StubEmbedder()) as opened:
        yield opened


def asked(memory, task, method="random", **options):
    """A session that was asked everything once."""
    session = Session(memory, viewer=self_excluded(task), method=method, tools=RUNS[0].tools, **options)
    session.before_task(task.instruction)
    session.before_turn("count the words", 2)
    session.after_error(FailedCall("mv", {}, "Error: no such folder", place="call-1"))
    return session


def shown_ids(session):
    """What was shown, place by place."""
    return [exposure.record_ids for exposure in session.exposures]


def test_the_same_run_is_drawn_the_same(memory):
    """By the task, the place and the seed, whatever the caller calls a failed call; another of them draws others."""
    one, again = asked(memory, RUNS[1].task), asked(memory, RUNS[1].task)
    assert one.exposures == again.exposures
    assert all(ids for ids in shown_ids(one))
    assert shown_ids(asked(memory, RUNS[1].task, method_named("random").in_run(1).tiers)) != shown_ids(one)
    assert len({tuple(shown_ids(asked(memory, each.task))) for each in RUNS}) > 6
    named = Session(memory, viewer=self_excluded(RUNS[1].task), method="random", tools=RUNS[0].tools)
    named.before_task(RUNS[1].task.instruction)
    named.after_error(FailedCall("mv", {}, "Error: no such folder", place="another-name"))
    assert shown_ids(named)[-1] == shown_ids(one)[-1]


def test_no_question_chooses(memory):
    """Another text at the same place draws the same; the tiers of ``amd`` find others for it (the control)."""

    def ids(method, text):
        session = Session(memory, viewer=self_excluded(RUNS[1].task), method=method)
        session.before_task(text)
        return shown_ids(session)

    first, second = RUNS[3].task.instruction + ".", RUNS[5].task.instruction + "."
    assert ids("random", "move a report") == ids("random", "count words")
    assert ids("amd", first) != ids("amd", second)


@pytest.mark.parametrize("mode", ["static", "dynamic", "replace"])
def test_what_is_hidden_is_not_drawn(memory, mode):
    """No seed shows a task its own family; in sample some do (the control). Every draw is logged as any answer is."""
    task = RUNS[1].task
    for seed in range(40):
        session = asked(memory, task, method_named("random").in_run(seed).tiers, mode=mode)
        assert [exposure.own_family for exposure in session.exposures] == [0] * len(session.exposures)
        assert all(exposure.excluded["own_family"] for exposure in session.exposures)
        assert not any(exposure.below_floor for exposure in session.exposures)
    own = 0
    for seed in range(40):
        session = Session(memory, viewer=in_sample(task), method=method_named("random").in_run(seed).tiers, mode=mode)
        session.before_task(task.instruction)
        own += sum(exposure.own_family for exposure in session.exposures)
    assert own


def test_it_is_silent_where_the_tiers_would_be(memory, tmp_path):
    """A floor, or a tool that nobody called: place by place as many records are drawn as ``amd`` shows."""
    options = Options(floors={"workflow": 0.999, "subtask": -1.0})
    build_memory(RUNS, tmp_path / "m", embedder=StubEmbedder(), options=options)
    with open_memory(tmp_path / "m", embedder=StubEmbedder()) as strict:
        for held in (memory, strict):
            for each in RUNS:
                drawn, chosen = asked(held, each.task), asked(held, each.task, "amd")
                assert [len(ids) for ids in shown_ids(drawn)] == [len(ids) for ids in shown_ids(chosen)]
        assert [len(ids) for ids in shown_ids(asked(strict, RUNS[1].task))] == [0, 1, 1]
        silent = Session(strict, viewer=self_excluded(RUNS[1].task), method="random", tools=RUNS[0].tools)
        assert not silent.after_error(FailedCall("pwd", {}, "Error: no", place="call-1"))


def test_hiding_leaves_the_order_of_the_others(memory):
    """Exclusion comes before the draw: unless it was the first, what a family hides changes nothing."""
    seen = Session(memory, viewer=in_sample(RUNS[1].task), method="random")
    hidden = Session(memory, viewer=self_excluded(RUNS[1].task), method="random")
    for session in (seen, hidden):
        session.before_task(RUNS[1].task.instruction)
    for whole, part in zip(seen.exposures, hidden.exposures, strict=True):
        assert whole.own_family or whole.record_ids == part.record_ids


def test_every_record_has_its_turn(memory):
    """Over many seeds all families but the own are drawn, none far more than the others."""
    drawn = Counter(
        family
        for seed in range(220)
        for exposure in asked(memory, RUNS[1].task, method_named("random").in_run(seed).tiers).exposures
        if exposure.tier == "workflow"
        for family in exposure.families
    )
    assert set(drawn) == {each.task.family for each in RUNS} - {RUNS[1].task.family}
    assert max(drawn.values()) < 50


def test_the_frame_is_the_same(memory):
    """The same budgets cut it, and the same layouts show it."""
    drawn, chosen = asked(memory, RUNS[1].task), asked(memory, RUNS[1].task, "amd")
    assert [exposure.tier for exposure in drawn.exposures] == [exposure.tier for exposure in chosen.exposures]
    headings = [line for line in drawn.before_task("").text.split("\n") if line.endswith(":")]
    assert [line for line in chosen.before_task("").text.split("\n") if line.endswith(":")] == headings
    tight = asked(memory, RUNS[1].task, limits=Limits(0, 0, 0))
    assert [exposure.tokens for exposure in tight.exposures] == [0] * len(tight.exposures)
    assert asked(memory, RUNS[1].task, layout="turns").before_task("").examples


def test_a_drawn_tier_keeps_a_split(memory):
    """A split's viewer refuses a memory of test families before anything is drawn."""
    families = sorted(each.task.family for each in RUNS)
    split = Split("made-up", frozenset(families[1:]), frozenset(families[:1]))
    task = next(each.task for each in RUNS if each.task.family == families[0])
    with pytest.raises(Exception, match="not train families"):
        Session(memory, viewer=cross_split(task, split), method="random")


def test_no_memory_is_built_by_a_draw(tmp_path):
    """It reads one of the method that it draws for."""
    with pytest.raises(ConfigError, match="'random-sasm' draws from a memory; build with sasm"):
        build_memory(RUNS[:1], tmp_path / "m", embedder=StubEmbedder(), options=Options(method="random-sasm"))
