"""The set-up of AppWorld's environment and of a world in it: what is asked for, what is refused, what is never lost."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = Path("scripts") / "setup_appworld.sh"
FOLDER = Path(".venvs") / "appworld"
PIP = "-m pip install -qq --disable-pip-version-check appworld==0.1.3.post1"
UNPACK = "-m appworld.cli install"
MARK = Path("data") / "invented-world.json"

# A Python of any version that installs nothing and notes what it was asked to. Asked for a world it makes what
# looks like one; asked for the benchmark's data it does as AppWorld does: what is there goes first, a failure is told
# by its last line alone.
PYTHON = """#!/usr/bin/env bash
if [[ $1 == -c ]]; then echo "{version}"; exit; fi
echo "$*" >> {log}
case "$*" in
  "-m venv "*) mkdir -p "${{!#}}/bin" && cp "$0" "${{!#}}/bin/python" ;;
  "-m appworld.cli install") mkdir -p "$APPWORLD_CACHE" ;;
  "-m appworld.cli download data --root "*)
    rm -rf "$6/data"
    case ${{ARRIVES:-no}} in
      all) mkdir -p "$6/data/tasks/82e2fac_1" "$6/data/datasets" && echo 82e2fac_1 > "$6/data/datasets/train.txt" ;;
      tasks) mkdir -p "$6/data/tasks" ;;
      datasets) mkdir -p "$6/data/datasets" && echo 82e2fac_1 > "$6/data/datasets/train.txt" ;;
    esac
    echo "a long story"; echo "Failed to download file. Status code: 403" ;;
  "scripts/appworld_synthetic.py "*)
    mkdir -p "$2/data/tasks/0a11ce1_1" "$2/data/datasets" && touch "$2/data/invented-world.json"
    echo 0a11ce1_1 > "$2/data/datasets/train.txt" ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the script and of what it reads."""
    (tmp_path / "checkout" / "scripts").mkdir(parents=True)
    for name in (SCRIPT, "scripts/environment.sh"):
        shutil.copy2(ROOT / name, tmp_path / "checkout" / name)
    return tmp_path / "checkout"


def python(folder: Path, number: str, more: str = "") -> Path:
    """A Python that says it has this version and notes in ``folder/log`` what it was asked to do."""
    path = folder / f"python{number}"
    path.write_text(PYTHON.format(version=number, log=shlex.quote(str(folder / "log"))) + more, encoding="utf-8")
    path.chmod(0o755)
    return path


def set_up(
    checkout: Path, chosen: Path | str, *words: str | Path, **environment: str
) -> tuple[int, str, str, list[str]]:
    """Exit code, output and errors of the script, called from beside the checkout; and what was asked of Python."""
    log = checkout.parent / "log"
    log.unlink(missing_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("APPWORLD_")}
    done = subprocess.run(
        [checkout / SCRIPT, *words],
        env={**kept, "PYTHON": str(chosen), **environment},
        cwd=checkout.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    asked = log.read_text(encoding="utf-8").strip().split("\n") if log.exists() else []
    return done.returncode, done.stdout, done.stderr, asked


def test_it_is_installed_once_and_the_world_is_asked_for_each_time(checkout: Path) -> None:
    """The program that makes the world knows itself whether it is up to date; nothing goes to the home folder."""
    chosen = python(checkout.parent, "3.11")
    code, out, err, asked = set_up(checkout, chosen)
    world = f"scripts/appworld_synthetic.py {checkout / 'appworld-world'}"
    assert (code, err) == (0, "")
    assert asked == ["-m venv --clear .venvs/appworld", "-m pip --version", PIP, UNPACK, world]
    *_, size, made, following = out.strip().split("\n")
    assert size.startswith(".venvs/appworld: Python 3.11, appworld==0.1.3.post1, ")
    assert made.startswith("appworld-world: the invented world, 1 tasks, ")
    assert size.endswith(" MB")
    assert made.endswith(" MB")
    assert following == "next: python -m amd_appworld run --root appworld-world --help"
    assert (checkout / FOLDER / "appworld-cache").is_dir()
    assert set_up(checkout, chosen)[3] == set_up(checkout, "")[3] == [world]


def test_another_version_is_installed_into_the_same_environment(checkout: Path) -> None:
    """When the script names another one."""
    chosen = python(checkout.parent, "3.12")
    assert set_up(checkout, chosen)[0] == 0
    script = checkout / SCRIPT
    script.write_text(script.read_text(encoding="utf-8").replace("==0.1.3.post1", "==0.1.9"), encoding="utf-8")
    asked = set_up(checkout, "")[3]
    assert asked[1:3] == [PIP.replace("0.1.3.post1", "0.1.9"), UNPACK]
    assert not any("-m venv" in line for line in asked)


def test_an_upgrade_that_failed_leaves_nothing_that_is_taken_for_ready(checkout: Path) -> None:
    """Not even the version that was there before: some of its files may have been replaced."""
    chosen = python(checkout.parent, "3.11")
    assert set_up(checkout, chosen)[0] == 0
    script = checkout / SCRIPT
    before = script.read_text(encoding="utf-8")
    script.write_text(before.replace("==0.1.3.post1", "==0.1.9"), encoding="utf-8")
    failing = python(checkout.parent, "3.11", '[[ "$*" != *"pip install"* ]]\n')
    shutil.copy2(failing, checkout / FOLDER / "bin" / "python")
    assert set_up(checkout, chosen)[0] == 1
    script.write_text(before, encoding="utf-8")
    shutil.copy2(python(checkout.parent, "3.11"), checkout / FOLDER / "bin" / "python")
    code, _, _, asked = set_up(checkout, chosen)
    assert (code, PIP in asked) == (0, True)


@pytest.mark.parametrize("failing", ["pip install", "appworld.cli install"])
def test_an_install_that_failed_is_done_again(checkout: Path, failing: str) -> None:
    """Whichever step it was; no world is asked for meanwhile."""
    chosen = python(checkout.parent, "3.11", f'[[ "$*" != *"{failing}"* ]]\n')
    for _ in range(2):
        code, out, _, asked = set_up(checkout, chosen)
        assert (code, asked[-1].startswith("scripts/"), "next: " in out) == (1, False, False)
    shutil.copy2(python(checkout.parent, "3.11"), checkout / FOLDER / "bin" / "python")
    assert set_up(checkout, chosen)[0] == 0
    assert PIP not in set_up(checkout, chosen)[3]


def test_a_world_that_cannot_be_made_ends_it(checkout: Path) -> None:
    """With the exit code and the words of the program; nothing is said to be next."""
    chosen = python(checkout.parent, "3.11", '[[ $1 != scripts/* ]] || { echo "not touched" >&2; exit 1; }\n')
    code, out, err, _ = set_up(checkout, chosen)
    assert (code, err, "next: " in out) == (1, "not touched\n", False)


@pytest.mark.parametrize("where", ["other", "with space", "absolute"])
def test_a_root_is_where_one_says(checkout: Path, where: str) -> None:
    """From the folder where the script was called; the next command finds it from there."""
    chosen = python(checkout.parent, "3.11")
    root = checkout.parent / where
    shown = str(root) if where == "absolute" else where
    code, out, _, asked = set_up(checkout, chosen, "--root", shown)
    assert (code, asked[-1]) == (0, f"scripts/appworld_synthetic.py {root}")
    assert shlex.split(out.strip().split("\n")[-1])[1:] == [
        "python",
        "-m",
        "amd_appworld",
        "run",
        "--root",
        shown,
        "--help",
    ]
    assert (root / MARK).exists()


def test_the_benchmark_s_data_is_downloaded_once(checkout: Path) -> None:
    """Into a folder of its own first, then to its place; a second time nothing is asked of AppWorld."""
    chosen = python(checkout.parent, "3.11")
    code, out, err, asked = set_up(checkout, chosen, "--data", ARRIVES="all")
    root = checkout / "appworld-benchmark"
    assert (code, err) == (0, "")
    assert asked[-1].startswith(f"-m appworld.cli download data --root {root}/.arriving-")
    assert [path.name for path in root.iterdir()] == ["data"]
    assert (root / "data" / "datasets" / "train.txt").read_text(encoding="utf-8") == "82e2fac_1\n"
    assert "appworld-benchmark: the benchmark's data, 1 tasks, " in out
    assert "in plain text" in out
    assert out.strip().split("\n")[-1] == "next: python -m amd_appworld run --root appworld-benchmark --help"
    again = set_up(checkout, chosen, "--data", ARRIVES="no")
    assert (again[0], again[3]) == (0, [])


@pytest.mark.parametrize("arrives", ["no", "tasks", "datasets"])
def test_a_download_that_failed_changes_nothing(checkout: Path, arrives: str) -> None:
    """One line says why and what is possible without a network; runs beside the data stay."""
    chosen = python(checkout.parent, "3.11")
    kept = checkout / "appworld-benchmark" / "experiments" / "outputs"
    kept.mkdir(parents=True)
    code, out, err, _ = set_up(checkout, chosen, "--data", ARRIVES=arrives)
    assert (code, err.count("\n"), "next: " in out) == (1, 1, False)
    assert "nothing in appworld-benchmark has changed (Failed to download file. Status code: 403)" in err
    assert [path.name for path in (checkout / "appworld-benchmark").iterdir()] == ["experiments"]
    assert kept.is_dir()
    assert set_up(checkout, chosen, "--data", ARRIVES="all")[0] == 0
    assert kept.is_dir()


@pytest.mark.parametrize("there", ["the invented world", "half a download", "a file", "a broken link"])
def test_data_of_another_kind_is_never_removed(checkout: Path, there: str) -> None:
    """AppWorld's own download would: it is not even asked."""
    chosen = python(checkout.parent, "3.11")
    root = checkout.parent / "root"
    root.mkdir()
    if there == "the invented world":
        assert set_up(checkout, chosen, "--root", "root")[0] == 0
    elif there == "half a download":
        (root / "data" / "tasks" / "82e2fac_1").mkdir(parents=True)
    elif there == "a file":
        (root / "data").write_text("", encoding="utf-8")
    else:
        (root / "data").symlink_to(root / "nowhere")
    before = sorted(root.rglob("*"))
    code, out, err, asked = set_up(checkout, chosen, "--data", "--root", "root", ARRIVES="all")
    assert (code, err.count("\n"), "next: " in out) == (1, 1, False)
    assert err.startswith("root/data is ")
    assert "--root" in err
    assert ("is the invented world" in err) is (there == "the invented world")
    assert not any("download" in line for line in asked)
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize("words", [("--dev",), ("world",), ("--root",), ("--root", "--data"), ("--root", "")])
def test_other_words_are_a_usage_error(checkout: Path, words: tuple[str, ...]) -> None:
    """With the usage, and nothing is made."""
    code, out, err, asked = set_up(checkout, "", *words)
    assert (code, out, err.count("\n"), asked) == (2, "", 1, [])
    assert err.startswith("usage: ")
    assert not (checkout / ".venvs").exists()


@pytest.mark.parametrize("number", ["3.10", "3.13"])
def test_a_python_that_does_not_fit_is_refused(checkout: Path, number: str) -> None:
    """In one line, before anything is made; so is one that is not there, and another one than was used before."""
    code, out, err, _ = set_up(checkout, python(checkout.parent, number))
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert f"is Python {number}, not 3.11 or 3.12" in err
    code, out, err, _ = set_up(checkout, checkout / "no-python")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert not (checkout / ".venvs").exists()
    assert set_up(checkout, python(checkout.parent, "3.11"))[0] == 0
    code, out, err, asked = set_up(checkout, python(checkout.parent, "3.12"))
    assert (code, out, err.count("\n"), asked) == (1, "", 1, [])
    assert "made with Python 3.11" in err
