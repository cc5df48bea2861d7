"""What an experiment makes for itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from amd.experiment.recipes import MemoryRecipe, SplitRecipe


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        (MemoryRecipe(path=Path("m"), build=("bfcl", "runs")), ["build", "bfcl", "runs", "--out", "m"]),
        (SplitRecipe(path=Path("s"), draw=("bfcl", "runs")), ["split", "bfcl", "runs", "--out", "s"]),
    ],
)
def test_a_recipe_is_a_command(recipe, words):
    """Its own words, and where it goes."""
    assert recipe.command() == words
    assert not recipe.there


def test_it_is_there_once_it_was_made(tmp_path):
    """A memory with its manifest: a directory alone is an unfinished build."""
    place = tmp_path / "m"
    place.mkdir()
    assert not MemoryRecipe(path=place).there
    (place / "manifest.json").write_text("{}", "utf-8")
    assert MemoryRecipe(path=place).there
    assert SplitRecipe(path=place / "manifest.json").there


def test_it_reads_what_an_experiment_runs_itself(tmp_path, monkeypatch):
    """Whether the paths are relative or not."""
    monkeypatch.chdir(tmp_path)
    recipe = MemoryRecipe(path=Path("own"), build=("bfcl", "runs/self/small-none-0", "--kind", "student"))
    assert recipe.reads([Path("runs/self/small-amd-0"), Path("runs/self/small-none-0")])
    assert recipe.reads([tmp_path / "runs" / "self" / "small-none-0"])
    assert not recipe.reads([Path("runs/self/small-none"), Path("runs/self/small-none-01")])
