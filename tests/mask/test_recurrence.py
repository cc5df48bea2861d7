"""What recurs, how it may be written, and what is masked only where it stands."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from amd.mask.recurrence import Collector


def masked(text, *values, vocabulary=()):
    """The text after the given (value, key, class) were collected."""
    collector = Collector(frozenset(vocabulary))
    for value, key, kind in values:
        collector.add(value, key, kind, f"<{key}>")
    return collector.recurrence().replace(text)


def test_a_value_goes_wherever_it_recurs_as_a_whole_word():
    """Any case, but not inside a longer word."""
    user = ("tess_quill_33", "user_id", "person")
    assert masked("I am TESS_QUILL_33.", user) == "I am <user_id>."
    assert masked("(tess_quill_33)", user) == "(<user_id>)"
    assert masked("tess_quill_331 or xtess_quill_33", user) == "tess_quill_331 or xtess_quill_33"


@pytest.mark.parametrize(
    "value", ["tess.example@example.org", "Plum 77&31/é!", 'a"b\\c\nd-1', "pässwörd+1", "名前2024x"]
)
def test_encoded_spellings_go_too(value):
    """C13: percent-encoded, JSON-escaped, decomposed."""
    secret = (value, "password", "secret")
    for spelling in (value, quote(value), quote(value, safe=""), json.dumps(value)[1:-1], value.upper()):
        assert masked(f"x {spelling} y", secret) == "x <password> y"


def test_a_word_begins_behind_an_escape_and_beside_japanese():
    """The letters of ``%20`` and of an escaped line end are not letters of the word behind them."""
    name = ("Tess", "first_name", "person")
    assert masked(r"q=%20Tess and \nTess, Tessさん、これはTessです", name) == (
        r"q=%20<first_name> and \n<first_name>, <first_name>さん、これは<first_name>です"
    )


def test_a_single_capitalised_name_recurs_in_its_own_case_only():
    """A person called Will or May must not take the verb out of a sentence."""
    names = [("Will", "first_name", "person"), ("May", "last_name", "person")]
    assert masked("Will May will come, he may stay", *names) == "<first_name> <last_name> will come, he may stay"


def test_parts_of_a_name_recur():
    """First, middle and last; titles, particles and two-letter words do not; a two-letter name does, in its case."""
    name = ("Dr. Tess van Quill-Moe Li", "name", "person")
    assert masked("Tess, Dr. Quill-Moe, Li, li, van", name) == "<name>, Dr. <name>, <name>, li, van"


def test_first_and_last_name_side_by_side_recur_in_any_case():
    """What a user types in small letters is a name if both parts stand together."""
    collector = Collector(frozenset())
    collector.add_full_name("Tess", "Quill", "<name>")
    text = collector.recurrence().replace("tess  quill; QUILL, TESS; quill tess; tess alone")
    assert text == "<name>; <name>; <name>; tess alone"


@pytest.mark.parametrize(
    ("value", "key", "kind"),
    [
        (4821, "pin", "secret"),
        ("9999", "card_id", "secret"),
        (-10, "card_id", "secret"),
        ("12/26", "card", "secret"),
        ("LAX", "name", "person"),
        ("US", "passport", "secret"),
        ("ab", "username", "person"),
        ("true", "token", "secret"),
        ("pending payment", "payment", "secret"),
        ("credit card", "payment_method", "secret"),
        ("email", "contact", "contact"),
        ("report.csv", "name", "person"),
        ("goal", "name", "person"),
        ("spotify", "profile_name", "person"),
        ("Omega Industries", "name", "person"),
        ("sort", "key", "secret"),
        ("economy", "name", "person"),
        ("<user_id>", "user_id", "person"),
        ("x" * 121, "contact", "contact"),
        ("***", "password", "secret"),
    ],
)
def test_some_values_are_masked_where_they_stand_only(value, key, kind):
    """Numbers below 10,000, codes, statuses, short strings and words of an enum would tear holes into the prose."""
    text = f"we saw {value} here"
    assert masked(text, (value, key, kind), vocabulary=["economy"]) == text


@pytest.mark.parametrize(
    ("value", "key", "kind"),
    [
        (14821, "pin", "secret"),
        ("sunshine", "password", "secret"),
        ("Lax", "name", "person"),
        ("jane", "username", "person"),
        ("jane", "contact_name", "person"),
        ("Jane Doe", "receiver", "person"),
        ("a8f5", "key", "secret"),
    ],
)
def test_their_controls_recur(value, key, kind):
    """The control of the test above: near neighbours that are replaced."""
    assert masked(f"we saw {value} here", (value, key, kind)) == f"we saw <{key}> here"


def test_numbers_recur_with_other_separators():
    """A phone as a whole number, a card that fails its checksum, an id's number without its words."""
    values = [
        (4155550199, "phone", "contact"),
        ("1432-7890-6543-9876", "card_number", "secret"),
        ("certificate_7504069", "payment_id", "secret"),
    ]
    text = "call (415) 555-0199, pay with 1432789065439876 and certificate 7504069, not 17504069"
    assert masked(text, *values) == "call (<phone>, pay with <card_number> and certificate <payment_id>, not 17504069"


def test_a_birth_date_recurs_as_people_write_it():
    """The same date under another key is no birth date and stays in other spellings."""
    dob = ("1990-04-05", "dob", "person")
    for spelling in ("1990-04-05", "April 5th, 1990", "5 Apr 1990", "5th of April, 1990", "04/05/1990", "1990/4/5"):
        assert masked(f"born {spelling}.", dob) == "born <dob>."
    assert masked("on April 5, 1991 and 1990-04-06", dob) == "on April 5, 1991 and 1990-04-06"


def test_a_whole_number_is_not_in_a_decimal_one():
    """A pin of five digits takes no price apart; at the end of a sentence it goes."""
    pin = (14821, "pin", "secret")
    assert masked("14821.5 and 3.14821, pin 14821.", pin) == "14821.5 and 3.14821, pin <pin>."


def test_the_longest_value_is_replaced_first():
    """A user id that holds another one is not cut in two."""
    values = [("quill", "username", "person"), ("quill the second", "user_name", "person")]
    assert masked("quill the second and quill", *values) == "<user_name> and <username>"


def test_a_value_that_is_the_name_of_its_key_is_not_hidden_in_its_placeholder():
    """Otherwise the placeholder would hold the value, and masking it again would go on for ever."""
    assert masked("see emily_email", ("emily_email", "emily_email", "contact")) == "see <value>"
