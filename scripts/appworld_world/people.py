"""Who lives in the invented world, and what each of them has accounts for. Nobody of them exists."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

__all__ = ["ACCOUNTS", "NOW", "PEOPLE", "Person", "person"]

NOW = datetime(2023, 5, 18, 12, 0, 0)  # noqa: DTZ001 - AppWorld's clock knows no time zone
"""The moment at which every task begins."""

ACCOUNTS = ("spotify", "venmo", "simple_note", "file_system", "phone", "todoist")
"""The apps in which everybody has an account."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with an account in every app, and perhaps contacts.

    Attributes:
        contacts: relationship -> first name of the person who stands in it.
    """

    first_name: str
    last_name: str
    phone_number: str
    sex: str
    birthday: str
    contacts: dict[str, str] = field(default_factory=dict)

    @property
    def email(self) -> str:
        """An address in a domain that is kept free for examples."""
        return f"{self.first_name}.{self.last_name}@example.com".lower()

    @property
    def home(self) -> str:
        """The person's folder in the file system."""
        return f"/home/{self.first_name.lower()}/"

    def password(self, app: str) -> str:
        """The password of this person in an app: another one in each.

        >>> person("Ada").password("venmo")
        'ada~VENMO~5001'
        """
        return f"{self.first_name.lower()}~{app.upper()}~{self.phone_number[-4:]}"


PEOPLE = (
    Person("Ada", "Quill", "5550105001", "female", "1990-02-11", {"roommate": "Dov", "sister": "Esme"}),
    Person("Bo", "Tern", "5550105002", "male", "1987-09-30", {"roommate": "Finn", "sister": "Esme"}),
    Person("Cleo", "Marsh", "5550105003", "female", "1995-06-04", {"roommate": "Finn", "sister": "Ivy"}),
    Person("Dov", "Larch", "5550105004", "male", "1992-12-24"),
    Person("Esme", "Finch", "5550105005", "female", "1989-03-17"),
    Person("Finn", "Holm", "5550105006", "male", "1993-07-08"),
    Person("Ivy", "Rowe", "5550105007", "female", "1991-11-02"),
)


def person(first_name: str) -> Person:
    """The person of this first name, which nobody else has."""
    return next(each for each in PEOPLE if each.first_name == first_name)
