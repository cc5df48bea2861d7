"""From runs to a published memory: what is stored, what a second build costs, and what a fault leaves behind."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from amd.errors import ClientError, ConfigError, EmbedderDoesNotMatch, StoreError, TrajectoryError
from amd.exclusion import Split, deployed
from amd.store import open_memory
from amd.testing import ScriptedWriter, StubEmbedder, run
from amd.tier import RULES, Query
from amd.traces import Refusal
from amd.trajectory import Step, ToolCall, Turn

ERROR = '{"error":"No such directory"}'


def counts(report):
    """Records by tier."""
    return dict(report.records)


def records(path, tier, embedder):
    """All records of a tier."""
    with open_memory(path, embedder=embedder) as memory:
        return list(memory.shelves[tier].records())


def test_a_complete_build_of_one_run(build):
    """One run of three turns with three calls gives 1, 3 and 9 records."""
    report = build([run(1)])
    assert counts(report) == {"workflow": 1, "subtask": 3, "function": 9}
    assert (report.read, report.admitted, report.generation, report.changed) == (1, 1, 1, True)


def test_rules_give_the_same_counts_without_a_model(build):
    """The writer without a model: one workflow, a segment a turn, a function record a call."""
    assert counts(build([run(1)], writer=RULES)) == {"workflow": 1, "subtask": 3, "function": 9}


def test_d02_an_unscored_run_is_not_stored(build, tmp_path):
    """D02: results that are all errors and no score: nothing is stored and the reason is counted; run 1 is stored."""
    failing = run(0, success=None, observe=lambda turn, step: ERROR)
    report = build([failing])
    assert (report.admitted, dict(report.refused), report.generation) == (0, {"unscored": 1}, 0)
    assert not (tmp_path / "memory").exists()
    control = build([failing, run(1)])
    assert dict(control.refused) == {"unscored": 1}
    assert counts(control) == {"workflow": 1, "subtask": 3, "function": 9}


def test_d03_a_failing_embedding_publishes_nothing_half(build, stub, tmp_path):
    """D03: an embedding fails half-way, after one batch went through: nothing of it is published, and then all is."""
    for i in range(3):
        build([run(i)])
    before = build([run(0)]).digest
    many = [run(i) for i in range(3, 100)]
    with pytest.raises(ClientError, match="fails at call 2"):
        build(many, embedder=StubEmbedder(fail_at=2))
    assert build([run(0)]).digest == before
    report = build(many)
    assert counts(report) == {"workflow": 100, "subtask": 300, "function": 900}
    with open_memory(tmp_path / "memory", embedder=stub) as memory:
        assert all(len(shelf.rows) == len(shelf) for shelf in memory.shelves.values())
        found = memory.shelves["workflow"].search(Query(run(5).task.instruction), viewer=deployed())
        assert found.hits[0].record.task.task_id == "multi_turn_base_5"


def test_d05_building_again_changes_nothing(build, stub, tmp_path):
    """D05: three builds of the same results give one memory; a fourth by another distiller supersedes the words."""
    runs = [run(i) for i in range(3)]
    first, *others = [build(runs) for _ in range(3)]
    assert counts(first) == {"workflow": 3, "subtask": 9, "function": 27}
    assert {(other.seal, other.digest, other.generation, other.changed) for other in others} == {
        (first.seal, first.digest, 1, False)
    }
    better = ScriptedWriter({"insight": {"text": "A better `mv`."}}, id="another")
    fourth = build(runs, writer=better)
    assert counts(fourth) == {"workflow": 3, "subtask": 9, "function": 27}
    assert (fourth.changed, fourth.digest != first.digest) == (True, True)
    assert (first.notes.get("rewritten"), fourth.notes["rewritten"]) == (None, 3)
    assert {record.body["text"] for record in records(tmp_path / "memory", "workflow", stub)} == {"A better `mv`."}


@pytest.mark.parametrize("size", [10, 50])
def test_d06a_adding_one_embeds_only_its_own_texts(build, stub, writer, size):
    """D06a: whatever the memory holds, one more run embeds at most 7 distinct texts and asks the writer twice."""
    build([run(i) for i in range(size)])
    stub.texts.clear()
    writer.calls.clear()
    report = build([run(size)])
    assert report.embedded == len(stub.texts) == len(set(stub.texts)) <= 7
    assert writer.calls.total() == 2


def test_d06b_adding_nothing_costs_nothing(build, stub, writer):
    """D06b: ten runs built again: no text is embedded and nobody is asked."""
    runs = [run(i) for i in range(10)]
    build(runs)
    stub.texts.clear()
    writer.calls.clear()
    assert build(runs).embedded == len(stub.texts) == writer.calls.total() == 0


def test_d11a_a_lone_surrogate_harms_nobody(build, stub, tmp_path):
    """D11a: it is replaced, and what was there is intact."""
    build([run(i) for i in range(3)])
    before = {record.id for record in records(tmp_path / "memory", "workflow", stub)}
    build([run(9)], writer=ScriptedWriter({"insight": {"text": "bad \ud83d `mv`"}}, id="scripted"))
    after = {record.id: record.body["text"] for record in records(tmp_path / "memory", "workflow", stub)}
    assert before < after.keys()
    assert [after[new] for new in after.keys() - before] == ["bad \ufffd `mv`"]


@pytest.mark.parametrize("mark", ["\u2028", "\u0085", "\u2029", "\u202e", "zażółć 한국어 😀"])
def test_d11b_no_mark_splits_a_record(build, stub, tmp_path, mark):
    """D11b: a separator inside a text separates nothing: 2 runs, then 3, and each text comes back exactly."""

    def said(i):
        made = run(i, turns=1)
        task = replace(made.task, instruction=f"do {i} A{mark}then B")
        return replace(made, task=task, turns=(replace(made.turns[0], user=task.instruction),))

    one_segment = ScriptedWriter({})
    build([said(0), said(1)], writer=one_segment)
    report = build([said(2)], writer=one_segment)
    assert counts(report) == {"workflow": 3, "subtask": 3, "function": 9}
    keys = {record.key for record in records(tmp_path / "memory", "workflow", stub)}
    assert keys == {f"do {i} A{mark}then B" for i in range(3)}


def test_a_better_trial_replaces_the_published_one(build, stub, tmp_path):
    """Fewer failed calls: its records come, the older run's go as a set, in all tiers."""
    worse = run(0, observe=lambda turn, step: ERROR if step == 1 else f"ok {turn}{step}")
    build([worse])
    report = build([run(0)])
    assert report.notes["superseded_published"] == 1
    origins = {
        record.source.trajectory_sha256
        for tier in ("workflow", "subtask", "function")
        for record in records(tmp_path / "memory", tier, stub)
    }
    assert origins == {run(0).sha256}
    assert build([worse]).notes["outdone_by_published"] == 1


def test_the_order_and_number_of_builds_do_not_matter(build, tmp_path):
    """All at once, or one by one in any order: the same content."""
    runs = [run(0), run(1), run(2, observe=lambda turn, step: ERROR if step else "ok"), run(2)]
    expected = build(runs, tmp_path / "at-once").digest
    for n, order in enumerate(permutations(runs)):
        if n % 6 == 0:
            for each in order:
                report = build([each], tmp_path / f"order-{n}")
            assert report.digest == expected


def test_all_trials_keep_every_success(build):
    """The unit is the run, and the manifest remembers it for the next build."""
    trials = [run(0), run(0, observe=lambda turn, step: f"other {turn}{step}")]
    assert build(trials, all_trials=True).records["function"] == 18
    assert build([run(0, observe=lambda turn, step: f"third {turn}{step}")]).records["function"] == 27


def test_terms_go_with_the_runs(build, tmp_path):
    """A run's terms stand in the manifest, each sentence once; a later run without any takes none away."""

    def terms():
        with open_memory(tmp_path / "memory", embedder=StubEmbedder()) as memory:
            return memory.manifest.sources.terms

    build([run(1)])
    assert terms() is None
    bound = [replace(run(i), source=replace(run(i).source, terms="Do not publish.")) for i in (2, 3)]
    build(bound)
    assert terms() == "Do not publish."
    build([run(4)])
    assert terms() == "Do not publish."
    build([replace(run(5), source=replace(run(5).source, terms="Name the authors."))])
    assert terms() == "Do not publish. Name the authors."
    build([run(6)], terms="As agreed.")
    assert terms() == "As agreed."


def test_replace_names_what_it_retires(build):
    """The input alone is published."""
    build([run(0), run(1)])
    report = build([run(1), run(2)], replace=True)
    assert report.retired == ("multi_turn_base_0",)
    assert report.records["workflow"] == 2


def test_replacing_may_change_everything(build, tmp_path):
    """Another method, benchmark and embedder: nothing of the old memory is in the new one."""
    build([run(0)])
    other = StubEmbedder("other", width=32)
    report = build([run(1, benchmark="other")], method="workflow", embedder=other, replace=True)
    assert counts(report) == {"workflow": 1}
    with open_memory(tmp_path / "memory", embedder=other) as memory:
        assert (memory.manifest.benchmark, memory.manifest.embedder.dim) == ("other", 32)


def test_two_embedders_never_share_a_shelf(build, tmp_path):
    """A build that began before another one published with another embedder fails under the lock, typed."""
    other = StubEmbedder("other")

    class Slow(StubEmbedder):
        """While it embeds, somebody else publishes."""

        def embed(self, texts):
            """Publish first."""
            build([run(1)], embedder=other, replace=True)
            return super().embed(texts)

    with pytest.raises(EmbedderDoesNotMatch, match=r"'other'.*'stub'"):
        build([run(0)], embedder=Slow())
    assert {record.task.task_id for record in records(tmp_path / "memory", "workflow", other)} == {"multi_turn_base_1"}


def test_no_method_builds_nothing(build, tmp_path):
    """An empty memory would answer every question with nothing, and look like a result."""
    with pytest.raises(ConfigError, match="no tier to build"):
        build([run(0)], method="none")
    assert not (tmp_path / "memory").exists()


def test_what_no_file_can_hold_costs_that_run(build):
    """A trajectory made by hand with a lone surrogate is refused with a reason; the other is built."""
    broken = replace(run(0), task=replace(run(0).task, instruction="move \ud83d"))
    report = build([broken, run(1)])
    assert (report.admitted, dict(report.refused)) == (1, {"unreadable": 1})


def test_c13_a_class_of_errors_quotes_no_secret(build, tmp_path):
    """C13: a class is cut short, and half a password would not be recognised: it is told from the masked run."""
    word = "correct-horse-battery-staple"
    text = f"Error: the server at the front desk said that it has again refused {word} for this user of the house"
    calls = (
        ToolCall("login", {"password": word}, text, ok=False),
        ToolCall("login", {"password": "another-word-1"}, "ok", ok=True),
    )
    made = replace(run(0, turns=1), turns=(Turn("let me in please", tuple(Step(calls=(call,)) for call in calls)),))
    build([made], writer=RULES)
    written = b"".join(path.read_bytes() for path in (tmp_path / "memory").rglob("*.json"))
    assert b"correct-horse" not in written
    assert "again refused …".encode() in written


def test_model_calls_are_counted(build, tmp_path):
    """Two for each run that is written, none for one that is there, none for rules; the manifest keeps them."""
    assert build([run(0), run(1)]).model_calls == 4
    assert build([run(0), run(1)]).model_calls == 0
    assert build([run(2)], tmp_path / "rules", writer=RULES).model_calls == 0
    report = build([run(2)])
    with open_memory(tmp_path / "memory", embedder=StubEmbedder()) as memory:
        assert memory.manifest.costs == {"model_calls": report.model_calls} == {"model_calls": 2}


@pytest.mark.parametrize("floor", [float("nan"), 2.0, -1.5])
def test_a_floor_is_a_cosine(build, floor, tmp_path):
    """Anything else would hide all or show all."""
    with pytest.raises(ConfigError, match="no cosine"):
        build([run(0)], floors={"workflow": floor})
    assert not (tmp_path / "memory").exists()


def test_held_out_families_are_not_learnt_from(build):
    """A split admits its train families and counts the rest."""
    split = Split("made-up", frozenset({"multi_turn_0"}), frozenset({"multi_turn_1"}))
    report = build([run(0), run(1)], split=split)
    assert (report.admitted, dict(report.refused)) == (1, {"held_out": 1})


def test_d07_benchmarks_do_not_mix(build):
    """D07: runs of another benchmark are refused by a memory, and so are two benchmarks in one input."""
    build([run(0)])
    with pytest.raises(ConfigError, match=r"'made-up'.*'other'"):
        build([run(1, benchmark="other")])
    with pytest.raises(ConfigError, match="made-up, other"):
        build([run(1), run(2, benchmark="other")])


def test_another_method_or_embedder_is_refused(build):
    """Both values are named, and nothing is changed."""
    before = build([run(0)])
    with pytest.raises(ConfigError, match=r"'amd'.*'workflow'"):
        build([run(1)], method="workflow")
    with pytest.raises(EmbedderDoesNotMatch):
        build([run(1)], embedder=StubEmbedder("stub-2"))
    assert build([run(0)]).seal == before.seal


def test_strict_fails_on_what_cannot_be_read(build, tmp_path):
    """Place and reason in the message, nothing written; without strict it is counted."""
    torn = Refusal("unreadable", "runs.jsonl:3", "not JSON")
    with pytest.raises(TrajectoryError, match=r"runs\.jsonl:3"):
        build([run(0), torn], strict=True)
    assert not (tmp_path / "memory").exists()
    assert dict(build([run(0), torn]).refused) == {"unreadable": 1}


def test_a_foreign_folder_is_left_alone(build, tmp_path):
    """Anything but a memory in the way: refused before anything is read."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"notes\.txt"):
        build([run(0)])
    assert (tmp_path / "memory" / "notes.txt").read_text() == "mine"


def test_a_pin_must_hold_before_anything_is_added(build):
    """A genuine write must not seal a store that somebody changed."""
    seal = build([run(0)]).seal
    with pytest.raises(StoreError, match="0000"):
        build([run(1)], pin="0" * 64)
    assert build([run(1)], pin=seal).generation == 2


def test_a_pin_where_nothing_is_published(build, stub, tmp_path):
    """Said before anything is embedded, and no folder is left."""
    with pytest.raises(StoreError, match="0000"):
        build([run(1)], tmp_path / "new", pin="0" * 64)
    assert (stub.texts, (tmp_path / "new").exists()) == ([], False)


def test_pinned_floors_stay(build):
    """A floor that was pinned once is kept by later builds, and the floors that move are told."""
    build([run(i) for i in range(16)], floors={"workflow": 0.77})
    report = build([run(i) for i in range(16, 20)])
    assert "workflow" not in report.moved_floors
    assert "subtask" in report.moved_floors or report.moved_floors == {}


def test_a_run_without_a_call_gives_a_workflow_only(build):
    """It is admitted for the tier that can use it and counted."""
    silent = run(0)
    silent = replace(silent, turns=tuple(replace(turn, steps=(Step("Which folder?"),)) for turn in silent.turns))
    report = build([silent])
    assert counts(report) == {"workflow": 1, "subtask": 0, "function": 0}
    assert report.notes["no_call"] == 1


def test_d13_no_secret_is_in_any_file(build, tmp_path):
    """D13: user text, nested arguments, results and the writer's own words; the harmless rest survives."""
    secrets = (
        "hunter2",
        "jane@acme.com",
        "415-555-0199",
        "4821",
        "4111111111111111",
        "tok_secret",
        "eyJhbGciOiJIUzI1NiJ9.e30.abc",
        "AKIAIOSFODNN7EXAMPLE",
        "078-05-1120",
        "sk-live-abcdef1234567890",
        "ghp_ABCDEF0123456789abcdef",
    )
    made = run(0, turns=1)
    call = ToolCall(
        "login",
        {
            "username": "jane",
            "password": "hunter2",
            "pin": 4821,
            "cards": ["4111111111111111"],
            "auth": {"token": "tok_secret"},
            "note_to": "call me",
            "code": 12345,
        },
        '{"access_token":"eyJhbGciOiJIUzI1NiJ9.e30.abc","api_key":"AKIAIOSFODNN7EXAMPLE","ssn":"078-05-1120",'
        '"ip":"10.1.2.3","when":"2024-01-15 10:30","total":"$1,234.50"}',
        ok=True,
    )
    said = "My password is hunter2 and mail jane@acme.com, phone 415-555-0199"
    turn = replace(made.turns[0], user=said, steps=(Step("", (call,)),))
    words = ScriptedWriter(
        {
            "insight": {
                "text": "Call login with password hunter2 and key sk-live-abcdef1234567890, "
                "mail jane@acme.com, then verify."
            },
            "segments": {
                "segments": [
                    {
                        "start_step": 1,
                        "end_step": 1,
                        "label": "login as jane@acme.com",
                        "description": "uses token ghp_ABCDEF0123456789abcdef",
                    }
                ]
            },
        }
    )
    build([replace(made, task=replace(made.task, instruction=said), turns=(turn,))], writer=words)
    written = b"\n".join(path.read_bytes() for path in (tmp_path / "memory").rglob("*") if path.is_file())
    assert [secret for secret in secrets if secret.encode() in written] == []
    assert b"2024-01-15 10:30" in written
    assert b"$1,234.50" in written
    assert b"then verify" in written
    assert b"call me" not in written


@pytest.mark.parametrize("workers", [0, -1])
def test_no_workers_are_a_config_error(build, workers):
    """Before anything is read."""
    with pytest.raises(ConfigError, match="write nothing"):
        build([run(1)], workers=workers)
