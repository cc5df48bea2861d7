"""The real backends: what they answer, and that no replay sees another's state."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from amd.errors import TrajectoryError
from amd_bfcl.backends import Backend, to_python
from amd_bfcl.tasks import entry

HARNESS = "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils"


@pytest.fixture
def files(package):
    """The first task's file system."""
    with Backend(entry("multi_turn_base_0", package)) as backend:
        yield backend


def test_a_wrong_call_gets_the_real_error(files):
    """Both shapes of the harness: a returned error, and a raised one."""
    assert json.loads(files.execute(("cd", {"folder": "no_such"})))["error"].startswith("cd: ")
    assert files.execute("cd(directory='document')").startswith("Error during execution: ")
    assert files.execute("no_such_tool()").startswith("Error during execution: ")
    assert files.execute("cd(").startswith("Error during execution: ")
    assert json.loads(files.execute("cd(folder='document')")) == {"current_working_directory": "document"}


def test_state_lives_from_call_to_call_and_in_no_other_replay(package):
    """The harness's leak: two runs of one task under one name share their objects."""
    first = entry("multi_turn_base_0", package)
    with Backend(first) as one, Backend(first) as other:
        before = other.execute("ls()")
        assert "document" in before
        one.execute("cd(folder='document')")
        assert one.execute("ls()") != before
        assert other.execute("ls()") == before
    with Backend(first) as later:
        assert later.execute("ls()") == before


def test_the_shared_name_of_the_harness_does_leak(package):
    """Positive control: without a name of its own, the second run starts where the first one ended."""
    first = entry("multi_turn_base_0", package)
    with Backend(first) as one, Backend(first) as other:
        before = one.execute("ls()")
        one.execute("cd(folder='document')")
        other._name = one._name
        assert other.execute("ls()") != before


def test_a_closed_replay_leaves_nothing_in_the_harness(package):
    """Its objects go, those of a replay that is still open stay."""
    first = entry("multi_turn_base_0", package)
    with Backend(first) as open_one:
        open_one.execute("cd(folder='document')")
        with Backend(first) as closed:
            closed.execute("pwd()")
            assert [name for name in vars(sys.modules[HARNESS]) if name.startswith(f"{closed._name}_")]
        assert not [name for name in vars(sys.modules[HARNESS]) if name.startswith(f"{closed._name}_")]
        assert "document" in open_one.execute("pwd()")
    assert not [name for name in vars(sys.modules[HARNESS]) if name.startswith("amd_replay_")]


def test_calls_one_by_one_or_in_a_list_answer_the_same(package):
    """A list is its calls in order."""
    calls = ["cd(folder='document')", "mkdir(dir_name='temp')", "cd(folder='nowhere')", "ls()"]
    first = entry("multi_turn_base_0", package)
    with Backend(first) as one, Backend(first) as other:
        assert [one.execute(call) for call in calls] == other.execute_all(calls)
        assert one.execute_all([]) == []


def test_long_context_tasks_get_their_long_files(package):
    """The same call on the same task: the long category answers with more."""
    with (
        Backend(entry("multi_turn_base_0", package)) as short,
        Backend(entry("multi_turn_long_context_0", package)) as long,
    ):
        calls = ["cd(folder='document')", "ls()"]
        assert len(long.execute_all(calls)[1]) > 5 * len(short.execute_all(calls)[1])


@pytest.mark.parametrize(
    ("call", "name", "arguments"),
    [
        ("sort('a.txt')", "sort", {"file_name": "a.txt"}),
        ("mv('a.txt', destination='b')", "mv", {"source": "a.txt", "destination": "b"}),
        (" ls( a = True )", "ls", {"a": True}),
        ("pwd()", "pwd", {}),
        ("unknown(x=(1, [2.5, None], {'k': -3}))", "unknown", {"x": [1, [2.5, None], {"k": -3}]}),
    ],
)
def test_positional_arguments_get_the_names_of_the_signature(files, call, name, arguments):
    """A written call as name and JSON arguments."""
    assert files.parse(call) == (name, arguments)


@pytest.mark.parametrize(
    "call",
    [
        "sort(",
        "sort('a', 'b', 'c')",
        "unknown('a')",
        "sort(open('a'))",
        "sort(*['a'])",
        "sort(**{'file_name': 'a'})",
        "mv('a', source='b')",
        "sort({1, 2})",
        "sort({1: 2})",
        "a.sort('x')",
        "sort('a'); ls()",
        "7",
    ],
)
def test_what_is_no_single_call_with_literal_arguments_is_refused(files, call):
    """Nothing is guessed and nothing is run to find out."""
    with pytest.raises(TrajectoryError, match=r"BFCL_v4_multi_turn_base\.json:1: "):
        files.parse(call)


def test_a_call_survives_the_way_to_python_and_back(files):
    """Quotes, newlines and nesting keep their values."""
    arguments = {"source": 'it\'s "a"\n.txt', "destination": "b", "n": [1, {"k": None}]}
    assert files.parse(to_python("mv", arguments)) == ("mv", arguments)


def test_the_backends_need_none_of_the_vendors_clients(package):
    """Only the backends and the two modules that run them are imported."""
    code = (
        "import sys\nfrom amd_bfcl.backends import Backend\nfrom amd_bfcl.tasks import entry\n"
        "Backend(entry('multi_turn_base_0')).execute('ls()')\n"
        "print([name for name in sys.modules if 'model_handler' in name or name in ('torch', 'anthropic')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
