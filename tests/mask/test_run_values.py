"""What a run's tools call their things."""

from __future__ import annotations

from amd.mask.run_values import words_of
from amd.trajectory import ToolSpec

PARAMETERS = {
    "type": "dict",
    "properties": {
        "mode": {"type": "string", "enum": ["auto", "cool", 3]},
        "unit": {"type": "string", "description": 'The unit. [Enum]: ["celsius", "kelvin"], or none.'},
        "currency": {"type": "string", "description": "The base. [Enum]: USD, EUR"},
        "stops": {"type": "array", "items": {"type": "dict", "properties": {"kind": {"enum": ["bus"]}}}},
        "version": {"const": "v1"},
        "broken": {"description": "[Enum]: [not, json]"},
    },
}


def test_enums_and_names_at_any_depth():
    """Enum lists, nested items, constants, and the enums that BFCL writes into descriptions."""
    words = words_of(ToolSpec("drive", "", PARAMETERS))
    assert words.enums == {"auto", "cool", "celsius", "kelvin", "USD", "EUR", "bus", "v1"}
    assert words.names == {"mode", "unit", "currency", "stops", "kind", "version", "broken"}


def test_a_schema_that_is_none_has_no_words():
    """A deep or odd schema is read as far as it makes sense and never breaks a build."""
    deep = {"properties": {"enum": {"type": "string"}, "properties": {"enum": "on"}}}
    for _ in range(200):
        deep = {"items": deep}
    assert words_of(ToolSpec("x", "", deep)).enums == frozenset()
    assert words_of(ToolSpec("x", "", {"properties": {"enum": {"type": "string"}}})).names == {"enum"}
