"""Where a record comes from, as a person may have left it."""

from __future__ import annotations

import pytest

from amd.errors import StoreError
from amd.store import check, reindex
from amd.store.lines import line_sha256

RECORDS = "generations/000002/workflow/records.json"


@pytest.mark.parametrize(
    ("member", "words"),
    [
        ("family", "family is 'elsewhere'"),
        ("instruction_sha256", "instruction_sha256 is 'elsewhere'"),
        ("task_id", "of task 'elsewhere' and of no run"),
        ("benchmark", "of no run"),
    ],
)
def test_d01_where_a_record_comes_from_cannot_be_edited(kit, grown, edit, member, words):
    """D01: with another family it would be shown to its own task; ``check`` names it, ``reindex`` refuses it."""
    edit(lambda lines: lines[1].update({member: "elsewhere"}))
    before = kit.files(grown)
    with pytest.raises(StoreError, match=rf"records\.json:3: .*{words}"):
        reindex(grown, embedder=kit.FakeEmbedder())
    assert kit.files(grown) == before
    assert any(words in fault.what and "line 3" in fault.what for fault in check(grown).faults)


def _origin_of_another_run(lines):
    for member in ("task_id", "family", "instruction_sha256", "source"):
        lines[1][member] = lines[2][member]


_ORIGIN_EDITS = {
    "another run": _origin_of_another_run,
    "source.kind": lambda lines: lines[1]["source"].update(kind="student"),
    "source.teacher": lambda lines: lines[1]["source"].update(teacher="gpt-5"),
    "source.run_id": lambda lines: lines[1]["source"].update(run_id="run-9"),
    "source.success": lambda lines: lines[1]["source"].update(success=False),
    "source.steps": lambda lines: lines[1]["source"].update(steps=[2, 2]),
    "split": lambda lines: lines[1].update(split="test"),
    "distiller": lambda lines: lines[1].update(distiller="somebody"),
    "created_at": lambda lines: lines[1].update(created_at="2020-01-01T00:00:00Z"),
    "tool": lambda lines: lines[1].update(tool="rm"),
    "origin_sha256": lambda lines: lines[1].update(origin_sha256="0" * 64),
    "no origin_sha256": lambda lines: lines[1].pop("origin_sha256"),
    "id": lambda lines: lines[1].update(id="0" * 32),
    "id of another line": lambda lines: lines[1].update(id=lines[2]["id"]),
}


@pytest.mark.parametrize("sealed", [False, True], ids=["", "its line hash computed anew"])
@pytest.mark.parametrize("change", _ORIGIN_EDITS.values(), ids=_ORIGIN_EDITS)
def test_d01_a_line_keeps_its_own_origin(kit, grown, edit, change, sealed):
    """D01: the origin of another run of the manifest fits too, and would show a record to its own task."""

    def changed(lines):
        change(lines)
        if sealed:
            lines[1]["line_sha256"] = line_sha256(lines[1])

    edit(changed)
    before = kit.files(grown)
    words = "what it comes from was edited"
    with pytest.raises(StoreError, match=rf"{RECORDS}:3: {words}"):
        reindex(grown, embedder=kit.FakeEmbedder())
    assert kit.files(grown) == before
    assert any(words in fault.what and "line 3" in fault.what for fault in check(grown).faults)


def test_d01_a_kept_origin_lets_key_body_and_status_be_edited(kit, grown, edit):
    """Positive control: all three at once, again and again; the origin's hash is of the new id then."""
    for generation, word in ((2, "silver"), (3, "copper")):
        change = {"key": f"polish the {word}", "body": {"text": word}, "status": "retired"}
        edit(lambda lines, change=change: lines[1].update(change), generation)
        assert len(reindex(grown, embedder=kit.FakeEmbedder()).edits) == 1
        assert check(grown).ok


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("teacher", "gpt-5"),
        ("run_id", "run-9"),
        ("kind", "student"),
        ("success", False),
        ("trajectory_sha256", "0" * 64),
        ("steps", [3, 1]),
    ],
)
def test_d01_a_line_added_by_hand_has_the_source_of_its_run(kit, grown, edit, member, value):
    """Every member of it: there is no hash of ours to tell; with the run's own source it is taken in."""

    def add(lines, **changes):
        hashes = dict.fromkeys(["id", "key_sha256", "row_sha256", "origin_sha256", "line_sha256"], "")
        return [*lines, {**lines[1], "key": "a trick", **hashes, "source": {**lines[1]["source"], **changes}}]

    before = edit(lambda lines: add(lines, **{member: value}))
    with pytest.raises(StoreError, match=rf"{RECORDS}:6: .*{member}|{RECORDS}:6: .*no run"):
        reindex(grown, embedder=kit.FakeEmbedder())
    edit(lambda _: add(before))
    assert len(reindex(grown, embedder=kit.FakeEmbedder()).edits) == 1
    assert check(grown).ok
