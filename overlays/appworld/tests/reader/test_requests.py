"""What a run sent."""

from __future__ import annotations

import json

import pytest
from made_experiments import DOCS

from amd_appworld.api_docs import ApiDocs
from amd_appworld.requests import read_requests

WORLD = ApiDocs.of(DOCS)


@pytest.fixture
def sent(tmp_path):
    """Reads these requests."""

    def read(*lines, docs=WORLD):
        path = tmp_path / "api_calls.jsonl"
        path.write_text(
            "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), encoding="utf-8"
        )
        return read_requests(path, docs)

    return read


def song(number):
    """A request for one page."""
    return {"method": "get", "url": "/music/songs", "data": {"page_index": number}}


def test_a_value_that_is_certain(sent):
    """All requests had it; or it is the only one that no call of the code writes out."""
    requests = sent(song(1), song(1))
    assert requests.value_of("music.show_songs", "page_index", []) == (1,)
    assert sent(song(1), song(2)).value_of("music.show_songs", "page_index", []) == ()
    assert sent(song(1), song(2)).value_of("music.show_songs", "page_index", [1]) == (2,)
    assert sent(song(1)).value_of("music.show_songs", "page_index", [1]) == (1,)
    assert sent(song(1)).value_of("music.show_songs", "order", []) == ()
    assert sent(song(True), song(1)).value_of("music.show_songs", "page_index", []) == ()


def test_what_was_sent(sent):
    """By API; a request of none of the world's is of none."""
    requests = sent(song(1), {"method": "get", "url": "/elsewhere", "data": {}})
    assert (requests.was_sent("music.show_songs"), requests.was_sent("music.login")) == (True, False)


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"method": 1, "url": "/x"}', '{"method": "get", "url": "/x", "data": {"a": NaN}}']
)
def test_a_log_with_a_hole_tells_nothing(sent, line):
    """Neither what was sent nor what was not; so does no log, and no documents."""
    assert sent(song(1), line) is None
    assert sent(song(1), docs=None) is None
    assert sent(song(1)) is not None


def test_no_log(tmp_path):
    """It is not known what was sent."""
    assert read_requests(tmp_path / "no", ApiDocs.of(DOCS)) is None
