from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.json_text import digest
from amd.records import Record, RecordSource, RecordTask
from amd.session.agreement import Gist, collapse
from amd.tier import Hit

PARAPHRASES = [
    "Check the current directory with pwd before mv.",
    "Before mv, check the current directory using pwd.",
    "Use pwd to check the current directory before mv.",
    "Check the current directory (pwd) before every mv!",
    "Before any mv check the current directory with pwd first.",
]
CONTRADICTION = "Use absolute paths, do not call pwd."


def hit(text: str, score: float = 1.0, run: str = "") -> Hit:
    """A hit whose record says the text, of a run of its own unless one is named."""
    task = RecordTask("demo", text, text, "0" * 64)
    source = RecordSource("teacher", "run", "teacher", digest((run or text).encode()), (1, 1))
    return Hit(Record(text, "workflow", text, {"text": text}, task, source, "rules", ""), score)


def gist(record: Record) -> str:
    """What a record says."""
    return str(record.body["text"])


@pytest.mark.parametrize(("one", "other"), list(permutations(PARAPHRASES, 2)))
def test_c06_paraphrases_are_near(one: str, other: str):
    """C06: any two of the five ways to say it are near duplicates."""
    assert Gist.of(one).near(Gist.of(other))


@pytest.mark.parametrize("text", PARAPHRASES)
def test_c06_the_contradiction_is_not_near(text: str):
    """C06: the contradicting advice is near none of them."""
    assert not Gist.of(text).near(Gist.of(CONTRADICTION))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("check the folder with pwd", "do not check the folder with pwd"),
        ("always pass the folder", "don't always pass the folder"),
        ("use relative paths", "avoid relative paths"),
    ],
)
def test_a_negation_is_never_near_to_what_it_negates(one: str, other: str):
    """Overlap in words is not agreement if only one of two texts negates."""
    assert not Gist.of(one).near(Gist.of(other))


def test_texts_without_content_words():
    """Such texts agree with nothing: there is nothing to agree about."""
    assert not Gist.of("to the").near(Gist.of("to the"))
    assert not Gist.of("").near(Gist.of("move"))


def test_support_counts_who_agrees_with_the_chosen():
    """Of five that agree and one that does not, two are left, the first with support five."""
    chosen, fallen = collapse([*map(hit, PARAPHRASES), hit(CONTRADICTION)], gist, 3)
    assert [(each.record.id, each.support) for each in chosen] == [(PARAPHRASES[0], 5), (CONTRADICTION, 1)]
    assert fallen == 4


def test_two_records_of_one_run_are_one_voice():
    """Support counts runs, so that a run which repeats itself does not look like agreement."""
    chosen, fallen = collapse([hit(text, run="the same") for text in PARAPHRASES], gist, 1)
    assert [each.support for each in chosen] == [1]
    assert fallen == 4


def test_only_k_are_chosen_and_the_rest_is_no_duplicate():
    """What is ranked behind the best k without agreeing with them is not counted as a duplicate."""
    chosen, fallen = collapse([hit(CONTRADICTION), *map(hit, PARAPHRASES)], gist, 1)
    assert [(each.record.id, each.support) for each in chosen] == [(CONTRADICTION, 1)]
    assert fallen == 0


texts = st.lists(st.sampled_from([*PARAPHRASES, CONTRADICTION, "sort a list", "sort the list, please"]), max_size=8)


@given(texts, st.integers(1, 4))
def test_the_chosen_keep_their_order_and_are_not_near(given_texts: list[str], k: int):
    """The first is always chosen, none of the chosen is near another, and order and scores stay."""
    hits = [hit(text, 1 - at / 10) for at, text in enumerate(given_texts)]
    chosen, fallen = collapse(hits, gist, k)
    assert [each.score for each in chosen] == sorted((each.score for each in chosen), reverse=True)
    assert len(chosen) <= k
    assert bool(chosen) == bool(hits)
    assert not chosen or chosen[0].record == hits[0].record
    gists = [Gist.of(gist(each.record)) for each in chosen]
    assert not any(one.near(other) for one, other in permutations(gists, 2))
    assert fallen <= len(hits) - len(chosen)
