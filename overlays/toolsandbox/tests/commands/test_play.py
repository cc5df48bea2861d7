"""``play``: the two scripted models behind an endpoint, without the harness; its answer key needs it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from urllib.request import Request, urlopen

import pytest

from amd.cli.playing import serve_script
from amd_toolsandbox.oracle.goals import Said, Sheet
from amd_toolsandbox.oracle.player import AGENT, USER, Player

PLAYER = Player([Sheet("get_wifi", "Is the shed online", "", frozenset(), (Said("It is."),))])
END = {"type": "function", "function": {"name": "end_conversation", "parameters": {}}}


def ask(url, model, words, **more):
    """The assistant's message."""
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": words}], **more}).encode()
    with urlopen(Request(f"{url}/chat/completions", body)) as answer:
        return json.load(answer)["choices"][0]["message"]


def test_both_models_are_served():
    """The agent's script and the user's, by their names."""
    with serve_script(PLAYER, (AGENT, USER)) as server:
        with urlopen(f"{server.url}/models") as answer:
            names = [model["id"] for model in json.load(answer)["data"]]
        assert names == [AGENT, USER] == ["toolsandbox-oracle", "scripted-user"]
        assert ask(server.url, AGENT, "Is the shed online")["content"] == "It is."
        assert ask(server.url, USER, "It is.", tools=[END])["tool_calls"][0]["function"]["name"] == "end_conversation"


@pytest.mark.skipif(find_spec("tool_sandbox") is not None, reason="the harness is installed here")
def test_without_the_harness_there_is_no_answer_key(told):
    """One line that says what to run; nothing is served."""
    code, out, err = told("play", "--port", "0")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "scripts/setup_toolsandbox.sh PATH_TO_CLONE" in err
