"""The journal: what was finished is there after any kill, and goes when it is published."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from amd.build.journal import Entry, Journal
from amd.errors import StoreError
from amd.store import check_place
from amd.store.place import JOURNAL


def entry(number: int, reason: str | None = None) -> Entry:
    """A finished assignment."""
    reply = None if reason else {"text": f"Look first, {number}."}
    return Entry(f"key-{number}", "insight", reply, reason, {"requests": 1, "seconds": 0.5})


def test_entries_come_back_as_they_went(tmp_path: Path) -> None:
    """Replies and reasons, in the directory of the build, which stays one that a build takes over."""
    journal = Journal(tmp_path / "memory")
    for each in (entry(1), entry(2, "prose")):
        journal.add(each)
    again = Journal(tmp_path / "memory")
    assert [again.get(f"key-{n}") for n in (1, 2, 3)] == [entry(1), entry(2, "prose"), None]
    check_place(tmp_path / "memory")


def test_the_last_of_two_entries_counts(tmp_path: Path) -> None:
    """A fallback that was asked for again."""
    journal = Journal(tmp_path)
    journal.add(entry(1, "prose"))
    journal.add(entry(1))
    assert Journal(tmp_path).get("key-1") == entry(1)


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_c09_a_torn_last_line_is_dropped_and_nothing_else(tmp_path: Path, cut: int) -> None:
    """C09: killed inside a write; the next entry does not become part of the torn line."""
    journal = Journal(tmp_path)
    journal.add(entry(1))
    journal.add(entry(2))
    path = tmp_path / JOURNAL
    path.write_bytes(path.read_bytes()[:-cut])
    again = Journal(tmp_path)
    assert (again.get("key-1"), again.get("key-2")) == (entry(1), entry(2) if cut == 1 else None)
    again.add(entry(3))
    last = Journal(tmp_path)
    assert (last.get("key-1"), last.get("key-3")) == (entry(1), entry(3))
    assert last.dropped == (cut > 1)


def test_lines_that_are_none_cost_nothing_but_themselves(tmp_path: Path) -> None:
    """Another hand, or another version, wrote them."""
    Journal(tmp_path).add(entry(1))
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(b'\xff\n[]\n{"key": 5}\n\n')
    again = Journal(tmp_path)
    assert again.get("key-1") == entry(1)
    assert again.dropped == 3


@pytest.mark.parametrize("late", [False, True])
def test_what_is_published_goes_and_what_another_build_wrote_stays(tmp_path: Path, late: bool) -> None:
    """Two builds in one directory, at once or one after a kill of the other: each takes out its own."""
    Journal(tmp_path).add(entry(1))
    second = Journal(tmp_path)
    if late:
        Journal(tmp_path).add(entry(3))
    second.get("key-2")
    second.add(entry(2))
    assert second.unused == 1
    second.settle()
    left = Journal(tmp_path)
    assert [left.get(f"key-{number}") for number in (1, 2)] == [entry(1), None]
    assert (left.get("key-3") is not None) == late
    left.settle()
    assert not (tmp_path / JOURNAL).exists()
    left.settle()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock"]


def test_threads_and_processes_write_whole_lines(tmp_path: Path) -> None:
    """Several of each at once: every entry is there once."""
    code = (
        "import sys; from pathlib import Path; from amd.build.journal import Entry, Journal\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for n in range(20): journal.add(Entry(f'{sys.argv[2]}-{n}', 'insight', {'text': 'x' * 500}))"
    )
    others = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in ("a", "b")]
    journal = Journal(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(journal.add, map(entry, range(40))))
    assert [other.wait(60) for other in others] == [0, 0]
    lines = (tmp_path / JOURNAL).read_bytes().split(b"\n")
    assert len(lines) == 81
    assert Journal(tmp_path).dropped == 0


def test_what_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    """And nothing is said to be kept that is not."""
    (tmp_path / JOURNAL).mkdir()
    with pytest.raises(StoreError, match="finished replies are kept"):
        Journal(tmp_path)
