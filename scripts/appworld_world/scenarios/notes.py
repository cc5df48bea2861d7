"""Two scenarios that are twins: a line is put at the end of a note, asked for in other words."""

from __future__ import annotations

from appworld_world.people import person
from appworld_world.scenarios.shapes import ANSWERS, Check, Scenario, Variant

__all__ = ["LINE", "REMINDER"]

CELLS = (
    """
token = apis.simple_note.login(username=profile["email"], password=passwords["simple_note"])["access_token"]
notes = apis.simple_note.search_notes(access_token=token, query=$title)
note = next(note for note in notes if note["title"] == $title)
print(note["note_id"])
""",
    """
apis.simple_note.add_content_to_note(
    access_token=token, note_id=note["note_id"], added_content=$line, append_or_prepend="append"
)
print(apis.simple_note.show_note(access_token=token, note_id=note["note_id"])["content"])
""",
    "apis.supervisor.complete_task()",
)
FOUND = """
added, updated, removed = models.changed_records("simple_note.Note")
before = models.start.simple_note.Note.find_one(user_id=private_data.user_id, title=public_data.title)
after = models.end.simple_note.Note.find_one(user_id=private_data.user_id, title=public_data.title)
"""
CHECKS = (
    ANSWERS,
    Check("assert only notes changed.", 'test.case(models.changed_model_names(), "==", {"simple_note.Note"})'),
    Check(
        "assert one note was updated, none added and none removed.",
        'test.case((len(added), len(updated), len(removed)), "==", (0, 1, 0))',
    ),
    Check(
        "assert the line is the last one of the note, behind all that was there.",
        'test.case(after.content.split("\\n"), "==", [*before.content.split("\\n"), public_data.line])',
    ),
)


def _variant(number: int, first_name: str, title: str, line: str, wording: str) -> Variant:
    """One task; ``number`` is the user's id in every app."""
    return Variant(
        person(first_name),
        wording.format(title=title, line=line),
        {"title": title, "line": line},
        {"user_id": number},
    )


_LINE = "Add the line '{line}' to the end of my SimpleNote note titled '{title}'."
LINE = Scenario(
    "0a11ce1",
    "train",
    1,
    (
        _variant(1, "Ada", "Groceries", "bread", _LINE),
        _variant(2, "Bo", "Groceries", "rice", _LINE),
        _variant(3, "Cleo", "Packing list", "torch", _LINE),
    ),
    CELLS,
    CHECKS,
    FOUND,
)

_REMINDER = "I keep forgetting '{line}'. Please write it down for me, below everything else in '{title}' (SimpleNote)."
REMINDER = Scenario(
    "0b0a7e2",
    "dev",
    1,
    (
        _variant(1, "Ada", "Books to read", "the glassblower", _REMINDER),
        _variant(2, "Bo", "Weekend chores", "wash the blinds", _REMINDER),
        _variant(3, "Cleo", "Books to read", "salt and slate", _REMINDER),
    ),
    CELLS,
    CHECKS,
    FOUND,
)
