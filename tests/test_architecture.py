"""The map is true, the storeys are kept, and the rules of the house hold in every file."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from amd.store import Shelf

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "amd"
MAP = ROOT / "docs" / "architecture.md"
FILES = sorted(SOURCE.rglob("*.py"))
TREES = {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}

HEAVY = {
    "bm25s": {"store/lexical.py"},
    "matplotlib": {"evaluate/glyphs.py", "evaluate/plots.py"},
    "onnxruntime": {"embedders/onnx.py"},
    "openai": {"embedders/openai.py", "service.py", "transport.py"},
    "scipy": {"evaluate/estimates.py"},
    "statsmodels": {"evaluate/estimates.py"},
    "tokenizers": {"embedders/onnx.py", "session/tokens.py"},
}
"""The files that may import a heavy module, one for each use of it; an empty set: nobody yet."""

FORBIDDEN_NAMES = {"data", "helpers", "info", "manager", "misc", "utils"}


def map_rows() -> list[tuple[str, str, str]]:
    """(storey, path below src/amd, what lives there), as the tables of the map say."""
    rows = []
    for line in MAP.read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and cells[2].startswith("`"):
            storey, room, file, what = (cell.strip("`") for cell in cells)
            rows.append((storey, f"{room}{file}" if room.endswith("/") else file, what))
    return rows


def layers() -> list[list[str]]:
    """The storeys of the import contract, top first, without the marks of optional rooms."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    house = next(contract for contract in contracts if contract["name"] == "The storeys of the house")
    return [re.findall(r"\w+", layer) for layer in house["layers"]]


def test_the_map_names_every_file_and_nothing_else() -> None:
    """Each file of src/amd stands in docs/architecture.md once, and each path there exists."""
    named = [path for _, path, _ in map_rows()]
    assert sorted(named) == sorted(TREES)
    assert all(what for _, _, what in map_rows())


def test_the_map_shows_the_storeys_that_the_contract_holds() -> None:
    """The storeys of the map are the layers of the import contract, in the same order."""
    at = {room: height for height, rooms in enumerate(layers()) for room in rooms}
    heights: dict[str, set[int]] = {}
    for storey, path, _ in map_rows():
        room = path.split("/")[0].removesuffix(".py")
        if room != "__init__":
            heights.setdefault(storey, set()).add(at[room])
    assert all(len(found) == 1 for found in heights.values()), heights
    order = [found.pop() for found in heights.values()]
    assert order == sorted(order)


def imports(tree: ast.AST) -> Iterator[str]:
    """The top name of each module that a file imports, wherever the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def test_a_heavy_module_is_imported_by_the_files_that_wrap_it() -> None:
    """Nobody pays for openai, tokenizers or bm25s who does not use them."""
    found = {heavy: {path for path, tree in TREES.items() if heavy in imports(tree)} for heavy in HEAVY}
    assert found == HEAVY


def test_imports_inside_functions_are_found() -> None:
    """Positive control: the check above sees an import wherever it hides."""
    tree = ast.parse("def f():\n    import openai.types\n    from bm25s import BM25\n")
    assert set(imports(tree)) == {"openai", "bm25s"}


def searches(tree: ast.AST) -> Iterator[int]:
    """Lines that reach for a shelf's search: a call with ``viewer``, or the bare method handed on.

    A regular expression has a ``search`` too; it is called at once, and knows no viewer.
    """
    called: set[ast.expr] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "search":
            called.add(node.func)
            if any(keyword.arg in ("viewer", None) for keyword in node.keywords):
                yield node.lineno
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "search" and node not in called:
            yield node.lineno


def test_search_has_one_door() -> None:
    """Only the session asks a shelf; a tier or a baseline cannot get round the viewer."""
    overlays = {
        str(path): ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.glob("overlays/*/amd_*/**/*.py")
    }
    doors = {path for path, tree in {**TREES, **overlays}.items() if list(searches(tree))}
    assert doors
    assert {path.split("/")[0] for path in doors} == {"session"}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("shelf.search(query, viewer=v)", [1]),
        ("shelf.search(query, **options)", [1]),
        ("find = shelf.search", [1]),
        ("PATTERN.search(text)", []),
    ],
)
def test_a_second_door_would_be_found(source: str, found: list[int]) -> None:
    """Positive control: each way to a shelf's search is seen, a regular expression's is not."""
    assert list(searches(ast.parse(source))) == found


def test_a_search_cannot_forget_its_viewer() -> None:
    """``viewer`` has no default and no position."""
    viewer = inspect.signature(Shelf.search).parameters["viewer"]
    assert viewer.default is inspect.Parameter.empty
    assert viewer.kind is inspect.Parameter.KEYWORD_ONLY


def too_broad(tree: ast.AST) -> Iterator[int]:
    """Lines with an ``except`` that catches anything."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = [node.type] if not isinstance(node.type, ast.Tuple) else node.type.elts
            names = {name.id for name in caught if isinstance(name, ast.Name)}
            if node.type is None or names & {"Exception", "BaseException"}:
                yield node.lineno


def too_long(tree: ast.AST) -> Iterator[int]:
    """Lines where a function with a body over sixty lines begins; a command's signature is its list of options."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.end_lineno and node.end_lineno - node.body[0].lineno >= 60:
            yield node.lineno


def splits_lines(tree: ast.AST) -> Iterator[int]:
    r"""Lines that split text at more than ``\n`` (D11b)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "splitlines":
            yield node.lineno


def reads_environment(tree: ast.AST) -> Iterator[int]:
    """Lines that read the environment; only ``config.py`` may."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv"):
            yield node.lineno


RULES = [too_broad, too_long, splits_lines, reads_environment]
CONTROLS = [
    "try:\n    pass\nexcept (OSError, Exception):\n    pass",
    "def f():\n" + "    x = 1\n" * 61,
    "text.splitlines()",
    "import os\nos.environ.get('HOME')",
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_rules_of_the_house_hold(rule: Callable[[ast.AST], Iterator[int]]) -> None:
    """No file of src/amd breaks the rule."""
    broken = {path: lines for path, tree in TREES.items() if (lines := list(rule(tree)))}
    assert set(broken) == ({"config.py"} if rule is reads_environment else set()), broken


@pytest.mark.parametrize(
    ("rule", "source"), list(zip(RULES, CONTROLS, strict=True)), ids=lambda item: getattr(item, "__name__", "")
)
def test_a_broken_rule_would_be_found(rule: Callable[[ast.AST], Iterator[int]], source: str) -> None:
    """Positive control: each rule sees what it forbids."""
    assert list(rule(ast.parse(source)))


def test_files_stay_small_and_say_what_they_are() -> None:
    """At most 300 lines, a module docstring, and no name that means anything or nothing."""
    for path in FILES:
        name = path.relative_to(SOURCE).as_posix()
        assert path.read_text(encoding="utf-8").count("\n") <= 300, name
        assert ast.get_docstring(TREES[name]), name
        assert not set(re.split(r"[/_.]", name)) & FORBIDDEN_NAMES, name
