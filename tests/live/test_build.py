"""A memory is built with a real model, from the command line: the plumbing, never the quality."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from amd.cli.app import run as run_command
from amd.testing import LoopbackServer, openai_chat, run

PURPOSES = ("insight", "segments")
WORKERS = 2


@pytest.fixture
def command(tmp_path, served):
    """``amd build`` of two short runs with the real model at an address, into a memory of a name."""
    entries = [openai_chat(run(i, turns=1, calls=2, observe=lambda turn, step: '{"ok": true}')) for i in range(2)]
    runs = tmp_path / "runs.jsonl"
    runs.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")

    def words(name, url, model=served.model):
        return [
            *("build", "openai-chat", str(runs), "--map", "family=family,benchmark=benchmark"),
            *("--out", str(tmp_path / name), "--embedder", "hash", "--json"),
            *("--distiller", model, "--base-url", url),
            *("--workers", str(WORKERS), "--timeout", "600"),
        ]

    return words


def told(capsys, words):
    """What a command that must succeed prints as JSON."""
    capsys.readouterr()
    code = run_command(words)
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return json.loads(printed.out)


def asked_for_records(front):
    """The requests that were no first question about what the endpoint takes."""
    return [body for body in front.asked if body["messages"][0]["role"] == "system"]


def kept(place):
    """The finished replies of an unpublished build."""
    journal = place / ".journal.jsonl"
    lines = journal.read_bytes().split(b"\n")[:-1] if journal.exists() else []
    return [json.loads(line) for line in lines]


def test_a_memory_killed_and_resumed_is_the_memory_of_one_go(capsys, tmp_path, command, front):
    """C09 live: no finished reply is asked for again, all calls are accounted for, and the content is the same."""
    place = tmp_path / "killed"
    with LoopbackServer(faults=front) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "amd", *command("killed", server.url)], stdout=subprocess.DEVNULL
        )

        def kill_after_a_reply():
            if kept(place):
                process.kill()

        front.before = kill_after_a_reply
        assert process.wait() == -signal.SIGKILL
    front.before = lambda: None
    front.asked.clear()
    finished = kept(place)
    assert 1 <= len(finished) < 2 * len(PURPOSES)
    assert not (place / "manifest.json").exists()

    with LoopbackServer(faults=front) as server:
        report = told(capsys, command("killed", server.url))
    costs = report["costs"]
    assert (report["admitted"], report["recalled"]) == (2, len(finished))
    requests = sum(costs[f"{purpose}.requests"] for purpose in PURPOSES)
    assert len(asked_for_records(front)) == requests - sum(entry["costs"]["requests"] for entry in finished)
    assert not kept(place)
    every_call_is_a_reply_or_a_fallback(capsys, place, report)

    with LoopbackServer(faults=front) as server:  # the front remembers: the same words in, the same answers out
        again = told(capsys, command("in-one-go", server.url))
    assert again["digest"] == report["digest"]
    assert again["recalled"] == 0
    assert run_command(["check", str(place)]) == 0


def every_call_is_a_reply_or_a_fallback(capsys, place, report):
    """The records say who wrote them; the figures agree, and tokens were counted by the server."""
    costs, fallbacks = report["costs"], report["fallbacks"]
    model = json.loads((place / "manifest.json").read_bytes())["distiller"]["id"]
    shown = told(capsys, ["show", str(place), "--json"])["records"]
    for purpose, tier in zip(PURPOSES, ("workflow", "subtask"), strict=True):
        written = {
            record["task"]["task_id"] for record in shown if (record["tier"], record["distiller"]) == (tier, model)
        }
        fallen = sum(count for reason, count in fallbacks.items() if reason.startswith(f"{purpose}."))
        assert len(written) + fallen == 2, (purpose, fallbacks)
        assert costs.get(f"{purpose}.fallbacks", 0) == fallen
        assert all(costs[f"{purpose}.{figure}"] > 0 for figure in ("prompt_tokens", "completion_tokens", "seconds"))


def test_the_shape_is_that_of_the_schema(recorder, served):
    """A reply that is not cut off is of the schema, member by member."""
    from amd.clients import ChatModel, fit_reply, parse_reply, reply_schema

    asked = [{"role": "user", "content": "Say in three words what a rake is for."}]
    with ChatModel(served.model, base_url=served.url, timeout=600) as model:
        completion = model.complete(asked, max_tokens=200, schema=reply_schema(recorder.Advice))
        assert model.probe().json_schema
        assert model.notices == ()
    assert completion.usage.prompt_tokens > 5
    assert completion.usage.completion_tokens > 5
    assert not completion.usage.estimated
    assert completion.finish_reason == "stop"
    assert isinstance(fit_reply(parse_reply(completion.text), recorder.Advice).bed, int)


def test_a_model_that_is_not_served_stops_the_build_at_once(capsys, tmp_path, command, front):
    """With the names of those that are; nothing is asked, nothing is written."""
    with LoopbackServer(faults=front) as server:
        assert run_command(command("none", server.url, "no-such-model")) == 3
    assert "it has" in capsys.readouterr().err
    assert not front.asked
    assert not (tmp_path / "none" / "manifest.json").exists()
