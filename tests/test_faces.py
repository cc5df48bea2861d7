"""The faces: what users and overlays may import is pinned, and the first look costs nothing."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import amd

FACES = {
    "amd": [
        "FailedCall",
        "Limits",
        "Memory",
        "Options",
        "Session",
        "Task",
        "ToolSpec",
        "Trajectory",
        "append_hint",
        "build_memory",
        "cross_split",
        "deployed",
        "in_sample",
        "load_embedder",
        "open_memory",
        "prepend_memory",
        "prepend_turn",
        "read_split",
        "replace_memory",
        "self_excluded",
    ],
    "amd.arms": [
        "RUN_SETTINGS",
        "Arm",
        "ArmReport",
        "CallFormat",
        "Message",
        "OpenArm",
        "RunDirectory",
        "RunLog",
        "RunResults",
        "RunSettings",
        "TaskResult",
        "known_split",
        "read_toml",
        "replace_text",
        "report",
        "run_format",
        "write_results",
        "writes_placeholder",
    ],
    "amd.clients": [
        "OF_THE_REQUEST",
        "Abilities",
        "ChatModel",
        "Completion",
        "RawCall",
        "Usage",
        "call_schema",
        "check_endpoint",
        "fit_reply",
        "parse_reply",
        "read_call",
        "reply_schema",
    ],
    "amd.errors": [
        "AmdError",
        "BudgetSpent",
        "ClientError",
        "ConfigError",
        "DigestDoesNotMatch",
        "DistillError",
        "EmbedderDoesNotMatch",
        "LeakageError",
        "ReplyError",
        "RowsDoNotMatch",
        "SchemaTooNew",
        "StoreError",
        "TrajectoryError",
        "WidthDoesNotMatch",
    ],
    "amd.testing": [
        "Fault",
        "LoopbackServer",
        "Request",
        "ScriptedWriter",
        "StubEmbedder",
        "openai_chat",
        "run",
    ],
    "amd.traces": [
        "FORMAT",
        "Conversation",
        "Item",
        "Kind",
        "Line",
        "Note",
        "Outcome",
        "Reader",
        "ReaderOptions",
        "Refusal",
        "Source",
        "Step",
        "Task",
        "ToolCall",
        "ToolSpec",
        "Trajectory",
        "Turn",
        "folders_with",
        "is_error",
        "load_reader",
        "read_conversation",
        "read_jsonl",
        "read_tools",
        "reader_options",
        "readers",
        "strip_memory",
        "write",
    ],
}


@pytest.mark.parametrize("face", FACES)
def test_a_face_has_the_names_that_are_promised(face: str) -> None:
    """Nothing leaks and nothing is forgotten: a change here is a change of the interface."""
    module = importlib.import_module(face)
    assert sorted(module.__all__) == sorted(FACES[face])
    assert all(getattr(module, name) is not None for name in module.__all__)


def test_the_main_face_is_small() -> None:
    """At most twenty names, each of them documented."""
    assert len(amd.__all__) <= 20
    assert all(getattr(amd, name).__doc__ for name in amd.__all__)


@pytest.mark.parametrize(
    ("face", "name", "home"),
    [
        ("amd", "Task", "amd.trajectory"),
        ("amd.arms", "report", "amd.arms.figures"),
        ("amd.clients", "ChatModel", "amd.clients.chat"),
        ("amd.clients", "check_endpoint", "amd.clients.endpoint"),
    ],
)
def test_each_name_of_a_lazy_face_is_the_one_of_its_home(face: str, name: str, home: str) -> None:
    """A lazy name is the thing itself, shows up in ``dir``, and a wrong one is an AttributeError."""
    module = importlib.import_module(face)
    assert getattr(module, name) is getattr(importlib.import_module(home), name)
    assert set(dir(module)) >= set(module.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize("face", ["amd", "amd.arms", "amd.clients"])
def test_a_lazy_name_is_no_file_of_its_face(face: str) -> None:
    """Loading a file puts it into its package under its own name, where it would stand before the lazy one."""
    module = importlib.import_module(face)
    files = {path.stem for path in Path(*module.__path__).iterdir()}
    assert not files & set(module.__all__)


def loaded_by(statement: str) -> set[str]:
    """The modules that a statement adds to a bare start of Python."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_amd_loads_nothing() -> None:
    """``import amd`` adds itself and a part of the standard library; the first use loads the rest."""
    loaded = loaded_by("import amd")
    assert "amd" in loaded
    assert not [name for name in loaded if name.startswith("amd.")]
    assert not loaded & {"numpy", "pydantic", "openai", "orjson", "bm25s", "rich", "typer", "tenacity"}


def test_a_session_loads_no_service() -> None:
    """The student's side pays for neither the client of a service nor the lexical index before they are used."""
    loaded = loaded_by("import amd; amd.Session; amd.open_memory; amd.load_embedder('hash')")
    assert {"numpy", "pydantic", "amd.session", "amd.embedders.hash"} <= loaded
    assert not loaded & {"openai", "bm25s", "scipy", "tokenizers", "rich", "typer"}


def test_the_command_line_loads_no_statistics() -> None:
    """``amd --help`` is quick: what a report needs is loaded when one is asked for."""
    loaded = loaded_by("import amd.cli.app")
    assert "amd.cli.coverage" in loaded
    assert not loaded & {"scipy", "statsmodels", "matplotlib"}


def test_reading_logs_opens_nothing() -> None:
    """A face of overlays costs nothing; settings and logs are read without what a memory or a service needs."""
    loaded = loaded_by("import amd.arms, amd.clients")
    assert [name for name in loaded if name.startswith("amd.")] in (
        ["amd.arms", "amd.clients"],
        ["amd.clients", "amd.arms"],
    )
    loaded = loaded_by("from amd.arms import Arm, RunLog, report")
    assert not loaded & {"numpy", "openai", "bm25s", "amd.store", "amd.embedders"}
    assert "openai" not in loaded_by("from amd.clients import Usage, call_schema, parse_reply")
    assert "openai" in loaded_by("from amd.clients import check_endpoint"), "control"


def examples(thing: object) -> str:
    """What stands in the examples of a docstring, which are run as tests."""
    return "".join(example.source for example in doctest.DocTestParser().get_examples(inspect.getdoc(thing) or ""))


def without_example(face: ModuleType) -> list[str]:
    """The names of a face that no example shows: neither their own nor, for aliases and constants, their face's."""
    own = {name for name in face.__all__ if callable(getattr(face, name)) and examples(getattr(face, name))}
    aliases = {name for name in face.__all__ if not isinstance(getattr(face, name), type | FunctionType)}
    shown = {name for name in aliases if re.search(rf"\b{name}\b", examples(face))}
    return sorted(set(face.__all__) - own - shown)


@pytest.mark.parametrize("face", FACES)
def test_every_public_name_has_an_example(face: str) -> None:
    """Each name of a face shows how it is used, and its example is run as a test."""
    assert without_example(importlib.import_module(face)) == []


def test_a_name_without_an_example_is_found() -> None:
    """The control of the above: a bare class, a bare function and an alias that nothing shows."""
    face = ModuleType("face", "Words.\n\n>>> Shown = Bare\n")
    face.__dict__.update(
        Bare=type("Bare", (), {"__doc__": "Nothing."}), bare=lambda: None, Alias=int | str, Shown=int | None
    )
    face.__dict__["__all__"] = ["Alias", "Bare", "Shown", "bare"]
    assert without_example(face) == ["Alias", "Bare", "bare"]
