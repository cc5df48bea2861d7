"""The APIs as tools, and the way back from a request to its API."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_experiments import DOCS

from amd.errors import ConfigError
from amd_appworld.api_docs import ApiDocs


def test_tools_have_schemas():
    """Types, needed arguments, choices, and what else the documents say of an argument."""
    tools = {tool.name: tool for tool in ApiDocs.of(DOCS).tools}
    assert list(tools) == sorted(tools)
    assert tools["music.show_songs"].description == "List the songs."
    assert tools["music.show_songs"].parameters == {
        "type": "object",
        "properties": {
            "access_token": {"type": "string"},
            "page_index": {"type": "integer", "description": "(value >= 0.0)"},
            "order": {
                "type": "string",
                "description": "(value in ['louder', 'softer'])",
                "enum": ["louder", "softer"],
            },
        },
        "required": ["access_token"],
    }
    assert tools["supervisor.complete_task"].parameters["properties"]["answer"] == {}


def test_a_list_of_a_type():
    """Its items have the type; a word that is not known allows anything."""
    parameters = [{"name": "tags", "type": "list[string]"}, {"name": "x", "type": "colour"}]
    (tool,) = ApiDocs.of({"a": {"b": {"path": "/b", "method": "GET", "parameters": parameters}}}).tools
    assert tool.parameters["properties"] == {"tags": {"type": "array", "items": {"type": "string"}}, "x": {}}


@pytest.mark.parametrize(
    ("method", "url", "api"),
    [
        ("GET", "/music/songs", "music.show_songs"),
        ("get", "/music/songs/", "music.show_songs"),
        ("get", "/music/songs?page_index=2", "music.show_songs"),
        ("get", "/music/songs/3", "music.show_song"),
        ("post", "/music/songs/3", None),
        ("get", "/music/songs/3/more", None),
        ("get", "/songs", None),
        ("", "", None),
    ],
)
def test_find(method, url, api):
    """By method and path, whatever fills the path in."""
    assert ApiDocs.of(DOCS).find(method, url) == api


def test_a_literal_path_comes_before_a_variable_one():
    """Whatever their order in the documents, and with or without the app's name in the path."""
    apis = {
        "one": {"path": "/things/{thing_id}", "method": "get"},
        "latest": {"path": "/shop/things/latest", "method": "get"},
    }
    docs = ApiDocs.of({"shop": apis})
    assert (docs.find("get", "/shop/things/latest"), docs.find("get", "/shop/things/9")) == ("shop.latest", "shop.one")


def test_nearest():
    """By spelling, then by words in common, of that app or of the app with the nearest name; or none."""
    docs = ApiDocs.of(DOCS)
    assert docs.nearest("music", "show_sngs")[0] == "music.show_songs"
    assert docs.nearest("music", "list_songs")[0] == "music.show_songs"
    assert docs.nearest("musik", "login") == ("music.login",)
    assert docs.nearest("weather", "login") == docs.nearest("music", "zzz") == ()
    assert "music.login" in docs
    assert "music.logout" not in docs


@pytest.mark.parametrize("documents", [{"music": {"play": {"path": 7}}}, {"music": ["play"]}, {"music": None}])
def test_documents_of_another_shape(documents):
    """They are told by the API's name."""
    with pytest.raises(ConfigError, match="music"):
        ApiDocs.of(documents)


@given(app=st.text(max_size=12), api=st.text(max_size=20))
def test_what_is_near_is_there(app, api):
    """At most three names, each of the world's, each once."""
    docs = ApiDocs.of(DOCS)
    near = docs.nearest(app, api)
    assert len(near) == len(set(near)) <= 3
    assert all(name in docs for name in near)
