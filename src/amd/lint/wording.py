"""Whether a workflow's text has a validation cue: a word that says what to check, and so when the task is done."""

from __future__ import annotations

import re

from amd.records import Record

__all__ = ["without_cue"]

_CODE = re.compile(r"`[^`\n]*`")
_CUE = re.compile(
    r"""(?<!\w)(?:
        (?:re|double|cross)?-?(?:check|verif|confirm|validat)\w* | ensur\w+ | inspect\w* | expect\w*
      | make\ (?:sure|certain) | see\ (?:that|whether|if) | look\ for
      | (?:should|must|will)\ (?:now\ |then\ |also\ )?(?:show|have|contain|return|list|say|read|match|equal|appear|be)
      | only\ (?:done|complete|finished)\ (?:when|if|once)
    )(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)


def without_cue(record: Record) -> str | None:
    """Why a workflow's text is worth a look: it never says what to check. ``None`` if it does, or need not.

    A run without a call has no result to check. The cues are English, so a text in another script is not judged.

    >>> from amd.testing import run
    >>> from amd.build.distill import distill
    >>> from amd.methods import method_named
    >>> from amd.tier import RULES
    >>> records = distill([run(1)], method_named("workflow").tiers, RULES, created_at="").records["workflow"]
    >>> [without_cue(record) for record in records.values()]
    [None]
    """
    text = record.body.get("text")
    if record.tier != "workflow" or not isinstance(text, str) or record.source.steps == (0, 0):
        return None
    if _CUE.search(_CODE.sub("", text)) or not _is_latin(text):
        return None
    return "its text never says what to check"


def _is_latin(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(char < "\u0250" for char in letters) >= len(letters)
