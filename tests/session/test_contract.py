"""The promise to harnesses: three tiny ones drive a session as real ones do.

One shares a memory among threads; one keeps no messages and rebuilds them at each request, with call ids that repeat;
one spawns workers that open the memory themselves.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from amd.exclusion import self_excluded
from amd.inject import append_hint, prepend_memory, prepend_turn, replace_memory, strip_memory
from amd.json_text import JSON, digest
from amd.records import Record
from amd.session import Session
from amd.store import Memory
from amd.tier import FailedCall
from amd.trajectory import Outcome, Source, Step, Task, ToolCall, ToolSpec, Trajectory, Turn, is_error

SYMBOL = {"type": "object", "properties": {"symbol": {"type": "string"}}, "required": ["symbol"]}
TICKER = {"type": "object", "properties": {"ticker": {"type": "string"}}, "required": ["ticker"]}
STOCK, OLD_QUOTE = ToolSpec("get_stock", "Price of a stock.", SYMBOL), ToolSpec("get_quote", "Quote a stock.", SYMBOL)
AUDIT = ToolSpec("audit", "Look at the log.")
OFFERED = (STOCK, ToolSpec("get_quote", "Quote a stock.", TICKER), AUDIT)
TASK = Task("demo", "student_1", "student-family", "Tell me the price of each stock that I ask for")
TEACHER = Task("demo", "teacher_1", "teacher-family", "Tell me the price of each stock on my list")


@dataclass(frozen=True)
class Call:
    """One call of the scripted student and what the tool answers."""

    tool: str
    arguments: dict[str, JSON]
    answer: str


def stock(symbol: str, *, listed: bool = False) -> Call:
    """A call that works only for a listed symbol."""
    return Call(
        "get_stock", {"symbol": symbol}, '{"price": 12}' if listed else f"Error: symbol '{symbol}' is not listed"
    )


# C16: what the user says, and rounds of calls.
EVENTS: list[str | list[Call]] = [
    TASK.instruction,
    [stock("ZZZZ"), stock("QQQQ"), stock("AAPL", listed=True)],
    "Try the price of the first stock again",
    [stock("ZZZZ")],
    "Then quote the stock",
    [Call("get_quote", {"ticker": "ZZZZ"}, "Error: no quote today")],
    "Check the log of the stock",
    [Call("audit", {}, '{"errors": 0}')],
    [Call("audit", {}, "failed login attempts: 3")],
]


@pytest.fixture
def memory(remember: Callable[..., Memory], distilled: Callable[..., list[Record]]) -> Memory:
    """A teacher's run that called all tools well, when ``get_quote`` still had its old schema."""
    tools = (STOCK, OLD_QUOTE, AUDIT)
    said = (TEACHER.instruction, "Then quote the stock", "Check the log of the stock")
    done = [ToolCall(tool.name, {"symbol": "MSFT"} if tool.parameters else {}, "{}", ok=True) for tool in tools]
    turns = tuple(Turn(words, (Step("", (call,)),)) for words, call in zip(said, done, strict=True))
    source = Source("teacher", "run", "file", "0" * 64)
    return remember(distilled([Trajectory(TEACHER, turns, tools, Outcome(success=True), source)]))


def session_for(memory: Memory, mode: str = "static") -> Session:
    """A session of the scripted task."""
    return Session(memory, viewer=self_excluded(TASK), tools=OFFERED, mode=mode)


def messages_of(session: Session | None, events: Sequence[str | list[Call]]) -> list[dict[str, Any]]:
    """The messages after these events, built from nothing; every call id is the same."""
    messages: list[Any] = [{"role": "system", "content": "Be brief."}]
    if session:
        messages = prepend_memory(messages, session.before_task(TASK.instruction))
    turn = 0
    for event in events:
        if isinstance(event, str):
            turn += 1
            said = [{"role": "user", "content": event}]
            if session and session.mode == "replace":
                messages = replace_memory(messages, session.before_turn(event, turn))
            elif session:
                said = prepend_turn(said, session.before_turn(event, turn))
            messages += said
        else:
            messages.append(
                {"role": "assistant", "tool_calls": [["call_0", call.tool, call.arguments] for call in event]}
            )
            messages += answers(session, event, len(messages))
    return messages


def answers(session: Session | None, calls: Sequence[Call], start: int) -> list[dict[str, Any]]:
    """The tools' answers, a hint after each that is an error; a call's place is that of its message."""
    told = []
    for place, call in enumerate(calls, start):
        content = call.answer
        if session and is_error(content):
            content = append_hint(
                content, session.after_error(FailedCall(call.tool, call.arguments, content, place=place))
            )
        told.append({"role": "tool", "tool_call_id": "call_0", "content": content})
    return told


def requests_of(session: Session | None) -> list[list[dict[str, Any]]]:
    """Each request of the run, its messages rebuilt from nothing."""
    return [messages_of(session, EVENTS[:count]) for count in range(1, len(EVENTS) + 1)]


def hints(messages: Sequence[dict[str, Any]]) -> list[str]:
    """The tool messages that carry a hint."""
    return [message["content"] for message in messages if "<memory_hint>" in str(message.get("content"))]


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_c16_rebuilt_requests_keep_their_prefix(memory: Memory, mode: str):
    """C16: each request begins with the whole earlier one, byte for byte, and nothing is logged twice."""
    session = session_for(memory, mode)
    requests = [json.dumps(messages)[:-1] for messages in requests_of(session)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(requests))
    once = session_for(memory, mode)
    assert messages_of(once, EVENTS) == messages_of(session, EVENTS)
    assert once.exposures == session.exposures
    assert session.exposures


def test_c16_one_hint_for_the_first_failing_class(memory: Memory):
    """C16: of two parallel errors of a class one is hinted; the repeat, the stale tool and the false alarms are not."""
    session = session_for(memory)
    (hinted,) = hints(messages_of(session, EVENTS))
    assert hinted.startswith("Error: symbol 'ZZZZ' is not listed\n\n<memory_hint>\n")
    assert '{"name": "get_stock", "arguments": {"symbol": "<symbol>"}}' in hinted
    assert "ZZZZ" not in hinted.partition("<memory_hint>")[2]
    errors = [exposure for exposure in session.exposures if exposure.tier == "function"]
    assert [exposure.dropped for exposure in errors] == [
        {},
        {"repeat_error": 1},
        {"repeat_error": 1},
        {"stale_schema": 1},
    ]
    assert [len(exposure.record_ids) for exposure in errors] == [1, 0, 0, 0]


def test_c16_without_memory_the_conversation_is_the_same(memory: Memory):
    """C16: the method ``none`` gives the plain messages, and taking the memory out of the others gives them too."""
    plain = messages_of(None, EVENTS)
    nothing = Session(memory, viewer=self_excluded(TASK), method="none", tools=OFFERED)
    assert json.dumps(messages_of(nothing, EVENTS)) == json.dumps(plain)
    assert nothing.exposures == ()
    for mode in ("static", "dynamic", "replace"):
        assisted = messages_of(session_for(memory, mode), EVENTS)
        assert assisted != plain
        cleaned = [
            {**message, "content": strip_memory(message["content"])[0]} if "content" in message else message
            for message in assisted
        ]
        assert cleaned == plain


def test_replace_swaps_the_block_and_only_the_block(memory: Memory):
    """In the mode replace the system message has one block at each turn, of the task's part and the turn's."""
    requests = requests_of(session_for(memory, "replace"))
    systems = [messages[0]["content"] for messages in requests]
    assert all(system.count("<memory>") == 1 and system.endswith("</memory>\n\nBe brief.") for system in systems)
    assert all("How a similar task was solved:" in system for system in systems)
    assert len(set(systems)) > 1
    assert any('{"name": "audit", "arguments": {}}' in system for system in systems)
    assert not any('{"name": "get_quote"' in system for system in systems), "its schema has changed"
    assert not any("<memory>" in str(message) for messages in requests for message in messages[1:])


def test_threads_share_one_memory(memory: Memory):
    """Sixteen sessions on eight threads say what one session says alone."""
    alone = session_for(memory)
    expected = messages_of(alone, EVENTS)

    def play(_: int) -> tuple[list[dict[str, Any]], object]:
        session = session_for(memory)
        return messages_of(session, EVENTS), session.exposures

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(play, range(16)))
    assert results == [(expected, alone.exposures)] * 16


WORKER = """
import sys
from amd.exclusion import self_excluded
from amd.session import Session
from amd.store import open_memory
from amd.testing import StubEmbedder
from amd.tier import FailedCall
from amd.trajectory import Task
with open_memory(sys.argv[1], embedder=StubEmbedder()) as memory:
    session = Session(memory, viewer=self_excluded(Task("demo", "student_1", "student-family", sys.argv[2])))
    text = session.before_task(sys.argv[2]).text
    hint = session.after_error(FailedCall("get_stock", {}, "Error: no", place=1)).text
    sys.stdout.buffer.write("\\0".join([text, hint, repr(session.exposures)]).encode())
"""


def test_spawned_workers_open_the_memory_themselves(memory: Memory):
    """Other processes, with other hash seeds, show and log the same; no file is changed."""
    before = {path: digest(path.read_bytes()) for path in memory.path.rglob("*") if path.is_file()}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(memory.path), TASK.instruction],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    ]
    said = [worker.communicate(timeout=60)[0].decode() for worker in workers]
    session = Session(memory, viewer=self_excluded(TASK))
    text = session.before_task(TASK.instruction).text
    hint = session.after_error(FailedCall("get_stock", {}, "Error: no", place=1)).text
    assert text
    assert hint
    assert said == ["\0".join([text, hint, repr(session.exposures)])] * 2
    assert {path: digest(path.read_bytes()) for path in memory.path.rglob("*") if path.is_file()} == before
