"""What a part of a task is about, as one of five categories: read off a text's words, or off a tool's name."""

from __future__ import annotations

import re

from amd.trajectory import ToolSpec
from amd.transcript import phrase, tool_words

__all__ = ["CATEGORIES", "categories_in", "category_of"]

_WORDS = {
    "authenticate": "authenticate authentication auth login logout log-in password credential credentials token signin",
    "explore": "explore browse list ls dir cd pwd tree navigate available directory describe help docs",
    "query": "query get find search show read view look lookup fetch retrieve cat grep count wc calculate compute tell "
    "what which how when where who display sort tail summarize summary status",
    "verify": "verify check validate confirm compare diff ensure test assert double-check sure",
    "execute": "execute add append apply book buy cancel change clear close comment copy create cp delete disable "
    "edit enable exchange fill follow insert invoke lock make mark mkdir modify move mv order pay place play post "
    "press purchase put register remove rename reply retweet rm run save schedule sell send set share start stop "
    "submit switch touch transfer turn update write",
}
CATEGORIES = tuple(_WORDS)
"""What a part of a task can be about, in the order in which they mostly come."""

_OF_WORD = {word: category for category, words in _WORDS.items() for word in words.split()}
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_LOG_IN = re.compile(r"\b(?:log|sign)[ -](?:in|on|out)\b")


def categories_in(text: str) -> tuple[str, ...]:
    """The categories that a text's words speak of, in the order of the text; all where none does.

    >>> categories_in("Log in, then find the invoice and send it."), len(categories_in("Hello!"))
    (('authenticate', 'query', 'execute'), 5)
    >>> categories_in("check the password")
    ('verify', 'authenticate')
    """
    words = _WORD.findall(_LOG_IN.sub("login", text.casefold()))
    found = dict.fromkeys(_OF_WORD[word] for word in words if word in _OF_WORD)
    return tuple(found) or CATEGORIES


def category_of(name: str, spec: ToolSpec | None) -> str:
    """The category of a tool: by its name, else by what it says it does, else it changes something."""
    for words in (tool_words(name), phrase(name, spec)):
        if found := next((_OF_WORD[word] for word in words.split() if word in _OF_WORD), None):
            return found
    return "execute"
