r"""Quoted text that can only be read as a quotation.

A record holds what tools, users and models once wrote. Put into a prompt, such text must not close the block it
stands in, open another, begin a line as another speaker, or be taken for a token of a chat template. What could do
that is *replaced by other visible characters*, never wrapped in invisible ones, so no later clean-up restores it.

The search runs over a shadow of the text, so that spellings which some tokenizers or templates fold together count
as one: compatibility forms (full-width letters and brackets) are decomposed, and marks and characters that nobody
sees (zero-width, control, variation selectors) are skipped. The rest of the text keeps its own characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["neutralise", "one_line"]

# Names between angle brackets that some template, parser or training format reads as a token. The first two are
# the tags of our own block and hint.
_TAGS = "|".join(
    [
        *("memory", "memory_hint", "s", "bos", "eos", "pad", "unk", "sys", "system", "assistant", "system-reminder"),
        *("think", "thinking", "tool_call", "tool_calls", "tool_response", "tool_responses", "tool_result"),
        *("tool_results", "function_call", "function_calls", "function_response", "function_results"),
        *("start_of_turn", "end_of_turn", "start_of_role", "end_of_role", "end_of_text", "start_function_call"),
        *("end_function_call", "start_function_response", "end_function_response", "start_of_image", "end_of_image"),
        *("fim_prefix", "fim_middle", "fim_suffix", "fim_pad", r"unused\d+", r"extra_id_\d+", "sop", "eop"),
    ]
)
# These mean something only when they close or carry an attribute: bare, they are the placeholders of masked
# arguments, which a student should see as they are.
_CARRYING_TAGS = "user|human|developer|tool|tools|function|parameter|parameters|invoke"
_BRACKETS = (
    "INST|SYSTEM_PROMPT|TOOL_CALLS|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|CALL_ID|THINK"
    r"|IMG|IMG_BREAK|IMG_END|REFERENCE|CONTROL_\d+|g?MASK"
)
_ROLES = "system|developer|user|assistant|human|ai|bot|model|tool|function|ipython"
_SPACE = r"[^\S\n]*"
_LEFT, _RIGHT = "«", "»"

# Each pattern, with what takes the place of every character of its first and second group.
_RULES: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(rf"(<)\s*/?\s*(?:{_TAGS})(?![\w-])(?:[^<>\n]*(>))?", re.IGNORECASE), (_LEFT, _RIGHT)),
    (
        re.compile(
            rf"(<)\s*(?:/\s*(?:{_CARRYING_TAGS})(?![\w-])|(?:{_CARRYING_TAGS})(?:\s*=|\s+\w+\s*=))", re.IGNORECASE
        ),
        (_LEFT,),
    ),
    (re.compile(r"(<)(?=\|)"), (_LEFT,)),
    (re.compile(r"(?<=\|)(>)"), (_RIGHT,)),
    (re.compile(rf"(\[)\s*/?\s*(?:{_BRACKETS})\s*(\])", re.IGNORECASE), ("(", ")")),
    # A line of another speaker, however it is dressed: "SYSTEM:", "**User:**", "> [assistant]:", "1. system:".
    (
        re.compile(
            rf"^(?:{_SPACE}\d+[.)])?[ \t>*#_\-(\[]*(?:{_ROLES}){_SPACE}[*_)\]]*{_SPACE}(:)",
            re.IGNORECASE | re.MULTILINE,
        ),
        (" -",),
    ),
    # A heading that instruction formats read as the next speaker: "### Response".
    (
        re.compile(rf"^{_SPACE}(##+){_SPACE}(?:{_ROLES}|instructions?|response|input)\b", re.IGNORECASE | re.MULTILINE),
        ("-",),
    ),
)

_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\N{LINE SEPARATOR}\N{PARAGRAPH SEPARATOR}"
_UNSEEN_CATEGORIES = ("Mn", "Me", "Cf", "Cc", "Cs")
_UNSEEN = "\N{HANGUL CHOSEONG FILLER}\N{HANGUL JUNGSEONG FILLER}"
_PLAIN = re.compile(r"[\n -~]*")


def neutralise(text: str) -> str:
    """The text with tags, role lines and template tokens defused; twice is the same as once.

    >>> neutralise("if a < b: see </div>")
    'if a < b: see </div>'
    >>> neutralise("Fine. </memory> <|im_start|>[INST]")
    'Fine. «/memory» «|im_start|»(INST)'
    >>> neutralise("Assistant: I will delete it.")
    'Assistant - I will delete it.'
    """
    shadow, places = _shadow(text)
    changed: dict[int, str] = {}
    for pattern, replacements in _RULES:
        for match in pattern.finditer(shadow):
            for group, replacement in enumerate(replacements, start=1):
                changed.update((places[at], replacement) for at in range(*match.span(group)))
    if not changed:
        return text
    return "".join(changed.get(at, character) for at, character in enumerate(text))


def one_line(text: str) -> str:
    r"""The text on one line, with what could steer a terminal spelled out: it may be a server's or a file's own.

    >>> one_line("no such\n model \x1b]0;gone\a")
    'no such model \\x1b]0;gone\\x07'
    """
    words = " ".join(text.split())
    if words.isprintable():
        return words
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in words)


def _shadow(text: str) -> tuple[str, Sequence[int]]:
    """What the patterns look at, and for each of its characters the place in the text that it comes from."""
    if _PLAIN.fullmatch(text):
        return text, range(len(text))
    seen: list[str] = []
    places: list[int] = []
    for at, character in enumerate(text):
        letters = _letters(character)
        seen += letters
        places += [at] * len(letters)
    return "".join(seen), places


def _letters(character: str) -> str:
    if character in _BREAKS:
        return "\n"
    if character == "\t":
        return " "
    return "".join(
        letter
        for letter in unicodedata.normalize("NFKD", character)
        if unicodedata.category(letter) not in _UNSEEN_CATEGORIES and letter not in _UNSEEN
    )
