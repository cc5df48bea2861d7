"""A script behind an endpoint: any number of requests, one port."""

from __future__ import annotations

import json
from urllib.request import Request, urlopen

import pytest

from amd.cli.playing import serve_script
from amd.errors import ConfigError
from amd.testing import LoopbackServer


def script(request):
    """Repeats the last word."""
    return request["messages"][-1]["content"].split()[-1]


def ask(url, words):
    """The assistant's words."""
    body = json.dumps({"model": "gardener", "messages": [{"role": "user", "content": words}]}).encode()
    with urlopen(Request(f"{url}/chat/completions", body)) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def test_a_long_run_keeps_no_requests():
    """Their bodies would add up; where a test reads them they do (control)."""
    for server, kept in (
        (serve_script(script, ["gardener"]), 0),
        (LoopbackServer(chat=script, models=("gardener",)), 3),
    ):
        with server:
            for number in range(3):
                assert ask(server.url, f"water bed {number}") == str(number)
            assert len(server.requests) == kept


def test_a_port_that_is_taken_is_a_usage_error():
    """With the port, and what to do; a free one is listened on (control)."""
    with LoopbackServer() as server:
        taken = int(server.url.removesuffix("/v1").rsplit(":", 1)[1])
        with pytest.raises(ConfigError, match=f"port {taken} of 127.0.0.1 cannot be listened on: .*--port") as caught:
            serve_script(script, ["gardener"], taken)
        assert (caught.value.exit_code, caught.value.fields) == (2, {"port": taken})
        assert "\n" not in str(caught.value)
    with serve_script(script, ["gardener"], taken) as server:
        assert server.url == f"http://127.0.0.1:{taken}/v1"
