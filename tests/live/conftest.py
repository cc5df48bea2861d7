"""Real models for the tests: SmolLM2-135M on this machine (make local-llm), and whatever ``AMD_VLLM_URL`` names."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from amd.testing import Fault, Request

ROOT = Path(__file__).resolve().parents[2]
LOCAL = os.environ.get("AMD_LOCAL_LLM")
VLLM = os.environ.get("AMD_VLLM_URL", "")
# The server that a person names may be anywhere; everything else stays blocked.
HOSTS = ["127.0.0.1", "::1", "localhost", *filter(None, [urlsplit(VLLM).hostname])]
VLLM_MARKED = pytest.param("vllm", marks=[pytest.mark.vllm, pytest.mark.allow_hosts(HOSTS)])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what has no server, each kind in one line of the report."""
    if not LOCAL and item.get_closest_marker("local_llm"):
        pytest.skip("no local model: make local-llm sets one up and runs these tests")
    if not VLLM and item.get_closest_marker("vllm"):
        pytest.skip("AMD_VLLM_URL names no endpoint of vLLM")


class Served(NamedTuple):
    """A model behind an endpoint."""

    url: str
    model: str


def load_script(name: str) -> Any:
    """A program of ``scripts/`` as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def recorder() -> Any:
    """``scripts/record_wire.py``: the scenarios, and how a request is passed on to a real server."""
    return load_script("record_wire")


@pytest.fixture(scope="session")
def local_llm() -> list[str]:
    """The command that serves the local model."""
    assert LOCAL
    return [LOCAL, str(ROOT / "scripts" / "local_llm.py"), "--until-stdin-closes"]


@contextmanager
def started(command: Sequence[str], folder: Path) -> Iterator[Served]:
    """The server, from its first line until the block ends, whatever happens to this process."""
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            said = process.stdout.readline()
            if " at http://127.0.0.1:" not in said:
                pytest.fail(f"the local model did not start: {said}{(folder / 'log').read_text(encoding='utf-8')}")
            model, _, url = said.strip().partition(" at ")
            yield Served(url, model.split()[0])
        finally:
            process.stdin.close()


@pytest.fixture(scope="session")
def served_locally(local_llm: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The local model with the chat template that it came with: that shows it no tools."""
    # So small a model goes round in circles without the penalty.
    with started([*local_llm, "--repeat-penalty", "1.2"], tmp_path_factory.mktemp("local")) as local:
        yield local


@pytest.fixture(scope="session", params=[pytest.param("local", marks=pytest.mark.local_llm), VLLM_MARKED])
def served(request: pytest.FixtureRequest, recorder: Any) -> Served:
    """A real model, here or behind ``AMD_VLLM_URL``."""
    if request.param == "local":
        local: Served = request.getfixturevalue("served_locally")
        return local
    listed = json.loads(recorder.forward(Request("GET", "/v1/models", {}, None), VLLM).body)
    return Served(VLLM, listed["data"][0]["id"])


@pytest.fixture(scope="session")
def served_with_tools(local_llm: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The local model with a chat template that shows it the tools."""
    with started([*local_llm, "--tools"], tmp_path_factory.mktemp("tools")) as local:
        yield local


class Front:
    """Stands before a real server: passes requests on, one at a time, remembers the answers, and counts."""

    def __init__(self, forward: Callable[[Request, str], Fault], url: str) -> None:
        self.asked: list[Any] = []
        self.before: Callable[[], None] = lambda: None
        self._forward = forward
        self._url = url
        self._answers: dict[str, Fault] = {}

    def __call__(self, request: Request) -> Fault:
        """The server's answer; for what was asked before, the same one."""
        self.before()
        if request.method == "POST":
            self.asked.append(request.body)
        key = json.dumps([request.method, request.path, request.body])
        if key not in self._answers:
            self._answers[key] = self._forward(request, self._url)
        return self._answers[key]


@pytest.fixture
def front(served: Served, recorder: Any) -> Front:
    """What passes requests on to the real model, for ``LoopbackServer(faults=front)``."""
    return Front(recorder.forward, served.url)
