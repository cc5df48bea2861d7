"""``amd experiment``: a plan that sends nothing, and errors in one line."""

from __future__ import annotations

import pytest

CONFIG = """
benchmark = "bfcl"
out = "{out}"
[student.small]
model = "small"
[arm.none]
method = "none"
"""


@pytest.fixture
def config(tmp_path):
    """An experiment of one run."""
    path = tmp_path / "beds.toml"
    path.write_text(CONFIG.format(out=tmp_path / "out"), encoding="utf-8")
    return path


def test_a_plan_runs_nothing(amd, config, tmp_path):
    """It says what would be run, with the words of its command; nothing is made."""
    told = amd("experiment", config, "--plan", "--json", "--set", "seeds=2", "--set", "tasks.limit=3").json
    assert [(run["arm"], run["seed"], run["done"]) for run in told["runs"]] == [("none", 0, False), ("none", 1, False)]
    assert told["runs"][0]["words"] == ["--method", "none", "--model", "small", "--limit", "3"]
    assert "small-none-1" in amd("experiment", config, "--plan", "--set", "seeds=2").out
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--set", "benchmark=orchard"], 2, "no installed overlay runs the benchmark 'orchard'"),
        (["--set", "python=no/python"], 2, "no/python cannot be run"),
        (["--set", "seeds=none"], 2, "seeds: "),
    ],
)
def test_what_is_wrong_is_one_line(amd, config, words, code, said):
    """On standard error."""
    done = amd("experiment", config, *words)
    assert done.code == code
    assert said in done.err.split("\n")[-2]
