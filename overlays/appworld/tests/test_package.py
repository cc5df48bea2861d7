"""What the overlay leans on: the library's faces, nothing of AppWorld in this process, and few lines that reach it."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "amd_appworld"
README = PACKAGE.parent / "README.md"
FILES = sorted(PACKAGE.rglob("*.py"))
FACES = {"amd", "amd.errors", "amd.traces", "amd.arms", "amd.clients"}
# A command fails and waits as those of ``amd`` do, and one serves scripts in place of models.
MORE = {"commands": {"amd.cli.arms", "amd.cli.console", "amd.cli.exits", "amd.cli.playing"}}

ENVIRONMENT = ("environment.py", "seat.py", "server.py", "serving.py")
"""What starts environment servers and asks them."""
IN_PROCESS = "ace.py"
"""What runs inside another runner, beside AppWorld."""
REACHES = {
    "appworld",
    "appworld_experiments",
    "httpx",
    "multiprocessing",
    "requests",
    "socket",
    "subprocess",
    "uvicorn",
}
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def imported(path):
    """The modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def lines_of_code(text):
    """How many lines hold code: neither blank, nor comments alone, nor docstrings."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return len(lines)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_overlay_uses_only_the_faces_of_the_library(path):
    """What else is inside the library may move without breaking an overlay."""
    allowed = FACES | MORE.get(path.parent.name, set())
    assert {name for name in imported(path) if name.split(".")[0] == "amd"} <= allowed


def test_only_the_part_that_the_readme_names_reaches_appworld():
    """Servers and sockets are nobody else's; the positive control is that each of those does, or holds what does."""
    reaching = {path.name for path in FILES if {name.split(".")[0] for name in imported(path)} & REACHES}
    assert reaching == {*ENVIRONMENT, IN_PROCESS} - {"seat.py"}
    assert {"amd_appworld.environment", "amd_appworld.server"} <= set(imported(PACKAGE / "seat.py"))
    said = README.read_text(encoding="utf-8")
    assert [name for name in (*ENVIRONMENT, IN_PROCESS) if f"`{name}`" not in said] == []


def test_the_part_that_reaches_appworld_is_small():
    """Under 250 lines of code."""
    assert (
        lines_of_code('"""Words."""\n\n# more\nx = """a\nb"""  # here\n\n\ndef f():\n    """Words\n    too."""\n') == 3
    )
    assert 200 < sum(lines_of_code((PACKAGE / name).read_text(encoding="utf-8")) for name in ENVIRONMENT) < 250


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_file_is_long(path):
    """At most 250 lines, docstrings and all."""
    assert path.read_text(encoding="utf-8").count("\n") <= 250


def test_importing_the_overlay_imports_nothing_of_appworld():
    """Runs are read, and students are run, in an environment that has none."""
    modules = [
        ".".join(("amd_appworld", *path.relative_to(PACKAGE).with_suffix("").parts))
        for path in FILES
        if path.name not in ("__main__.py", "__init__.py", IN_PROCESS)
    ]
    code = (
        f"import sys, importlib\nfor name in {modules}:\n    importlib.import_module(name)\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('appworld', 'appworld_experiments')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
