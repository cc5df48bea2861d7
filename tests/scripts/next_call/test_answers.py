"""Answers are on the disk when they are there, and a torn line costs one of them."""

from __future__ import annotations

import pytest

from amd.errors import StoreError
from next_call.answers import Answer, Answers

ONE, TWO = (Answer(name, "shed_1:1", "none", 'a "line"\n\u2028', "stop", 300, 2, 0.5) for name in ("one", "two"))


def test_answers_are_read_back(tmp_path):
    """Each by its request."""
    path = tmp_path / "answers.jsonl"
    answers = Answers(path)
    assert (len(answers), answers.get("one")) == (0, None)
    answers.add(ONE)
    answers.add(TWO)
    assert answers.get("one") == ONE
    assert [Answers(path).get(name) for name in ("one", "two", "three")] == [ONE, TWO, None]


@pytest.mark.parametrize("cut", [1, 2, 40, 10_000])
def test_a_torn_line_is_cut_off(tmp_path, cut):
    """Wherever it was torn; what is added later stands on a line of its own."""
    path = tmp_path / "answers.jsonl"
    Answers(path).add(ONE)
    whole = path.read_bytes()
    Answers(path).add(TWO)
    second = path.read_bytes()[len(whole) :]
    path.write_bytes(whole + second[: -min(cut, len(second))])
    answers = Answers(path)
    assert (len(answers), path.read_bytes()) == (1, whole)
    answers.add(TWO)
    assert path.read_bytes() == whole + second


def test_another_broken_line_is_an_error_with_its_place(tmp_path):
    """Nothing that a kill does: somebody wrote it, and nothing is dropped in silence."""
    path = tmp_path / "answers.jsonl"
    Answers(path).add(ONE)
    path.write_bytes(b'{"request": 1}\n' + path.read_bytes())
    with pytest.raises(StoreError, match=r"answers\.jsonl:1: no answer"):
        Answers(path)
