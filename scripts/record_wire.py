r"""Records what a real server answers to the library's own client, as the contract that the tests hold it to.

    .venvs/local-llm/bin/python scripts/local_llm.py --port 8799 &
    .venv/bin/python scripts/record_wire.py http://127.0.0.1:8799/v1 --server "xllamacpp 2026.10.11549" \
        --out tests/fixtures/wire/xllamacpp.json

Each scenario drives the client through a server on the loopback device that passes everything on and writes it down, so
that a file holds the requests as they were sent and the answers as they came, byte by byte. Some scenarios end in an
error, and that is what they record. The texts are made up; the answers are those of SmolLM2-135M (Apache-2.0).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from amd.clients import ChatModel, Completion, call_schema, check_endpoint, reply_schema
from amd.embedders.openai import OpenAIEmbedder
from amd.errors import AmdError
from amd.testing import Fault, LoopbackServer, Request

FORMAT = "amd-wire/1"
MODEL = "SmolLM2-135M"
PATIENCE = 600.0  # seconds; a busy machine answers late

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "readMoisture",
            "description": "Measure how wet the soil of a bed is.",
            "parameters": {
                "type": "object",
                "properties": {"bed": {"type": "integer", "description": "The bed's number."}},
                "required": ["bed"],
                "additionalProperties": False,
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "openValve",
            "description": "Let water into a bed.",
            "parameters": {
                "type": "object",
                "properties": {"bed": {"type": "integer"}, "minutes": {"type": "integer"}},
                "required": ["bed", "minutes"],
                "additionalProperties": False,
            },
        },
    },
]
ASKED = [
    {"role": "system", "content": "You look after a garden."},
    {"role": "user", "content": "How wet is the soil of bed 4?"},
]
AFTER_A_CALL = [
    *ASKED,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "readMoisture", "arguments": '{"bed": 4}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": '{"moisture": 17}'},
]

ASKED_AGAIN = [
    *AFTER_A_CALL,
    {"role": "assistant", "content": "The soil of bed 4 is at 17 percent."},
    {"role": "user", "content": "How wet is the soil of bed 5?"},
]


@dataclass(frozen=True)
class Advice:
    """A reply by schema."""

    bed: int
    advice: str


def chat(model: ChatModel) -> Completion:
    """Words."""
    return model.complete(ASKED, max_tokens=24)


def schema(model: ChatModel) -> Completion:
    """JSON of a schema."""
    return model.complete(ASKED, max_tokens=96, schema=reply_schema(Advice))


def cut(model: ChatModel) -> Completion:
    """JSON of a schema, cut off by the limit."""
    return model.complete(ASKED, max_tokens=6, schema=reply_schema(Advice))


def call_by_schema(model: ChatModel) -> Completion:
    """A tool call as JSON of a schema, one branch a tool."""
    return model.complete(ASKED, max_tokens=64, schema=call_schema(TOOLS))


def tools(model: ChatModel) -> Completion:
    """Native tools, which a server may leave out without a word."""
    return model.complete(ASKED, max_tokens=48, tools=TOOLS)


def tools_required(model: ChatModel) -> Completion:
    """Native tools, one of which must be called; an earlier call shows how, for so small a model copies."""
    return model.complete(ASKED_AGAIN, max_tokens=96, tools=TOOLS, tool_choice="required")


def after_a_call(model: ChatModel) -> Completion:
    """A conversation with a native call and its answer in it."""
    return model.complete(AFTER_A_CALL, max_tokens=24, tools=TOOLS)


def too_long(model: ChatModel) -> Completion:
    """A prompt beyond the model's context."""
    return model.complete([{"role": "user", "content": "wet soil " * 9000}], max_tokens=8)


BY_CHAT = {f.__name__: f for f in (chat, schema, cut, call_by_schema, tools, tools_required, after_a_call, too_long)}


@dataclass(frozen=True)
class Told:
    """What the client makes of a scenario: the answer, and what it noticed of the endpoint."""

    completion: Completion
    tools_ignored: bool | None
    notices: tuple[str, ...]


def run(scenario: str, base_url: str, *, model: str = MODEL) -> Told | None:
    """What the client makes of it; ``None`` where no chat is asked for, and any error of the library."""
    if scenario == "models":
        check_endpoint(model, base_url=base_url, api_key=None)
        return None
    if scenario == "embeddings":
        OpenAIEmbedder(model, base_url=base_url, attempts=1).embed(["wet soil"])
        return None
    name = "no-such-model" if scenario == "unknown_model" else model
    ask = chat if scenario == "unknown_model" else BY_CHAT[scenario]
    with ChatModel(name, base_url=base_url, timeout=PATIENCE, attempts=1) as client:
        completion = ask(client)
        return Told(completion, client.tools_ignored, client.notices)


SCENARIOS = ("models", "unknown_model", "embeddings", *BY_CHAT)


def forward(request: Request, base_url: str) -> Fault:
    """The answer of the real server.

    Raises:
        OSError, HTTPException: it gives none.
    """
    parts = urlsplit(base_url)
    connection = HTTPConnection(parts.hostname or "", parts.port or 80, timeout=PATIENCE)
    try:
        sent = None if request.body is None else json.dumps(request.body)
        path = parts.path.removesuffix("/v1") + request.path
        connection.request(request.method, path, sent, {"Content-Type": "application/json"})
        reply = connection.getresponse()
        return Fault(reply.status, body=reply.read().decode("utf-8"))
    finally:
        connection.close()


def shortened(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """A request with its longest texts cut, so that a person can read it."""
    if isinstance(value, Mapping):
        return {name: shortened(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shortened(part) for part in value]
    if isinstance(value, str) and len(value) > 400:
        return f"{value[:40]}... ({len(value)} characters)"
    return value


def record(scenario: str, base_url: str, *, model: str = MODEL, note: Callable[[str], None] = print) -> list[Any]:
    """All that went over the wire in one scenario, in order."""
    exchanges: list[Any] = []

    def passed_on(request: Request) -> Fault:
        answer = forward(request, base_url)
        exchange = {"method": request.method, "path": request.path, "asked": shortened(request.body)}
        exchanges.append({**exchange, "status": answer.status, "answer": answer.body})
        return answer

    with LoopbackServer(faults=passed_on) as server:
        try:
            run(scenario, server.url, model=model)
            outcome = "answered"
        except AmdError as error:
            outcome = f"{type(error).__name__}: {error.message.replace(server.url, base_url)}"
    note(f"{scenario}: {len(exchanges)} requests, {outcome}")
    return exchanges


def main(arguments: Sequence[str]) -> int:
    """Record all scenarios into one file."""
    options = argparse.ArgumentParser(description="Record what a real server answers to the library's own client.")
    options.add_argument("base_url", help="as http://127.0.0.1:8799/v1; plain HTTP")
    options.add_argument("--server", required=True, help="its name and version, for the file")
    options.add_argument("--model", default=MODEL, help=f"the name of the model there; {MODEL} if left out")
    options.add_argument("--out", required=True, type=Path, help="the file to write")
    given = options.parse_args(arguments)
    try:
        forward(Request("GET", "/v1/models", {}, None), given.base_url)
        recorded = {scenario: record(scenario, given.base_url, model=given.model) for scenario in SCENARIOS}
    except (OSError, HTTPException) as failure:
        print(f"{given.base_url} does not answer: {failure}", file=sys.stderr)
        return 3
    value = {"format": FORMAT, "server": given.server, "model": given.model, "recorded": recorded}
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    given.out.write_text(text, encoding="utf-8", newline="\n")
    print(f"{given.out}: {sum(map(len, recorded.values()))} answers of {given.server}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
