"""The tools that a file tells of."""

from __future__ import annotations

import json

import pytest

from amd.errors import ConfigError
from amd.experiment.tool_files import read_tools
from amd.testing import openai_chat, run
from amd.traces import write

FUNCTION = {"name": "mv", "description": "Move.", "parameters": {"type": "object", "properties": {}}}


@pytest.mark.parametrize(
    "value", [[FUNCTION], [{"type": "function", "function": FUNCTION}], FUNCTION, {"tools": [FUNCTION]}]
)
def test_functions_in_their_usual_shapes(tmp_path, value):
    """With the outer object or without, alone or in a request."""
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    (tool,) = read_tools(path).specs
    assert (tool.name, tool.description, tool.parameters) == ("mv", "Move.", FUNCTION["parameters"])


def test_runs_with_tools(tmp_path):
    """Canonical and chat runs give the same tools, each once; a run that knows none adds none."""
    write(tmp_path / "runs.jsonl", [run(1), run(2)])
    chat = [openai_chat(run(1)), {**openai_chat(run(2)), "tools": None}]
    (tmp_path / "chat.jsonl").write_text("".join(json.dumps(each) + "\n" for each in chat), encoding="utf-8")
    for name in ("runs.jsonl", "chat.jsonl"):
        told = read_tools(tmp_path / name)
        assert tuple(told.specs) == run(1).tools
        assert (told.runs, told.silent) == (2, int(name == "chat.jsonl"))


def test_a_list_of_tools_has_no_runs(tmp_path):
    """Nobody is silent there; a run without tools beside them is, and one that had none is not."""
    path = tmp_path / "tools.json"
    for beside, counts in (([], (0, 0)), ([{"messages": []}], (1, 1)), ([{"messages": [], "tools": []}], (1, 0))):
        path.write_text(json.dumps([FUNCTION, *beside]), encoding="utf-8")
        told = read_tools(path)
        assert ([tool.name for tool in told.specs], (told.runs, told.silent)) == (["mv"], counts)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no json", "line 1"),
        ("[]", "none of its 0 objects"),
        ('[{"messages": []}]', "none of its 1 objects"),
        ('[{"name": "mv"}, {"name": "mv", "description": "x"}]', "two different tools"),
        ('[{"name": 7}]', r"tools\[0\] is no tool"),
    ],
)
def test_a_file_without_tools_is_an_error(tmp_path, text, says):
    """It names the file and what is wrong."""
    path = tmp_path / "tools.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=says) as error:
        read_tools(path)
    assert str(path) in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    """One line, as always."""
    with pytest.raises(ConfigError, match="has no tools"):
        read_tools(tmp_path / "nowhere.json")
