"""How many failing APIs are found, in the cells that the README counts: with the log of requests, and without it."""

from __future__ import annotations

import pytest
from naming import FIXTURES, cells_of, docs_of, found

from amd_appworld.api_docs import ApiDocs

README = FIXTURES.parents[1] / "README.md"
COUNTED = {
    # cells: how many, how many of them fail in an API, named with the log, named without it
    "catalogue": (27, 17, 27, 27),
    "cells": (53, 33, 53, 50),
    "unseen": (18, 13, 18, 15),
}


@pytest.mark.parametrize("name", COUNTED)
def test_the_figures(name):
    """A cell in which no API failed counts as found where none is named."""
    cells = cells_of(name)
    right = [
        sum((failure and failure.api) == cell["api"] for cell, failure in found(cells, by_log=by_log))
        for by_log in (True, False)
    ]
    failing = sum(cell["api"] is not None for cell in cells)
    assert (len(cells), failing, *right) == COUNTED[name]


def test_the_readme_has_these_figures():
    """Row by row."""
    text = README.read_text(encoding="utf-8")
    for _, _, with_log, without in COUNTED.values():
        assert f"| {with_log} | {without} |" in text


@pytest.mark.parametrize("name", COUNTED)
def test_without_the_log_a_name_is_missing_and_never_wrong(name):
    """And where it is missing for a status error, the app is told."""
    for cell, failure in found(cells_of(name), by_log=False):
        named = failure and failure.api
        assert named in (cell["api"], None)
        if named is None and cell["api"] is not None:
            assert failure.app == cell["api"].partition(".")[0]


def test_the_documents_could_mislead():
    """The control: those of another cell name another API."""
    cells = [dict(cell) for cell in cells_of("cells")]
    paths = [cell["last_request"] for cell in cells if cell["last_request"]]
    for cell in cells:
        if cell["last_request"]:
            cell["last_request"] = next(path for path in paths if path["url"] != cell["last_request"]["url"])
    wrong = [cell for cell, failure in found(cells, by_log=True) if (failure and failure.api) != cell["api"]]
    assert wrong


def test_each_request_of_the_cells_has_its_own_document():
    """As the world's have."""
    cells = [cell for name in COUNTED for cell in cells_of(name) if cell["last_request"]]
    docs = ApiDocs.of(docs_of(cells))
    assert [
        (cell["name"], cell["requested"]) for cell in cells if docs.find(**cell["last_request"]) != cell["requested"]
    ] == []
