"""Many values found in a text at once: what a search for each of them would find, without the search."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.mask import Mask
from amd.mask.finding import Finder, _is_whole, folded
from amd.mask.recurrence import Collector
from amd.mask.spellings import BirthDate, Number, Words, forms

PIECES = [
    *(
        "tess",
        "TESS",
        "quill",
        "tess quill",
        "tess  quill",
        "quill the second",
        "the",
        "名前",
        "名",
        "é",
        "e\u0301",
        "ß",
    ),
    *(
        "a@b.co",
        "a%40b.co",
        "%20",
        "%",
        "\\n",
        "\\u00e9",
        "\\",
        "n",
        " ",
        "  ",
        "\n",
        ".",
        "-",
        "_",
        "1",
        "14821",
        ".5",
    ),
    *("4155550199", "415-555-0199", "(415) 555", "0199", "<", ">", "<x>", "x", "C++", "+"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=10).map("".join)
words = st.builds(Words, texts.filter(str.strip), st.booleans())


class CountedWords(Words):
    """A spelling that counts how often a place of a text was compared with it."""

    __slots__ = ()
    compared = 0

    def end(self, text, start):
        """As of any words."""
        CountedWords.compared += 1
        return super().end(text, start)


def searched(text, spelling):
    """Whether a look at every place finds the spelling as a whole word: the slow and plain way."""
    text = folded(text)[0]
    spelling = replace(spelling, form=folded(spelling.form)[0])
    ends = ((start, spelling.end(text, start)) for start in range(len(text)))
    return any(end is not None and _is_whole(text, start, end) for start, end in ends)


@given(texts, words, st.sampled_from([str, str.upper, str.casefold]), texts)
def test_what_a_search_at_every_place_finds_is_found(before, spelling, change, after):
    """Whatever the rarest word is, and whatever stands before it: escapes, blanks, characters of any script."""
    text = f"{before}{change(spelling.form)}{after}"
    has_words = any(char.isalnum() or char == "_" for char in spelling.form)
    assert Finder([(spelling, "<x>")]).holds(text) == (has_words and searched(text, spelling))


@pytest.mark.parametrize("before", ["", " ", "%20", "\\n", "\\u00e9", "é%C3", "名", "(", "-", "\n"])
@pytest.mark.parametrize(
    "value", ["tess", "tess.quill", "tess quill", "20abc", "名前2024x", "%20abc", "p\\u00e4ss", "C++"]
)
def test_a_value_is_found_behind_whatever_ends_a_word(before, value):
    """Behind an escape that was kept as text a word begins, although a letter or digit stands before it."""
    assert Finder([(Words(value), "<x>")]).replace(f"{before}{value} z") == f"{before}<x> z"


@pytest.mark.parametrize(
    ("before", "after"), [("x", ""), ("", "x"), ("_", ""), ("", "_"), ("9", ""), ("%2", ""), ("\\q", "")]
)
def test_a_longer_word_is_no_place_for_it(before, after):
    """The control of the test above."""
    text = f"{before}tess quill{after} z"
    assert Finder([(Words("tess quill"), "<x>")]).replace(text) == text


def test_the_first_of_the_order_wins_and_what_it_uncovers_is_looked_at_again():
    """Where two overlap the earlier of the order is replaced, wherever the other starts."""
    finder = Finder([(Words("quill the second"), "<a>"), (Words("the quill"), "<b>"), (Words("the"), "<c>")])
    assert finder.replace("the quill the second, the quill") == "<c> <a>, <b>"


def test_words_numbers_and_dates_together():
    """Each kind is found in its own way."""
    finder = Finder([(Words("tess"), "<user>"), (Number("4155550199"), "<phone>"), (BirthDate("1990", 4, 5), "<dob>")])
    text = "tess (415) 555-0199, born April 5th, 1990; tessa 14155550199 in April 1990"
    assert finder.replace(text) == "<user> (<phone>, born <dob>; tessa 14155550199 in April 1990"


def test_thousands_of_values_are_each_compared_where_they_stand():
    """Not at every place and not in every text: a few comparisons a value, where each pair would be nine million."""
    mails = [f"user{n:04d}@mail{n % 7}.example" for n in range(3000)]
    finder = Finder([(CountedWords(form), "<email>") for mail in mails for form in forms(mail)])
    text = " ".join(mails)
    CountedWords.compared = 0
    assert finder.replace(text) == " ".join(["<email>"] * 3000)
    assert 3000 <= CountedWords.compared <= 4 * 3000
    assert finder.replace("nothing of it is here") == "nothing of it is here"
    assert CountedWords.compared <= 4 * 3000


def test_names_with_common_parts_are_filed_under_the_rarest():
    """Three hundred people of one first name: a text that names one is compared with one."""
    names = [f"Jane Quill{a}{b}{c}" for a, b, c in product("abcdefg", repeat=3)][:300]
    finder = Finder([(CountedWords(name), "<name>") for name in names])
    CountedWords.compared = 0
    assert finder.replace(f"Jane, Jane and {names[7]}") == "Jane, Jane and <name>"
    assert CountedWords.compared <= 8


def test_a_large_observation_is_masked_whole(make_run):
    """3,000 addresses under their keys, and the same in prose and in percent code."""
    mails = [f"user{n:04d}@mail{n % 7}.example" for n in range(3000)]
    seen = json.dumps({"emails": mails, "note": " ".join(mails), "link": "&".join(mails).replace("@", "%40")})
    run = make_run("Write to all.", ("", "list", {}, seen))
    masked = Mask.of(run).run(run).calls[0].observation
    assert "user" not in masked
    assert masked.count("<emails>") == 9000


def test_a_placeholder_that_holds_its_value_ends():
    """Looking until nothing is left must not go on for ever: such a placeholder is replaced beforehand."""
    collector = Collector(frozenset())
    collector.add("emily_email", "emily_email", "contact", "<emily_email>")
    assert collector.recurrence().replace("see emily_email, Emily_Email") == "see <value>, <value>"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("ab I\u0307", "ab \u0130"),
        ("ab \u0130", "ab I\u0307"),
        ("wei\u00df_77x", "WEISS_77X"),
        ("WEISS_77X", "wei\u00df_77x"),
        ("wei\u00df 77x", "WEISS 77x"),
        ("tess_9921", "\uff54\uff45\uff53\uff53_\uff19\uff19\uff12\uff11"),
        ("tess_9921", "te\u200bss_9921"),
        ("te\u00adss_9921", "tess_9921"),
        ("\ufb01nn_9921", "FINN_9921"),
    ],
)
def test_spellings_that_fold_together_are_one(value, text):
    """Neither length nor width nor what nobody sees tells two spellings apart, at the end of a text or inside."""
    finder = Finder([(Words(value), "<x>")])
    assert finder.replace(text) == "<x>"
    assert finder.replace(f"by {text}, {text}!") == "by <x>, <x>!"
    assert finder.replace(f"a{text}") == f"a{text}", "the control: inside a longer word"


def test_a_value_that_holds_its_own_placeholder_is_no_chain(make_run):
    """What stands already as a placeholder is not looked at again, so one pass is enough."""
    text = "<pw>" + " 1" * 20_000
    for value in ("<pw> 1", "pw> 1", "1 <pw"):
        run = make_run(text, ("", "login", {"pw": value}, "ok"))
        assert Mask.of(run).run(run).turns[0].user == text
    assert Finder([(Words("pw> 1"), "<pw>"), (Words("tess"), "<pw>")]).replace("tess 1 1") == "<pw> 1 1"


def test_a_text_made_to_be_looked_through_without_end_goes_as_a_whole():
    """Each pass uncovers one more; the control settles."""
    finder = Finder([(Words("77."), "<x>")])
    assert finder.replace("77." * 5) == "<x>" * 5
    assert finder.replace("77." * 5000) == "<value>"
