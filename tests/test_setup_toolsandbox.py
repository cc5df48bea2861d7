"""The set-up of ToolSandbox's environment: what pip is asked for, what is refused, and that no pin moves."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = Path("scripts") / "setup_toolsandbox.sh"
BROUGHT = Path(".venvs") / "toolsandbox" / "harness-versions.txt"

# A Python of any version that installs nothing and notes what it was asked to; the real one computes.
PYTHON = """#!/usr/bin/env bash
if [[ $1 == - ]]; then exec {real} "$@"; fi
if [[ $1 == -c ]]; then echo "{version}"; exit; fi
echo "$*" >> {log}
if [[ "$*" == "-m venv "* ]]; then mkdir -p "${{!#}}/bin" && cp "$0" "${{!#}}/bin/python"; fi
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of all that the script reads, beside a folder that looks like a clone of the harness."""
    for name in (SCRIPT, "scripts/environment.sh", "pyproject.toml", "overlays/toolsandbox/pyproject.toml"):
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / "checkout" / name)
    a_clone(tmp_path / "clone")
    return tmp_path / "checkout"


def a_clone(folder: Path, name: str = "tool_sandbox") -> Path:
    """A folder with what the script knows a clone by."""
    (folder / "tool_sandbox").mkdir(parents=True)
    (folder / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n', encoding="utf-8")
    return folder


def python(folder: Path, number: str) -> Path:
    """A Python that says it has this version and notes in ``folder/log`` what it was asked to do."""
    text = PYTHON.format(real=shlex.quote(sys.executable), version=number, log=shlex.quote(str(folder / "log")))
    path = folder / f"python{number}"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def set_up(checkout: Path, chosen: Path | str, *words: str | Path) -> tuple[int, str, str, list[str]]:
    """Exit code, output and errors of the script, called from beside the clone; and what was asked of Python."""
    log = checkout.parent / "log"
    log.unlink(missing_ok=True)
    done = subprocess.run(
        [checkout / SCRIPT, *words],
        env={**os.environ, "PYTHON": str(chosen)},
        cwd=checkout.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    asked = log.read_text(encoding="utf-8").strip().split("\n") if log.exists() else []
    return done.returncode, done.stdout, done.stderr, asked


def installs(asked: list[str]) -> list[str]:
    """What pip was asked to install."""
    return [line.partition("--disable-pip-version-check ")[2] for line in asked if " install " in line]


def test_the_harness_is_set_up_once(checkout: Path) -> None:
    """The clone alone, then amd and the overlay held to its versions; then nothing, until something has changed."""
    chosen = python(checkout.parent, "3.11")
    code, out, err, asked = set_up(checkout, chosen, "clone")
    clone = checkout.parent / "clone"
    assert (code, err) == (0, "")
    assert asked[0] == "-m venv --clear .venvs/toolsandbox"
    assert installs(asked) == [f"-e {clone}", f"-c {BROUGHT} -e .[local] -e overlays/toolsandbox"]
    assert f"pytest=={version('pytest')}" in (checkout / BROUGHT).read_text(encoding="utf-8").split("\n")
    *_, size, harness, following = out.strip().split("\n")
    assert size.startswith(".venvs/toolsandbox: Python 3.11, ")
    assert size.endswith(" MB")
    assert harness == f"harness: {clone}, commit unknown; 165848b9a78c was tested"
    assert following == "next: .venvs/toolsandbox/bin/python -m amd_toolsandbox --help"
    assert set_up(checkout, chosen, clone)[3] == set_up(checkout, "", "clone/")[3] == []
    (checkout / "pyproject.toml").write_text("# changed\n", encoding="utf-8")
    assert installs(set_up(checkout, "", "clone")[3]) == [f"-c {BROUGHT} -e .[local] -e overlays/toolsandbox"]


def test_the_tools_of_the_tests_are_added_and_stay(checkout: Path) -> None:
    """Held to the same versions; an environment that has them is enough without --dev."""
    chosen = python(checkout.parent, "3.12")
    assert "hypothesis" not in " ".join(set_up(checkout, chosen, "clone")[3])
    held = f"-c {BROUGHT} -e .[local] -e overlays/toolsandbox pytest>=8,<9 pytest-socket hypothesis"
    assert installs(set_up(checkout, chosen, "--dev", "clone")[3]) == [held]
    assert set_up(checkout, chosen, "clone", "--dev")[3] == set_up(checkout, chosen, "clone")[3] == []
    (checkout / "pyproject.toml").write_text("# changed\n", encoding="utf-8")
    assert installs(set_up(checkout, chosen, "clone")[3]) == [held]


def test_every_version_that_moved_is_named(checkout: Path) -> None:
    """Whenever it moved, even if nothing is to be installed; and the environment is ready no more."""
    chosen = python(checkout.parent, "3.11")
    assert set_up(checkout, chosen, "clone")[0] == 0
    brought = checkout / BROUGHT
    kept = brought.read_text(encoding="utf-8")
    wrong = kept.replace(f"pytest=={version('pytest')}\n", "pytest==0.1\n") + "no-such-package==2.0\n"
    brought.write_text(wrong, encoding="utf-8")
    for _ in range(2):
        code, out, err, _ = set_up(checkout, chosen, "clone")
        assert (code, err.count("\n")) == (1, 1)
        assert (
            f": pytest 0.1 -> {version('pytest')}, no-such-package 2.0 -> not installed: remove it with rm -rf" in err
        )
        assert "next: " not in out
    brought.write_text(kept, encoding="utf-8")
    code, _, _, asked = set_up(checkout, chosen, "clone")
    assert (code, len(installs(asked))) == (0, 1)


@pytest.mark.parametrize("failing", ["-e /", "-c "])
def test_an_install_that_failed_is_done_again(checkout: Path, failing: str) -> None:
    """Its exit code is pip's; the versions are written down only when the whole harness is there."""
    chosen = python(checkout.parent, "3.11")
    text = chosen.read_text(encoding="utf-8")
    chosen.write_text(f'{text}[[ "$*" != *" {failing}"* ]]\n', encoding="utf-8")
    for _ in range(2):
        assert set_up(checkout, chosen, "clone")[0] == 1
        assert (checkout / BROUGHT).exists() is (failing == "-c ")
    (checkout / ".venvs" / "toolsandbox" / "bin" / "python").write_text(text, encoding="utf-8")
    assert set_up(checkout, chosen, "clone")[0] == 0
    assert set_up(checkout, chosen, "clone")[3] == []


def test_another_clone_or_other_pins_need_another_environment(checkout: Path) -> None:
    """What is there was made for these pins; nothing is installed over it."""
    chosen = python(checkout.parent, "3.11")
    assert set_up(checkout, chosen, "clone")[0] == 0
    a_clone(checkout.parent / "other")
    with (checkout.parent / "clone" / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write('dependencies = ["numpy==2.0.0"]\n')
    for name in ("other", "clone"):
        code, out, err, asked = set_up(checkout, chosen, name)
        assert (code, out, err.count("\n"), asked) == (1, "", 1, [])
        assert "was made for another clone, or for other pins" in err


def test_what_is_no_clone_is_refused(checkout: Path) -> None:
    """In one line, before anything is made: nothing there, another project, a package without its folder."""
    a_clone(checkout.parent / "another", "tool_sandbox_gym")
    (a_clone(checkout.parent / "empty") / "tool_sandbox").rmdir()
    for name in ("nowhere", "another", "empty"):
        code, out, err, asked = set_up(checkout, "", name)
        assert (code, out, err.count("\n"), asked) == (1, "", 1, [])
        assert f"{checkout.parent / name} is no clone of apple/ToolSandbox" in err
    assert not (checkout / ".venvs").exists()


@pytest.mark.parametrize("words", [(), ("--dev",), ("clone", "--full"), ("clone", "clone")])
def test_other_words_are_a_usage_error(checkout: Path, words: tuple[str, ...]) -> None:
    """With the usage, and nothing is made."""
    code, out, err, asked = set_up(checkout, "", *words)
    assert (code, out, err.count("\n"), asked) == (2, "", 1, [])
    assert err.startswith("usage: ")


@pytest.mark.parametrize("number", ["3.10", "3.13"])
def test_a_python_that_does_not_fit_is_refused(checkout: Path, number: str) -> None:
    """In one line, before anything is made; so is one that is not there, and another one than was used before."""
    code, out, err, _ = set_up(checkout, python(checkout.parent, number), "clone")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert f"is Python {number}, not 3.11 or 3.12" in err
    code, out, err, _ = set_up(checkout, checkout / "no-python", "clone")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert not (checkout / ".venvs").exists()
    assert set_up(checkout, python(checkout.parent, "3.11"), "clone")[0] == 0
    code, out, err, asked = set_up(checkout, python(checkout.parent, "3.12"), "clone")
    assert (code, out, err.count("\n"), asked) == (1, "", 1, [])
    assert "made with Python 3.11" in err


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_commit_of_the_clone_is_said(checkout: Path) -> None:
    """With the one that was tested; a clone without a commit, or no repository, says that it is unknown."""
    clone = checkout.parent / "clone"
    chosen = python(checkout.parent, "3.11")

    def git(*words: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", "-C", clone, *identity, *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "--quiet")
    assert "commit unknown; 165848b9a78c was tested" in set_up(checkout, chosen, "clone")[1]
    git("add", ".")
    git("commit", "--quiet", "-m", "one")
    short = git("rev-parse", "--short=12", "HEAD")
    assert f"harness: {clone}, commit {short}; 165848b9a78c was tested" in set_up(checkout, chosen, "clone")[1]
