"""What a user installs: the wheel, in an empty environment, used from another folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from importlib.metadata import requires
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parents[1]

USE = """
import importlib.metadata
from pathlib import Path

import amd
from amd.testing import run

home = Path(amd.__file__)
assert home.is_relative_to(Path.cwd()), home
assert (home.parent / "py.typed").is_file()
assert importlib.metadata.version("agent-memory-distillation") == amd.__version__

report = amd.build_memory([run(i) for i in range(3)], "memory", embedder=amd.load_embedder("minilm"))
memory = amd.open_memory("memory")
task = run(1).task
session = amd.Session(memory, viewer=amd.self_excluded(task))
text = session.before_task(task.instruction)
assert text, "another family's record was to be found"
assert all("multi_turn_1" not in exposure.families for exposure in session.exposures)
print("used from", home)
"""


def run_in(folder: Path, *command: str) -> str:
    """The output of a command that must succeed, without this checkout on its path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run_in(
        folder, *pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder), str(ROOT)
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_library_and_nothing_else(wheel: Path) -> None:
    """Every source file, the mark of types, a model's tokenizer and the licences; tests and documents are not."""
    names = ZipFile(wheel).namelist()
    source = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    packed = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
    model = "amd/embedders/all-MiniLM-L6-v2"
    assert packed == source | {"amd/py.typed"} | {
        f"{model}/{name}" for name in ("LICENSE", "README.md", "tokenizer.json")
    }
    for licence in ("LICENSE", f"src/{model}/LICENSE"):
        assert any(name.endswith(f"licenses/{licence}") for name in names)


def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    """Installed where nothing of this checkout is, used from another folder, its command included."""
    run_in(tmp_path, sys.executable, "-m", "venv", "--without-pip", "env")
    scripts = tmp_path / "env" / "bin"
    python = str(scripts / "python")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python", python)
    run_in(tmp_path, *pip, "install", "--no-deps", "--no-index", str(wheel))
    # The dependencies are those that are here: a path without the links that point back to this checkout.
    site = run_in(tmp_path, python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(site) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    assert "used from" in run_in(tmp_path, python, "-c", USE)
    assert "Build a memory" in run_in(tmp_path, str(scripts / "amd"), "--help")


def test_every_requirement_is_named_as_it_should_be() -> None:
    """The distributions keep their names, and no overlay asks for its harness."""
    main = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert main["name"] == "agent-memory-distillation"
    assert {name.split(">=")[0] for name in main["dependencies"]} == {
        *("bm25s", "filelock", "numpy", "openai", "orjson", "pydantic", "rich", "tenacity", "typer")
    }
    assert set(requires("agent-memory-distillation") or ()) >= set(main["dependencies"])
    for path in ROOT.glob("overlays/*/pyproject.toml"):
        overlay = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        assert overlay["name"] == f"amd-{path.parent.name}"
        names = {name.split(">=")[0] for name in overlay["dependencies"]}
        assert "agent-memory-distillation" in names
        assert not names & {"amd", "bfcl-eval", "toolsandbox", "appworld"}


def test_the_oldest_versions_that_are_tested_are_the_lower_bounds() -> None:
    """What ``make lowest`` installs is the least that the requirements allow, the library's and every overlay's."""
    lines = (ROOT / "scripts" / "lowest.txt").read_text(encoding="utf-8").split("\n")
    pins = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    main, *overlays = (
        tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        for path in (ROOT / "pyproject.toml", *sorted(ROOT.glob("overlays/*/pyproject.toml")))
    )
    of_overlays = {name for overlay in overlays for name in overlay["dependencies"] if ">=" in name}
    asked = {
        *main["dependencies"],
        *main["optional-dependencies"]["local"],
        *main["optional-dependencies"]["eval"],
        *of_overlays,
    }
    bounds = dict(re.split(">=|==", requirement) for requirement in asked)
    of_others = {"click": "8.0.0", "pyparsing": "3.1.0"}  # typer's, matplotlib's
    assert pins == of_others | {name: ".".join([*bound.split("."), "0", "0"][:3]) for name, bound in bounds.items()}
    assert len(bounds) == len(asked), "one bound for each, in all of them"
