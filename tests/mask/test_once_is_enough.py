"""Masking twice is masking once, whatever is masked: texts and JSON values built around secrets."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from amd.json_text import dumps
from amd.mask import Mask, mask_query
from amd.trajectory import Outcome, Source, Step, Task, ToolCall, Trajectory, Turn

SECRETS = [
    *("tess.example@example.org", "415-555-0199", "4111 1111 1111 1111", "078-05-1120", "93.184.216.34"),
    *("GB29 NWBK 6016 1331 9268 19", "eyJhbGciOiJIUzI1NiJ9.e30.abc", "tok_secret", "Plum-7731!", "Will", "Li"),
    *("tess_quill_33", "credit_card_6610352", "6610352", "1990-04-05", "emily_email", "12345"),
]
GLUE = [
    *(" ", "", '"', "'", ": ", "=", " is ", "<", ">", "@", "%40", "-", "+", "1", "\\n", "\\", "(", ")", ".", ",", "_"),
    *("password", "token", "pw ", "PIN ", "Bearer ", "access_token", "https://a:", "-----BEGIN A-----", "名", "é"),
    *("<email>", "<password>", "<user_id>", "<value>", "x", "a1", "0", "{", "}", "\n"),
]
texts = st.lists(st.sampled_from(SECRETS + GLUE) | st.text(max_size=3), max_size=12).map("".join)
keys = st.sampled_from(
    [
        *(
            "user_id",
            "name",
            "first_name",
            "last_name",
            "email",
            "phone",
            "payment_methods",
            "password",
            "token",
            "dob",
        ),
        *(
            "note",
            "id",
            "date",
            "amount",
            "emily_email",
            "users",
            "<users>",
            "credit_card_6610352",
            "Tess Quill",
            "key",
        ),
    ]
)
scalars = st.none() | st.booleans() | st.integers() | st.sampled_from(SECRETS) | texts


def nested(named):
    """JSON values whose objects have their keys from ``named``."""
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(named, inner, max_size=4), max_leaves=8
    )


values = nested(keys | texts)
objects = st.dictionaries(keys, values, max_size=4)


def trajectory(user, arguments, observation):
    """A run of one call."""
    call = ToolCall("act", arguments, observation, ok=True)
    turns = (Turn(user, (Step(user, (call,)),)),)
    return Trajectory(Task("b", "t", "f", user), turns, None, Outcome(True), Source("t", "r", "p", "0"))


@given(texts)
@example('"password": "a@b.co c"')
@example("4111 1111 1111 1111tok_secret")
def test_a_query_masked_twice(text):
    """The value-shaped rules alone."""
    once = mask_query(text)
    assert mask_query(once) == once


@given(objects, objects | st.text(max_size=20), texts, values)
@example({"emily_email": "emily_email"}, {"password": "<password>"}, "emily_email", {"emily_email": "token"})
def test_a_run_masked_twice(arguments, seen, text, value):
    """A run, its arguments, a text and a value of the builder's, under the same mask."""
    observation = seen if isinstance(seen, str) else dumps(seen).decode("utf-8", "surrogatepass")
    run = trajectory(text, arguments, observation)
    mask = Mask.of(run)
    once = mask.run(run)
    assert mask.run(once) == once
    assert mask.text(mask.text(text)) == mask.text(text)
    assert mask.value(mask.value(value)) == mask.value(value)


@given(objects, st.dictionaries(keys, nested(keys), max_size=4), texts)
def test_what_a_tier_copies_from_a_masked_run_stays(arguments, seen, text):
    """A draft passes the mask again as texts and values, with no word of where its parts stood in the run."""
    mask = Mask.of(run := trajectory(text, arguments, dumps(seen).decode("utf-8", "surrogatepass")))
    call = mask.run(run).calls[0]
    assert mask.value(dict(call.arguments)) == call.arguments
    if "\\" not in call.observation:
        # As plain text an escape such as "\\u000b" reads like letters and digits.
        assert mask.text(call.observation) == call.observation


@given(st.sampled_from([*SECRETS[:9], "tess_quill_33", "credit_card_6610352"]), texts)
def test_what_stood_under_a_secret_key_is_in_no_text(secret, around):
    """Beside blanks or quotes a value goes from every place of the run."""
    texts_with_it = [f"{around} {secret} {around}", f'"{secret}"', f"({secret})"]
    run = trajectory(texts_with_it[0], {"note": secret, "password": secret}, dumps({"x": texts_with_it}).decode())
    mask = Mask.of(run)
    masked = mask.run(run)
    for text in (masked.turns[0].user, masked.calls[0].observation, dumps(dict(masked.calls[0].arguments)).decode()):
        assert f"({secret})" not in text
        assert f" {secret} " not in text
        assert f'"{secret}"' not in text
