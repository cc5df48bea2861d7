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
    assert told["runs"][0]["words"] == ["--method", "none", "--model", "small", "--limit", "3", "--seed", "0"]
    assert (told["unready"], told["to_make"]) == ([], [])
    assert "0 of 2 runs finished" in amd("experiment", config, "--plan", "--set", "seeds=2").out
    assert not (tmp_path / "out").exists()


def test_a_plan_says_what_is_lacking_and_what_will_be_made(amd, config, tmp_path):
    """Each thing in a line of its own, and exit code 2; what has a recipe is no fault."""
    more = """
        [memory.lost]
        path = "lost"
        [memory.new]
        path = "new"
        build = ["bfcl", "runs"]
        [arm.lost]
        memory = "lost"
        [arm.new]
        memory = "new"
        [arm.far]
        memory = "new"
        protocol = "cross-split"
        split = "far.json"
        tokenizer = "tokenizer.json"
        """
    config.write_text(config.read_text("utf-8") + more.replace("        ", ""), "utf-8")
    done = amd("experiment", config, "--plan", "--set", "tasks.colour=red", "--set", "python=no/python")
    assert done.code == 2
    assert "to be made: amd build bfcl runs --out new" in done.out
    for said in (
        "no/python cannot be run",
        "there is no memory at lost",
        "there is no split at far.json",
        "arm.far: there is no tokenizer at tokenizer.json",
        "memory new: there are no runs at runs",
        "small-none-0 and 3 other runs: there is no option '--colour'",
    ):
        assert said in done.err
    assert "no memory at new" not in done.err
    (tmp_path / "runs").mkdir()
    runs = f"['bfcl', '{tmp_path / 'runs'}']"
    sets = ("--set", f"memory.lost.build={runs}", "--set", f"memory.new.build={runs}")
    made = amd("experiment", config, "--plan", "--json", *sets)
    assert [words[-1] for words in made.json["to_make"]] == ["lost", "new"]
    assert len(made.json["unready"]) == 2
    for words, said in (
        (["bcfl", str(tmp_path / "runs")], "memory new: "),
        (["bfcl", str(tmp_path / "runs"), "--colour"], "memory new: build bfcl: No such option: --colour"),
    ):
        assert said in amd("experiment", config, "--plan", *sets, "--set", f"memory.new.build={words}").err
    assert amd("experiment", config, "--set", "tasks.limit=few").code == 2
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


def test_what_a_run_would_refuse_is_told_by_the_plan(amd, config, tmp_path):
    """A word that the command does not take as a value; nor does asking for help run anything."""
    assert "runs nothing" in amd("experiment", config, "--plan", "--set", "tasks.help=true").err
    assert amd("experiment", config, "--set", "tasks.category=orchard").code == 2
    assert "orchard" in amd("experiment", config, "--plan", "--set", "tasks.category=orchard").err
    assert not (tmp_path / "out").exists()
