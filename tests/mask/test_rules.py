"""The mask of one run: arguments, observations, texts, and what a model wrote."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from amd.json_text import dumps
from amd.mask import Mask
from amd.trajectory import ToolSpec

EMAIL, PASSWORD, TOKEN, CARD = "tess.example@example.org", "Plum-7731!", "c0ffee00c0ffee00", "4111 1111 1111 1111"


def everything(run):
    """All text of a run but where it was read from, as one JSON string."""
    whole = asdict(run)
    del whole["source"]
    return dumps(whole).decode()


@pytest.fixture
def c13(make_run):
    """The run of case C13: a login whose secrets come back in the observation, the next call and an error."""
    return make_run(
        f"log in as {EMAIL} / pw {PASSWORD}",
        ("", "login", {"username": EMAIL, "password": PASSWORD}, dumps({"access_token": TOKEN, "n": 1}).decode()),
        (
            f"I use {TOKEN}.",
            "pay",
            {"access_token": TOKEN, "card": CARD, "amount": 1249.99},
            "Error: no account tess.example%40example.org",
        ),
    )


def test_c13_no_secret_is_left_in_a_run_or_in_a_models_words(c13):
    """C13: the e-mail in both spellings, the password, the token and the card are gone; the words around them stay."""
    mask = Mask.of(c13)
    insight = f"Log in with {PASSWORD}, then pay with {TOKEN} ({EMAIL}), card 4111111111111111."
    texts = [everything(mask.run(c13)), mask.text(insight), dumps(mask.value({insight: [insight]})).decode()]
    for secret in (EMAIL, "tess.example", PASSWORD, "Plum-7731", TOKEN, CARD, "4111"):
        assert secret in everything(c13) + insight
        assert not [text for text in texts if secret in text]
    assert texts[1] == "Log in with <password>, then pay with <access_token> (<username>), card <card>."
    assert mask.run(c13).turns[0].user == "log in as <username> / pw <password>"
    assert mask.run(c13).calls[1].observation == "Error: no account <username>"


@pytest.mark.parametrize(
    "text",
    [
        "the password tool asks for the old password first",
        "order id 12446, unix time 1735689600, symbol AAPL, zip 94016, report_2024.csv",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_c13_what_must_survive(c13, text):
    """C13: in a run full of secrets, text without one stays byte for byte."""
    assert Mask.of(c13).text(text) == text


D13_ARGUMENTS = {
    "username": "jane",
    "password": "hunter2",
    "pin": 4821,
    "cards": ["4111111111111111"],
    "auth": {"token": "tok_secret"},
    "note_to": "call me",
    "code": 12345,
}
D13_RESULT = {
    "access_token": "eyJhbGciOiJIUzI1NiJ9.e30.abc",
    "api_key": "AKIAIOSFODNN7EXAMPLE",
    "ssn": "078-05-1120",
    "ip": "10.1.2.3",
    "when": "2024-01-15 10:30",
    "total": "$1,234.50",
}


def test_d13_secrets_in_every_field(make_run):
    """D13: lists, dictionaries and numbers too; dates and amounts are kept whole."""
    run = make_run(
        "My password is hunter2 and mail jane@acme.com, phone 415-555-0199",
        ("", "login", D13_ARGUMENTS, json.dumps(D13_RESULT)),
    )
    mask = Mask.of(run)
    masked = mask.run(run)
    assert masked.calls[0].arguments == {
        "username": "<username>",
        "password": "<password>",
        "pin": "<pin>",
        "cards": ["<cards>"],
        "auth": {"token": "<token>"},
        "note_to": "<note_to>",
        "code": "<code>",
    }
    assert json.loads(masked.calls[0].observation) == D13_RESULT | {
        "access_token": "<access_token>",
        "api_key": "<api_key>",
        "ssn": "<ssn>",
    }
    assert masked.turns[0].user == "My password is <password> and mail <email>, phone <phone>"
    insight = "Log in with password hunter2 and key sk-live-abcdef1234567890, mail jane@acme.com, then verify."
    assert mask.text(insight) == "Log in with password <password> and key <token>, mail <email>, then verify."
    assert mask.text("uses token ghp_ABCDEF0123456789abcdef") == "uses token <token>"


@pytest.mark.parametrize(
    ("arguments", "masked"),
    [
        ({"a": None, "b": True, "c": 100, "d": -100, "e": 1.0}, {"a": None, "b": True, "c": 100, "d": -100, "e": 1.0}),
        ({"a": 101, "b": 1.5, "c": "x", "d": "", "e": float("inf")}, {key: f"<{key}>" for key in "abcde"}),
        ({"mode": "auto", "unit": "auto"}, {"mode": "auto", "unit": "auto"}),
        ({"mode": "AUTO", "modes": ["auto", "other"]}, {"mode": "<mode>", "modes": ["auto", "<modes>"]}),
        ({"password": "auto", "pin": 48, "token": True, "card": None}, None),
        ({"user": {"id": 7, "email": ["a@b.co", 5], "age": 40}}, {"user": {"id": "<id>", "email": ["<email>"] * 2}}),
        ({"hotel": "Ritz", "target_price": 5}, {"hotel": "<hotel>", "target_price": 5}),
        ({"credit_card_6610352": 5, "tess@example.org": {"x": 1}}, {"<value>": 5, "<value_2>": {"x": 1}}),
        ({"to": {"Tess Quill": "hi", "b": 5}}, {"to": {"<to>": "<to>", "b": 5}}),
        ({"cards": {"card_812": 5, "card_813": True}}, {"cards": {"<cards>": "<cards>", "<cards_2>": "<cards>"}}),
        ({"a b": "x"}, {"<value>": "<value>"}),
    ],
)
def test_arguments_by_key_and_type(make_run, arguments, masked):
    """Default deny at any depth; what is kept is kept nowhere under a person, contact or secret key."""
    tool = ToolSpec("set", "", {"type": "dict", "properties": {"mode": {"enum": ["auto"]}}})
    mask = Mask.of(make_run("x", ("", "set", {}, ""), tools=(tool,)))
    if masked is None:
        masked = {"password": "<password>", "pin": "<pin>", "token": "<token>", "card": None}
    if "user" in arguments:
        masked = {"user": masked["user"] | {"age": 40}}
    assert mask.arguments("set", arguments) == masked
    assert mask.arguments("set", masked) == masked
    assert mask.arguments("other", {"mode": "auto"}) == {"mode": "<mode>"}


def test_arguments_nested_deeper_than_anything_are_denied_whole():
    """No recursion error, and nothing below is kept."""
    deep = "secret words"
    for _ in range(300):
        deep = [deep]
    assert "secret words" not in json.dumps(Mask().arguments("set", {"a": deep}))


def test_observations_stay_readable(make_run):
    """Only what stands under a person, contact or secret key goes: short ones and numbers too; the rest is kept."""
    seen = {
        "name": {"first_name": "Mo", "last_name": "Li"},
        "phone": 12,
        "active": True,
        "email": None,
        "zip": "94016",
        "city": "Austin",
        "token_type": "Bearer",
        "payment_methods": {"credit_card_6610352": {"id": "credit_card_6610352", "last_four": "8205", "amount": 250}},
        "seats": {"row_001": "free", "MA(5)": 1.25},
        "note": "for Mo Li, card 6610352",
    }
    run = make_run("Mo here, credit_card_6610352", ("", "profile", {}, json.dumps(seen)))
    masked = Mask.of(run).run(run)
    assert json.loads(masked.calls[0].observation) == seen | {
        "name": {"first_name": "<first_name>", "last_name": "<last_name>"},
        "phone": "<phone>",
        "payment_methods": {"<payment_methods>": {"id": "<id>", "last_four": "<last_four>", "amount": 250}},
        "note": "for <name>, card <payment_methods>",
    }
    assert masked.turns[0].user == "<first_name> here, <payment_methods>"


@pytest.mark.parametrize(
    ("observation", "masked"),
    [
        ('{"rows":  [1,\n2]}', '{"rows":  [1,\n2]}'),
        ('{"user_id":"u-77812"}', '{"user_id": "<user_id>"}'),
        ("{'user_id': 'u-77812', 'n': 1}", "{'user_id': '<user_id>', 'n': 1}"),
        ("Welcome u-77812, {'result': mpf('2.0')}", "Welcome <user_id>, {'result': mpf('2.0')}"),
        ('["u-77812", 177812, 4111111111111111]', '["<user_id>", 177812, "<card>"]'),
        ('{"inbox": {"u-77812": ["hi"]}}', '{"inbox": {"<user_id>": ["hi"]}}'),
        ('{"users": {"u-77812": "Tess"}}', '{"users": {"<user_id>": "<users>"}}'),
        ("255.0", "255.0"),
        ("", ""),
    ],
)
def test_observations_of_every_kind(make_run, observation, masked):
    """Unchanged byte for byte where nothing is masked; otherwise in the notation that they came in."""
    run = make_run("x", ("", "login", {"user_id": "u-77812"}, observation))
    assert Mask.of(run).run(run).calls[0].observation == masked


def test_first_and_last_name_are_one_name_in_any_case(make_run):
    """Two keys that stand side by side, however they are written, make a name that a user may type in small letters."""
    run = make_run(
        "i am tess quill", ("", "verify", {"userFirstName": "Tess", "userLastName": "Quill"}, "Tess verified")
    )
    masked = Mask.of(run).run(run)
    assert (masked.turns[0].user, masked.calls[0].observation) == ("i am <name>", "<userFirstName> verified")


def test_what_stays(make_run):
    """Ids, tools, outcome and source are no text of the run, and other argument values are left alone in prose."""
    tool = ToolSpec("move", "Moves u-77812's report.txt.", {})
    step = ("I move report.txt", "move", {"source": "report.txt", "user_id": "u-77812"}, "report.txt moved")
    run = make_run("move report.txt, for u-77812", step, tools=(tool,), task_id="u-77812")
    masked = Mask.of(run).run(run)
    assert masked.task.instruction == masked.turns[0].user == "move report.txt, for <user_id>"
    assert (masked.turns[0].steps[0].text, masked.calls[0].observation) == ("I move report.txt", "report.txt moved")
    assert (masked.task.task_id, masked.task.family, masked.tools) == ("u-77812", "family-1", (tool,))
    assert (masked.outcome, masked.source) == (run.outcome, run.source)


def test_the_tools_own_words_recur(make_run):
    """A user called like a tool, an argument or an enum's member takes no word of the tools away."""
    tool = ToolSpec("book", "", {"properties": {"cabin": {"enum": ["economy"]}}})
    run = make_run("x", ("", "book", {"username": "book", "name": "cabin", "user": "economy"}, ""), tools=(tool,))
    text = "book an economy cabin"
    assert Mask.of(run).text(text) == text
