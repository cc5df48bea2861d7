"""The program that serves the local model: what it prints, and that it ends when it should."""

from __future__ import annotations

import re
import signal
import subprocess

import pytest

from amd.clients import check_endpoint

pytestmark = pytest.mark.local_llm


@pytest.fixture
def program(local_llm):
    """The program, once it has said where it is."""
    command = [word for word in local_llm if word != "--until-stdin-closes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_stop(program, number):
    """One line with the model and the address; Ctrl-C and the like end it without a word."""
    said = program.stdout.readline()
    found = re.fullmatch(r"(SmolLM2-135M) by xllamacpp [\d.]+ at (http://127\.0\.0\.1:\d+/v1)\n", said)
    assert found is not None, said
    check_endpoint(found[1], base_url=found[2], api_key=None)
    program.send_signal(number)
    assert program.communicate() == ("", "")
    assert program.returncode == 0


def test_it_ends_with_whoever_started_it(local_llm):
    """Its standard input is closed, whatever became of them."""
    done = subprocess.run(local_llm, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("SmolLM2-135M by ")


def test_a_port_that_is_taken_is_one_line(local_llm, served_locally):
    """And no traceback."""
    taken = served_locally.url.removesuffix("/v1").rpartition(":")[2]
    done = subprocess.run([*local_llm, "--port", taken], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "is the port free?" in done.stderr
