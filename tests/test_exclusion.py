from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amd.errors import ConfigError
from amd.exclusion import (
    Split,
    cross_split,
    deployed,
    in_sample,
    instruction_sha256,
    read_split,
    self_excluded,
)
from amd.trajectory import Task

TASK = Task("demo", "demo_multi_0", "fam-0", "Move report.txt from drafts to archive and sort it")
OTHER = instruction_sha256("Copy notes.md into backup")
SPLIT = Split("demo", frozenset({"fam-0", "fam-1"}), frozenset({"fam-2"}))


def test_c01_same_text_under_another_name_is_hidden():
    """C01: a trailing space, capitals and full-width letters make no other text; another text is seen."""
    viewer = self_excluded(TASK)
    assert viewer.why_hidden("fam-4", instruction_sha256(TASK.instruction.upper() + " ")) == "same_text"
    wide = TASK.instruction.replace("report", "ｒｅｐｏｒｔ").replace(" ", "\u3000")
    assert viewer.why_hidden("fam-4", instruction_sha256(wide)) == "same_text"
    assert viewer.why_hidden("fam-0", OTHER) == "own_family"
    assert viewer.why_hidden("fam-1", OTHER) is None


def test_viewers_that_do_not_exclude():
    """An in-sample and a deployed viewer see even the task's own family."""
    own = instruction_sha256(TASK.instruction)
    assert in_sample(TASK).why_hidden("fam-0", own) is None
    assert deployed().why_hidden("fam-0", own) is None
    assert [viewer.excludes for viewer in (self_excluded(TASK), in_sample(TASK), deployed())] == [True, False, False]


def test_cross_split_sees_train_families_only():
    """The own family, a test family and an unknown family are hidden; another train family is seen."""
    viewer = cross_split(TASK, SPLIT)
    seen = [viewer.why_hidden(family, OTHER) for family in ("fam-0", "fam-2", "fam-9", "fam-1")]
    assert seen == ["own_family", "test_family", "test_family", None]


def test_cross_split_of_another_benchmark_is_refused():
    """The message names both benchmarks."""
    with pytest.raises(ConfigError, match=r"'other'.*'demo'"):
        cross_split(TASK, Split("other", frozenset({"a"}), frozenset({"b"})))


def test_a_family_on_both_sides_is_refused():
    """A split names the family that stands on both sides."""
    with pytest.raises(ConfigError, match="'a'"):
        Split("demo", frozenset({"a", "b"}), frozenset({"a"}))


def test_a_lone_surrogate_has_a_hash():
    """An instruction that UTF-8 cannot hold is hashed as its readable form."""
    assert instruction_sha256("bad \ud83d") == instruction_sha256("BAD \N{REPLACEMENT CHARACTER}")


@pytest.mark.parametrize(
    "unseen", ["\u200b", "\ufe0f", "\u034f", "\u180b", "\u115f", "\u3164", "\u2800", "\ufeff", "\x00"]
)
def test_same_text_is_what_a_reader_sees(unseen: str):
    """C01: a character that shows nothing makes no other text, wherever it stands."""
    plain = "Move the cafe\u0301 table ❤"
    assert instruction_sha256(f"Mo{unseen}ve the cafe{unseen}\u0301 table ❤{unseen}") == instruction_sha256(plain)
    assert instruction_sha256(plain) != instruction_sha256("Move the café tables ❤")


def seen(text: str) -> list[str]:
    """The words of an ASCII text as a reader sees them: control characters show nothing."""
    return "".join(letter for letter in text.casefold() if letter.isspace() or letter.isprintable()).split()


@given(st.text(), st.text())
@example("", "\x08")
def test_the_instruction_hash_is_of_the_normal_form(text: str, other: str):
    """White space around and between words does not matter; words do."""
    assert instruction_sha256(f" {text}\n") == instruction_sha256(text)
    if "".join(text.split()).isascii() and "".join(other.split()).isascii():
        same = seen(text) == seen(other)
        assert (instruction_sha256(text) == instruction_sha256(other)) == same


def write(path: Path, value: object) -> Path:
    """A file with that JSON value."""
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_read_split(tmp_path: Path):
    """A split is read from its file; the seed is for people, the order of the lists does not matter."""
    whole = {"format": "amd-split/1", "benchmark": "demo", "train": ["fam-1", "fam-0"], "test": ["fam-2"], "seed": 7}
    split = read_split(write(tmp_path / "split.json", whole))
    assert split == SPLIT
    assert split.sha256 == SPLIT.sha256
    assert split.sha256 != Split("demo", SPLIT.train, frozenset({"fam-3"})).sha256
    assert split.sha256 != Split("demo", SPLIT.test, SPLIT.train).sha256


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("{", "Expecting property name"),
        ([], "not a JSON object"),
        ({"format": "amd-split/2"}, "amd-split/2.*amd-split/1"),
        ({"format": "amd-split/1", "train": ["a"], "test": ["b"]}, "benchmark is None"),
        ({"format": "amd-split/1", "benchmark": "demo", "train": "a", "test": ["b"]}, "train is no list"),
        ({"format": "amd-split/1", "benchmark": "demo", "train": ["a"]}, "test is no list"),
        ({"format": "amd-split/1", "benchmark": "demo", "train": ["a", None], "test": ["b"]}, "train has None"),
        ({"format": "amd-split/1", "benchmark": "demo", "train": ["a"], "test": [{"b": 1}]}, "test has {'b': 1}"),
        ({"format": "amd-split/1", "benchmark": "demo", "train": ["a"], "test": ["a"]}, "in train and in test"),
    ],
)
def test_a_bad_split_file_is_named(tmp_path: Path, value: object, fault: str):
    """The error begins with the file's name and says what is wrong."""
    path = write(tmp_path / "split.json", value)
    with pytest.raises(ConfigError, match=fault) as caught:
        read_split(path)
    assert str(caught.value).startswith(str(path))


def test_a_missing_split_file_is_named(tmp_path: Path):
    """A file that is not there is a configuration error, not a traceback."""
    with pytest.raises(ConfigError, match=r"nowhere\.json"):
        read_split(tmp_path / "nowhere.json")
