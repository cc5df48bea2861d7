"""The benchmark's dialect of JSON Schema, and its descriptions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.errors import TrajectoryError
from amd_bfcl.schema import to_description, to_schema
from amd_bfcl.tasks import TOOL_DOCUMENTS

WORDS = {
    "dict": "object",
    "float": "number",
    "list": "array",
    "tuple": "array",
    "bool": "boolean",
    "string": "string",
    "integer": "integer",
}


@pytest.mark.parametrize(("theirs", "ours"), list(WORDS.items()))
def test_each_word_is_replaced(theirs, ours):
    """The table of the module's docstring."""
    assert to_schema({"type": theirs}) == {"type": ours}


def test_depth_defaults_enums_and_a_property_called_type():
    """Only schemas are rewritten: values stay, and ``type`` as a property's name is a name."""
    schema = {
        "type": "dict",
        "properties": {
            "type": {"type": "string", "enum": ["dict", "float"], "default": "float"},
            "items": {"type": "array", "items": {"type": "tuple", "items": {"type": "float"}}},
            "extra": {"type": "dict", "additionalProperties": {"type": "bool"}},
            "free": {"type": "dict", "additionalProperties": False},
        },
        "required": ["type"],
    }
    assert to_schema(schema) == {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["dict", "float"], "default": "float"},
            "items": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            "extra": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "free": {"type": "object", "additionalProperties": False},
        },
        "required": ["type"],
    }


@pytest.mark.parametrize("word", ["HashMap", "any", 7, None])
def test_an_unknown_type_is_an_error_that_says_where(word):
    """Nothing is guessed: a word that nobody knows means another version of the benchmark."""
    with pytest.raises(TrajectoryError, match=r"mv\.deep\.items: the type"):
        to_schema({"type": "dict", "properties": {"deep": {"type": "array", "items": {"type": word}}}}, "mv")


@given(
    st.recursive(
        st.fixed_dictionaries({"type": st.sampled_from(sorted(WORDS))}),
        lambda inner: (
            st.fixed_dictionaries({"type": st.just("dict"), "properties": st.dictionaries(st.text(), inner)})
            | st.fixed_dictionaries({"type": st.just("tuple"), "items": inner})
        ),
    )
)
def test_rewriting_twice_is_rewriting_once(schema):
    """The result is JSON Schema already, at any depth, and the input is not changed."""
    before = json.dumps(schema)
    once = to_schema(schema)
    assert to_schema(once) == once
    assert json.dumps(schema) == before


def test_only_the_words_about_the_system_go():
    """The tool's own words stay, whatever they say."""
    preamble = "This tool belongs to the file system. It does files, etc. Tool description: "
    assert to_description(preamble + "Copy. This tool belongs to nobody.") == "Copy. This tool belongs to nobody."
    assert to_description(" Copy a file.  ") == "Copy a file."
    assert to_description("See the Tool description: below.") == "See the Tool description: below."


def test_every_document_of_the_benchmark_is_readable(package):
    """128 tools: none keeps the words about its system, none loses its own."""
    documents = [
        json.loads(line) for name in TOOL_DOCUMENTS.values() for line in package.lines(f"multi_turn_func_doc/{name}")
    ]
    assert len(documents) == 128
    for document in documents:
        description = to_description(document["description"])
        assert description
        assert not description.startswith("This tool belongs to")
        assert document["description"].rstrip().endswith(description)
        text = json.dumps(to_schema(document["parameters"]))
        assert '"type": "dict"' not in text
        assert '"type": "float"' not in text
