"""Finding result files: grouped and flat, their model, their score, and what is passed over."""

from __future__ import annotations

from pathlib import Path

import pytest
from result_lines import score_of, write_lines, write_results

from amd.arms import RUN_SETTINGS
from amd.errors import TrajectoryError
from amd_bfcl.result_files import FileName, find_result_files


@pytest.mark.parametrize("version", [3, 4])
def test_a_file_and_its_score_in_both_layouts(tmp_path, version):
    """Version 3 is flat, version 4 has groups; the model is the folder below result."""
    path = write_results(tmp_path, [], version=version)
    unscored = find_result_files([tmp_path])[0][0]
    assert (unscored.path, unscored.model, unscored.score) == (path, "sample-model-FC", None)
    score = write_lines(score_of(path), [])
    for named in (tmp_path, tmp_path / "result", path):
        (file,), passed_over = find_result_files([named])
        assert (file.path, file.score, passed_over) == (path, score, 0)
    assert file.run_id == f"sample-model-FC/BFCL_v{version}_multi_turn_base"
    assert (file.run, file.student) == (None, None)


def test_a_relative_path_is_placed_by_where_it_is(tmp_path, monkeypatch):
    """Named from inside the model's folder; what the user wrote stays the path."""
    path = write_results(tmp_path, [])
    monkeypatch.chdir(path.parent)
    (file,), _ = find_result_files([Path(path.name)])
    assert (file.path, file.model) == (Path(path.name), "sample-model-FC")


def test_a_download_of_many_models_and_categories(tmp_path):
    """Every multi-turn file of every model, in the order of names; others are counted."""
    for model in ("b-FC", "a"):
        for category in ("multi_turn_miss_func", "multi_turn_base"):
            write_results(tmp_path / "2025", [], category, model)
    write_results(tmp_path / "2025", [], "simple_python", "a")
    write_lines(tmp_path / "2025/score/data_overall.csv", [])
    files, passed_over = find_result_files([tmp_path, tmp_path / "2025"])
    assert [(file.model, FileName.of(file.path).category) for file in files] == [
        ("a", "multi_turn_base"),
        ("a", "multi_turn_miss_func"),
        ("b-FC", "multi_turn_base"),
        ("b-FC", "multi_turn_miss_func"),
    ]
    assert passed_over == 2


def test_a_run_directory_of_ours_is_known_by_its_settings(tmp_path):
    """Its lines say what memory they had; one that does not is unknown."""
    path = write_results(tmp_path, [])
    assert find_result_files([tmp_path])[0][0].run is None
    write_lines(tmp_path / RUN_SETTINGS, ["{}"])
    for named in (tmp_path, path):
        assert find_result_files([named])[0][0].run == tmp_path


@pytest.mark.parametrize(
    ("settings", "model"),
    [
        (b'{"model": "org/Model:7b"}', "org/Model:7b"),
        (b'{"model": ""}', None),
        (b'{"model": 7}', None),
        (b"{}", None),
        (b"[]", None),
        (b'{"mod', None),
        (b'{"model": "\xff"}', None),
    ],
)
def test_a_run_directory_names_its_student(tmp_path, settings, model):
    """The model's own name, not the folder's; settings that nobody can read name none, and are a run's all the same."""
    write_results(tmp_path, [])
    (tmp_path / RUN_SETTINGS).write_bytes(settings)
    ((file,), _) = find_result_files([tmp_path])
    assert (file.run, file.student) == (tmp_path, model)


def test_a_file_under_another_name_or_place_is_taken_as_it_is(tmp_path):
    """Named by hand, without a model or a score beside it; a group folder still tells the model."""
    loose = write_lines(tmp_path / "mine.jsonl", [])
    (file,), _ = find_result_files([loose])
    assert (file.path, file.model, file.score, file.run_id) == (loose, None, None, "mine")
    grouped = write_lines(tmp_path / "some-model/multi_turn/BFCL_v4_multi_turn_base_result.json", [])
    assert find_result_files([grouped])[0][0].model == "some-model"
    assert find_result_files([write_lines(tmp_path / "result/x.jsonl", [])])[0][0].model is None


@pytest.mark.parametrize("named", ["file", "folder"])
def test_links_that_lead_to_each_other_are_one_line(tmp_path, named):
    """Named, or found in a folder; a link to a file is that file (the control)."""
    path = write_results(tmp_path / "run", [])
    path.rename(path.with_name("kept"))
    path.symlink_to(path.name)
    with pytest.raises(TrajectoryError) as caught:
        find_result_files([path if named == "file" else tmp_path / "run"])
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "run") in str(caught.value)
    path.unlink()
    path.symlink_to("kept")
    assert [file.path for file in find_result_files([path if named == "file" else tmp_path / "run"])[0]] == [path]


def test_a_folder_that_links_to_itself_is_read_once(tmp_path):
    """Links to folders are not followed."""
    path = write_results(tmp_path, [])
    (path.parent / "again").symlink_to(tmp_path, target_is_directory=True)
    assert [file.path for file in find_result_files([tmp_path])[0]] == [path]


def test_wrong_paths_say_what_to_name(tmp_path):
    """Nothing there, a folder without results, a folder of other categories, a score file."""
    with pytest.raises(TrajectoryError, match="no such file"):
        find_result_files([tmp_path / "none"])
    with pytest.raises(TrajectoryError, match="0 of other categories"):
        find_result_files([tmp_path])
    path = write_results(tmp_path, [], "simple_python")
    with pytest.raises(TrajectoryError, match="1 of other categories"):
        find_result_files([tmp_path])
    with pytest.raises(TrajectoryError, match="--score"):
        find_result_files([write_lines(score_of(path), [])])
    assert find_result_files([path])[0][0].path == path
