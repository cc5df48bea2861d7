"""Finding the installed benchmark, and saying what to do without it."""

from __future__ import annotations

import ast
import doctest
import hashlib
import importlib
import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from amd.errors import ConfigError, TrajectoryError
from amd_bfcl.package import INSTALL, TESTED_VERSION, Package, find_package

OVERLAYS = Path(__file__).parents[2]


def _fake_package(folder: Path, version: str) -> None:
    """A bfcl-eval of another version, first on the path: a folder and its metadata."""
    (folder / "bfcl_eval").mkdir()
    (folder / "bfcl_eval" / "__init__.py").touch()
    metadata = folder / f"bfcl_eval-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: bfcl_eval\nVersion: {version}\n", encoding="utf-8"
    )


def _run(*arguments: str, path: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "amd_bfcl", "record", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=path)


def test_the_installed_version_is_the_tested_one(package):
    """Positive control of the refusals below."""
    assert package.version == TESTED_VERSION
    assert len(package.lines("BFCL_v4_multi_turn_base.json")) == 200


def test_without_the_benchmark_the_message_says_how_to_install_it(monkeypatch):
    """A missing package is one sentence and one command, not a traceback."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError) as caught:
        find_package()
    assert INSTALL in str(caught.value)


def test_another_version_is_refused_unless_allowed(tmp_path):
    """Families and answers were checked against one version; a run in another says which."""
    _fake_package(tmp_path, "2025.1.1")
    refused = _run("--out", "x.jsonl", path=tmp_path)
    assert refused.returncode == 2
    assert "bfcl-eval 2025.1.1 is installed" in refused.stderr
    assert TESTED_VERSION in refused.stderr
    assert refused.stderr.count("\n") == 1
    allowed = _run("--out", "x.jsonl", "--any-version", path=tmp_path)
    assert allowed.returncode == 1
    assert "bfcl-eval 2025.1.1 has no bfcl_eval/data/possible_answer/BFCL_v4_multi_turn_base.json" in allowed.stderr
    assert not (tmp_path / "x.jsonl").exists()


def test_a_missing_file_is_named(package):
    """The file that the package lacks stands in the message."""
    with pytest.raises(TrajectoryError, match=r"bfcl_eval/data/nothing\.json"):
        package.lines("nothing.json")


def test_the_hash_of_files_tells_their_lines_and_their_order_apart(tmp_path):
    """The same on every machine; another line, another file or another order is another hash."""
    (tmp_path / "data").mkdir()
    for name, text in {"a": "1\n2\n", "b": "3\n", "c": "1\n2\n4\n", "d": "1\n2"}.items():
        (tmp_path / "data" / name).write_text(text, encoding="utf-8")
    package = Package("1", tmp_path)
    assert package.sha256(["a"]) == package.sha256(["d"]) == hashlib.sha256(b"1\n2").hexdigest()
    wishes = (["a"], ["b"], ["c"], ["a", "b"], ["b", "a"], [])
    assert len({package.sha256(names) for names in wishes}) == len(wishes)
    with pytest.raises(TrajectoryError, match="nothing"):
        package.sha256(["a", "nothing"])


@pytest.mark.parametrize("pyproject", sorted(OVERLAYS.glob("*/pyproject.toml")), ids=lambda path: path.parent.name)
def test_an_overlay_requires_the_library_by_its_own_name(pyproject):
    """``amd`` in the public registry is somebody else's; and no overlay pulls its harness in."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = [each for group in project.get("optional-dependencies", {}).values() for each in group]
    names = {canonicalize_name(Requirement(each).name) for each in [*project["dependencies"], *extras]}
    assert "agent-memory-distillation" in names
    assert not names & {"amd", "bfcl-eval", "appworld", "tool-sandbox", "toolsandbox"}
    assert canonicalize_name(project["name"]) == f"amd-{pyproject.parent.name}"


def test_the_entry_point_leads_to_the_families():
    """Another package finds the families of ``bfcl`` by the benchmark's name."""
    pyproject = tomllib.loads((OVERLAYS / "bfcl" / "pyproject.toml").read_text(encoding="utf-8"))
    module, _, attribute = pyproject["project"]["entry-points"]["amd.families"]["bfcl"].partition(":")
    assert getattr(importlib.import_module(module), attribute)("multi_turn_base_43") == "multi_turn_40"


def test_the_examples_of_the_readme_hold(package):
    """The examples print what the README says."""
    result = doctest.testfile(str(OVERLAYS / "bfcl" / "README.md"), module_relative=False)
    assert result.attempted >= 5
    assert result.failed == 0


def test_the_overlay_uses_only_the_faces_of_the_library():
    """What else is inside the library may move without breaking an overlay; its command fails and waits as ``amd``."""
    faces = {"amd", "amd.errors", "amd.traces", "amd.arms", "amd.clients"}
    of_commands = {
        "amd.cli.arms",
        "amd.cli.console",
        "amd.cli.exits",
        "amd.cli.playing",
    }
    for path in sorted((OVERLAYS / "bfcl" / "amd_bfcl").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            allowed = faces | of_commands if path.parent.name == "commands" else faces
            assert {name for name in names if name and name.split(".")[0] == "amd"} <= allowed, path.name


def test_importing_the_overlay_imports_nothing_of_the_benchmark():
    """Every room can be imported where the benchmark is not installed."""
    code = (
        "import sys, amd_bfcl.commands.app, amd_bfcl.teacher, amd_bfcl.backends, amd_bfcl.record\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'bfcl_eval'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
