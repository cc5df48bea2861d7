"""Secrets named in prose, code or JSON: ``password: x``, ``pw x``, ``"access_token": "x"``, ``PIN is 4821``.

Only the value goes. How much a value must look like a secret depends on what binds it to its name: a colon or an
equals sign, a verb, or nothing but a blank ("the password tool asks for the old password first" names none).
"""

from __future__ import annotations

import re
from collections.abc import Collection

from amd.mask.keys import TABLE_WORDS, is_placeholder, key_words, word_set
from amd.mask.scripts import lazily

__all__ = ["mask_pairs"]

# Lengths are bounded so that the search stays linear in any text; a longer value is followed to its end afterwards.
_NAME = r"""(?<![A-Za-z0-9])(?P<name>(?:[A-Za-z0-9]{1,32}[_-]){0,4}?(?:
    pass(?:word|wd|code|phrase) | pwd | pw | pin | otp | cvv | cvc | secret (?:[ _-]?(?:access[ _-]?)?key)?
  | (?:(?:access|auth|authorization|authorisation|bearer|session|refresh|id|api|client|security|account) [ _-]?)? token
  | (?:client|app|shared) [ _-]? secret | (?:api|access|private|secret|auth) [ _-]? key
  | (?:access|security|verification) [ _-] code | authorization
  ))(?![A-Za-z0-9_-])"""
_BINDING = r"""(?:\\{0,3}["'`*_]{0,3}) (?:
    (?P<sign> \s{0,4} (?: := | => | [:=] ) [ \t*]{0,4} )
  | (?P<verb> \s{1,4} (?:is|are|was|as|of|to|labell?ed|named|called|here) (?:\s{1,2}(?:as|set\sto|now))? :? \s{1,4} )
  | (?P<blank> \s{1,4} \(? )
  )"""
# A bare value ends at white space, be it escaped, and at quotes; an apostrophe inside a word is none.
_CHAR = r"""[^\s"'`<>,;\\\u201c\u201d\u2018\u2019]|\\(?![nrtbfu"'/])|(?<=\w)'(?=\w)"""
_VALUE = r"""(?:
    (?P<open> \\{0,3}["'`] ) (?P<quoted> (?:(?!(?P=open))[^\n]){1,512} ) (?P=open)
  | [\u201c\u2018] (?P<curly> [^\u201d\u2019\n]{1,512} ) [\u201d\u2019]
  | (?:\\{0,3}["'`])? (?P<bare> (?:CHAR){1,512} )
  )""".replace("CHAR", _CHAR)
_PAIR = lazily(_NAME + _BINDING + _VALUE, re.IGNORECASE | re.VERBOSE)
_ANY_NAME = re.compile(r"pass|pw|pin|otp|cv[vc]|secret|token|key|code|authorization", re.IGNORECASE)
_REST = lazily(rf"(?:{_CHAR})*")
# ``refreshtoken``, ``authkey``: where the second word begins.
_GLUED = re.compile(r"(?<=[A-Za-z])(?=(?:token|secret|key|code)(?![A-Za-z]))", re.IGNORECASE)
_SYNONYM = {"pw": "password", "pwd": "password", "passwd": "password"}

# Words that the name of a placeholder may have; none of them recurs as a value (see amd.mask.recurrence).
_NAME_WORDS = TABLE_WORDS | word_set("api app auth bearer client id private refresh shared")
# What stands behind the name in schemas, code and sentences, where no value does.
_NO_VALUE = TABLE_WORDS | word_set(
    """str string text int integer number float bool boolean object array list dict any type null none nil true false
    undefined required optional bearer basic the a an your my their our his her its this that these those not no yes
    ok and or if for in on at by to from with of is are was be has have been must should will can may see use using
    then when which who what where please too also still now never always correct incorrect wrong invalid valid expired
    weak strong safe secure short long missing empty unknown mandatory private public new old same different ready
    case-sensitive default hidden redacted n/a enter"""
)
_ADJECTIVE = re.compile(r"\w*(?:ed|ing|able|ible|ive|ent|ory|ly)")
_CALL = re.compile(r"[^\W\d][\w.]{0,100}\(.{0,400}\)\W{0,3}$")
_TRAILING = ".,;:?)]}|*"


def mask_pairs(text: str, names: Collection[str] = ()) -> str:
    """The text with the value of each pair as ``<name>``; ``names`` (case-folded) are no values, but names of tools.

    >>> mask_pairs("log in with password is 'hunter2', pw Plum-7731!")
    "log in with password is '<password>', pw <password>"
    >>> mask_pairs("the password tool asks for the old password first")
    'the password tool asks for the old password first'
    >>> mask_pairs("log in with a password (`log_in_2`)", {"log_in_2"})
    'log in with a password (`log_in_2`)'
    """
    if not _ANY_NAME.search(text):
        return text
    pieces: list[str] = []
    copied = at = 0
    while match := _PAIR().search(text, at):
        span = _secret(match, text)
        if span is None or text[slice(*span)].casefold() in names:
            at = match.end("name")
            continue
        pieces += text[copied : span[0]], f"<{_placeholder(match['name'])}>"
        copied = at = span[1]
    return "".join([*pieces, text[copied:]])


def _placeholder(name: str) -> str:
    """The name without what a project put before it: ``CI_DB_PASSWORD`` is a ``password``."""
    all_words = key_words(name)
    if _NAME_WORDS.isdisjoint(all_words):
        all_words = key_words(_GLUED.sub("_", name))
    return "_".join(_SYNONYM.get(word, word) for word in all_words if word in _NAME_WORDS)


def _secret(match: re.Match[str], text: str) -> tuple[int, int] | None:
    """Where the secret value stands, or ``None`` if the pair holds none."""
    for group in ("quoted", "curly"):
        if match[group] is not None:
            return match.span(group) if _is_quoted_secret(match[group], blank=match["blank"] is not None) else None
    start, end = match.span("bare")
    rest = _REST().match(text, end)
    assert rest is not None
    whole = text[start : rest.end()]
    value = whole.rstrip(_TRAILING)
    if not value or not _is_bare_secret(value, match, call=_CALL.match(whole) is not None):
        return None
    return start, start + len(value)


def _is_quoted_secret(value: str, *, blank: bool) -> bool:
    if is_placeholder(value):
        # One of ours names a secret; other words in angle brackets are taken as the value itself.
        return TABLE_WORDS.isdisjoint(key_words(value)) and value != "<value>"
    # A quote that closes what came before opens on a comma or a blank: ``"password:", "next"``.
    if not any(char.isalnum() for char in value) or value[0] in " \t,.;:)]}":
        return False
    return value.casefold() not in _NO_VALUE and not (blank and any(char.isspace() for char in value))


def _is_bare_secret(value: str, match: re.Match[str], *, call: bool) -> bool:
    plain = value.casefold()
    if call or value[0] in "$[{(\\" or plain in _NO_VALUE or not any(char.isalnum() for char in value):
        return False
    name = key_words(match["name"])[-1:]
    short = name in (("pin",), ("cvv",), ("cvc",), ("otp",))
    if short and value.isdecimal():
        # "pin 2024 posts" is a verb.
        return 3 <= len(value) <= 8 and (match["blank"] is None or name != ("pin",) or match["name"].isupper())
    if match["sign"] is not None:
        return len(value) >= 3
    if match["verb"] is not None and match["verb"].split()[0].casefold() == "is" and len(value) >= 4:
        return _looks_random(value) or (value.isalpha() and not _ADJECTIVE.fullmatch(plain))
    return _looks_random(value)


def _looks_random(value: str) -> bool:
    """Whether a word is none of a language: letters and digits mixed, an odd symbol inside, or a long number."""
    if len(value) < 4:
        return False
    letters, digits = any(char.isalpha() for char in value), any(char.isdigit() for char in value)
    if letters:
        return digits or re.search(r"\w[!@#$%^&*+~]\w", value) is not None
    return value.isdecimal() and len(value) >= 5
