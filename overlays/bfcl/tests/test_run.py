"""A run directory: its settings, what may be added to it, its lock and its files."""

from __future__ import annotations

import json

import pytest

import amd
from amd.arms import RUN_SETTINGS, replace_text
from amd.arms.kept_split import KeptSplit
from amd.errors import ConfigError
from amd_bfcl.journal import Journal
from amd_bfcl.lines import replace_lines
from amd_bfcl.run import JOURNAL, Run, Settings


def test_settings_come_back_as_they_went(garden, run_settings, tmp_path):
    """All fields, the arm and its paths among them."""
    settings = run_settings(
        arm=garden.arm(split=tmp_path / "split.json", mode="dynamic"),
        ids=("multi_turn_base_1", "multi_turn_base_2"),
        categories=("multi_turn_base", "multi_turn_long_context"),
        memory_content="0" * 64,
        memory_seal="1" * 64,
        memory_from=("a teacher", "another"),
        harness=("--temperature", "0.7"),
        model="näme with ünicode 日本",
    )
    run = Run(tmp_path / "new" / "run")
    run.begin(settings)
    assert run.settings == Run(run.path).settings == settings
    assert Settings.model_validate_json(settings.model_dump_json()) == settings


def test_settings_say_with_what_and_when(run_settings):
    """Without being told: the harness's handler, this version, and the moment in UTC."""
    value = json.loads(run_settings().model_dump_json())
    for name in ("handler", "amd", "created_at", "memory_from"):
        del value[name]
    settings = Settings.model_validate(value)
    assert (settings.handler, settings.amd, settings.memory_from) == ("OpenAICompletionsHandler", amd.__version__, ())
    assert settings.created_at.endswith("+00:00")
    with pytest.raises(ValueError, match="tasks_sha256"):
        Settings.model_validate({name: each for name, each in value.items() if name != "tasks_sha256"})


def test_settings_with_what_nobody_knows_are_refused(run_settings, tmp_path):
    """Settings of a newer version may mean something else; without that member they are read (the control)."""
    value = json.loads(run_settings().model_dump_json())
    (tmp_path / RUN_SETTINGS).write_text(json.dumps({**value, "colour": 7}), encoding="utf-8")
    with pytest.raises(ConfigError, match="colour"):
        _ = Run(tmp_path).settings
    (tmp_path / RUN_SETTINGS).write_text(json.dumps(value), encoding="utf-8")
    assert Run(tmp_path).settings == run_settings()


COUNTS = [
    ("name", "other-FC", "name: 'student-none-FC', not 'other-FC'"),
    ("model", "another", "model: 'student', not 'another'"),
    ("calling", "prompting", "calling: 'fc', not 'prompting'"),
    ("categories", ("multi_turn_miss_func",), "categories: ['multi_turn_base'], not ['multi_turn_miss_func']"),
    ("memory_content", "2" * 64, "memory_content: '000"),
    ("split", KeptSplit(benchmark="bfcl", train=("a",), test=("b",)), "split: None, not '"),
    ("seed", 1, "seed: None, not 1"),
    ("memory_seal", "3" * 64, "memory_seal: '111"),
    ("draw_only", True, "draw_only: False, not True"),
    ("harness", ("--temperature", "0.7"), "harness: [], not ['--temperature', '0.7']"),
    ("handler", "OtherHandler", "handler: 'OpenAICompletionsHandler', not 'OtherHandler'"),
    ("bfcl_eval", "2026.2.9", "bfcl_eval: '2026.3.23', not '2026.2.9'"),
    ("tasks_sha256", "5" * 64, "tasks_sha256: '000"),
    ("arm", {"memory": "m", "mode": "dynamic"}, "arm.mode: 'static', not 'dynamic'"),
    ("arm", {"memory": "m", "protocol": "in-sample"}, "arm.protocol: 'self-excluded', not 'in-sample'"),
    ("arm", {"memory": "m", "layout": "turns"}, "arm.layout: 'block', not 'turns'"),
    ("arm", {"memory": "m", "method": "workflow"}, "arm.method: 'amd', not 'workflow'"),
    ("arm", {"memory": "m", "function_tokens": 7}, "arm.function_tokens: "),
    ("arm", {"method": "none"}, "arm.method: 'amd', not 'none'"),
]
COUNTS_NOT = [
    ("created_at", "2032-01-01T00:00:00+00:00"),
    ("base_url", None),
    ("memory_from", ("somebody",)),
    ("amd", "9.9.9"),
    ("arm", {"memory": "elsewhere", "pin": "4" * 64, "embedder": "onnx:m", "embedder_url": "http://127.0.0.1:1/v1"}),
]


def begun(run_settings, path, **values):
    """A run that has a result."""
    run = Run(path)
    run.begin(run_settings(arm={"memory": "m"}, memory_content="0" * 64, memory_seal="1" * 64, **values))
    replace_lines(run.result_file("multi_turn_base"), [{"id": "multi_turn_base_1", "result": []}])
    return run


@pytest.mark.parametrize(("field", "value", "said"), COUNTS)
def test_results_of_another_arm_are_not_added_to(run_settings, tmp_path, field, value, said):
    """What makes lines unlike each other; the message says the field and both values, the old settings stay."""
    run = begun(run_settings, tmp_path)
    before = run.settings
    with pytest.raises(ConfigError, match=r"has results of another arm or other tasks: .*--out") as caught:
        run.begin(Settings.model_validate({**before.model_dump(), field: value}))
    (difference,) = caught.value.fields["differences"]
    assert difference.startswith(said)
    assert difference in str(caught.value)
    assert run.settings == Run(tmp_path).settings == before


def test_every_difference_is_told(run_settings, tmp_path):
    """Two at once, in one line."""
    run = begun(run_settings, tmp_path)
    with pytest.raises(ConfigError, match=r"calling: 'fc', not 'prompting'; .*arm\.mode: 'static', not 'dynamic'"):
        run.begin(run_settings(calling="prompting", arm={"memory": "m", "mode": "dynamic"}, memory_content="0" * 64))


A, B, C = (f"multi_turn_base_{index}" for index in (1, 2, 3))


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ((A,), (A, B), None),
        ((A, B), (B, A), None),
        ((A,), (A,), None),
        ((A,), None, None),
        (None, None, None),
        ((A, B), (A,), "begun with 2 tasks, and not all of them are asked for now"),
        ((A, B), (A, C), "begun with 2 tasks, and not all of them are asked for now"),
        (None, (A,), "begun with all tasks, and not all of them are asked for now"),
    ],
)
def test_a_run_may_go_on_with_more_tasks_and_not_with_fewer(run_settings, tmp_path, before, now, said):
    """What was run would be left out of the figures in silence; the settings are those of the wish that counts."""
    run = begun(run_settings, tmp_path, ids=before)
    wish = run.settings.model_copy(update={"ids": now})
    if said is None:
        run.begin(wish)
        assert run.settings == Run(tmp_path).settings == wish
    else:
        with pytest.raises(ConfigError, match=said) as caught:
            run.begin(wish)
        assert len(caught.value.fields["differences"]) == 1
        assert run.settings.ids == Run(tmp_path).settings.ids == before


@pytest.mark.parametrize(("field", "value"), COUNTS_NOT)
def test_what_may_change_between_two_commands_of_one_run(run_settings, tmp_path, field, value):
    """The control: an endpoint or a memory may move, and the run goes on under its first date."""
    run = begun(run_settings, tmp_path)
    before = run.settings
    after = Settings.model_validate({**before.model_dump(), field: value})
    assert before.differences(after) == []
    run.begin(after)
    assert run.settings == after.model_copy(update={"created_at": before.created_at})


def test_settings_without_results_may_be_anything(run_settings, tmp_path):
    """A first attempt that came to nothing is no arm; an empty file is a result file."""
    run = Run(tmp_path)
    run.begin(run_settings())
    run.begin(run_settings(model="another", name="another-FC"))
    assert run.settings.model == "another"
    replace_text(run.result_file("multi_turn_base"), "")
    with pytest.raises(ConfigError, match="model: 'another', not 'student'"):
        run.begin(run_settings())


def test_finished_lines_in_the_journal_are_results(run_settings, tmp_path):
    """A run that was killed before it had a result file is no other arm's; a torn line alone is nobody's (control)."""
    run = Run(tmp_path)
    run.begin(run_settings())
    (tmp_path / JOURNAL).write_text('{"id": "multi_turn_base_1", "resu', encoding="utf-8")
    run.begin(run_settings(model="another"))
    Journal(run).add({"id": "multi_turn_base_1", "result": [["Done."]]})
    assert list(run.results()) == []
    with pytest.raises(ConfigError, match="model: 'another', not 'student'"):
        Run(tmp_path).begin(run_settings())
    assert Run(tmp_path).settings.model == "another"
    run.begin(run_settings(model="another", base_url=None))
    assert Run(tmp_path).settings.base_url is None
    (tmp_path / RUN_SETTINGS).unlink()
    with pytest.raises(ConfigError, match=r"is no run: it has no amd-run\.json"):
        Run(tmp_path).begin(run_settings())


def test_a_run_is_of_at_least_one_category(run_settings, tmp_path):
    """Settings of none would be a run that is complete before it began."""
    with pytest.raises(ValueError, match="categories"):
        run_settings(categories=[])
    value = json.loads(run_settings().model_dump_json()) | {"categories": []}
    (tmp_path / RUN_SETTINGS).write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(ConfigError, match="categories"):
        _ = Run(tmp_path).settings


def test_results_whose_settings_are_gone_are_not_added_to(run_settings, tmp_path):
    """Nobody knows which arm they are of."""
    before = begun(run_settings, tmp_path).settings
    (tmp_path / RUN_SETTINGS).unlink()
    with pytest.raises(ConfigError, match=r"is no run: it has no amd-run\.json"):
        Run(tmp_path).begin(before)
    assert not (tmp_path / RUN_SETTINGS).exists()


def test_files_lie_where_the_harness_puts_them(run_settings, tmp_path):
    """By the name of the run and the category; its lines are those of the categories that it is about."""
    run = Run(tmp_path)
    run.begin(run_settings())
    result = tmp_path / "result/student-none-FC/multi_turn/BFCL_v4_multi_turn_miss_func_result.json"
    assert run.result_file("multi_turn_miss_func") == result
    score = tmp_path / "score/student-none-FC/multi_turn/BFCL_v4_multi_turn_base_score.json"
    assert run.score_file("multi_turn_base") == score
    assert list(run.results()) == []
    replace_lines(result, [{"id": "multi_turn_miss_func_12", "result": []}])
    assert list(run.results()) == [result]
    assert list(run.lines()) == []
    line = {"id": "multi_turn_base_1", "result": []}
    replace_lines(run.result_file("multi_turn_base"), [line, {"id": "multi_turn_base_2"}])
    assert list(run.lines()) == [line]
