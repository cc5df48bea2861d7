"""Value-shaped rules: what is a secret or a contact by its own shape, wherever it stands.

===================  ==========================================================================================
e-mail               any script, percent-encoded and JSON-escaped too
phone                ``+`` and a country code, or 3-3-4 digits with separators; no plain run of digits
payment card         13 to 19 digits of an issuer's range with a right Luhn digit (ISO/IEC 7812-1)
IBAN                 two letters, check digits, remainder 1 modulo 97 (ISO 13616)
SSN                  3-2-4 digits
IPv4                 public addresses; private, loopback and link-local ones tell nothing and stay
keys and tokens      JWT, AWS, GitHub, GitLab, Google, Slack, Stripe, ``sk-…``, ``tok_…``, bearer and basic tokens
PEM                  a block as a whole
pairs                ``password: x`` and its like (:mod:`amd.mask.pairs`)
===================  ==========================================================================================

A long hexadecimal number by itself is a hash more often than a key and stays. All patterns are anchored at the start
of a word and bounded in length, so two megabytes of anything take linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from ipaddress import IPv4Address

from amd.mask.pairs import mask_pairs
from amd.mask.scripts import AFTER, UNSPACED, WORD, Pattern, lazily, replace_checked

__all__ = ["mask_emails", "mask_query", "mask_shapes", "until_stable"]

_PEM = lazily(
    r"-----BEGIN [A-Z0-9 ]{1,40}-----"
    r"(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{1,40}-----|(?:\s|\\[nr]|[A-Za-z0-9+/=]{16,80})*+)"
)
_URL_PASSWORD = lazily(r"(?<=://)([^\s/:@<>\\\"]{1,64}):[^\s/@<>\\\"]{1,256}@")
_PREFIXED = lazily(
    r"""(?<![A-Za-z0-9_-])(?:
        eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]+){0,4}
      | (?:AKIA|ASIA)[A-Z0-9]{16}
      | gh[pousr]_[A-Za-z0-9]{16,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,}
      | xox[abeprs]-[A-Za-z0-9-]{10,} | AIza[A-Za-z0-9_-]{30,} | hf_[A-Za-z0-9]{20,}
      | [srp]k_(?:live|test)_[A-Za-z0-9]{8,} | sk-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{12,}
      | tok_[A-Za-z0-9]{6,}
    )(?![A-Za-z0-9_])""",
    re.VERBOSE,
)
_BEARER = lazily(r"(?<![A-Za-z0-9])(bearer|basic)(\s{1,4})([A-Za-z0-9._~+/-]{8,4096}+=*)", re.IGNORECASE)

_AT = r"(?:@|\uff20|%40|\\u0040)"
_AT_SIGN = lazily(_AT)
_LABEL = rf"(?:{WORD}|{UNSPACED}|-){{1,63}}"
_TOP = rf"(?:xn--[A-Za-z0-9-]{{2,59}}|(?:(?![\d_]){WORD}){{2,24}}|{UNSPACED}{{2,8}})"
_EMAIL = lazily(
    rf"(?:(?<!{WORD}){WORD}(?:{WORD}|[.+'-]|%2[Bb]){{0,63}}|{UNSPACED}{{1,32}}){_AT}(?:{_LABEL}\.){{1,8}}{_TOP}"
)

_IBAN = lazily(rf"(?<!{WORD})[A-Z]{{2}}[0-9]{{2}}(?:[ -]?[A-Z0-9]){{11,30}}")
_CARD = lazily(
    rf"(?<!{WORD})(?<![0-9]\.)(?<!\+)(?:[3-6][0-9]{{3}}|2[2-7][0-9]{{2}})"
    rf"(?:([ -])[0-9]{{4}}\1[0-9]{{4}}\1[0-9]{{4}}(?:\1[0-9]{{3}})?|([ -])[0-9]{{6}}\2[0-9]{{4,5}}|[0-9]{{9,15}})"
    rf"{AFTER}(?!\.[0-9])"
)
_SSN = lazily(rf"(?<!{WORD})(?<!-)[0-9]{{3}}-[0-9]{{2}}-[0-9]{{4}}{AFTER}(?!-)")
_PHONE = lazily(
    rf"""(?<!{WORD})(?<![+.])(?:
        \(?\+[0-9]{{1,3}}\)?(?:[ .-]?\(?[0-9]{{1,4}}\)?){{2,5}}
      | (?<![0-9][ -])(?:\+?1[ .-])?(?:\([0-9]{{3}}\)[ ]?|[0-9]{{3}}[ .-])[0-9]{{3}}[.-][0-9]{{4}}
      | (?<![0-9][ ])(?:\+?1[ ])?[2-9][0-9]{{2}}[ ][2-9][0-9]{{2}}[ ][0-9]{{4}}(?![ ][0-9])
    ){AFTER}(?![.-][0-9])""",
    re.VERBOSE,
)
_IPV4 = lazily(rf"(?<!{WORD})(?<!\.)(?<!version[ ])(?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}}{AFTER}(?!\.[0-9])")

# A text with none of these is left alone at once: most strings are short words and numbers.
_TRIGGER = re.compile(
    rf"{_AT}|\d{{3}}|\d\.\d{{1,3}}\.|://|-----BEGIN|eyJ|AKIA|ASIA|AIza|hf_|gh[pousr]_|xox|k_live|k_test|sk-|tok_|glpat"
    r"|(?i:pass|pwd|pw|pin|otp|cv[vc]|secret|token|key|code|auth|bearer|basic)"
)

_MOST_PASSES = 50


def until_stable(mask: Callable[[str], str], text: str) -> str:
    """The text masked until masking changes nothing: what a first pass replaced may uncover the start of a word.

    A text that does not settle, as only one made for that would, becomes ``<value>`` as a whole.
    """
    for _ in range(_MOST_PASSES):
        if (masked := mask(text)) == text:
            return text
        text = masked
    return "<value>"


def mask_query(text: str) -> str:
    """A text, masked by the value-shaped rules alone: for what a student asks.

    >>> mask_query("mail tess@example.org or call 415-555-0199 before 2024-10-27 14:00, order 12446")
    'mail <email> or call <phone> before 2024-10-27 14:00, order 12446'
    """
    return until_stable(mask_shapes, text)


def mask_emails(text: str) -> str:
    """The rule for e-mail addresses alone."""
    return _EMAIL().sub("<email>", text) if _AT_SIGN().search(text) else text


def mask_shapes(text: str, names: Collection[str] = ()) -> str:
    """One pass of the value-shaped rules; ``names`` (case-folded) are the names of tools and arguments."""
    if not _TRIGGER.search(text):
        return text
    text = _PEM().sub("<private_key>", text)
    text = _URL_PASSWORD().sub(r"\1:<password>@", text)
    text = _PREFIXED().sub("<token>", text)
    text = _BEARER().sub(_bearer, text)
    text = mask_pairs(text, names)
    text = mask_emails(text)
    for pattern, end_of, placeholder in _CHECKED:
        text = replace_checked(pattern(), end_of, placeholder, text)
    return text


def _bearer(match: re.Match[str]) -> str:
    token = match[3]
    mixed = any(c.isdigit() for c in token) or (len(token) >= 16 and token.lower() != token != token.upper())
    return f"{match[1]}{match[2]}<token>" if mixed else match[0]


def _iban_end(match: re.Match[str]) -> int | None:
    """The longest prefix that is a right IBAN and ends with a word."""
    for end in range(match.end(), match.start() + 14, -1):
        if end < len(match.string) and (match.string[end].isalnum() or not match.string[end - 1].isalnum()):
            continue
        code = re.sub(r"[ -]", "", match.string[match.start() : end])
        if len(code) >= 15 and int("".join(str(int(char, 36)) for char in code[4:] + code[:4])) % 97 == 1:
            return end
    return None


def _card_end(match: re.Match[str]) -> int | None:
    digits = [int(char) for char in match[0] if char.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return match.end() if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1 else None


def _phone_end(match: re.Match[str]) -> int | None:
    """E.164 allows 15 digits; an unseparated run below 10 may be a signed number or a date in a diff."""
    digits = sum(char.isdigit() for char in match[0])
    separated = re.search(r"\d\D+\d", match[0]) is not None
    return match.end() if (8 if separated else 10) <= digits <= 15 else None


def _public_end(match: re.Match[str]) -> int | None:
    octets = match[0].split(".")
    if any(int(octet) > 255 or (len(octet) > 1 and octet[0] == "0") for octet in octets):
        return None
    address = IPv4Address(match[0])
    local = address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified
    private = int(octets[0]) == 10 or octets[:2] == ["192", "168"] or (octets[0] == "172" and 16 <= int(octets[1]) < 32)
    return None if local or private or int(octets[0]) >= 240 else match.end()


def _always(match: re.Match[str]) -> int | None:
    return match.end()


_CHECKED: tuple[tuple[Pattern, Callable[[re.Match[str]], int | None], str], ...] = (
    (_IBAN, _iban_end, "<iban>"),
    (_CARD, _card_end, "<card>"),
    (_SSN, _always, "<ssn>"),
    (_PHONE, _phone_end, "<phone>"),
    (_IPV4, _public_end, "<ip>"),
)
