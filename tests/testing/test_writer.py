"""The scripted writer: the words are known before, the protocol is the real one."""

from __future__ import annotations

from dataclasses import dataclass

from amd.testing import ScriptedWriter, run
from amd.tier import Assignment, Prompt, Writer


@dataclass(frozen=True, slots=True)
class Said:
    """A reply's shape."""

    text: str


def asked(purpose: str, number: int) -> Assignment[Said]:
    """An assignment about a run."""
    return Assignment(Prompt(purpose, "", Said), run(number))


def test_a_reply_comes_in_the_assignments_shape() -> None:
    """A mapping gives one reply for every run, a function one for each."""
    writer: Writer = ScriptedWriter(
        {"insight": {"text": "Look first."}, "label": lambda trajectory: {"text": trajectory.task.task_id}}
    )
    assert writer.write(asked("insight", 0)) == Said(text="Look first.")
    assert writer.write(asked("label", 3)) == Said(text="multi_turn_base_3")


def test_it_counts_by_purpose() -> None:
    """Each assignment counts, answered or not."""
    writer = ScriptedWriter({"insight": {"text": "Look first."}})
    for purpose in ("insight", "insight", "segments"):
        writer.write(asked(purpose, 0))
    assert writer.calls == {"insight": 2, "segments": 1}
    assert writer.calls.total() == 3


def test_what_it_does_not_know_is_left_to_the_rules() -> None:
    """No reply for a purpose, or ``None`` from the script: the tier writes for itself."""
    writer = ScriptedWriter({"insight": lambda _: None})
    assert writer.write(asked("insight", 0)) is None
    assert writer.write(asked("segments", 0)) is None
    assert not writer.rejected


def test_a_reply_that_does_not_fit_is_not_given() -> None:
    """D22: words out of shape never reach a tier; they are counted."""
    writer = ScriptedWriter({"insight": {"text": ["no", "string"]}})
    assert writer.write(asked("insight", 0)) is None
    assert writer.rejected == {"insight": 1}


def test_who_wrote_can_be_set() -> None:
    """Two writers with another id or other prompts are two distillers."""
    writer = ScriptedWriter({}, id="model-b", prompts="abc")
    assert (writer.id, writer.prompts) == ("model-b", "abc")
