"""Replay of somebody else's file: whatever its calls say, nothing is evaluated but a call with literal arguments."""

from __future__ import annotations

import ast
import builtins
import importlib
import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from result_lines import call, items, line, write_results

from amd.errors import TrajectoryError
from amd.traces import Refusal, Trajectory
from amd_bfcl.backends import Backend, parameters_of
from amd_bfcl.replay import rebuild
from amd_bfcl.tasks import entry

HARNESS = "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils"
GAPS = ["\n", "\r", "\r\n", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\u00a0", "\u2003", "\u2028", "\u3000", " ", ""]
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
OWN = re.compile(r"amd_replay_[0-9]+_task_\w+_instance")


@pytest.fixture(scope="module")
def first(package):
    """A task with a file system, of four turns."""
    return entry("multi_turn_base_0", package)


@pytest.fixture
def evaluated(package, monkeypatch):
    """The texts that the harness evaluates, each as it was when it came to that."""
    harness, texts = importlib.import_module(HARNESS), []

    def watched(text):
        texts.append(text)
        return eval(text, vars(harness))  # as the harness does it, with the names that it has there

    monkeypatch.setattr(harness, "eval", watched, raising=False)
    return texts


def replayed(result, task):
    """What the tools said, or ``None`` where the run is refused; that is the only other way out."""
    said = ""
    try:
        turns = rebuild(result, None, task)
    except TrajectoryError as error:
        said = str(error)
    if not said:
        return [text for turn in turns for step in turn.steps for text in step.observations]
    assert "\n" not in said
    assert len(said) < 400
    return None


def check(text, tools):
    """That a text is one call of a tool of this replay, or of a name that nothing has, with literal arguments alone."""
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    assert node.args == []
    for keyword in node.keywords:
        assert keyword.arg is not None
        ast.literal_eval(keyword.value)
    if isinstance(node.func, ast.Attribute):
        assert isinstance(node.func.value, ast.Name)
        assert OWN.fullmatch(node.func.value.id)
        assert node.func.attr in tools
    else:
        assert isinstance(node.func, ast.Name)
        assert not hasattr(builtins, node.func.id)
        assert node.func.id not in vars(importlib.import_module(HARNESS))
        assert node.func.id not in tools


def crafted(gap, path):
    """The name of a call that makes a file where the harness evaluates it."""
    return f"__import__{gap}('pathlib').Path{gap}({str(path)!r}).write_text{gap}('x') or str"


@pytest.mark.parametrize("gap", GAPS)
def test_the_harness_itself_would_run_such_a_name(first, tmp_path, gap):
    """Positive control: given as it is to the harness, which takes white space out before it evaluates."""
    with Backend(first) as backend:
        backend.execute(f"{crafted(gap, tmp_path / 'ran')}()")
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("form", ["name", "key", "value", "prompting", "text"])
def test_a_crafted_name_is_never_run(tmp_path, package, first, evaluated, gap, form):
    """A file was to be made, and a key read: neither the replay nor the reader does it, and the next line is read."""
    name = crafted(gap, tmp_path / "ran")
    step = {
        "name": [{name: "{}"}],
        "key": [{"ls": {f"a={name}(), b": 1}}],
        "value": [{"echo": {"content": f"{name}()"}}],
        "prompting": f"[ls(a={name}())]",
        "text": f"[{name}()]",
    }[form]
    seen = replayed([[step, "Done."]], first)
    refused = {"id": "multi_turn_base_0", "result": [[step, "Done."], *[["Done."]] * 3]}
    fine = line("multi_turn_base_3", inference_log=None)
    read = [item for item in items(write_results(tmp_path, [refused, fine])) if isinstance(item, Refusal | Trajectory)]
    assert not (tmp_path / "ran").exists()
    assert [type(item) for item in read] == [Trajectory if seen is not None else Refusal, Trajectory]
    # As a value it is a text like any other.
    assert (seen is not None) == (form == "value")
    for text in evaluated:
        check(text, parameters_of(first.classes))


@pytest.mark.parametrize(
    "written",
    [
        {"print": "{}"},
        {"__import__": '{"name": "os"}'},
        {"eval": '{"source": "1"}'},
        {"𝐞𝐯𝐚𝐥": "{}"},
        {"ｐｒｉｎｔ": "{}"},
        {"execute_multi_turn_func_call": "{}"},
        {"_process_method_calls": "{}"},
        {"json": "{}"},
        {"CLASS_FILE_PATH_MAPPING": "{}"},
        {"method": '{"file_name": "final_report.pdf"}'},
        {"class_": "{}"},
        {"class_instance": "{}"},
        {"é": "{}"},
        {"__builtins__": "{}"},
        {"__debug__": "{}"},
        {"None": "{}"},
        {"(lambda: print)": "{}"},
        {"ls() or print": "{}"},
        {"ls().__class__": "{}"},
        {"[ls][0]": "{}"},
        {"ls.__func__": "{}"},
        {"": "{}"},
        {"\x00": "{}"},
        {"\ud800": "{}"},
        {"print(): #": "{}"},
        {"ls(#": "{}"},
        {"ls": {"a=print(), b": 1}},
        {"ls": {"a=(yield), b": 1}},
        {"ls": {"a=f'{print()}', b": 1}},
        {"ls": {"a=[print() for _ in [1]], b": 1}},
        {"ls": {"a=1 if print() else 2, b": 1}},
        {"ls": {"a=b'x', b": 1}},
        {"ls": {"a={1, 2}, b": 1}},
        {"ls": {"a=1+2j, b": 1}},
        {"ls": {"a=..., b": 1}},
        {"ls": {"a=True, a": 1}},
        {"ls": {"*[print()], a": 1}},
        {"ls": {"**{'a': print()}, b": 1}},
        {"ls": {"a := print(), b": 1}},
        {"ls": {"": 1}},
        {"ls": {"a=0x" + "F" * 5000 + ", b": 1}},
        {"ls": {"a=1e999, b": 1}},
        {"ls": {"a=" + "-" * 20_000 + "1, b": 1}},
        {"echo": '{"content": "call ls() then"}'},
        {"echo": '{"content": "cd (folder)"}'},
        {"echo": {"content": {"rm(": 1}}},
        {"no_such_tool": '{"content": "ls()"}'},
    ],
)
def test_what_is_no_call_of_a_tool_refuses_the_run(first, evaluated, capsys, written):
    """A name of Python's, of the harness's or of nobody's, whatever is more than one call, and calls as texts.

    The call before it in the same step is not run either; alone it is (the control).
    """
    assert replayed([[[{"pwd": "{}"}], [{"ls": "{}"}, written], "Done."]], first) is None
    assert len(evaluated) == 1
    assert capsys.readouterr().out == ""
    assert not [name for name in vars(importlib.import_module(HARNESS)) if name.startswith("amd_replay_")]
    assert len(replayed([[[{"pwd": "{}"}], [{"ls": "{}"}], "Done."]], first)) == 2


def test_no_local_name_of_the_harness_is_in_reach(first):
    """Where it evaluates, ``method`` is the last tool that it looked at: a tool under a name that no tool has."""
    with Backend(first) as backend:
        backend.execute("pwd()")
        assert "terminal_output" not in backend.execute("method()")
        assert "GorillaFileSystem.wc()" in backend.execute("method()")
        with pytest.raises(TrajectoryError, match="'method' cannot be replayed: it is no tool"):
            backend.checked("method(file_name='a')")
        assert backend.checked("methods(file_name='a')") == ("methods", {"file_name": "a"})


PIECES = st.sampled_from(
    [
        *("ls", "cd", "echo", "print", "eval", "__import__", "open", "str", "method", "json", "os", "x", "no_such"),
        *GAPS,
        *("(", ")", "()", "[", "]", "{", "}", "'", '"', "'''", "\\", "#", ";", ":", ":=", "=", ",", ".", "*", "**"),
        *(" or ", " if ", " else ", " for _ in ", "lambda: ", "not ", "await ", "yield ", "f'{print()}'", "b''"),
        *("('os')", ".system", "('print()')", "content=", "a=1", "1", "-1", "0x1F", "1e9", "None", "...", "é", "ｌｓ"),
    ]
)
TEXTS = st.lists(PIECES, max_size=9).map("".join) | st.text(max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["a", "folder", "content", "file_name"]) | TEXTS
NAMES = st.sampled_from(["ls", "cd", "echo", "no_such_tool"]) | TEXTS


@SHARED
@given(name=NAMES, arguments=st.dictionaries(KEYS, VALUES, max_size=3), whole=st.booleans())
def test_whatever_a_step_calls_only_tools_are_evaluated(first, evaluated, name, arguments, whole):
    """Function calling, arguments as an object or as its JSON text."""
    evaluated.clear()
    step = [{name: arguments if whole else json.dumps(arguments)}]
    seen = replayed([[[{"pwd": "{}"}], step, "Done."]], first)
    assert (seen is None) or len(seen) == len(evaluated)
    for text in evaluated:
        check(text, parameters_of(first.classes))


@SHARED
@given(
    text=TEXTS | st.builds("[{}({})]".format, NAMES, TEXTS) | st.builds("[ls(), {}({}={})]".format, NAMES, KEYS, TEXTS)
)
def test_whatever_a_text_calls_only_tools_are_evaluated(first, evaluated, text):
    """Prompting."""
    evaluated.clear()
    seen = replayed([["[pwd()]", text, "Done."]], first)
    assert (seen is None) or len(seen) == len(evaluated)
    for each in evaluated:
        check(each, parameters_of(first.classes))


def harmless(value):
    """Whether no text in it looks like a call: into those the harness writes, or closes a gap."""
    return not re.search(r"\w\s*\(", repr(value))


@SHARED
@given(content=VALUES.filter(harmless))
def test_arguments_survive_as_data(first, content):
    """What a tool is given is what the file says, whatever quotes, braces, line ends and expressions it holds."""
    (seen,) = replayed([[[{"echo": {"content": content}}], "Done."]], first)
    assert json.loads(seen) == {"terminal_output": content}


@pytest.mark.parametrize("style", ["fc", "prompting"])
@pytest.mark.parametrize(
    "text",
    [
        'it\'s "both" \'\'\' and """ of them',
        "{print} {0} {{x}} %s $HOME ${HOME} `id`",
        "f'{__import__}' \\n \\' \\\\ \\u0041 \\N{DIGIT ONE}",
        "one\ntwo\r\nthree\ttab\x00\x1b\x7f",
        "\u2028\u2029\u00a0\u200b\ufeff\ud800",
        "') or print ('",
        "#, b=1)",
        "日本 🦙 ünï",
        " " * 40 + "\\",
    ],
)
def test_texts_stay_texts(first, text, style):
    """One by one, in both styles; a list and an object hold them too."""
    if not harmless(text):
        text = text.replace(" (", "(")
    said = call(("echo", {"content": text}, ""), ("echo", {"content": [text, {"k": text}]}, ""))
    seen = replayed([[said.content(style), "Done."]], first)
    assert [json.loads(each)["terminal_output"] for each in seen] == [text, [text, {"k": text}]]


@pytest.mark.parametrize("depth", [1, 40, 90])
def test_deep_nesting_is_data_or_a_refusal(first, depth):
    """As deep as a file may be; beyond what Python can parse it is words, or the run is refused."""
    content = "deep"
    for _ in range(depth):
        content = [content]
    (seen,) = replayed([[[{"echo": {"content": content}}], "Done."]], first)
    assert json.loads(seen) == {"terminal_output": content}
    for text in ("[" * 300 + "]" * 300, "(" * 5000, "-" * 20_000 + "1", "a." * 3000 + "b", "not " * 3000 + "1"):
        assert replayed([[[{"echo": {f"content={text}, b": 1}}], "Done."]], first) is None
        assert replayed([["[pwd()]", f"[echo(content={text})]", "Done."]], first) in (None, [PWD])


PWD = '{"current_working_directory": "/workspace"}'


def test_a_refusal_tells_no_argument(first):
    """What a run's arguments hold may be a password, and a name may be as long as a file."""
    for written in (
        {"login": {"pin=plum7731(), b": 1}},
        {"x" * 5000 + " y": "{}"},
        {"echo": {"content": "ls(plum7731)"}},
    ):
        with pytest.raises(TrajectoryError) as caught:
            rebuild([[[written], "Done."]], None, first)
        assert "7731" not in str(caught.value)
        assert len(str(caught.value)) < 300
