r"""Quoted text that can only be read as a quotation.

A record holds what tools, users and models once wrote. Put into a prompt, such text must not close the block it
stands in, open another, begin a line as another speaker, or be taken for a token of a chat template. What could do
that is *replaced by other visible characters*, never wrapped in invisible ones, so no later clean-up restores it.

The search runs over a shadow of the text, so that spellings which some tokenizers or templates fold together count
as one: compatibility forms (``＜``, ``｜``) are decomposed, and marks and characters that nobody sees (zero-width,
control, variation selectors) are skipped. The rest of the text keeps its own characters.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["neutralise"]

# Names that some template, parser or training format reads as a token between angle brackets; the first two are
# our own tags.
_TAGS = (
    "memory memory_hint s bos eos pad unk mask sys system developer user assistant human model tool tools tool_call "
    "tool_calls tool_response tool_responses tool_result tool_results function function_call function_calls "
    "function_response function_results invoke parameter parameters think thinking start_of_turn end_of_turn "
    "start_function_call end_function_call start_function_response end_function_response system-reminder "
    "start_of_role end_of_role end_of_text turn channel"
).split()
_BRACKETS = "INST SYSTEM_PROMPT TOOL_CALLS AVAILABLE_TOOLS TOOL_RESULTS TOOL_CONTENT ARGS CALL_ID THINK".split()
_ROLES = "system|developer|user|assistant|human|ai|bot|model|tool|function|ipython"
_SPACE = r"[^\S\n]*"

# Each pattern with what takes the place of the characters in its groups.
_RULES: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(rf"(<)\s*/?\s*(?:{'|'.join(_TAGS)})(?![\w-])(?:[^<>\n]*(>))?", re.IGNORECASE), ("‹", "›")),
    (re.compile(r"(<)\|"), ("‹",)),
    (re.compile(r"\|(>)"), ("›",)),
    (re.compile(rf"(\[)\s*/?\s*(?:{'|'.join(_BRACKETS)})\s*(\])", re.IGNORECASE), ("(", ")")),
    (re.compile(rf"^[^\S\n>*#_\-(\[]*", re.IGNORECASE), ()),
)
