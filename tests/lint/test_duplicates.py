"""Groups of records that say nearly the same, and what each family may see of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from amd.lint.duplicates import Likeness, _stars
from amd.lint.records import Placed
from amd.methods import method_named
from amd.session.agreement import Gist

SAME = "Open the valve of the bed, then check the moisture."
WORKFLOW = method_named("workflow").tiers[0]


def groups(*records):
    """The groups of some records of one shelf."""
    likeness = Likeness(WORKFLOW)
    for line, record in enumerate(records, 2):
        likeness.add(Placed(record, line))
    return [group for _, group in likeness.groups()]


def test_the_visible_count_leaves_the_own_family_out(garden):
    """Four runs of three families agree: a family sees the runs of the others alone."""
    families = ["a", "a", "b", "c"]
    records = [garden.workflow(f"{SAME} {'!' * n}", number=n, family=f) for n, f in enumerate(families, 1)]
    (group,) = groups(*records, garden.workflow("Something else entirely.", number=9))
    assert group.records == tuple(record.id for record in records)
    assert (group.runs, group.visible) == (4, {"a": 2, "b": 3, "c": 3})


def test_two_records_of_one_run_are_one_voice(garden):
    """As in a session: a run that says it twice is counted once."""
    (group,) = groups(garden.workflow(SAME), garden.workflow(SAME, key="another key"))
    assert (len(group.records), group.runs, group.visible) == (2, 1, {"family-1": 0})


def test_a_contradiction_is_no_duplicate(garden):
    """As in a session."""
    assert groups(garden.workflow(SAME), garden.workflow(SAME.replace("then", "do not"), number=2)) == []


def test_calls_of_a_tool_are_left_out(garden):
    """Masking makes them alike; they are found by the tool's name alone."""
    assert groups(*(garden.workflow(SAME, number=n, tool="openValve") for n in (1, 2))) == []
    assert groups(*(garden.workflow(SAME, number=n) for n in (1, 2)))


words = st.lists(st.sampled_from([*"abcdefghijklmnopq", "not"]), max_size=14).map(" ".join)


@given(st.lists(words, max_size=14))
def test_the_index_finds_what_comparing_all_with_all_finds(texts):
    """The same stars as by brute force: no near pair is missed."""
    gists = list(dict.fromkeys(map(Gist.of, texts)))
    left, expected = list(range(len(gists))), []
    while left:
        first, rest = left[0], left[1:]
        near = [at for at in rest if gists[first].near(gists[at])]
        expected.append([first, *near])
        left = [at for at in rest if at not in near]
    assert list(_stars(gists)) == expected
