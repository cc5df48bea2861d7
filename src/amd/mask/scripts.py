"""Character classes for text in any script.

Japanese, Chinese, Korean and Thai are written without blanks, so an e-mail or a name in such a sentence has letters
right beside it. A *word character* here is a letter, digit or underscore of a script that does put blanks between
words; between these scripts and the others there is a word boundary.
"""

from __future__ import annotations

__all__ = ["AFTER", "BEFORE", "UNSPACED", "WORD"]

_RANGES = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)

UNSPACED = f"[{_RANGES}]"
"""One character of a script without blanks."""

WORD = rf"[^\W{_RANGES}]"
"""One word character of any other script."""

# Behind a percent code or a JSON escape, kept as text, the value begins although a letter or digit stands before it.
BEFORE = rf"(?:(?<!{WORD})|(?<=%[0-9A-Fa-f]{{2}})|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{{4}}))"
"""The start of a word."""

AFTER = rf"(?!{WORD})"
"""The end of a word."""
