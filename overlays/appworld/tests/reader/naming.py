"""Finds what failed in cells that the real environment answered, with the log of requests and without it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from amd_appworld.api_docs import ApiDocs
from amd_appworld.code import read_cell
from amd_appworld.failing import failing_api
from amd_appworld.names import Names

FIXTURES = Path(__file__).parents[1] / "fixtures"


def cells_of(name):
    """One set of cells."""
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


def docs_of(cells):
    """Documents of all APIs that these cells asked, so that one may be mistaken for another; ids are filled in."""
    documents = {}
    for cell in cells:
        if cell["last_request"]:
            app, api = cell["requested"].split(".")
            path = re.sub(r"/(?:\d+|seven)(?=/|$)", "/{id}", cell["last_request"]["url"])
            documents.setdefault(app, {})[api] = {"path": path, "method": cell["last_request"]["method"]}
    return documents


def found(cells, *, by_log):
    """Each cell with the failure that is found in it; the cells follow each other in one run."""
    names = Names()
    docs = ApiDocs.of(docs_of(cells)) if by_log else None
    for cell in cells:
        asked = cell["last_request"] if by_log else None
        yield cell, failing_api(cell["code"], cell["output"], last_request=asked, docs=docs, before=names)
        names = read_cell(cell["code"], names).names
