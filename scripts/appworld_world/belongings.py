"""What the people of the invented world have: songs, notes, files and projects."""

from __future__ import annotations

from appworld_world.people import Person

__all__ = ["FILES", "NOTES", "PROJECTS", "SONGS", "library", "plays"]

SONGS = tuple(
    f"{colour} {place}"
    for colour in ("Amber", "Cobalt", "Ivory", "Russet", "Saffron", "Teal")
    for place in ("Harbour", "Meadow", "Orchard", "Quarry", "Stairway", "Viaduct")
)
"""Titles; the id of a song is its place here, from 1 on."""

NOTES = {
    "Ada": {"Groceries": "milk\neggs\ntea", "Books to read": "a guide to moss\nthe long ferry"},
    "Bo": {"Groceries": "oats\nplums", "Weekend chores": "sweep the yard\nfix the bell"},
    "Cleo": {"Packing list": "raincoat\nmap", "Books to read": "kites of the north"},
}
"""First name -> title of a note -> its lines."""

FILES = {
    "Ada": {"errands": ("return the ladder", "buy stamps", "collect the shoes"), "ideas": ("paint the fence",)},
    "Bo": {
        "garden": ("prune the quince", "mend the trellis", "sow radishes", "oil a gate"),
        "ideas": ("dig a pond",),
    },
    "Cleo": {"move": ("book a van", "label the boxes"), "ideas": ("hang a swing",)},
}
"""First name -> name of a text file in the folder ``documents`` -> its lines."""

PROJECTS = {"Ada": ("Household", "Reading"), "Bo": ("Allotment", "Household"), "Cleo": ("New flat", "Reading")}
"""First name -> projects, beside the inbox that everybody has."""


def plays(song_id: int) -> int:
    """How often a song was played, from 20 to 919: spread over the songs, no two alike."""
    return 20 + song_id * 137 % 900


def library(owner: Person) -> tuple[int, ...]:
    """The ids of the songs in a person's library: two songs of three, other ones for each person."""
    shift = int(owner.phone_number[-1])
    return tuple(song_id for song_id in range(1, len(SONGS) + 1) if (song_id + shift) % 3)
