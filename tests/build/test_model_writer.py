"""A model's writer: what it asks, what it takes, what it keeps, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from amd.build.journal import Entry, Journal
from amd.build.model_writer import ModelWriter
from amd.build.request import request_for
from amd.chat import Message
from amd.clients import Abilities, Completion, Usage
from amd.errors import BudgetSpent, ClientError
from amd.json_text import JSON
from amd.testing import run
from amd.tier import Assignment
from amd.tiers.subtask import SEGMENTS, Segment, Segments, fault_in
from amd.tiers.workflow import INSIGHT, Insight, fault_in_insight

PROMPTS = (INSIGHT, SEGMENTS)
GOOD = json.dumps({"text": "Look first."})
DIVIDED = [{"start_step": 1, "end_step": 9, "label": "all", "description": "It is done."}]


class Chat:
    """Answers as it is told to, one answer a request, and remembers what it was asked."""

    notices = ()

    def probe(self) -> Abilities:
        """What every endpoint should take."""
        return Abilities(json_schema=True, limit="max_tokens", temperature=True, usage=Usage(20, 2))

    def __init__(self, *answers: str | tuple[str, str] | ClientError) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Sequence[Message], int, Mapping[str, JSON] | None]] = []

    def complete(
        self, messages: Sequence[Message], *, max_tokens: int, schema: Mapping[str, JSON] | None = None
    ) -> Completion:
        """The next answer: text, or text and how it ended, or an error."""
        self.asked.append((list(messages), max_tokens, schema))
        answer = self.answers.pop(0)
        if isinstance(answer, ClientError):
            raise answer
        text, ending = answer if isinstance(answer, tuple) else (answer, "stop")
        return Completion(text=text, finish_reason=ending, usage=Usage(100, 10, 0.5, 2))


def insight(number: int = 1) -> Assignment[Insight]:
    """An assignment of the workflow tier."""
    return Assignment(INSIGHT, run(number), fault_in_insight)


def segments(number: int = 1) -> Assignment[Segments]:
    """An assignment of the subtask tier."""
    return Assignment(SEGMENTS, run(number), lambda reply: fault_in(reply.segments, 9))


def failure(status: int | None) -> ClientError:
    """What the client raises once its own retries are over."""
    return ClientError("the server answered so", status=status, url="http://x/v1", attempts=3, seconds=0.5)


def test_a_good_reply_is_given_and_accounted_for() -> None:
    """Prompt, schema and room are the tier's; usage is counted by purpose."""
    chat = Chat(GOOD)
    writer = ModelWriter("m", chat, PROMPTS)
    assert writer.write(insight()) == Insight("Look first.")
    messages, room, schema = chat.asked[0]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[0]["content"] == INSIGHT.words
    assert run(1).task.instruction in messages[1]["content"]
    assert (room, schema) == (INSIGHT.room, schema)
    assert writer.calls == {"insight": 1}
    assert writer.costs == {
        "probe.completion_tokens": 2,
        "probe.prompt_tokens": 20,
        "probe.requests": 1,
        "insight.completion_tokens": 10,
        "insight.prompt_tokens": 100,
        "insight.requests": 1,
        "insight.retries": 1,
        "insight.seconds": 0.5,
    }
    assert not writer.fallbacks


def test_c08_a_thought_and_a_fence_are_looked_through() -> None:
    """C08 (a)."""
    chat = Chat(f"<think>step {{1}}..</think>\n```json\n{json.dumps({'segments': DIVIDED})}\n```")
    assert ModelWriter("m", chat, PROMPTS).write(segments()) == Segments((Segment(1, 9, "all", "It is done."),))
    assert len(chat.asked) == 1


def test_c08_a_cut_reply_is_asked_for_again_with_more_room() -> None:
    """C08 (b): the same question, and nothing of the first reply is used."""
    chat = Chat(('{"text": "Look fi', "length"), GOOD)
    writer = ModelWriter("m", chat, PROMPTS)
    assert writer.write(insight()) == Insight("Look first.")
    (first, room, _), (second, more, _) = chat.asked
    assert first == second
    assert more > room
    assert writer.costs["insight.lengthened"] == 1


def test_c08_a_reply_that_is_cut_twice_is_left_to_the_rules() -> None:
    """Even if what came looks whole."""
    writer = ModelWriter("m", Chat((GOOD, "length"), (GOOD, "length")), PROMPTS)
    assert writer.write(insight()) is None
    assert writer.fallbacks == {"insight.length": 1}


FAULTY = {
    "c": [{**DIVIDED[0], "start_step": 0, "end_step": 99}],
    "overlap": [{**DIVIDED[0], "end_step": 5}, {**DIVIDED[0], "start_step": 4, "label": "b"}],
    "gap": [{**DIVIDED[0], "end_step": 1}],
    "same label": [{**DIVIDED[0], "end_step": 3}, {**DIVIDED[0], "start_step": 4}],
    "d22": [{**DIVIDED[0], "start_step": "one"}],
    "fraction": [{**DIVIDED[0], "end_step": 2.9}],
    "list label": [{**DIVIDED[0], "label": ["a", "b"]}],
}


@pytest.mark.parametrize(
    "answer", ["", "I cannot do that.", *(json.dumps({"segments": each}) for each in FAULTY.values())]
)
def test_c08_c_d_e_f_a_faulty_reply_is_told_what_is_wrong_once(answer: str) -> None:
    """C08, D09, D22: the fault is shown; a good second reply counts, and a second fault is left to the rules."""
    good = json.dumps({"segments": DIVIDED})
    chat = Chat(answer, good)
    writer = ModelWriter("m", chat, PROMPTS)
    assert writer.write(segments()) is not None
    assert [message["role"] for message in chat.asked[1][0]] == ["system", "user", "assistant", "user"]
    assert chat.asked[1][0][3]["content"].startswith("That cannot be used: ")
    assert writer.costs["segments.repairs"] == 1
    again = ModelWriter("m", Chat(answer, answer), PROMPTS)
    assert again.write(segments()) is None
    assert again.costs["segments.requests"] == 2
    assert again.fallbacks.total() == again.costs["segments.fallbacks"] == 1
    assert [remark.task_id for remark in again.remarks if "written by rules" in remark.what] == [run(1).task.task_id]


def test_what_a_model_wrote_is_masked_before_it_is_kept(tmp_path: Path) -> None:
    """C13: the journal holds the reply parsed and masked, never raw."""
    chat = Chat('{"text": "Log in with hunter2 first."}')
    writer = ModelWriter("m", chat, PROMPTS, journal=Journal(tmp_path))

    def clean(value: JSON) -> JSON:
        assert isinstance(value, dict)
        return {"text": str(value["text"]).replace("hunter2", "<password>")}

    assert writer.write(replace(insight(), clean=clean)) == Insight("Log in with <password> first.")
    assert b"hunter2" not in (tmp_path / ".journal.jsonl").read_bytes()


def test_a_reply_that_masking_spoils_is_a_faulty_one() -> None:
    """The shape is checked after masking."""
    writer = ModelWriter("m", Chat(GOOD, GOOD), PROMPTS)
    assert writer.write(replace(insight(), clean=lambda _: {"text": " "})) is None
    assert writer.fallbacks == {"insight.fault": 1}


def test_c09_a_finished_reply_is_not_asked_for_again(tmp_path: Path) -> None:
    """C09: by another writer in another process; its cost still counts. A fallback is finished too."""
    first = ModelWriter("m", Chat(GOOD, "no", "no"), PROMPTS, journal=Journal(tmp_path))
    assert first.write(insight()) == Insight("Look first.")
    assert first.write(segments()) is None
    second = ModelWriter("m", Chat(), PROMPTS, journal=Journal(tmp_path))
    assert second.write(insight()) == Insight("Look first.")
    assert second.write(segments()) is None
    assert second.recalled == 2
    asked = {name: value for name, value in first.costs.items() if not name.startswith("probe.")}
    assert (second.costs, second.fallbacks) == (asked, first.fallbacks)


def test_fallbacks_are_asked_for_again_if_told_so(tmp_path: Path) -> None:
    """``--retry-fallbacks``: good replies stay."""
    first = ModelWriter("m", Chat(GOOD, "no", "no"), PROMPTS, journal=Journal(tmp_path))
    first.write(insight())
    first.write(segments())
    chat = Chat(json.dumps({"segments": DIVIDED}))
    second = ModelWriter("m", chat, PROMPTS, journal=Journal(tmp_path), retry_fallbacks=True)
    assert second.write(insight()) == Insight("Look first.")
    assert second.write(segments()) is not None
    assert second.costs["segments.requests"] == 3, "what was paid before counts too"


@pytest.mark.parametrize(
    "change",
    [
        lambda _: ModelWriter("other", Chat(GOOD), PROMPTS).id,
        lambda assignment: replace(assignment, prompt=replace(INSIGHT, words="Write less.")),
        lambda assignment: replace(assignment, run=run(2)),
    ],
)
def test_c09_another_model_prompt_or_run_reuses_nothing(tmp_path: Path, change: Callable[..., Any]) -> None:
    """C09: nothing is taken over silently."""
    ModelWriter("m", Chat(GOOD), PROMPTS, journal=Journal(tmp_path)).write(insight())
    changed = change(insight())
    model, assignment = (changed, insight()) if isinstance(changed, str) else ("m", changed)
    writer = ModelWriter(model, Chat('{"text": "Another one."}'), PROMPTS, journal=Journal(tmp_path))
    assert writer.write(assignment) == Insight("Another one.")


def test_the_hash_of_the_prompts_changes_with_each_of_them() -> None:
    """It is how a memory knows that its words were asked for in another way."""
    hashes = {
        ModelWriter("m", Chat(), prompts, prompt_tokens=tokens).prompts
        for prompts, tokens in (
            (PROMPTS, 6_000),
            (PROMPTS, 7_000),
            ((INSIGHT,), 6_000),
            ((replace(INSIGHT, words="Write less."), SEGMENTS), 6_000),
            ((replace(INSIGHT, room=7), SEGMENTS), 6_000),
        )
    }
    assert len(hashes) == 5


def test_a_budget_stops_before_an_assignment_that_might_exceed_it(tmp_path: Path) -> None:
    """What was finished is kept, and the same command goes on; a repair is part of what was begun."""
    most = request_for(insight(1), "m").tokens + INSIGHT.room + 20  # some runs have a longer number
    writer = ModelWriter("m", Chat("no", GOOD, GOOD), PROMPTS, journal=Journal(tmp_path), budget=most)
    assert writer.write(insight(1)) is not None
    with pytest.raises(BudgetSpent, match="tokens are spent") as caught:
        writer.write(insight(2))
    assert (caught.value.fields["spent"], caught.value.exit_code) == (242, 5)
    again = ModelWriter("m", Chat(GOOD), PROMPTS, journal=Journal(tmp_path), budget=most)
    assert again.write(insight(1)) is not None
    assert again.write(insight(2)) is not None


def test_a_budget_holds_for_all_threads_together() -> None:
    """What others have begun is set aside."""
    most = request_for(insight(1), "m").tokens + INSIGHT.room + 20  # some runs have a longer number
    writer = ModelWriter("m", Chat(*[GOOD] * 8), PROMPTS, budget=most + 300)
    begun = Barrier(8)

    def work(number: int) -> bool:
        begun.wait()
        try:
            return writer.write(insight(number)) is not None
        except BudgetSpent:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) <= 3
    spent = sum(value for name, value in writer.costs.items() if name.endswith("_tokens"))
    assert 0 < spent <= most + 300


NO_ANSWER = [
    (failure(400), "refused"),
    (failure(413), "refused"),
    (failure(422), "refused"),
    (failure(500), "server_error"),
    (failure(200), "no_completion"),
    (ClientError("did not answer", timeout=9.0, attempts=5, seconds=45.0), "timeout"),
]


@pytest.mark.parametrize(("error", "reason"), NO_ANSWER)
def test_one_request_without_an_answer_costs_one_record(tmp_path: Path, error: ClientError, reason: str) -> None:
    """A prompt beyond the model's context, a filter, a slow reply; the next run is asked for."""
    writer = ModelWriter("m", Chat(error, GOOD), PROMPTS, journal=Journal(tmp_path))
    assert writer.write(insight(1)) is None
    assert writer.fallbacks == {f"insight.{reason}": 1}
    assert any(error.message in remark.what for remark in writer.remarks), "the server's own words"
    assert writer.write(insight(2)) is not None
    again = ModelWriter("m", Chat(GOOD), PROMPTS, journal=Journal(tmp_path))
    assert again.write(insight(1)) is not None, "nothing was paid for, so nothing was kept"


@pytest.mark.parametrize("status", [401, 403, 404, None])
def test_a_service_that_refuses_all_or_is_gone_ends_the_build(tmp_path: Path, status: int | None) -> None:
    """And nothing is kept of it, so the next build asks again."""
    writer = ModelWriter("m", Chat(failure(status)), PROMPTS, journal=Journal(tmp_path))
    with pytest.raises(ClientError):
        writer.write(insight())
    assert not (tmp_path / ".journal.jsonl").exists()


@pytest.mark.parametrize("error", [failure(500), failure(200)])
def test_a_server_that_fails_again_and_again_ends_the_build(tmp_path: Path, error: ClientError) -> None:
    """Five in a row are not one run's fault; a good answer begins anew, and a refusal says nothing of the server."""
    answers = [error] * 4 + [GOOD] + [failure(503), failure(400), error, error, error, error]
    writer = ModelWriter("m", Chat(*answers), PROMPTS, journal=Journal(tmp_path))
    for number in range(10):
        writer.write(insight(number))
    with pytest.raises(ClientError, match="5 requests in a row came to nothing"):
        writer.write(insight(10))


def test_refusals_end_a_build_only_before_the_first_answer() -> None:
    """Nothing but refusals is an endpoint that refuses; one by one they are prompts that are."""
    writer = ModelWriter("m", Chat(GOOD, *[failure(400)] * 40), PROMPTS)
    for number in range(41):
        writer.write(insight(number))
    assert writer.fallbacks == {"insight.refused": 40}
    writer = ModelWriter("m", Chat(*[failure(400)] * 40), PROMPTS)
    for number in range(19):
        writer.write(insight(number))
    with pytest.raises(ClientError, match="20 requests in a row came to nothing"):
        writer.write(insight(19))


def test_an_error_of_ours_reaches_everybody_who_waits() -> None:
    """Two threads with one question: both hear of it, and nobody waits for ever."""

    class Broken(Chat):
        def probe(self) -> Abilities:
            raise RuntimeError("a bug")

    writer = ModelWriter("m", Broken(), PROMPTS)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(writer.write, insight(1)) for _ in range(4)]
        for each in waiting:
            with pytest.raises(RuntimeError, match="a bug"):
                each.result(20)


def test_an_endpoint_that_cannot_be_asked_at_all_ends_the_build() -> None:
    """What it takes is found out first: an error there is no single run's fault."""

    class Broken(Chat):
        def probe(self) -> Abilities:
            raise failure(400)

    chat = Broken(GOOD)
    with pytest.raises(ClientError):
        ModelWriter("m", chat, PROMPTS).write(insight())
    assert not chat.asked


def test_two_runs_that_are_told_alike_are_one_question() -> None:
    """Asked once and paid for once, whoever comes first."""
    chat = Chat(GOOD)
    writer = ModelWriter("m", chat, PROMPTS)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: writer.write(insight(1)), range(8)))
    assert set(replies) == {Insight("Look first.")}
    assert len(chat.asked) == writer.costs["insight.requests"] == 1
    assert writer.calls == {"insight": 8}


@pytest.mark.parametrize("reply", [None, {"text": 5}, {"text": " "}, []])
def test_a_kept_reply_that_cannot_be_used_is_asked_for_again(tmp_path: Path, reply: JSON) -> None:
    """Another version kept it, or another hand."""
    Journal(tmp_path).add(Entry(request_for(insight(), "m").key, "insight", reply))
    writer = ModelWriter("m", Chat(GOOD), PROMPTS, journal=Journal(tmp_path))
    assert writer.write(insight()) == Insight("Look first.")


def test_what_was_not_shown_is_remarked() -> None:
    """D12: for each run, and its purpose."""
    writer = ModelWriter("m", Chat(GOOD, GOOD), PROMPTS, prompt_tokens=700)
    writer.write(insight())
    (remark,) = writer.remarks
    assert (remark.task_id, remark.purpose) == (run(1).task.task_id, "insight")
    assert "not shown" in remark.what
