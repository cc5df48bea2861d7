"""The real APIs: each of their documents leads back to itself, so that a request names its API."""

from __future__ import annotations

import json
import re

import pytest

from amd_appworld.api_docs import ApiDocs

APIS = 457
"""So many has the harness's version."""


@pytest.fixture(scope="module")
def documents(root):
    """AppWorld's own documents of the standard format, where they lie."""
    return {path.stem: json.loads(path.read_bytes()) for path in (root.data / "api_docs" / "standard").glob("*.json")}


def requests(documents):
    """Each API with a request that it would get."""
    for app, apis in documents.items():
        for api, doc in apis.items():
            path = doc["path"] if doc["path"].startswith(f"/{app}/") else f"/{app}/{doc['path'].lstrip('/')}"
            yield f"{app}.{api}", doc["method"], re.sub(r"\{[^/}]+\}", "1", path)


def test_every_document_leads_back_to_itself(documents):
    """By method and path, whatever fills the path in; no two of them are asked alike."""
    docs = ApiDocs.of(documents)
    asked = list(requests(documents))
    assert len(asked) == len(docs.tools) == APIS
    assert {api: docs.find(method, path) for api, method, path in asked} == {api: api for api, _, _ in asked}
    assert len({(method.lower(), path) for _, method, path in asked}) == APIS


def test_an_answer_of_the_wrong_api_would_be_seen(documents):
    """The control: one document with another's path, and its own request leads elsewhere."""
    song = documents["spotify"]["show_song"]
    wrong = {**documents, "spotify": {**documents["spotify"], "show_song": {**song, "path": "/spotify/elsewhere"}}}
    docs = ApiDocs.of(wrong)
    moved = [api for api, method, path in requests(documents) if docs.find(method, path) != api]
    assert moved == ["spotify.show_song"]
