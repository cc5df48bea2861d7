"""The manifest's bytes: read, written, sealed and pinned. Its shapes are in ``figures.py``.

They are canonical (sorted keys, two spaces, final newline): a manifest is parsed, written again and compared, and its
``seal`` is the hash of all the rest. So no byte can differ without being noticed, and a seal that an evaluation
pins names one state of a whole memory.
"""

from __future__ import annotations

import re
from pathlib import Path

import orjson
from pydantic import ValidationError

from amd.errors import DigestDoesNotMatch, SchemaTooNew, StoreError
from amd.json_text import JSON, digest
from amd.store.figures import FORMAT, Manifest
from amd.store.files import read_file
from amd.store.place import MANIFEST, missing_manifest

__all__ = [
    "check_pin",
    "examine_manifest",
    "manifest_bytes",
    "parse_manifest",
    "published_manifest",
    "read_manifest",
    "sealed",
]

_VERSION = re.compile(r"amd-memory/([0-9]+)")


def _canonical(fields: JSON) -> bytes:
    return orjson.dumps(fields, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def sealed(manifest: Manifest) -> Manifest:
    """The manifest with its seal."""
    rest = manifest.model_dump(mode="json", exclude={"seal"})
    return manifest.model_copy(update={"seal": digest(_canonical(rest))})


def manifest_bytes(manifest: Manifest) -> bytes:
    """The bytes of the file."""
    return _canonical(manifest.model_dump(mode="json"))


def read_manifest(place: Path) -> Manifest:
    """The checked manifest of a memory.

    Raises:
        FileNotFoundError: no manifest. Other errors as :func:`parse_manifest`.
    """
    path = place / MANIFEST
    return parse_manifest(read_file(path), path)


def parse_manifest(text: bytes, path: Path) -> Manifest:
    """The manifest in ``text``; ``path`` is named in errors.

    Raises:
        SchemaTooNew: a later format.
        DigestDoesNotMatch: the seal is not the hash of the rest.
        StoreError: no JSON, not canonical, or not a manifest.
    """
    manifest, faults = examine_manifest(text, path)
    if faults:
        raise faults[0]
    assert manifest is not None
    return manifest


def examine_manifest(text: bytes, path: Path) -> tuple[Manifest | None, list[StoreError]]:
    """The manifest, if it can be read at all, and everything that is wrong with it."""
    try:
        fields = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return None, [_fault(path, f"not JSON: {error}", line=error.lineno)]
    if not isinstance(fields, dict):
        return None, [_fault(path, f"a JSON {type(fields).__name__}, not an object")]
    unknown = _unknown_format(fields.get("format"), path)
    if unknown:
        return None, [unknown]
    faults = []
    if _canonical(fields) != text:
        faults.append(_fault(path, "its bytes are not the canonical form of what they say"))
    found = digest(_canonical({name: value for name, value in fields.items() if name != "seal"}))
    if fields.get("seal") != found:
        faults.append(
            DigestDoesNotMatch(
                f"{path}: the seal is {fields.get('seal')}, the manifest's own hash is {found}",
                next_step=f"run: amd check {path.parent}",
                expected=fields.get("seal"),
                found=found,
            )
        )
    try:
        return Manifest.model_validate_json(text), faults
    except ValidationError as error:
        first = error.errors()[0]
        return None, [*faults, _fault(path, f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}")]


def _unknown_format(found: object, path: Path) -> StoreError | None:
    if found == FORMAT:
        return None
    version = _VERSION.fullmatch(found) if isinstance(found, str) else None
    if version is None or int(version[1]) <= 1:
        return _fault(path, f"the format is {found!r}, not {FORMAT!r}")
    return SchemaTooNew(
        f"{path}: the format is {found}, this version reads {FORMAT}",
        next_step="install a newer agent-memory-distillation",
        found=found,
        known=FORMAT,
    )


def _fault(path: Path, what: str, line: int = 1) -> StoreError:
    return StoreError(f"{path}:{line}: {what}", next_step=f"run: amd check {path.parent}", file=str(path), line=line)


def check_pin(manifest: Manifest | None, pin: str | None, place: Path) -> None:
    """Raise ``DigestDoesNotMatch`` unless the published seal is the pinned one; without a pin anything passes."""
    seal = manifest.seal if manifest else None
    if pin is not None and seal != pin:
        raise DigestDoesNotMatch(
            f"{place}: the seal is {seal or 'missing, nothing is published'}, the pin is {pin}",
            next_step="open the memory that was pinned, or pin this one's seal after looking at it",
            expected=pin,
            found=seal,
        )


def published_manifest(place: Path) -> Manifest:
    """The checked manifest at ``place``; ``StoreError`` where there is none."""
    try:
        return read_manifest(place)
    except (FileNotFoundError, NotADirectoryError):
        raise missing_manifest(place) from None
