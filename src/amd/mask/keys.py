"""Which keys hold a person's name, a contact or a secret, and how a masked value is written.

A key is split into words (snake, kebab, camel case, white space; digits fall away, a plural counts as its singular)
and compared by whole words, so ``hotel`` is no ``tel`` and ``monkey`` no ``key``:

========  ============================================================================================
person    who somebody is: names, user names and ids, birth dates, senders and recipients
contact   how to reach somebody: e-mail, phone, postal address
secret    what opens or pays: passwords, tokens, keys, cards, payments, passport and account numbers
========  ============================================================================================

An *attribute* word counts anywhere in the key (``email_of_buyer``), a *holder* only as the key's head
(``user``, ``user_id``, but not ``user_agent``). A key about a measure of such a value (``token_count``,
``card_type``) holds none, and a name beside a thing (``file_name``, ``product_name``) is no person's.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

__all__ = [
    "TABLE_WORDS",
    "KeyClass",
    "holds_ids",
    "is_data_key",
    "is_placeholder",
    "key_class",
    "key_words",
    "slug",
    "whole_key",
    "word_set",
]

KeyClass = Literal["person", "contact", "secret"]


def word_set(words: str) -> frozenset[str]:
    """The words of a text, for the tables of this package."""
    return frozenset(words.split())


_ATTRIBUTES: dict[KeyClass, str] = {
    "person": """name firstname lastname fullname surname forename nickname username userid dob birth birthday
        birthdate cardholder accountholder""",
    "contact": "email mail phone telephone mobile fax address street phonenumber emailaddress",
    "secret": """password passwd passcode passphrase pwd pw pin secret token accesstoken authtoken credential apikey
        accesskey secretkey privatekey authorization cookie jwt otp cvv cvc ssn passport iban payment_method
        payment_source social_security access_code security_code verification_code verification_number account_number
        routing_number session_id driver_license license_number last_four""",
}
_HOLDERS: dict[KeyClass, str] = {
    "person": """user person people customer client_id sender receiver recipient payee payer author owner creator
        assignee created_by mentioned_usernames""",
    "contact": "contact",
    "secret": "card payment key",
}
# Words that say how a value is held, not what it is: they are dropped when a key's head is looked for.
_NEUTRAL = word_set("id number num no value list map set array detail info string line primary new old")
# A key with one of these as its head is about a value: its kind, its number, its state.
_MEASURES = word_set(
    """type kind count limit status state scope expiry expires expiration in at length size valid validity verified
    required enabled changed updated sent policy strength format field hint prefix usage used budget cost rate attempt
    available exists order index service provider subject body content template notification reset agent"""
)
_QUANTITIES = word_set("max min total num count prompt completion has is can should require requires")
# A name, address or contact beside one of these belongs to a thing or a place.
_OF_THINGS = frozenset({("name",), ("address",), ("street",), ("contact",)})
_THINGS = word_set(
    """file dir directory folder path tool app application product event function class method module package field
    column table database db variable city country state region province airport station hotel restaurant venue place
    location company organization organisation brand item song album playlist track movie book recipe team channel
    group project repo repository branch model category tag label host domain server service bucket symbol stock
    currency document sheet report image flight vehicle device test task step job workflow schema type property
    attribute parameter param argument account calendar ip mac memory web url program school stop store"""
)
# Keys of tables and of key boards.
_ORDINARY_KEYS = word_set("primary foreign sort partition index public group cache lookup join hot shortcut")
# A bare ``id`` or ``number`` belongs to what holds it: ``{"user": {"id": …}}``.
_INHERITING = word_set("id number value first last middle full given family")

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+")
_PLACEHOLDER = re.compile(r"<\w{1,64}>")
_IDENTIFIER = re.compile(r"[^\W\d][\w.$-]{0,63}")


def _phrases(table: dict[KeyClass, str]) -> dict[tuple[str, ...], KeyClass]:
    return {tuple(entry.split("_")): kind for kind, entries in table.items() for entry in entries.split()}


_ATTRIBUTE = _phrases(_ATTRIBUTES)
_HOLDER = _phrases(_HOLDERS)
TABLE_WORDS = frozenset(word for phrase in (*_ATTRIBUTE, *_HOLDER) for word in phrase)
"""Every word of the table: such a word is the tools' language and never a person's own value."""

_KNOWN = TABLE_WORDS | _NEUTRAL | _MEASURES | _THINGS


def _singular(word: str) -> str:
    for ending in ("s", "es"):
        if word.endswith(ending) and word not in _KNOWN and word[: -len(ending)] in _KNOWN:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=4096)
def key_words(key: str) -> tuple[str, ...]:
    """The words of a key, in lower case and singular.

    >>> key_words("homeEmail-addresses2"), key_words("HTTPToken")
    (('home', 'email', 'address'), ('http', 'token'))
    """
    return tuple(_singular(word) for word in _WORD.findall(_CAMEL.sub(" ", key).casefold()))


def _phrase(words: tuple[str, ...], table: dict[tuple[str, ...], KeyClass], *, head: bool) -> tuple[str, ...] | None:
    """The last phrase of the table that the words hold, two words before one; with ``head`` only at the end."""
    for end in range(len(words), 0, -1):
        for start in (end - 2, end - 1):
            if start >= 0 and words[start:end] in table:
                return words[start:end]
        if head:
            return None
    return None


def _without_neutral(words: tuple[str, ...]) -> tuple[str, ...]:
    while len(words) > 1 and words[-1] in _NEUTRAL:
        words = words[:-1]
    return words


def whole_key(key: str, parent: str) -> str:
    """The key, behind its parent's if it is a bare ``id``, ``number`` or ``first``.

    >>> whole_key("id", "user"), whole_key("email", "user")
    ('user_id', 'email')
    """
    words = key_words(key)
    return f"{parent}_{key}" if parent and len(words) == 1 and words[0] in _INHERITING else key


@lru_cache(maxsize=4096)
def key_class(key: str, parent: str = "") -> KeyClass | None:
    """The class of a key, or ``None``. ``parent`` is the key of what holds it, for ``{"user": {"id": …}}``.

    >>> [key_class(key) for key in ("first_name", "homePhone", "api-key", "user_id", "card_number")]
    ['person', 'contact', 'secret', 'person', 'secret']
    >>> [key_class(key) for key in ("file_name", "hotel", "monkey", "token_type", "max_tokens", "primary_key", "id")]
    [None, None, None, None, None, None, None]
    >>> key_class("id", parent="user"), key_class("first", parent="name")
    ('person', 'person')
    """
    words = key_words(whole_key(key, parent))
    if not words or words[-1] in _MEASURES or not _QUANTITIES.isdisjoint(words):
        return None
    phrase = (
        _phrase(words, _ATTRIBUTE, head=False)
        or _phrase(words, _HOLDER, head=True)
        or _phrase(_without_neutral(words), _HOLDER, head=True)
    )
    if phrase is None or (phrase in _OF_THINGS and not _THINGS.isdisjoint(words)):
        return None
    if phrase == ("key",) and not _ORDINARY_KEYS.isdisjoint(words):
        return None
    return _ATTRIBUTE.get(phrase) or _HOLDER[phrase]


@lru_cache(maxsize=4096)
def holds_ids(key: str) -> bool:
    """Whether a dictionary under this key may be keyed by payment ids: ``{"payment_methods": {"card_812": …}}``."""
    return not {"card", "payment", "account", "wallet", "certificate"}.isdisjoint(key_words(key))


def is_data_key(key: str, *, nested: bool = True) -> bool:
    """Whether a dictionary's key is a value of the run rather than a name of the tool's own.

    No identifier, or one with a long number in it: three digits in a row, five for a name of an argument itself.

    >>> [is_data_key(key) for key in ("payment_id", "file_name1", "credit_card_6610352", "tess@example.org", "<card>")]
    [False, False, True, True, True]
    """
    return not _IDENTIFIER.fullmatch(key) or re.search(r"\d{3}" if nested else r"\d{5}", key) is not None


def slug(key: str) -> str:
    """The name inside a placeholder: the key with all that is not a letter, digit or underscore as ``_``."""
    return re.sub(r"\W+", "_", key).strip("_")[:64] or "value"


def is_placeholder(text: str) -> bool:
    """Whether a text is a placeholder and nothing else."""
    return _PLACEHOLDER.fullmatch(text) is not None
