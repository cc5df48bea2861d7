"""The scripted student from a terminal: served until Ctrl-C, and said to be no model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from urllib.request import Request, urlopen

from amd_bfcl.record import TEACHER

# The command in an app of its own.
PLAY = """
import sys, typer
from amd.cli.exits import run_app
from amd_bfcl.commands.play import play
app = typer.Typer()
app.command()(play)
sys.exit(run_app(app, "play", sys.argv[1:]))
"""


def ask(url, words):
    """The assistant's message."""
    body = json.dumps({"model": TEACHER, "messages": [{"role": "user", "content": words}]}).encode()
    with urlopen(Request(f"{url}/chat/completions", body)) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def test_it_serves_until_it_is_interrupted(package):
    """One line says where, what and that no model is behind it; Ctrl-C is the normal end."""
    command = [sys.executable, "-c", PLAY, "--limit", "2", "--port", "0", "--slips"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        url = line.split()[0]
        words = json.loads(package.lines("BFCL_v4_multi_turn_base.json")[0])["question"][0][0]["content"]
        said = ask(url, words)
        models = json.load(urlopen(f"{url}/models"))["data"]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert line == (
        f"{url} serves the model 'bfcl-oracle': the answer key of 2 multi_turn_base tasks, with slips. "
        "No model is behind it. Stop it with Ctrl-C.\n"
    )
    assert said == "[cd(folder='no_such_folder')]"
    assert [model["id"] for model in models] == [TEACHER]
    assert (process.returncode, out, err) == (0, "stopped\n", "")
