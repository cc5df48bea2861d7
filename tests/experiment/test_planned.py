"""One planned run: its words, and what of them makes it another run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from amd.experiment.planned import PlannedRun, options

RUN = PlannedRun(
    Path("out/small-amd-1"),
    "amd",
    "small",
    1,
    Path("memory"),
    {"memory": "memory"},
    {"model": "small", "base_url": "http://127.0.0.1:9/v1", "config": "small.toml"},
    {"threads": 8, "limit": 4},
)


def test_a_switch_is_a_word_of_its_own():
    """``false`` is left out."""
    assert options({"partial": True, "quiet": False}) == ["--partial"]


def test_where_and_how_fast_is_no_other_run():
    """Addresses and threads are told, and left out of what the run is; the seed is part of it."""
    assert RUN.words()[-6:] == ["--threads", "8", "--limit", "4", "--seed", "1"]
    moved = replace(RUN, student_options={**RUN.student_options, "base_url": "elsewhere"}, task_options={"limit": 4})
    assert moved.what() == RUN.what()
    assert replace(RUN, seed=2).what() != RUN.what()


def test_an_edited_file_is_another_run(tmp_path, monkeypatch):
    """By what is in it, wherever an option names it; a file that is not there is a word as any other."""
    monkeypatch.chdir(tmp_path)
    plain = RUN.what()
    Path("small.toml").write_text("temperature = 0.1", "utf-8")
    first = RUN.what()
    assert first != plain
    assert RUN.what() == first
    Path("small.toml").write_text("temperature = 0.9", "utf-8")
    assert RUN.what() not in (plain, first)
    assert "small.toml" in RUN.words()
