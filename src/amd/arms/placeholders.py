"""Whether a student wrote out what only stands for a value."""

from __future__ import annotations

from collections.abc import Mapping

from amd.json_text import JSON
from amd.session.hints import placeholders_in

__all__ = ["writes_placeholder"]


def writes_placeholder(arguments: Mapping[str, JSON]) -> bool:
    """Whether one of a call's arguments, at any depth, is a masked value's placeholder such as ``<file_name>``.

    Such a call copied an example without putting its own value in. Keys are not looked at, nor longer texts.

    >>> writes_placeholder({"files": ["a.txt", "<file_name>"]}), writes_placeholder({"text": "a <b> c"})
    (True, False)
    """
    return bool(placeholders_in(arguments))
