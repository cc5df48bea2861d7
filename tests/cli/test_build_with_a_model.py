"""``amd build --distiller MODEL`` from end to end, the model behind an endpoint on this machine."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from amd.testing import Fault, LoopbackServer, openai_chat, run

PER_RUN = 2  # an insight and the segments


def by_rule(body):
    """The reply to what is asked for: an insight, one segment that covers all calls, or a reason for each call."""
    system, told = (message["content"] for message in body["messages"][:2])
    calls = [int(number) for number in re.findall(r"^Call (\d+):", told, re.MULTILINE)]
    if "Divide the calls" in system:
        segment = {"start_step": 1, "end_step": max(calls), "label": "the whole task", "description": "It is done."}
        return json.dumps({"segments": [segment]})
    if "For each call" in system:
        return json.dumps({"reasons": [{"step": number, "why": "It was needed."} for number in calls]})
    return json.dumps({"text": "Enter the folder first, then `mv` the file. Check the count at the end."})


def asked(server):
    """The chat requests that were no first question about what the endpoint takes."""
    bodies = [each.body for each in server.requests if each.method == "POST"]
    return [body for body in bodies if body["messages"][0]["role"] == "system"]


@pytest.fixture
def server():
    """A server of one model that answers by the rule."""
    with LoopbackServer(chat=by_rule, models=["builder"]) as served:
        yield served


@pytest.fixture
def build(amd, runs, fields, tmp_path, server, monkeypatch):
    """``amd build`` of the runs with the model, into ``m``; more words and another server may be given."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    def command(*more, at=server, paths=(runs,)):
        return amd(
            *("build", "openai-chat", *paths, *fields, "--out", tmp_path / "m", "--embedder", "hash"),
            *("--distiller", "builder", "--base-url", at.url, *more),
        )

    return command


def manifest(tmp_path):
    """The manifest of the memory."""
    return json.loads((tmp_path / "m" / "manifest.json").read_bytes())


def records(tmp_path):
    """All records of the memory."""
    return [each for path in tmp_path.glob("m/generations/*/*/records.json") for each in json.loads(path.read_bytes())]


def test_a_memory_in_a_models_words(build, amd, tmp_path, server):
    """Records say who wrote them, the manifest what it cost; the table shows both; it is a memory like any other."""
    done = build()
    assert done.code == 0, done.err
    assert len(asked(server)) == 3 * PER_RUN  # and one request that finds out what the endpoint takes
    assert re.search(r"requests\s+│ 7, retried 0, repaired 0", done.out)
    assert re.search(r"written by rules\s+│ none", done.out)
    told = manifest(tmp_path)
    assert told["distiller"]["id"] == "builder"
    assert told["costs"]["insight.requests"] == told["costs"]["segments.requests"] == 3
    assert told["costs"]["insight.prompt_tokens"] > 0
    who = {(record["tier"], record["distiller"]) for record in records(tmp_path)}
    assert who == {("workflow", "builder"), ("subtask", "builder"), ("function", "rules")}
    assert amd("check", tmp_path / "m").code == 0
    assert not list(tmp_path.joinpath("m").glob(".journal*"))


def test_d06_adding_nothing_asks_nothing_and_adding_one_asks_for_one(build, tmp_path, server):
    """D06 with a model: 0 requests, then 2."""
    build()
    before = len(asked(server))
    again = build("--json")
    assert (again.json["changed"], len(asked(server))) == (False, before)
    more = tmp_path / "more.jsonl"
    more.write_text(json.dumps(openai_chat(run(9))) + "\n", encoding="utf-8")
    assert build("--json", paths=(more,)).json["admitted"] == 1
    assert len(asked(server)) == before + PER_RUN


def test_reasoning_is_a_third_question(build, tmp_path, server):
    """And a call is then found by why it was made."""
    assert build("--reasoning").code == 0
    assert len(asked(server)) == 3 * (PER_RUN + 1)
    assert {each["key"] for each in records(tmp_path) if each["tier"] == "function"} == {"It was needed."}


def test_a_plan_sends_nothing_and_writes_nothing(build, tmp_path, server):
    """Calls and tokens by purpose, with a price where there is one."""
    prices = tmp_path / "prices.toml"
    prices.write_text('[prices."builder"]\nprompt = 1.0\ncompletion = 10.0\n', encoding="utf-8")
    told = build("--plan", "--json", "--prices", prices).json
    assert (told["written"], told["calls"], told["purposes"]["insight"]["calls"]) == (3, 6, 3)
    assert told["price"] == pytest.approx((told["prompt_tokens"] + 10 * told["completion_tokens"]) / 1e6)
    assert "nothing was sent" in build("--plan").out
    assert not server.requests
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(("workers", "budget"), [("1", "2300"), ("4", "4000")])
def test_a_budget_stops_with_5_and_a_larger_one_goes_on(build, tmp_path, server, workers, budget):
    """Nothing is published before the end, and no finished reply is asked for again."""
    stopped = build("--budget-tokens", budget, "--workers", workers)
    assert stopped.code == 5
    assert re.search(rf"the budget of this command is {budget}; finished replies are kept", stopped.err)
    assert stopped.err.count("\n") == 1
    first = len(asked(server))
    assert 1 <= first < 3 * PER_RUN
    assert not (tmp_path / "m" / "manifest.json").exists()
    done = build("--json")
    assert done.code == 0
    assert done.json["recalled"] == first, "what was under way was finished, and kept"
    assert len(asked(server)) == 3 * PER_RUN


def test_d22_one_bad_reply_costs_one_record(build, server):
    """D22 (a): one run's segments have a word for a number, twice: its turns stand in, the others are complete."""

    def chat(body):
        bad = "Divide the calls" in body["messages"][0]["content"] and "task 1:" in body["messages"][1]["content"]
        return json.dumps({"segments": [{"start_step": "one"}]}) if bad else by_rule(body)

    with LoopbackServer(chat=chat, models=["builder"]) as other:
        done = build("--json", at=other)
    assert done.code == 0
    assert done.json["fallbacks"] == {"segments.shape": 1}
    assert [each["task_id"] for each in done.json["remarks"]] == ["multi_turn_base_1"]
    assert done.json["records"] == {"workflow": 3, "subtask": 1 + 1 + 3, "function": 27}
    again = build("--json")
    assert (again.json["changed"], len(asked(server))) == (False, 0)
    mended = build("--json", "--retry-fallbacks")
    assert mended.json["records"]["subtask"] == 3
    assert len(asked(server)) == 1, "the insight had not fallen back"


def test_a_persons_edit_is_no_fallback_any_more(build, amd, tmp_path, server):
    """What the rules wrote in the model's place is written again by a retry; what a person then edited is not."""

    def chat(body):
        bad = "Divide the calls" in body["messages"][0]["content"] and "task 1:" in body["messages"][1]["content"]
        return "nothing" if bad else by_rule(body)

    with LoopbackServer(chat=chat, models=["builder"]) as other:
        assert build("--json", at=other).json["fallbacks"]
    (path,) = (tmp_path / "m").glob("generations/*/subtask/records.json")
    lines = path.read_text("utf-8").split("\n")
    at = next(at for at, line in enumerate(lines) if "multi_turn_base_1" in line)
    key = json.loads(lines[at].rstrip(","))["key"]
    lines[at] = lines[at].replace(json.dumps(key), '"Water the beds by hand"')
    retired = lines.copy()
    retired[at] = (
        retired[at]
        .replace(json.dumps("Water the beds by hand"), json.dumps(key))
        .replace('"status":"active"', '"status":"retired"')
    )
    assert retired[at] != lines[at]
    path.write_text("\n".join(lines), "utf-8")
    assert amd("reindex", tmp_path / "m").code == 0
    kept = build("--json", "--retry-fallbacks")
    assert (kept.code, len(asked(server))) == (0, 0)
    assert "Water the beds by hand" in {each["key"] for each in records(tmp_path)}


def test_c18_a_model_that_is_not_there_is_told_at_once(build, amd, runs, fields, tmp_path, server):
    """C18: one line, exit code 3, before anything is read; what the endpoint has is named."""
    with LoopbackServer(chat=by_rule, models=["another"]) as other:
        done = build(at=other)
        assert [each.method for each in other.requests] == ["GET"]
    assert (done.code, done.out) == (3, "")
    assert "'builder'" in done.err
    assert "another" in done.err
    assert not (tmp_path / "m").exists()
    nowhere = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "m", "--distiller", "builder")
    assert nowhere.code == 2
    assert "--base-url" in nowhere.err


def test_c18_401_is_not_tried_again_and_429_waits_as_long_as_it_is_told(build, tmp_path):
    """C18: the server's own words are shown; nothing is published."""
    posts = []

    def refuse(request):
        posts.extend([1] if request.method == "POST" else [])
        return Fault(401, "wrong key") if request.method == "POST" else None

    with LoopbackServer(chat=by_rule, models=["builder"], faults=refuse) as other:
        done = build("--workers", "1", at=other)
    assert (done.code, len(posts)) == (3, 1)
    assert "wrong key" in done.err
    busy = iter([True, True])

    def wait(request):
        waits = request.method == "POST" and next(busy, False)
        return Fault(429, "slow down", headers={"Retry-After": "0"}) if waits else None

    with LoopbackServer(chat=by_rule, models=["builder"], faults=wait) as other:
        done = build("--json", at=other)
    assert done.code == 0


@pytest.mark.parametrize("how", ["refuses", "ignores"])
def test_without_json_schema_the_schema_stands_in_the_prompt(build, how):
    """Found out once, by the first question; the build is the same."""
    with LoopbackServer(chat=by_rule, models=["builder"], **{how: ["response_format"]}) as other:
        done = build("--json", at=other)
        bodies = asked(other)
    assert done.code == 0, done.err
    assert done.json["fallbacks"] == {}
    assert all("start_step" in str(body["messages"]) or "text" in str(body["messages"]) for body in bodies)
    assert not any("response_format" in body for body in bodies if how == "refuses")


def test_a_plan_of_the_rules_and_a_bad_price_list_are_usage_errors(amd, build, runs, fields, tmp_path):
    """One line each."""
    done = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "m", "--plan")
    assert (done.code, "--distiller" in done.err) == (2, True)
    prices = tmp_path / "prices.toml"
    for text in ("[prices.builder]\nprompt = -1\ncompletion = 1\n", "not toml", '[prices]\nbuilder = "free"\n'):
        prices.write_text(text, encoding="utf-8")
        done = build("--plan", "--prices", prices)
        assert done.code == 2
        assert "prices.toml" in done.err


@pytest.mark.parametrize("option", [["--reasoning"], ["--budget-tokens", "5"], ["--retry-fallbacks"]])
def test_what_only_a_model_can_be_told_is_refused_for_the_rules(amd, runs, fields, tmp_path, option):
    """An option without effect is one that nobody would notice."""
    done = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "m", "--embedder", "hash", *option)
    assert (done.code, option[0] in done.err) == (2, True)


def test_a_price_list_without_the_model_is_told(build, tmp_path):
    """What it has is named."""
    prices = tmp_path / "prices.toml"
    prices.write_text("[prices.other]\nprompt = 1\ncompletion = 1\n", encoding="utf-8")
    done = build("--prices", prices)
    assert done.code == 2
    assert "'builder'; it has other" in done.err


def test_an_interrupted_build_waits_for_no_slow_answer(runs, fields, tmp_path):
    """Ctrl-C with answers under way: the process ends at once, and what was finished before is kept."""
    slow = iter(range(10_000))

    def chat(body):
        if next(slow) > 1:
            time.sleep(6)
        return by_rule(body)

    with LoopbackServer(chat=chat, models=["builder"]) as other:
        words = ("build", "openai-chat", runs, *fields, "--out", tmp_path / "m", "--embedder", "hash")
        command = [sys.executable, "-m", "amd", *words, "--distiller", "builder", "--base-url", other.url]
        with subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + 60
            while not (next_request(other) > 3 and kept(tmp_path) == 2) and time.monotonic() < until:
                time.sleep(0.05)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=5)
        assert time.monotonic() - begin < 5
        assert process.returncode == 130
        assert "run the same command again" in err
    assert kept(tmp_path) == 2


def kept(tmp_path):
    """How many finished replies the journal has."""
    path = tmp_path / "m" / ".journal.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def next_request(server):
    """How many chat requests have come in."""
    return sum(each.method == "POST" for each in server.requests)
