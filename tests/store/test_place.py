"""Which directories are ours."""

from __future__ import annotations

import pytest

from amd.errors import StoreError
from amd.store import check_place, is_memory, open_memory, publish


def test_free_places_and_memories_pass(tmp_path, place):
    """Nothing there, an empty directory, a memory."""
    check_place(tmp_path / "new")
    (tmp_path / "empty").mkdir()
    check_place(tmp_path / "empty")
    check_place(place)
    assert is_memory(place)
    assert not is_memory(tmp_path / "empty")


@pytest.mark.parametrize(
    "names", [[".lock"], [".journal.jsonl"], ["generations/000001/workflow"], [".lock", "generations/"]]
)
def test_an_unfinished_build_is_ours_and_is_no_memory(kit, tmp_path, names):
    """It may be built into, and opening says what it is."""
    for name in names:
        path = tmp_path / name
        path.mkdir(parents=True) if "generations" in name else path.write_text("")
    check_place(tmp_path)
    with pytest.raises(StoreError, match="unfinished build") as caught:
        open_memory(tmp_path)
    assert "amd build" in caught.value.next_step
    assert publish(tmp_path, kit.union(0)).manifest.generation == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("thesis.tex", "ten years of work"),
        ("manifest.json", '{"name": "a web app"}'),
        ("manifest.json", "[]"),
        ("manifest.json", ""),
        ("generations/holidays/photo.txt", "blue"),
        ("generations/000001x/photo.txt", "blue"),
        ("generations/\u0660\u0660\u0660\u0660\u0660\u0661/photo.txt", "blue"),  # digits, and none of ours
    ],
)
def test_anything_else_is_left_alone(kit, tmp_path, name, text):
    """Refused by name, and not a byte of it is touched."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    before = kit.files(tmp_path)
    with pytest.raises(StoreError):
        publish(tmp_path, kit.union(0))
    assert kit.files(tmp_path) == before
    assert not (tmp_path / ".lock").exists()


def test_a_file_is_no_place(tmp_path, kit):
    """A file in the way is named."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="is a file"):
        publish(tmp_path / "file", kit.union(0))
    with pytest.raises(StoreError, match="is no directory"):
        open_memory(tmp_path / "file")


def test_nothing_to_open_is_said(tmp_path):
    """No directory, or one without a manifest."""
    with pytest.raises(StoreError, match="no memory at"):
        open_memory(tmp_path / "nowhere")
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(StoreError, match=r"has no manifest\.json"):
        open_memory(tmp_path)
