"""Two scenarios that are twins: somebody who is a contact in the phone is paid, or is asked for money."""

from __future__ import annotations

from appworld_world.people import person
from appworld_world.scenarios.shapes import ANSWERS, Check, Scenario, Variant

__all__ = ["DEBT", "PAYMENT"]

CONTACT = """
phone_token = apis.phone.login(username=profile["phone_number"], password=passwords["phone"])["access_token"]
contact = apis.phone.search_contacts(access_token=phone_token, relationship=$relationship)[0]
print(contact["first_name"], contact["email"])
"""
VENMO = 'venmo_token = apis.venmo.login(username=profile["email"], password=passwords["venmo"])["access_token"]\n'
PAY = """print(
    apis.venmo.create_transaction(
        access_token=venmo_token, receiver_email=contact["email"], amount=$amount, description=$words
    )
)"""
ASK = """print(
    apis.venmo.create_payment_request(
        access_token=venmo_token, user_email=contact["email"], amount=$amount, description=$words
    )
)"""


def _checks(changed: str) -> tuple[Check, ...]:
    """What is required of the one record that must have been added."""
    return (
        ANSWERS,
        Check("assert nothing else changed.", f'test.case(models.changed_model_names(), "==", {changed})'),
        Check("assert exactly one was made.", 'test.case((len(added), len(updated), len(removed)), "==", (1, 0, 0))'),
        Check(
            "assert it is from the main user and for the right person.",
            'test.case([added[0].sender.email, added[0].receiver.email], "==", '
            "[main_user.email, private_data.receiver])",
        ),
        Check(
            "assert the amount and the words are right.",
            'test.case([added[0].amount, added[0].description], "==", [public_data.amount, public_data.words])',
        ),
    )


def _variant(first_name: str, relationship: str, amount: int, words: str, wording: str) -> Variant:
    """One task of a person with contacts."""
    asking = person(first_name)
    return Variant(
        asking,
        wording.format(relationship=relationship, amount=amount, words=words),
        {"relationship": relationship, "amount": amount, "words": words},
        {"receiver": person(asking.contacts[relationship]).email},
    )


_PAYMENT = "Send ${amount} to my {relationship} on Venmo, with the description '{words}'."
PAYMENT = Scenario(
    "0c0de03",
    "train",
    2,
    (
        _variant("Ada", "roommate", 12, "Pizza night", _PAYMENT),
        _variant("Bo", "sister", 35, "Birthday kite", _PAYMENT),
        _variant("Cleo", "roommate", 58, "Half of the van", _PAYMENT),
    ),
    (CONTACT, VENMO + PAY, "apis.supervisor.complete_task()"),
    _checks('{"venmo.Transaction", "venmo.User", "venmo.Notification"}'),
    'added, updated, removed = models.changed_records("venmo.Transaction")',
)

_DEBT = "My {relationship} still owes me {amount} dollars. Ask for them through Venmo and call it '{words}'."
DEBT = Scenario(
    "0dad5e4",
    "test_normal",
    2,
    (
        _variant("Ada", "sister", 24, "Concert seats", _DEBT),
        _variant("Bo", "roommate", 9, "Lamp oil", _DEBT),
        _variant("Cleo", "sister", 41, "Ferry fares", _DEBT),
    ),
    (CONTACT, VENMO + ASK, "apis.supervisor.complete_task()"),
    _checks('{"venmo.PaymentRequest", "venmo.Notification"}'),
    'added, updated, removed = models.changed_records("venmo.PaymentRequest")',
)
