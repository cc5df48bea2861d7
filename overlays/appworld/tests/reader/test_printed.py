"""Which words that a run printed may be secrets: by the code that printed them, and by their looks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd_appworld.code import read_cell
from amd_appworld.names import Names
from amd_appworld.printed import Printed, may_be_secrets

ROWS = "rows = apis.supervisor.show_account_passwords()"
OUTPUT = "Spare sunflowers 12 4821 and 2023-05-18"
ALL = {"Spare", "sunflowers", "4821"}


def secrets(*codes, output=OUTPUT, owned=False):
    """The words that the last of some cells may have told."""
    printed, names, found = Printed(), Names(), []
    for code in codes:
        names = read_cell(code, names).names
        found = list(printed.beside(code, output, names, owned=owned))
    return {word for value in found if isinstance(value, dict) for word in value["secret"]}


@pytest.mark.parametrize(
    "codes",
    [
        ("print(rows[0]['password'])",),
        ("print(row.get('access_token'))",),
        ("print(f'it is {row[\"password\"]}')",),
        (ROWS, "print(list(rows[0].values()))"),
        (ROWS, "for row in rows:\n    print(*row.values())"),
        (ROWS, "print([list(row.values()) for row in rows])"),
        (ROWS, "them = {}\nthem['a'] = rows\nprint(them)"),
        (ROWS, "one, other = rows\nprint(other)"),
        (ROWS, "if (first := rows[0]):\n    print(first)"),
        (ROWS, "kept = []\nkept += rows\nprint(kept)"),
        (ROWS, "def show(x):\n    print(x)\nshow(rows)"),
        ("def get():\n    return apis.supervisor.show_account_passwords()", "print(get())"),
        ("s = apis.supervisor\nfound = s.show_account_passwords()", "print(found)"),
        ("found = requester.request('supervisor', 'show_account_passwords')\nprint(found)",),
        ("found = apis.music.login(username='a')\nprint(list(found.values()))",),
        ("password = 1\nprint(password)",),
    ],
)
def test_a_cell_that_prints_secrets(codes):
    """Each word of its output, but days and small numbers."""
    assert secrets(*codes) == ALL


@pytest.mark.parametrize(
    "codes",
    [
        ("print(song['title'])",),
        (ROWS, "songs = apis.music.show_songs(access_token=rows)\nprint(songs, 1)"),
        (ROWS, "music = apis.music\nsongs = music.show_songs(access_token=rows)\nprint(songs, 1)"),
        (ROWS, "rows = apis.music.show_songs()\nprint(rows, 1)"),
        (ROWS, "for rows in songs:\n    print(rows)"),
        ("print('the password')",),
        ("print(",),
    ],
)
def test_a_cell_that_prints_none(codes):
    """What was sent with a secret is none, and a name may get another value."""
    assert secrets(*codes) == set()


def test_contacts_are_no_plain_words():
    """So a person's relation stays, and a number does not."""
    output = "friend Bo 5550102938 12345 bo_tern9"
    assert secrets("print(contact['phone_number'])", output=output) == {"5550102938", "bo_tern9"}


def test_what_looks_random_is_taken_from_any_cell():
    """And ordinary shapes are left: files, moments, prices, keys, titles."""
    assert secrets("print(x)", output="Zk_music_04 ev8}Fz~o2b") == {"Zk_music_04", "ev8}Fz~o2b"}
    ordinary = "Report_v2.txt 2023-05-18T12:00:00 $1,249.99 song_id=12 O'Neil's show_song_library 5550102938 Track-12"
    assert secrets("print(x)", output=ordinary) == set()


def test_words_of_the_code_and_of_errors_are_nobodys():
    """Whatever the cell; so hints keep the words of the errors that they are about."""
    code = "print('Found for', rows[0]['password'])\nprint('sorry', e)"
    said = 'Response status code is 422:\n{"message":"Validation error. Reason: \\npassword: field required"}'
    assert secrets(code, output=f"Found for sunflowers\nsorry {said}") == {"sunflowers"}
    for end in (
        "No API named 'send' found in the venmo app.",
        "Execution failed. Traceback:\n  File \"x\"\nKeyError: 'a'",
    ):
        assert secrets(code, output=f"sunflowers\n{end}") == {"sunflowers"}


def test_an_answer_is_told_with_its_call():
    """Neither its text nor its words are given once more; what the cell binds is known all the same."""
    printed = Printed()
    assert list(printed.beside(ROWS, "{}", Names(), owned=True)) == []
    assert {"secret": ["word"]} in list(printed.beside("print(rows)", "word", Names(), owned=False))


@given(st.text(max_size=200), st.booleans(), st.booleans())
def test_any_output(output, secret, contact):
    """Nothing raises, and each word is one of the output."""
    assert all(word in output for word in may_be_secrets(output, secret=secret, contact=contact))


def test_a_program_that_is_too_deep():
    """Nobody can tell what it prints: all of it may be secrets."""
    assert secrets("print(" + "+".join("a" * 5000) + ")", output="sunflowers") <= {"sunflowers"}
