"""The manifest and its seal."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from amd.errors import DigestDoesNotMatch, SchemaTooNew, StoreError
from amd.json_text import digest
from amd.store.manifest import manifest_bytes, parse_manifest, sealed

PATH = Path("memory/manifest.json")


def _resealed(text, **changes):
    """What somebody who knows the format would write."""
    fields = {**orjson.loads(text), **changes}
    del fields["seal"]
    form = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps({**fields, "seal": digest(orjson.dumps(fields, option=form))}, option=form)


@pytest.fixture
def text(grown):
    """The bytes of a manifest with a previous generation."""
    return (grown / "manifest.json").read_bytes()


def test_bytes_are_canonical_json_with_sorted_keys(text):
    """Anyone can recompute the seal with the standard library."""
    fields = json.loads(text)
    seal = fields.pop("seal")
    plain = json.dumps(fields, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert digest(plain.encode()) == seal
    manifest = parse_manifest(text, PATH)
    assert manifest_bytes(manifest) == text
    assert sealed(manifest) == manifest


def test_every_flip_of_a_byte_is_noticed(text):
    """Each byte, one bit at a time in turn: a typed error each time."""
    for place in range(len(text)):
        flipped = bytearray(text)
        flipped[place] ^= 1 << (place % 8)
        with pytest.raises(StoreError):
            parse_manifest(bytes(flipped), PATH)
    parse_manifest(text, PATH)


def test_every_cut_is_noticed(text):
    """Each length that is not the whole."""
    for length in range(len(text)):
        with pytest.raises(StoreError):
            parse_manifest(text[:length], PATH)
    with pytest.raises(StoreError):
        parse_manifest(text + b"\n", PATH)


def test_a_later_format_is_too_new(text):
    """Both formats are named."""
    with pytest.raises(SchemaTooNew, match="amd-memory/2") as caught:
        parse_manifest(_resealed(text, format="amd-memory/2"), PATH)
    assert caught.value.fields == {"found": "amd-memory/2", "known": "amd-memory/1"}


def test_a_wrong_seal_names_both_values(text):
    """The seal that stands there and the one that the rest gives."""
    with pytest.raises(DigestDoesNotMatch) as caught:
        parse_manifest(text.replace(b'"seal": "', b'"seal": "0', 1), PATH)
    assert str(caught.value.fields["expected"]) in str(caught.value)
    assert str(caught.value.fields["found"]) in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "amd-memory/0"},
        {"format": 1},
        {"generation": 0},
        {"generation": "2"},
        {"method": None},
        {"extra": 1},
        {"shelves": {"../../etc": {"rows": 0, "width": 64, "files": {}}}},
        {"shelves": {"workflow": {"rows": 0, "width": 63, "files": {}}}},
        {"floors": {"workflow": {"value": 2.0, "source": "pinned", "pairs": 0}}},
    ],
)
def test_a_sealed_manifest_of_another_shape_is_refused(text, changes):
    """A seal vouches for bytes, not for sense."""
    parse_manifest(_resealed(text), PATH)
    with pytest.raises(StoreError, match=r"memory/manifest\.json:1: "):
        parse_manifest(_resealed(text, **changes), PATH)


@pytest.mark.parametrize("text", [b"[]", b"7", b"null", b"{}", b"\xff", b'{"format": "amd-memory/1"}'])
def test_other_json_is_refused(text):
    """No manifest at all."""
    with pytest.raises(StoreError):
        parse_manifest(text, PATH)
