"""How often a record was shown, and with what success."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.arms import RunLog
from amd.arms.usage import EvaluatedRun, Usage, read_evaluated, usage_of
from amd.errors import TrajectoryError
from amd.records import Exposure


def log(*shown: tuple[str, ...]) -> RunLog:
    """A run that was shown these records, place by place."""
    exposures = tuple(
        Exposure("memp", place, "self-excluded", "t1", "q", ids, ("f",) * len(ids), (0.5,) * len(ids), (1,) * len(ids))
        for place, ids in enumerate(shown)
    )
    counts: dict[str, Any] = dict.fromkeys(["calls", "failed_calls", "hints", "placeholders", "system_changes"], 0)
    return RunLog(
        method="memp",
        protocol="self-excluded",
        mode="static",
        layout="block",
        memory="0" * 64,
        task_id="t1",
        family="f1",
        exposures=exposures,
        **counts,
    )


def test_a_run_counts_once_for_a_record() -> None:
    """At however many places it was shown; an unscored run counts for nothing."""
    runs = [
        EvaluatedRun(log(("a", "b"), ("a",)), success=True),
        EvaluatedRun(log(("a",)), success=False),
        EvaluatedRun(log(("a", "c")), success=None),
        EvaluatedRun(log(), success=False),
    ]
    assert usage_of(runs) == {"a": Usage(2, 1), "b": Usage(1, 1)}


@given(st.lists(st.tuples(st.sets(st.sampled_from("abc")), st.sampled_from([True, False, None]))))
def test_usage_is_what_counting_by_hand_gives(runs: list[tuple[set[str], bool | None]]) -> None:
    """Hits are scored runs with the record, successes those of them that succeeded."""
    found = usage_of(EvaluatedRun(log(tuple(sorted(shown))), success) for shown, success in runs)
    for name in "abc":
        scored = [success for shown, success in runs if name in shown and success is not None]
        assert found.get(name) == (Usage(len(scored), sum(scored)) if scored else None)


def test_a_file_is_read_line_by_line(tmp_path: Path) -> None:
    """What was written comes back; blank lines do not matter."""
    path = tmp_path / "runs.jsonl"
    told = log(("a",)).as_json()
    lines = [{"amd": told, "success": True}, {"amd": told, "success": None, "more": "for people"}]
    path.write_text("\n\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    assert [run.success for run in read_evaluated(path)] == [True, None]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "not JSON"),
        ("[]", "success is 'missing'"),
        ('{"amd": {}}', "success is 'missing'"),
        ('{"amd": {}, "success": 1}', "success is 1"),
        ('{"amd": {}, "success": true}', "no run log"),
    ],
)
def test_a_line_that_is_no_run_is_named(tmp_path: Path, line: str, words: str) -> None:
    """By file and line."""
    path = tmp_path / "runs.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(TrajectoryError, match=f"runs.jsonl:2: .*{words}"):
        list(read_evaluated(path))
    with pytest.raises(TrajectoryError, match="nowhere"):
        list(read_evaluated(tmp_path / "nowhere"))
