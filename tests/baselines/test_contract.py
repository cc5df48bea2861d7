"""What every tier keeps to, ours and the baselines alike: by rules and by a model, asked, shown, hidden, masked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amd.build import Options, build_memory
from amd.build.distill import distill
from amd.evidence import find_evidence
from amd.exclusion import in_sample, self_excluded
from amd.experiment.calls import calls_in
from amd.methods import fault_in, method_named
from amd.records import Record
from amd.session import Limits, Session
from amd.store import Memory, open_memory
from amd.testing import ScriptedWriter, StubEmbedder, run
from amd.tier import RULES, FailedCall, Hit, Question, Style, Tier, Writer
from amd.trajectory import Outcome, Source, Step, Task, ToolCall, Trajectory, Turn, is_error

WHOLE = "workflow+subtask+function+reasoning_bank+memp+memp-keywords+sasm"
TIERS = {tier.name: tier for tier in method_named(WHOLE, include_failures=True).tiers}
NAMES = sorted(TIERS)
SAID = "Look with `cd` before you move with `mv`."
REPLIES = {
    "insight": {"text": SAID},
    "segments": {"segments": [{"start_step": 1, "end_step": 9, "label": "move and count", "description": SAID}]},
    "reasoning": {"reasons": [{"step": step, "why": SAID} for step in range(1, 10)]},
    "items": {"items": [{"title": "Look first", "description": "Look before a move.", "content": SAID}]},
    "items_of_failure": {"items": [{"title": "Look at all", "description": "It never looked.", "content": SAID}]},
    "script": {"steps": [SAID, "Count with `wc`."]},
    "adjusted_script": {"steps": [SAID, "Then stop."]},
    "keywords": {"keywords": ["move files", "count words"]},
    "experiences": {
        "subtasks": [
            {"start_step": 1, "end_step": 9, "category": "execute", "description": "Move it.", "experience": [SAID]}
        ]
    },
}
FAILED = FailedCall("mv", {}, "Error: no", turn_text="move report_1.txt into a folder", place=1)


def method_of(name: str, *, with_reasons: bool = True) -> Sequence[Tier]:
    """The tier of that name, made so that a model may write all of it."""
    return method_named(name, reasoning=with_reasons and name == "function").tiers


def records(name: str, runs: Sequence[Trajectory], writer: Writer = RULES) -> list[Record]:
    """What the tier writes of the runs, through the build's own masking."""
    return list(distill(runs, method_of(name), writer, created_at="").records[name].values())


def built(
    name: str, folder: Path, runs: Sequence[Trajectory], writer: Writer = RULES, *, fails: bool = False
) -> Memory:
    """A memory of the tier alone, built, published and opened."""
    floors = {name: -1.0} if TIERS[name].floored else {}  # of three alike tasks a floor leaves nothing
    options = Options(method=name, reasoning=name == "function", include_failures=fails, floors=floors)
    build_memory(runs, folder, embedder=StubEmbedder(), writer=writer, options=options)
    return open_memory(folder, embedder=StubEmbedder())


def shown(session: Session, name: str, task: Task) -> str:
    """What the session shows at the moment at which the tier speaks."""
    return (session.after_error(FAILED) if name == "function" else session.before_task(task.instruction)).text


@pytest.mark.parametrize("name", NAMES)
def test_the_rules_write_it(name: str) -> None:
    """Without a model there are records, each found by a key and readable by its own tier."""
    found = records(name, [run(1)])
    assert found
    assert all(record.key and record.distiller == "rules" and record.tier == name for record in found)
    assert [fault_in(name, record.body) for record in found] == [None] * len(found)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_writes_it(name: str) -> None:
    """Its words stand in every record that says so; each prompt of the tier for a success is asked once a run."""
    writer = ScriptedWriter(REPLIES)
    found = records(name, [run(1)], writer)
    assert not writer.rejected
    assert writer.calls
    assert all(count == 1 for count in writer.calls.values())
    written = [record for record in found if record.distiller == writer.id]
    assert written
    assert all(SAID in json.dumps([record.key, record.body], ensure_ascii=False) for record in written)


BAD: dict[str, dict[str, object]] = {
    "workflow": {"insight": {"text": "Just look."}},
    "subtask": {"segments": {"segments": [{"start_step": 2, "end_step": 9, "label": "x", "description": ""}]}},
    "function": {"reasoning": {"reasons": [{"step": 2, "why": "So."}]}},
    "reasoning_bank": {"items": {"items": []}},
    "memp": {"script": {"steps": ["Just look."]}},
    "memp-keywords": {"script": {"steps": []}, "keywords": {"keywords": [" "]}},
    "sasm": {
        "experiences": {
            "subtasks": [
                {"start_step": 1, "end_step": 10, "category": "execute", "description": "x", "experience": ["y"]}
            ]
        }
    },
}


@pytest.mark.parametrize("name", NAMES)
def test_a_faulty_reply_is_refused(name: str) -> None:
    """The tier's own fault function says no, and the rules write instead: exactly what they write without a model."""
    writer = ScriptedWriter(BAD[name])  # type: ignore[arg-type]
    found = records(name, [run(1)], writer)
    assert writer.rejected.keys() == BAD[name].keys()
    assert [record.body for record in found] == [record.body for record in records(name, [run(1)])]


@pytest.mark.parametrize("name", NAMES)
def test_asked_at_its_moments_and_at_no_other(name: str) -> None:
    """A tier is asked before the task, before turns or after an error; an empty answer renders nothing."""
    tier = TIERS[name]
    moments = {
        "task": Question("task", "move the report"),
        "turn": Question("turn", "move the report"),
        "error": Question("error", "move the report", failed=FAILED),
    }
    expected = {"function": {"error"}, "subtask": {"task", "turn"}, "sasm": {"task", "turn"}}
    assert {at for at, question in moments.items() if tier.ask(question)} == expected.get(name, {"task"})
    assert all(list(tier.ask(question)) == list(tier.ask(question)) for question in moments.values())
    assert not tier.render([], moments["error"], Style())


@pytest.mark.parametrize("name", NAMES)
def test_every_record_can_be_shown_and_compared(name: str) -> None:
    """In both call formats, every part names its record, and the gist has content."""
    for record in records(name, [run(1), run(2)]):
        for style in (Style("json"), Style("python")):
            parts = TIERS[name].render([Hit(record, 1.0)], Question("error", "x", failed=FAILED), style)
            assert parts
            assert {part.record_id for part in parts} == {record.id}
        assert TIERS[name].gist(record).strip()


TELLING = {"subtask", "function", "memp", "memp-keywords", "sasm"}
"""The tiers whose records tell how tools are called."""


@pytest.mark.parametrize("writer", [RULES, ScriptedWriter(REPLIES)], ids=["rules", "model"])
@pytest.mark.parametrize("name", NAMES)
def test_the_schemas_of_the_calls_that_it_shows_are_kept(name: str, writer: Writer) -> None:
    """By them a record becomes stale: of each tool whose call is read, and, where calls are told, of all its tools."""
    hashes = {tool.name: tool.schema_sha256 for tool in run(1).tools or ()}
    for record in records(name, [run(1), run(2)], writer):
        parts = TIERS[name].render([Hit(record, 1.0)], Question("error", "x", failed=FAILED), Style())
        called = {call.tool for part in parts for call in calls_in(part.text)}
        assert called <= record.schemas.keys()
        assert record.schemas.keys() == ({*map(str, record.body["tools"])} if name in TELLING else set())  # type: ignore[arg-type]
        assert all(hashes[tool] == schema for tool, schema in record.schemas.items())


WRITTEN = [
    record
    for name in NAMES
    for writer in (RULES, ScriptedWriter(REPLIES))
    for record in records(name, [run(1, calls=3)], writer)
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(WRITTEN), st.data())
def test_a_body_is_faulty_or_can_be_shown(record: Record, data: st.DataObject) -> None:
    """Any member replaced or removed: either the tier names a fault, or it renders and compares without an error."""
    body = dict(record.body)
    member = data.draw(st.sampled_from(sorted(body)))
    if data.draw(st.booleans()):
        body[member] = data.draw(JSON)
    else:
        del body[member]
    if fault_in(record.tier, body) is None:
        edited = replace(record, body=body)
        question = Question("error", "x", failed=FailedCall(record.tool or "", {}, "Error: no", place=1))
        for style in (Style("json"), Style("python")):
            TIERS[record.tier].render([Hit(edited, 1.0)], question, style)
        TIERS[record.tier].gist(edited)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_body_is_faulty(name: str) -> None:
    """The control of the above."""
    assert fault_in(name, {})


@pytest.mark.parametrize("writer", [RULES, ScriptedWriter(REPLIES)], ids=["rules", "model"])
@pytest.mark.parametrize("name", NAMES)
def test_a_task_never_meets_its_own_records(name: str, writer: Writer, tmp_path: Path) -> None:
    """Build, publish, open, ask: another family's record is shown, its own only in sample (the control)."""
    task = run(1).task
    with built(name, tmp_path / "memory", [run(1), run(2), run(3)], writer) as memory:
        session = Session(memory, viewer=self_excluded(task), method=name)
        assert shown(session, name, task)
        assert session.exposures
        for exposure in session.exposures:
            assert exposure.record_ids
            assert task.family not in exposure.families
            assert exposure.excluded["own_family"] > 0
        whole = Session(memory, viewer=in_sample(task), method=name)
        assert shown(whole, name, task)
        for all_seen, exposure in zip(whole.exposures, session.exposures, strict=True):
            assert all_seen.considered == exposure.considered + exposure.excluded["own_family"]
            assert writer is not RULES or name in ("function", "sasm") or all_seen.own_family > 0


@pytest.mark.parametrize("name", NAMES)
def test_alone_a_task_is_shown_nothing(name: str, tmp_path: Path) -> None:
    """A memory of its own runs only is an empty one to a task, and the messages stay as they were."""
    with built(name, tmp_path / "memory", [run(1)]) as memory:
        session = Session(memory, viewer=self_excluded(run(1).task), method=name)
        assert shown(session, name, run(1).task) == ""
        assert sum(len(exposure.record_ids) for exposure in session.exposures) == 0


@pytest.fixture(scope="module")
def memories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Memory]]:
    """One memory a tier, of six runs."""
    folder = tmp_path_factory.mktemp("memories")
    opened = {name: built(name, folder / name, [run(i) for i in range(6)]) for name in NAMES}
    yield opened
    for memory in opened.values():
        memory.close()


@pytest.mark.parametrize("method", [*NAMES, "reasoning_bank-k3", "memp-script", "memp-trajectory", "memp-k3"])
@settings(max_examples=20, deadline=None)
@given(limits=st.tuples(*[st.integers(0, 500)] * 3))
def test_a_budget_is_kept(method: str, limits: tuple[int, int, int], memories: dict[str, Memory]) -> None:
    """Whatever the limits, no more tokens are shown at a place than ``amd`` might show there; nothing is cut."""
    name = next(shelf for shelf in sorted(NAMES, key=len, reverse=True) if method.startswith(shelf))
    chosen = Limits(*limits)
    session = Session(memories[name], viewer=self_excluded(run(1).task), method=method, limits=chosen)
    text = shown(session, name, run(1).task)
    asked = "error" if name == "function" else "task"
    for exposure in session.exposures:
        assert exposure.tokens <= chosen.of(name, asked)
    if not any(chosen.of(name, at) for at in ("task", "turn", "error")):
        assert not text


def test_a_baseline_has_the_room_of_all_our_tiers(memories: dict[str, Memory]) -> None:
    """With the default limits what the rules write fits whole: script and run, three items, five parts."""
    for name in ("reasoning_bank", "memp", "memp-keywords", "sasm"):
        session = Session(memories[name], viewer=self_excluded(run(1).task), method=name)
        assert shown(session, name, run(1).task)
        assert [exposure.dropped.get("over_budget", 0) for exposure in session.exposures] == [0]


SECRETS = (
    "tess.example@example.org",
    "tess.example%40example.org",
    "Plum-7731!",
    "c0ffee00c0ffee00",
    "4111 1111 1111 1111",
)


def secret_run() -> Trajectory:
    """C13: a run that logs in, pays, and is told an error that repeats the address."""
    login: dict[str, object] = {"username": SECRETS[0], "password": SECRETS[2]}
    pay: dict[str, object] = {"access_token": SECRETS[3], "card": SECRETS[4], "amount": 1249.99}
    told = f'{{"access_token":"{SECRETS[3]}","token_type":"Bearer"}}'
    calls = [
        ToolCall("login", {**login, "username": "x"}, f"Error: not {SECRETS[1]}", ok=False),
        ToolCall("login", login, told, ok=True),  # type: ignore[arg-type]
        ToolCall("pay", pay, '{"receipt": "R-1", "paid": true}', ok=True),  # type: ignore[arg-type]
    ]
    assert is_error(calls[0].observation)
    turn = Turn(f"log in as {SECRETS[0]} / pw {SECRETS[2]} and pay", tuple(Step("", (call,)) for call in calls))
    task = Task("made-up", "secret_1", "secret", turn.user or "")
    return Trajectory(task, (turn,), None, Outcome(success=True), Source("t", "r", "p", "0" * 64))


@pytest.mark.parametrize("name", NAMES)
def test_c13_no_secret_reaches_a_record(name: str) -> None:
    """C13: neither from the run nor from a model that repeats them; the words around them stay."""
    leak = f"`login` with {SECRETS[2]} gives {SECRETS[3]}; card {SECRETS[4]}, {SECRETS[1]}."
    replies = json.loads(
        json.dumps(REPLIES).replace(json.dumps(SAID)[1:-1], leak).replace('"end_step": 9', '"end_step": 3')
    )
    replies["reasoning"]["reasons"] = replies["reasoning"]["reasons"][:3]
    for writer in (RULES, ScriptedWriter(replies)):
        found = records(name, [secret_run()], writer)
        assert found
        text = json.dumps([[record.key, record.body] for record in found], ensure_ascii=False)
        assert [secret for secret in SECRETS if secret in text] == []
        assert "login" in text
    bare = method_of(name)[0].distill(secret_run(), find_evidence(secret_run()), RULES)
    raw = json.dumps([[draft.key, draft.body] for draft in bare], default=str, ensure_ascii=False)
    assert any(secret in raw for secret in SECRETS), "the control: without the mask it would have leaked"


WORDS = (
    "Check the current directory with `pwd` before `mv`.",
    "Before `mv`, check the current directory with `pwd`.",
    "Check with `pwd` the current directory, then `mv`.",
    "`pwd` to check the current directory before the `mv`.",
    "With `pwd` check the current directory; `mv` then.",
    "Use absolute paths with `mv`; do not call `pwd`.",
)
"""What a model says of six runs: five times the same, and once the contrary."""


def c06_writer() -> ScriptedWriter:
    """A model that says the words of each task."""

    def words(made: Trajectory) -> str:
        return WORDS[int(made.task.task_id.rsplit("_", 1)[1])]

    replies = {
        "insight": lambda made: {"text": words(made)},
        "items": lambda made: {"items": [{"title": "Paths", "description": "", "content": words(made)}]},
        "script": lambda made: {"steps": [words(made)]},
        "experiences": lambda made: {
            "subtasks": [
                {
                    "start_step": 1,
                    "end_step": 2,
                    "category": "execute",
                    "description": "Move it.",
                    "experience": [words(made)],
                }
            ]
        },
    }
    return ScriptedWriter(replies)


@pytest.mark.parametrize("name", ["workflow", "reasoning_bank", "memp", "sasm"])
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (5, 3, 1, 0, 2, 4)])
def test_c06_support_is_counted_behind_the_viewer(name: str, order: Sequence[int], tmp_path: Path) -> None:
    """C06: six records stay six; a seventh task sees five agree, the task of a paraphrase four, and not its own."""
    writer = c06_writer()
    with built(name, tmp_path / "memory", [run(number, turns=1, calls=2) for number in order], writer) as memory:
        assert not writer.rejected
        assert len(memory.shelves[name]) == 6
        seventh = run(7, turns=1, calls=2).task
        for task, agree, families in ((seventh, 5, 6), (run(2).task, 4, 5)):
            session = Session(memory, viewer=self_excluded(task), method=f"{name}-k2")
            text = session.before_task(f"{task.instruction} move").text
            (exposure,) = session.exposures
            assert sorted(exposure.supports) == [1, agree]
            assert f"(Seen in {agree} runs.)" in text
            assert "do not call" in text
            assert exposure.considered == families
            assert task.family not in exposure.families
