"""Secrets named in prose, code and JSON."""

from __future__ import annotations

import pytest

from amd.mask.pairs import mask_pairs


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password: hunter2", "password: <password>"),
        ("My password is hunter2 and", "My password is <password> and"),
        ("pw Plum-7731!", "pw <password>"),
        ("access_token=c0ffee00c0ffee00", "access_token=<access_token>"),
        ('"access_token":"c0ffee00c0ffee00","n":1', '"access_token":"<access_token>","n":1'),
        (r"{\"password\": \"hunter2\"}", r"{\"password\": \"<password>\"}"),
        ("{'password': 'hunter two'}", "{'password': '<password>'}"),
        ('{"token": 897362, "n": 1}', '{"token": <token>, "n": 1}'),
        ("CI_DB_PASSWORD=s3cr3t", "CI_DB_PASSWORD=<password>"),
        ("api key: 9f8e7d6c5b4a", "api key: <api_key>"),
        ("x-api-key: abcdef", "x-api-key: <api_key>"),
        ("PIN is 4821, PIN 4821", "PIN is <pin>, PIN <pin>"),
        ("the CVV is 123", "the CVV is <cvv>"),
        ("my password is sunshine.", "my password is <password>."),
        ("password of 'rise_to_sky'", "password of '<password>'"),
        ("access token (abc123xyz456), please", "access token (<access_token>), please"),
        ("new access token: 7731-0042-9186-3305.", "new access token: <access_token>."),
        ("token here: ABCD1234", "token here: <token>"),
        ("the token labeled 'token_abc123'", "the token labeled '<token>'"),
        ("--password hunter2 --user tess", "--password <password> --user tess"),
        ("**Password:** hunter2", "**Password:** <password>"),
        ("password = “hunter2”", "password = “<password>”"),
        ("password: Ab(12)x", "password: <password>"),
        ("passwd: o'neil1", "passwd: <password>"),
        (f"token={'ab1' * 400} x", "token=<token> x"),
    ],
)
def test_only_the_value_goes(text, masked):
    """However a secret is bound to its name, all of it goes and nothing else."""
    assert mask_pairs(text) == masked
    assert mask_pairs(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "the password tool asks for the old password first",
        "Password required",
        "password is incorrect",
        "the token is expired; the token that was issued",
        "use your API key to log in",
        "password reset link sent",
        '"token_type":"Bearer"',
        '{"token": "string", "password": {"type": "string"}}',
        "def login(password: str, token: str | None = None)",
        "token = get_token()",
        "login(password=password)",
        "max_tokens: 4096, token count 5000",
        "monkey: 12345, key: value, code: 404",
        "pin 2024 posts, pin the message",
        "secret santa is on friday",
        '"password" and "token" are required',
        "password: $PASSWORD",
        '{"a": "the password:", "b": "the token ", "c": "x1234"}',
        "password: <password>",
    ],
)
def test_what_names_no_secret_stays(text):
    """C13: the bare word makes no secret of what stands behind it."""
    assert mask_pairs(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("refreshtoken: abc123", "refreshtoken: <refresh_token>"),
        ("MY_authkey=abc123", "MY_authkey=<auth_key>"),
        ("secretaccesskey: abc123", "secretaccesskey: <key>"),
        ("authorisation_token: abc123", "authorisation_token: <token>"),
        ("refresh_token: abc123", "refresh_token: <refresh_token>"),
    ],
)
def test_no_placeholder_is_empty(text, masked):
    """A name whose words are written as one has a name in its placeholder too."""
    assert mask_pairs(text) == masked
    assert mask_pairs(masked) == masked
