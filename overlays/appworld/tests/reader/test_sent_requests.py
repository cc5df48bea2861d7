"""What a run sent."""

from __future__ import annotations

import json

import pytest
from made_experiments import DOCS

from amd_appworld.api_docs import ApiDocs
from amd_appworld.sent_requests import read_log

WORLD = ApiDocs.of(DOCS)


@pytest.fixture
def sent(tmp_path):
    """Reads these requests."""

    def read(*lines, docs=WORLD):
        path = tmp_path / "api_calls.jsonl"
        path.write_text(
            "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), encoding="utf-8"
        )
        return read_log(path).by_api(docs)

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
    assert read_log(tmp_path / "no").by_api(WORLD) is None
    assert read_log(tmp_path / "no").held == ()


def test_what_was_held_needs_neither_documents_nor_a_whole_log(tmp_path):
    """Masking is glad of each line: of an API that is not known too."""
    login = {"method": "post", "url": "/elsewhere/token", "data": {"password": "sunflowers"}}
    path = tmp_path / "api_calls.jsonl"
    path.write_text(f"{json.dumps(login)}\n{{torn\n{json.dumps(song(1))}\n", encoding="utf-8")
    log = read_log(path)
    assert (log.held, log.whole, log.by_api(WORLD)) == (({"password": "sunflowers"}, {"page_index": 1}), False, None)
