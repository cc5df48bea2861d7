"""Every command serves the baselines as it serves our own tiers."""

from __future__ import annotations

import pytest

METHODS = {
    "reasoning_bank": ("reasoning_bank", "reasoning_bank-k3"),
    "memp": ("memp", "memp-script", "memp-trajectory", "memp-k2"),
    "memp-keywords": ("memp-keywords",),
    "sasm": ("sasm", "random-sasm"),
    "amd": ("random", "random-amd-k3", "random-workflow", "amd-k2"),
}


@pytest.mark.parametrize("built", METHODS)
def test_from_runs_to_what_a_student_is_shown(amd, runs, fields, tmp_path, built):
    """build, check, show, lint and ask; a task sees nothing of its own."""
    place = tmp_path / "m"
    floors = {"amd": ("workflow", "subtask"), "sasm": ()}.get(built, (built,))
    pins = [word for tier in floors for word in ("--floor", f"{tier}=-1")]
    made = amd("build", "openai-chat", runs, *fields, "--out", place, "--method", built, *pins, "--json")
    assert (made.code, made.json["admitted"]) == (0, 3)
    assert amd("check", place).code == 0
    shown = amd("show", place, "--limit", 100)
    assert (shown.code, shown.err) == (0, "")
    assert built.partition("+")[0] in shown.out or built == "amd"
    assert amd("lint", place, "--exit-zero", "--json").code == 0
    task = ("--benchmark", "made-up", "--task-id", "multi_turn_base_1")
    for method in METHODS[built]:
        asked = amd("ask", place, "--instruction", "move a report", *task, "--method", method, "--json")
        assert (asked.code, asked.err) == (0, "")
        assert asked.json["exposures"]
        assert "multi_turn_1" not in {each["family"] for each in asked.json["exposures"]}
        assert asked.json["excluded"]["own_family"] > 0


def test_without_a_method_a_memorys_own_is_asked(amd, runs, fields, tmp_path):
    """Whatever name it was built by."""
    for built in ("reasoning_bank-k3", "memp-trajectory"):
        place = tmp_path / built
        assert amd("build", "openai-chat", runs, *fields, "--out", place, "--method", built).code == 0
        asked = amd("ask", place, "--instruction", "move report_1", "--protocol", "deployed", "--json")
        assert (asked.code, list(asked.json["tiers"])) == (0, [built.partition("-")[0]])


def test_failures_are_included_by_an_option(amd, runs, fields, tmp_path):
    """Counted and kept; where nothing learns from them, the option is an error."""
    told = ("openai-chat", runs, *fields, "--out")
    plain = amd("build", *told, tmp_path / "a", "--method", "reasoning_bank", "--json")
    both = amd("build", *told, tmp_path / "b", "--method", "reasoning_bank", "--include-failures", "--json")
    assert (plain.json["records"], plain.json["refused"]) == ({"reasoning_bank": 3}, {"failed": 1, "unscored": 1})
    assert (both.json["records"], both.json["refused"]) == ({"reasoning_bank": 4}, {"unscored": 1})
    assert both.json["notes"]["failure"] == 1
    vain = amd("build", *told, tmp_path / "c", "--include-failures")
    assert vain.code == 2
    assert "learns from failed runs" in vain.err


def test_a_values_in_a_models_words_are_linted(amd, tmp_path, runs, fields):
    """The words of a baseline are prose as any: a date in a script is found (by hand here, as a model would)."""
    place = tmp_path / "m"
    assert amd("build", "openai-chat", runs, *fields, "--out", place, "--method", "memp").code == 0
    assert amd("lint", place, "--only", "value").code == 0
    (path,) = place.glob("generations/*/memp/records.json")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("Enter the given folder", "Enter the folder of 2031-03-04"), encoding="utf-8")
    assert amd("reindex", place).code == 0
    found = amd("lint", place, "--only", "value")
    assert found.code == 1
    assert "2031-03-04" in found.out


def test_a_body_that_its_tier_cannot_read_is_named(amd, tmp_path, runs, fields):
    """An edit is judged by the baseline's own words before it is taken in."""
    place = tmp_path / "m"
    assert amd("build", "openai-chat", runs, *fields, "--out", place, "--method", "sasm").code == 0
    (path,) = place.glob("generations/*/sasm/records.json")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"category":"query"', '"category":"ponder"'), encoding="utf-8")
    found = amd("reindex", place)
    assert found.code == 1
    assert "needs a category" in found.err
