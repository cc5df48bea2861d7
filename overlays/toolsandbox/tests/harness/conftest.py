"""What the tests in the real harness share: where it is, commands as processes, and scripted models with a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from amd.testing import LoopbackServer

HERE = Path(__file__).parent
PATIENCE = 240
AGENT, USER = "agent", "user"
SWITCHES = ("set_wifi_status", "set_cellular_service_status", "set_location_service_status")


def phone(body):
    """A student that turns off the first thing it can, wrongly at first, and a user that is content with anything."""
    if body["model"] == USER:
        function = {"name": "end_conversation", "arguments": "{}"}
        return {"content": None, "tool_calls": [{"id": "end", "type": "function", "function": function}]}
    tried = sum(message["role"] == "tool" for message in body["messages"])
    offered = {tool["function"]["name"] for tool in body.get("tools") or ()}
    name = next((name for name in SWITCHES if name in offered), None)
    if tried > 1 or name is None:
        return "It is off."
    function = {"name": name, "arguments": json.dumps({"on": "off" if tried == 0 else False})}
    return {"content": None, "tool_calls": [{"id": f"call_{tried}", "type": "function", "function": function}]}


def _missing() -> str:
    """Why the harness cannot be asked; empty if it can."""
    root = os.environ.get("TOOLSANDBOX_ROOT", "")
    if not root or not (Path(root) / "tool_sandbox").is_dir():
        return f"TOOLSANDBOX_ROOT names no clone of apple/ToolSandbox ({root or 'it is not set'}): make toolsandbox"
    if find_spec("tool_sandbox") is None:
        return "tool_sandbox cannot be imported here, only in the environment of its clone: make toolsandbox"
    return ""


def pytest_collection_modifyitems(items):
    """Mark the tests of this folder, and skip them without the harness, all with one line."""
    missing = _missing()
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.toolsandbox)
            if missing:
                item.add_marker(pytest.mark.skip(reason=missing))


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """What a command with ``--json`` printed."""
        return json.loads(self.out)

    @property
    def last(self):
        """The last line on standard error."""
        return self.err.strip().split("\n")[-1]


@pytest.fixture(scope="session")
def start():
    """Starts ``python -m amd_toolsandbox ARGUMENTS`` as a process of its own: no key, of nobody."""

    def begin(*arguments, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "RAPID_"))}
        return subprocess.Popen(
            [sys.executable, "-m", "amd_toolsandbox", *map(str, arguments)],
            env={**kept, **more},
            cwd=HERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return begin


@pytest.fixture(scope="session")
def cli(start):
    """Runs a command to its end: exit code and output."""

    def run(*arguments, **more):
        process = start(*arguments, **more)
        out, err = process.communicate(timeout=PATIENCE)
        return Done(process.returncode, out, err)

    return run


@pytest.fixture(scope="session")
def served():
    """Makes a server of the scripted student and the user; more is passed on to the server."""

    def server(**more):
        return LoopbackServer(chat=phone, models=(AGENT, USER), **more)

    return server


@pytest.fixture(scope="session")
def play_words():
    """The words of the command that plays scenarios into a run directory; more of them may follow."""

    def words(server, out, scenarios, *more):
        return (
            *("run", "--out", out, "--agent-model", AGENT, "--user-model", USER, "--json"),
            *("--agent-base-url", getattr(server, "url", server), "--scenarios", ",".join(scenarios), *more),
        )

    return words


@pytest.fixture(scope="session")
def wait_for():
    """Waits until something is so, or fails."""

    def wait(so, process):
        until = time.monotonic() + PATIENCE
        while not so():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.02)

    return wait
