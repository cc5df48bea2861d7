"""Which keys hold a person, a contact or a secret."""

from __future__ import annotations

import pytest

from amd.mask.keys import holds_ids, is_data_key, is_placeholder, key_class, key_words, slug


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (
            "person",
            """name first_name lastName middle-name user_id userId username user_name cardholder_name dob date_of_birth
            birthDate sender recipient receiver_id owner created_by current_user contact_name customer_id person_id
            client_id display_name users user_list mentioned_usernames names""",
        ),
        (
            "contact",
            """email e-mail emails email_of_buyer homePhone phone_number mobile address address1 addresses street
            contact contact_info recipient_phone_number fax event_email account_phone""",
        ),
        (
            "secret",
            """password pwd pw new_password password2 password_hash pin pin_code secret token access_token accessToken
            api_key apiKey api-key ssn passport_number card card_number cards credit_card_list card_id binding_card
            payment payment_id payment_methods authorization cvv card_verification_number iban key refresh_token
            client_secret access_code last_four account_number session_id""",
        ),
        (
            None,
            """hotel target_price monkey keyboard keyword direction source_currency updated timezone location zip city
            file_name dir_name product_name event_name tool_name app_name folder_name path_name class_name city_name
            account_name bus_stop_name flight_number token_type max_tokens token_count tokens_used card_type
            payment_status payment_history email_count email_verified has_phone
            user_agent user_count primary_key sort_key ip_address order_id amount
            code note_to title id number status booking_id message content sender_type""",
        ),
    ],
)
def test_class_of_a_key(kind, keys):
    """D13: whole key words decide, never parts of words; measures of a value and names of things are nobody's."""
    assert {key: key_class(key) for key in keys.split()} == dict.fromkeys(keys.split(), kind)


@pytest.mark.parametrize(
    ("key", "parent", "kind"),
    [
        ("id", "user", "person"),
        ("id", "tickets", None),
        ("number", "phone", "contact"),
        ("number", "flight", None),
        ("last", "name", "person"),
        ("last", "page", None),
        ("id", "payment_methods", "secret"),
        ("city", "address", None),
        ("amount", "payment", None),
    ],
)
def test_a_bare_key_belongs_to_its_parent(key, parent, kind):
    """``id`` under ``user`` is a user id; a key with a word of its own speaks for itself."""
    assert key_class(key, parent) == kind


def test_words_of_a_key_in_any_script():
    """Accents and other scripts are letters; digits and punctuation are not words."""
    assert key_words("prénomUsager2") == ("prénom", "usager")
    assert key_words("氏名") == ("氏名",)
    assert key_words("") == ()


@pytest.mark.parametrize(
    ("key", "nested", "data"),
    [
        ("payment_id", True, False),
        ("MA", True, False),
        ("content-type", True, False),
        ("flight_001", True, True),
        ("sha256", False, False),
        ("credit_card_6610352", False, True),
        ("tess@example.org", False, True),
        ("Tess Quill", True, True),
        ("4111 1111 1111 1111", True, True),
        ("<payment_methods_2>", True, True),
        ("x" * 65, True, True),
    ],
)
def test_a_key_that_is_data(key, nested, data):
    """An identifier with a long number in it, or no identifier at all, is a value of the run."""
    assert is_data_key(key, nested=nested) is data


def test_placeholder_names():
    """A name inside angle brackets is always one word; a key without a letter has none."""
    assert slug("e-mail address") == "e_mail_address"
    assert slug("@!") == "value"
    assert is_placeholder("<first_name>")
    assert not any(map(is_placeholder, ("<a b>", "a < b", "<>", "<a><b>")))


def test_dictionaries_keyed_by_payment_ids():
    """Only under words of payment: a flight's seats are keyed by seats."""
    assert holds_ids("payment_methods")
    assert holds_ids("credit_card_list")
    assert not holds_ids("flights")
