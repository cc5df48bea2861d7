"""What a run is asked for: files in layers, the command line over them, and every wrong wish in one line."""

from __future__ import annotations

import pytest

from amd.errors import ConfigError
from amd_bfcl.families import Category
from amd_bfcl.plan import PASSED_ON, read_plan

NONE = {"method": "none"}
STUDENT = """
model = "qwen3-4b"
calling = "prompting"
base_url = "http://127.0.0.1:8000/v1"
categories = ["multi_turn_base", "multi_turn_miss_func"]

[arm]
method = "none"
mode = "dynamic"

[harness]
temperature = 0.7
include_input_log = true
exclude_state_log = false

[vllm]
tool_call_parser = "hermes"
anything = ["goes"]
"""


@pytest.fixture
def toml(tmp_path):
    """Writes a TOML file and gives its path."""

    def write(text, name="student.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refused(*arguments):
    """The one line with which a wish is refused."""
    with pytest.raises(ConfigError) as caught:
        read_plan(*arguments)
    assert "\n" not in str(caught.value)
    assert caught.value.next_step
    return str(caught.value)


def test_a_file_says_all(toml):
    """Each key, the two tables, and a table for a server, which is passed over whatever it holds."""
    plan = read_plan([toml(STUDENT)], {}, {}, ())
    assert (plan.model, plan.calling, plan.base_url) == ("qwen3-4b", "prompting", "http://127.0.0.1:8000/v1")
    assert plan.categories == (Category.BASE, Category.MISS_FUNC)
    assert (plan.arm.method, plan.arm.mode) == ("none", "dynamic")
    assert plan.harness == ("--temperature", "0.7", "--include-input-log")
    assert (plan.ids, plan.limit) == (None, None)


def test_nothing_but_a_model_is_needed():
    """The rest has its usual value; the memory is the arm's to ask for."""
    plan = read_plan((), {"model": "m"}, NONE, ())
    assert (plan.calling, plan.categories, plan.harness) == ("fc", (Category.BASE,), ())
    assert "--memory" in refused((), {"model": "m"}, {}, ())


def test_later_files_and_the_command_line_count(toml):
    """Key by key: a table of a later file adds to the earlier one's; what was not given leaves a key to the files."""
    later = toml('model = "qwen3-8b"\n[arm]\nmode = "replace"\n[harness]\ntemperature = 0.1\n', "later.toml")
    files = [toml(STUDENT), later]
    plan = read_plan(files, {"model": None, "calling": None}, {"mode": None}, ())
    assert (plan.model, plan.calling, plan.arm.mode, plan.arm.method) == ("qwen3-8b", "prompting", "replace", "none")
    assert plan.harness == ("--temperature", "0.1", "--include-input-log")
    plan = read_plan(files, {"model": "mine", "calling": "fc"}, {"mode": "static"}, ())
    assert (plan.model, plan.calling, plan.arm.mode, plan.arm.method) == ("mine", "fc", "static", "none")
    assert read_plan(files[::-1], {}, {}, ()).model == "qwen3-4b"


def test_words_for_the_harness_count_once(toml):
    """Those of the files first; what is said last counts, so that the same wish is the same run."""
    more = ("--temperature", "0.2", "--include-input-log", "--exclude-state-log", "--temperature=0.3")
    found = ("--temperature", "0.3", "--include-input-log", "--exclude-state-log")
    assert read_plan([toml(STUDENT)], {}, {}, more).harness == found
    assert read_plan([toml(STUDENT)], {}, {}, more[2:]).harness == found


def test_categories_count_once_in_the_benchmarks_order():
    """The same wish is the same run, however it is spelled."""
    wish = ("multi_turn_long_context", "multi_turn_base", "multi_turn_long_context")
    plan = read_plan((), {"model": "m", "categories": wish}, NONE, ())
    assert plan.categories == (Category.BASE, Category.LONG_CONTEXT)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('model = "m"\nmodle = "m"', "modle"),
        ("model = 7", "model"),
        ('model = ""', "model"),
        ('model = "m"\ncalling = "chat"', "calling"),
        ('model = "m"\ncategories = ["multi_turn_composite"]', "categories.0"),
        ('model = "m"\ncategories = "multi_turn_base"', "categories"),
        ('model = "m"\ncategories = []', "categories"),
        ('model = "m"\nids = []', "ids"),
        ('model = "m"\nlimit = 0', "limit"),
        ('model = "m"\nlimit = 1.0', "limit"),
        ('model = "m"\nlimit = "1"', "limit"),
        ('model = "m"\nlimit = true', "limit"),
        ('model = "m"\n[harness]\ntemperature = nan', "--temperature nan"),
        ('model = "m"\n[harness]\ntemperature = -inf', "--temperature -inf"),
        ('model = "m"\nharness = "--temperature 1"', "harness is no table"),
        ('model = "m"\narm = ["none"]', "arm is no table"),
        ('model = "m"\n[harness]\nlora_modules = ["a", "b"]', "harness.lora_modules"),
        ('model = "m"\n[harness.temperature]\nvalue = 1', "harness.temperature"),
        ('model = "m"\n[arm]\nmethode = "none"', "methode"),
        ('model = "m"\n[arm]\nmode = "sometimes"', "mode"),
        ('model = "m"\n[arm]\nworkflow_tokens = "many"', "workflow_tokens"),
        ("model = m", "not TOML"),
        ('base_url = "http://127.0.0.1:1/v1"', "no model is named"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_line(toml, text, words):
    """Unknown keys, wrong types, missing model: the line names the key; with a right file it passes (the control)."""
    assert words in refused([toml(text)], {}, {"method": "none"} if "[arm]" not in text else {}, ())
    plan = read_plan([toml('model = "m"\nlimit = 1\n[harness]\ntemperature = 1e-3')], {}, NONE, ())
    assert (plan.model, plan.limit, plan.harness) == ("m", 1, ("--temperature", "0.001"))


def test_a_file_that_cannot_be_read_is_named(toml, tmp_path):
    """As is one whose table is none."""
    assert str(tmp_path / "none.toml") in refused([tmp_path / "none.toml"], {"model": "m"}, NONE, ())
    assert str(tmp_path) in refused([tmp_path], {"model": "m"}, NONE, ())
    path = toml("harness = 1")
    assert str(path) in refused([path], {"model": "m"}, NONE, ())


@pytest.mark.parametrize(
    "word",
    [
        "--run-ids",
        "--run_ids",
        "-o",
        "-ox",
        "--allow-overwrite",
        "--allow-overwrite=true",
        "--result-dir",
        "--result-dir=/tmp/x",
        "--result_dir=x",
        "--score-dir",
        "--model=other",
        "--test-category=all",
        "--num-threads",
        "--num-gpus",
        "--only",
        "-x",
        "model",
        "0.5",
        "--include-input-log=yes",
        "--temperatur",
    ],
)
def test_only_what_is_known_is_passed_on(word):
    """C16's harness would write elsewhere, over what is there, or refuse it late; what it may be told passes (control).

    A typing error is one of those too, and the line says what there is.
    """
    line = refused((), {"model": "m"}, NONE, ("--temperature", "0.2", word, "x"))
    assert line.startswith(f"there is no option {word!r}")
    assert all(option in line for option in PASSED_ON)
    known = ("--temperature=0.2", "--include-input-log", "--exclude-state-log", "--temperature", "1")
    assert read_plan((), {"model": "m"}, NONE, known).harness == ("--temperature", "1", *known[1:3])


@pytest.mark.parametrize(
    "words",
    [
        ("--temperature", "warm"),
        ("--temperature=",),
        ("--temperature",),
        ("--temperature", "--include-input-log"),
        ("--temperature", "nan"),
        ("--temperature=inf",),
        ("--temperature", "-Infinity"),
        ("--temperature", "1e999"),
    ],
)
def test_a_temperature_is_a_number(words):
    """Told before anything is begun, with what was given; a negative one is the harness's to judge (the control)."""
    line = refused((), {"model": "m"}, NONE, words)
    assert line.startswith("--temperature ")
    assert "not a float" in line
    assert read_plan((), {"model": "m"}, NONE, ("--temperature", "-1e-3")).harness == ("--temperature", "-1e-3")


@pytest.mark.parametrize("key", ["run-ids", "run_ids", "allow_overwrite", "model", "result_dir", "num_gpus"])
def test_nor_is_it_taken_from_a_file(toml, key):
    """The table of a file goes the same way."""
    text = f'model = "m"\n[harness]\n{key} = "x"\n'
    assert f"--{key.replace('_', '-')}" in refused([toml(text)], {}, NONE, ())
