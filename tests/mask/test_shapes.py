"""Value-shaped rules: what goes by its own shape, and what must survive."""

from __future__ import annotations

import pytest

from amd.mask import mask_query
from amd.mask.shapes import until_stable

SECRETS = {
    # text: the secrets in it
    "write to tess.example@example.org today": ["tess.example@example.org"],
    "tess.example%40example.org": ["tess.example", "example.org"],
    r"tess.example\u0040example.org": ["tess.example", "example.org"],
    "'jörg+x@münchen.example.de'": ["jörg", "münchen"],
    "用户@例子.广告": ["用户", "例子"],
    "phone 415-555-0199": ["0199"],
    "(415) 555-0199 or 1-415-555-0200": ["0199", "0200"],
    "+4915112345678": ["15112345678"],
    "+44 (0)20 7946 0958": ["7946"],
    "call 415 555 0199": ["0199"],
    "4111 1111 1111 1111, 12/26": ["1111"],
    "card 4111111111111111": ["4111111111111111"],
    "4111-1111-1111-1111": ["1111"],
    "paid 5000 3782 822463 10005": ["822463"],
    "GB29 NWBK 6016 1331 9268 19 THEN": ["NWBK", "6016"],
    "DE89370400440532013000": ["DE89"],
    "SSN 078-05-1120": ["078-05-1120"],
    "eyJhbGciOiJIUzI1NiJ9.e30.abc": ["eyJ", "e30"],
    "AKIAIOSFODNN7EXAMPLE": ["AKIA"],
    "uses token ghp_ABCDEF0123456789abcdef": ["ghp_"],
    "github_pat_11ABCDEFG0123456789_abcdef": ["github_pat_"],
    "key sk-live-abcdef1234567890": ["sk-live", "abcdef"],
    "sk-proj-Abc_def-1234567890abcdef": ["Abc_def"],
    "xoxb-123456789012-abcdefghijkl": ["xoxb"],
    "tok_secret": ["tok_secret"],
    "Authorization: Bearer abc123def456ghi": ["abc123def456ghi"],
    'curl -H "Authorization: Basic dXNlcjpwYXNzMTIz"': ["dXNlcjpwYXNzMTIz"],
    "https://bob:hunter2@example.org/x": ["hunter2"],
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nab+/==\n-----END RSA PRIVATE KEY-----": ["MIIE", "ab+/", "END"],
    r"-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEAabcdef\n-----END PRIVATE KEY-----\n": ["MIIE", "END"],
    "cut off: -----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEAabcdef\nMIIEpAIBAAKCAQEAabcdef": ["MIIE"],
    "My password is hunter2": ["hunter2"],
    "pw Plum-7731!": ["Plum"],
    "access_token=c0ffee00c0ffee00": ["c0ffee"],
    "from 93.184.216.34": ["93.184"],
}


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_goes_by_its_shape(text):
    """All of the value-shaped set is gone; what is masked once stays as it is."""
    masked = mask_query(text)
    assert not [secret for secret in SECRETS[text] if secret in masked]
    assert mask_query(masked) == masked


ORDINARY = [
    "the password tool asks for the old password first",
    "order id 12446, booking 3426812",
    "unix time 1735689600 and 1735689600000",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "report_2024.csv",
    "symbol AAPL, zip 94016",
    "2024-01-15 10:30",
    "2024-10-27 14",
    "2024-10-27T14:00:00+05:30, 20240115103000",
    "$1,234.50 and 1,234,567.89 and 0.4111111111111111",
    "4155550199 metres",
    "a < b and c > d",
    "10.1.2.3, 127.0.0.1, 192.168.0.1:8080, version 1.2.3.4, 3.11.2",
    "@handle and #tag, git@v1, x@y",
    "Bearer of good news, basic economy, Basic information",
    "flight ICX136, seat 12A",
    "card 4111 1111 1111 1112 fails Luhn",
    "1974202140965533",
    "GB29 NWBK 6016 1331 9268 18",
    "7b0c19fa-64d3-4a08-9e51-2f8ad06c31e7",
    "sk-learn-style-transformers",
    "100-200-300, 3-4-5, 0-306-40615-2, call 911, tel. 5550199",
    "values 100 200 3000 and 415 555 0199 212",
    "  two  blanks\tand a tab\r\n\n\u2028 lines \x00",
    "日本語の文、電話とメール。",
    "",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_survives(text):
    """C13, D13: ids, dates, prices, symbols, file names, hashes and white space stay byte for byte."""
    assert mask_query(text) == text


def test_japanese_around_an_email_keeps_every_other_character():
    """C13: there are no blanks in such a sentence, and still only the e-mail goes."""
    text = "連絡先はtess.example@example.orgです。パスワードを忘れた。"
    assert mask_query(text) == "連絡先は<email>です。パスワードを忘れた。"


def test_a_right_number_behind_a_wrong_one_is_found():
    """A candidate that fails its check does not hide the next one that starts inside it."""
    assert mask_query("5000 4111 1111 1111 1111 9") == "5000 <card> 9"


@pytest.mark.parametrize(
    ("unit", "size", "masked"),
    [
        ("0x9f,", 2_000_000, "0x9f,"),
        ("a@", 2_000_000, "a@"),
        ("1-", 2_000_000, "1-"),
        ("a", 2_000_000, "a"),
        ("a.b@", 300_000, "a.b@"),
        ('"password": "', 300_000, '"password": "'),
        ("-----BEGIN A-----", 300_000, "<private_key>"),
        ("4111 ", 300_000, "4111 "),
        ("x_token ", 300_000, "x_token "),
    ],
)
def test_long_texts_take_linear_time(unit, size, masked):
    """A pattern that backtracks would not come back from these in an hour."""
    times = size // len(unit)
    assert mask_query(unit * times) == masked * times


def test_a_pair_without_an_end_is_one_secret():
    """The value of a bare pair is followed to its end, however far that is."""
    assert mask_query("pw=" * 300_000 + " next") == "pw=<password> next"


def test_masking_that_does_not_settle_ends():
    """A text that every pass changes goes as a whole; the control settles."""
    assert until_stable(lambda text: f"{text}x", "a") == "<value>"
    assert until_stable(lambda text: text[:3], "abcdef") == "abc"
