"""The made-up runs in ``tests/trajectories``, in the shape of the real ones: a greeting, thoughts, errors, parts."""

from __future__ import annotations

from pathlib import Path

from amd.traces import Note, Refusal, Trajectory, load_reader, reader_options

FILE = Path(__file__).parents[1] / "trajectories" / "library-desk.jsonl"


def _items() -> list[Trajectory | Refusal | Note]:
    reader = load_reader("openai-chat")
    return list(reader.read([FILE], reader_options(reader, {})))


def test_what_the_file_gives() -> None:
    """Seven runs, one whose arguments are no object, one torn line."""
    items = _items()
    assert [type(item).__name__ for item in items] == ["Trajectory"] * 7 + ["Refusal"] * 2
    refusals = [(item.where, item.reason, item.task_id) for item in items if isinstance(item, Refusal)]
    assert refusals == [(f"{FILE}:8", "unreadable", "4"), (f"{FILE}:9", "unreadable", None)]


def test_a_run_as_a_person_reads_it() -> None:
    """Greeting, parallel calls answered in another order, a thought, an error and its repair, a call id used twice."""
    run = _items()[1]
    assert isinstance(run, Trajectory)
    assert run.task.instruction == "Hello, I need some help with a book."
    assert [(call.name, call.ok, call.observation[:14]) for call in run.calls] == [
        ("find_reader", True, '{"name": "Orla'),
        ("find_book", True, '{"book":"B118"'),
        ("renew_loan", False, "Error: book Th"),
        ("renew_loan", True, '{"due":"2025-0'),
    ]
    assert [step.text for step in run.turns[1].steps if step.text] == [
        "The book is on loan to this reader, so it can be renewed.",
        "I need the book's number.",
        "It is yours until 18 March.",
    ]


def test_parts_and_the_answer_key() -> None:
    """An instruction in parts is one text; the answer key and the policy are nowhere."""
    items = _items()
    reserve = items[3]
    assert isinstance(reserve, Trajectory)
    assert reserve.task.instruction == "Please reserve Deep Water for Jonas Akker,\ncard LC-33550."
    assert "ANSWERKEY" in FILE.read_text(encoding="utf-8")
    assert "ANSWERKEY" not in repr(items)
    assert "policy" not in repr(items)
