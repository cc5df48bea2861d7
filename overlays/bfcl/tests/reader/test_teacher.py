"""The reader: found by its name, which score belongs to which results, and what its options do."""

from __future__ import annotations

import pytest
from result_lines import (
    READER,
    ids,
    items,
    line,
    runs,
    score_lines,
    score_of,
    scored,
    write_lines,
    write_results,
)

from amd.arms import RUN_SETTINGS
from amd.build import admit
from amd.errors import ConfigError, TrajectoryError
from amd.traces import reader_options
from amd_bfcl.package import Package
from amd_bfcl.record import TEACHER
from amd_bfcl.teacher import BfclOptions, reader


def test_the_entry_point_is_the_reader():
    """``amd build bfcl`` finds it."""
    assert READER is reader
    assert (READER.name, READER.benchmark, READER.options) == ("bfcl", "bfcl", BfclOptions)
    assert all(field.description for field in BfclOptions.model_fields.values())


def test_a_run_with_all_its_parts(tmp_path, alone):
    """Task, family, words, calls, outcome and source; no absolute path in the run's id."""
    path = scored(tmp_path, [line(task_id) for task_id in ids(43, 7)], failed=ids(7))
    right, wrong = runs(tmp_path)
    assert (right.task.benchmark, right.task.task_id, right.task.family) == (
        "bfcl",
        "multi_turn_base_43",
        "multi_turn_40",
    )
    assert right.task.instruction == right.turns[0].user == "Tidy the invented folder."
    assert [c.name for c in right.calls] == ["ls", "cd", "mv", "ls"]
    assert right.tools is None
    assert (right.outcome.success, wrong.outcome.success) == (True, False)
    assert wrong.outcome.evidence == "multi_turn:instance_state_mismatch"
    source = right.source
    assert (source.teacher, source.kind, source.memory_assisted) == ("sample-model-FC", "teacher", False)
    assert (source.path, source.run_id) == (f"{path}:1", "sample-model-FC/BFCL_v4_multi_turn_base")
    assert source.sha256 != wrong.source.sha256


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize("style", ["fc", "claude", "prompting"])
def test_every_shape_of_a_file_is_read(tmp_path, alone, version, style):
    """Flat and grouped names, content as list, text or parts: the same turns."""
    scored(tmp_path / "as it is", [line("multi_turn_base_0", style=style)], version=version)
    scored(tmp_path / "plain", [line("multi_turn_base_0")])
    (found,), (plain,) = runs(tmp_path / "as it is"), runs(tmp_path / "plain")
    assert (found.turns, found.sha256) == (plain.turns, plain.sha256)


def test_one_score_file_for_several_result_files(tmp_path, alone):
    """D02b: only the two tasks that it scores as right; what nobody scored is counted as such."""
    known = ids(*range(4), category="multi_turn_miss_func")
    unknown = ids(*range(4), category="multi_turn_composite")
    first = write_lines(tmp_path / "a/BFCL_v4_multi_turn_miss_func_result.json", [line(task_id) for task_id in known])
    second = write_lines(
        tmp_path / "b/BFCL_v4_multi_turn_composite_result.json", [line(task_id) for task_id in unknown]
    )
    score = write_lines(tmp_path / "score.json", score_lines(4, known[:2], category="multi_turn_miss_func"))
    gate = admit(items(first, second, score=str(score)))
    assert [run.task.task_id for run in gate.admitted] == known[2:]
    assert gate.refused == {"failed": 2, "unscored": 4}


def test_an_explicit_score_leaves_the_others_unscored(tmp_path, alone):
    """Even where another file has a score beside it: what was asked for is what counts."""
    one = scored(tmp_path / "one", [line("multi_turn_base_0")])
    other = scored(tmp_path / "other", [line("multi_turn_base_1")], model="other-FC")
    assert [run.outcome.success for run in runs(one, other)] == [True, True]
    by_name = [run.outcome.success for run in runs(one, other, score=str(score_of(one)))]
    assert by_name == [True, None]


def test_an_explicit_score_of_nothing_is_an_error(tmp_path, alone):
    """It names both; a score file that is not there is one too."""
    path = write_results(tmp_path, [line("multi_turn_base_0")])
    score = write_lines(tmp_path / "BFCL_v4_multi_turn_miss_func_score.json", score_lines(1, []))
    with pytest.raises(ConfigError, match=r"miss_func_score\.json .*multi_turn_base_result\.json"):
        items(path, score=str(score))
    with pytest.raises(TrajectoryError, match="no such file"):
        items(path, score=str(tmp_path / "none.json"))


def test_without_a_score_nothing_succeeded(tmp_path, alone):
    """Unscored is not successful; positive control above."""
    write_results(tmp_path, [line("multi_turn_base_0")])
    assert admit(items(tmp_path)).refused == {"unscored": 1}


def test_a_score_that_does_not_fit_refuses_every_run_of_its_file(tmp_path, alone):
    """With the figures; another file of the same folder is not touched."""
    scored(tmp_path, [line(task_id) for task_id in ids(0, 1)], total=3)
    scored(tmp_path, [line("multi_turn_base_5")], model="other-FC")
    write_lines(
        score_of(tmp_path / "result/other-FC/multi_turn/BFCL_v4_multi_turn_base_result.json"), score_lines(1, [])
    )
    gate = admit(items(tmp_path))
    assert gate.refused == {"score_mismatch": 2}
    assert all("counts 3 tasks, the results 2" in refusal.detail for refusal in gate.refusals)
    assert [run.task.task_id for run in gate.admitted] == ["multi_turn_base_5"]


def test_the_name_of_the_teacher(tmp_path, alone):
    """The option, else the model's folder, else the model that the score file names, else nobody's."""
    path = write_results(tmp_path, [line("multi_turn_base_0")])
    assert [run.source.teacher for run in runs(path)] == ["sample-model-FC"]
    assert [run.source.teacher for run in runs(path, teacher="gpt", kind="student")] == ["gpt"]
    loose = write_lines(tmp_path / "loose.json", [line("multi_turn_base_0")])
    assert [run.source.teacher for run in runs(loose)] == ["unknown"]
    score = write_lines(tmp_path / "s.json", score_lines(1, ids(0), model="their/model"))
    assert [run.source.teacher for run in runs(loose, score=str(score))] == ["their/model"]


def test_in_a_run_directory_of_ours_the_teacher_is_its_model(tmp_path, alone):
    """Not the name that the harness made of it; the option counts before it."""
    path = write_results(tmp_path, [line("multi_turn_base_0")])
    write_lines(tmp_path / RUN_SETTINGS, [{"model": "org/Model:7b"}])
    (run,) = runs(path)
    assert (run.source.teacher, run.source.kind) == ("org/Model:7b", "teacher")
    assert run.source.run_id == "sample-model-FC/BFCL_v4_multi_turn_base"
    assert [run.source.teacher for run in runs(path, teacher="gpt")] == ["gpt"]


@pytest.mark.parametrize("options", [{}, {"kind": "student"}, {"teacher": "gpt", "kind": "teacher"}])
def test_a_played_answer_key_is_nobodys_teacher(tmp_path, alone, options):
    """What is marked as the key's stays the key's, whatever is said of it; any other model is as it was (control)."""
    path = write_results(tmp_path, [line("multi_turn_base_0")])
    write_lines(tmp_path / RUN_SETTINGS, [{"model": TEACHER}])
    assert [run.source.kind for run in runs(path, **options)] == ["oracle"]
    assert [run.source.teacher for run in runs(path)] == [TEACHER]
    write_lines(tmp_path / RUN_SETTINGS, [{"model": f"{TEACHER}-7b"}])
    assert [run.source.kind for run in runs(path, **options)] == [options.get("kind", "teacher")]


def test_options_are_checked():
    """An oracle is the recorder's to make; an unknown option is named."""
    with pytest.raises(ConfigError, match="kind"):
        reader_options(READER, {"kind": "oracle"})
    with pytest.raises(ConfigError, match="scores"):
        reader_options(READER, {"scores": "x"})


def test_another_version_of_the_benchmark_is_refused_unless_allowed(tmp_path, package, monkeypatch):
    """Its families and tasks were checked by nobody."""
    path = write_results(tmp_path, [line("multi_turn_base_3")])
    monkeypatch.setattr("amd_bfcl.package.TESTED_VERSION", "1999.1.1")
    with pytest.raises(ConfigError, match="--any-version"):
        items(path)
    assert runs(path, any_version=True)
    assert isinstance(package, Package)
