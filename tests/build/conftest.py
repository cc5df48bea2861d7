"""Builds into a folder of the test's own, with stubs that count."""

from __future__ import annotations

from pathlib import Path

import pytest

from amd.build import BuildReport, Options, build_memory
from amd.testing import ScriptedWriter, StubEmbedder

INSIGHT = "Check the directory first, then `mv` the file; verify with `wc`. Common failure: wrong cwd."


def three_segments(run):
    """Three segments that cover the calls without gap or overlap, as the cases ask for."""
    calls = len(run.calls)
    bounds = [(calls * n // 3 + 1, calls * (n + 1) // 3) for n in range(3)]
    return {
        "segments": [
            {"start_step": first, "end_step": last, "label": f"part {n}", "description": f"Does part {n}."}
            for n, (first, last) in enumerate(bounds)
        ]
    }


@pytest.fixture
def stub():
    """An embedder that counts calls and texts."""
    return StubEmbedder()


@pytest.fixture
def writer():
    """The writer of the cases: one insight for all, three segments a run; it counts its calls."""
    return ScriptedWriter({"insight": {"text": INSIGHT}, "segments": three_segments})


@pytest.fixture
def build(tmp_path, stub, writer):
    """Build runs into ``tmp_path/memory`` and return the report."""

    def run_build(runs, out: Path | None = None, *, embedder=stub, writer=writer, **options) -> BuildReport:
        return build_memory(
            runs, out or tmp_path / "memory", embedder=embedder, writer=writer, options=Options(**options)
        )

    return run_build
