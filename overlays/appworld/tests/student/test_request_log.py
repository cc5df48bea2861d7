"""The requests of a task, read while AppWorld appends to them."""

from __future__ import annotations

import pytest

from amd_appworld.request_log import RequestLog


def test_each_request_is_the_last_one_once(tmp_path):
    """After a cell that sent none there is none, and the older ones do not come back."""
    path = tmp_path / "api_calls.jsonl"
    log = RequestLog(path)
    assert log.last_new() is None
    path.write_text('{"method": "get", "url": "/a"}\n{"method": "get", "url": "/b"}\n')
    assert log.last_new() == {"method": "get", "url": "/b"}
    assert log.last_new() is None
    with path.open("a") as file:
        file.write('{"method": "post", "url": "/c"}\n')
    assert log.last_new() == {"method": "post", "url": "/c"}


@pytest.mark.parametrize("text", ["\n", "{", "[1]\n", "null\n"])
def test_what_is_no_request_is_none(tmp_path, text):
    """Nobody knows then."""
    (tmp_path / "log").write_text(text)
    assert RequestLog(tmp_path / "log").last_new() is None
