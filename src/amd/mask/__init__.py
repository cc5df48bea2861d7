"""Masking at one choke point: what is sent to a builder model or stored goes through :class:`Mask`.

Four rules, each in its own file:

1. **Arguments** (:mod:`amd.mask.rules`): by key and JSON type, at any depth, default deny. Kept are ``null``, booleans,
   whole numbers up to 100 and members of an enum of the tool's schema; never under a person, contact or secret key.
2. **Recurrence** (:mod:`amd.mask.recurrence`): what stands under such a key (:mod:`amd.mask.keys`), in an argument or
   in an observation, is replaced wherever it recurs in the run.
3. **Observations** stay readable: only what stands under such a key is masked where it stands.
4. **Value-shaped rules** (:mod:`amd.mask.shapes`, :mod:`amd.mask.pairs`) for all free text: checksums where there are
   any, so that dates, ids, prices, symbols and file names survive.

A masked value, string or number, becomes ``<key>`` with its own key's name: a student reads these. Masking twice is
masking once. A query goes through rule 4 only (:func:`mask_query`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amd.mask.shapes import mask_query

if TYPE_CHECKING:
    from amd.mask.rules import Mask

__all__ = ["Mask", "mask_query"]


def __getattr__(name: str) -> object:
    """Load ``Mask`` when it is first used: a student's side needs only :func:`mask_query`."""
    if name != "Mask":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import amd.mask.rules  # noqa: PLC0415 - see above

    return amd.mask.rules.Mask
