"""What a run printed that is no call's own answer: what it says as values, and words of it that may be secrets.

Masking knows a secret by the key that it stands under. What code prints bare stands under none, so that the code must
tell: a cell that prints what it got by a telling key, or from an API that gives secrets, may have printed one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from amd_appworld.arguments import requested
from amd_appworld.failures import STATUS
from amd_appworld.names import Bound, Names, api_of, assigned_in, parsed
from amd_appworld.tracebacks import EXECUTED, FAILED

__all__ = ["Printed", "may_be_secrets"]

_SECRET: Final = re.compile(
    r"pass(?!ed|es\b|ing)|pwd|token|secret|card|cvv|security|(?<![a-z])pin(?![a-z])", re.IGNORECASE
)
_CONTACT: Final = re.compile(r"phone|mail|profile|contact|address", re.IGNORECASE)
_LOGIN: Final = re.compile(r"login|sign_?up|(?<![a-z])auth(?![a-z])", re.IGNORECASE)

_LOOKED_AT: Final = 20_000
_ENDS: Final = "\"'`,:;.()[]{}"
_LEAST, _MOST = 4, 200
_LEAST_DIGITS: Final = 7
_SAID: Final = re.compile(
    rf"{STATUS.pattern}\s*(?:\{{[^\n]*)?|No (?:API|app) named '[^'\n]*' found[^\n]*|{re.escape(FAILED)}[\s\S]*"
)
"""The environment's own words about errors, which hold nobody's secret."""

# Several kinds of signs without being a secret: a moment, a file, a key with its value, a title, a numbered thing.
_ORDINARY: Final = re.compile(
    r"[\d:.,/+-]+[TZ]?[\d:.,/+-]*Z?|.*[/=].*|.*\.[A-Za-z]\w{0,4}|\w*'\w*|[A-Z]?[a-z]+[-_]?\d+"
)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d(?:T.*)?")
_SIGNS: Final = (re.compile(r"[a-z]"), re.compile(r"[A-Z]"), re.compile(r"\d"), re.compile(r"[^\w\s.,:'-]"))


class Printed:
    """Gathers what the cells of one run printed; they are given in order, since they share their names."""

    def __init__(self) -> None:
        self._secret, self._contact = _Telling(_SECRET), _Telling(_CONTACT)

    def beside(self, code: str, output: str, names: Names, *, owned: bool) -> Iterator[Any]:
        """What a cell's output tells beside the calls of the run: the output itself, and words that stand under no key.

        Args:
            code: the cell.
            output: what it printed.
            names: what the cells up to this one have bound.
            owned: whether the output is a call's own answer, which is told with the call.
        """
        tree = parsed(code)
        try:
            secret = tree is not None and self._secret.prints(tree, names.bound)
            contact = tree is not None and self._contact.prints(tree, names.bound)
        except RecursionError:  # a chain of operators may be longer than Python's stack
            secret = contact = True
        if owned or output == EXECUTED:
            return
        yield output
        written = {word for text in _texts(tree) for word in _words(text)}
        found = may_be_secrets(output, written, secret=secret, contact=contact)
        if found:
            yield {"secret": sorted(found)}


def may_be_secrets(output: str, written: Iterable[str] = (), *, secret: bool, contact: bool) -> frozenset[str]:
    r"""Words of an output that may be somebody's secret or contact.

    What looks random may be one whatever the cell; of a cell that prints contacts also long numbers and what is no
    plain word, and of one that prints secrets every word, but days and what the code itself has
    ``written``.

    >>> sorted(may_be_secrets("music: sunflowers q7!Vault on 2023-05-18", ["music"], secret=True, contact=False))
    ['q7!Vault', 'sunflowers']
    >>> sorted(may_be_secrets("music: sunflowers q7!Vault on 2023-05-18", secret=False, contact=False))
    ['q7!Vault']
    """
    found: set[str] = set()
    own = frozenset(written)
    for word in _words(_SAID.sub(" ", output[:_LOOKED_AT])):
        plain = word.isalpha() and (word.islower() or word.istitle())
        short = word.isdigit() and len(word) < _LEAST_DIGITS
        telling = secret or (contact and not plain and not short)
        if _is_random(word) or (telling and word not in own and not _DAY.fullmatch(word)):
            found.add(word)
    return frozenset(found)


def _words(text: str) -> Iterator[str]:
    """The words of a text as they stand, and without the signs around them."""
    for word in re.split(r"[\s,]+", text):
        bare = word.strip(_ENDS)
        if _LEAST <= len(bare) <= _MOST:
            yield bare
            inner = word.strip("\"'`,:;.()[]")
            if inner != bare:
                yield inner


def _is_random(word: str) -> bool:
    """Whether a word is of three kinds of signs, or of letters and odd signs, and has no ordinary shape."""
    if len(word) < _LEAST_DIGITS or _ORDINARY.fullmatch(word):
        return False
    lower, upper, digit, odd = (bool(sign.search(word)) for sign in _SIGNS)
    return lower + upper + digit + odd >= 3


def _texts(tree: ast.Module | None) -> Iterator[str]:
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


class _Telling:
    """Which names of a run hold what a pattern tells of, and whether a cell prints some of it."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._held: set[str] = set()
        self._functions: set[str] = set()

    def prints(self, tree: ast.Module, bound: Mapping[str, Bound]) -> bool:
        """Whether a cell prints it; what the cell binds is known to the next."""
        shown = [self._visit(node, bound) for node in _in_order(tree)]  # all of them: names are bound in them
        return any(shown)

    def _visit(self, node: ast.AST, bound: Mapping[str, Bound]) -> bool:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._functions.add(node.name)
            self._bind([node.name], held=any(self._tells(part, bound) for part in node.body))
        elif isinstance(node, ast.Assign):
            self._bind(assigned_in(*node.targets), held=self._tells(node.value, bound))
            self._keep(node.targets, node.value, bound)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._bind(assigned_in(node.target), held=self._tells(node.value, bound))
        elif isinstance(node, ast.AugAssign):
            self._keep([node.target], node.value, bound)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._bind(assigned_in(node.target), held=self._tells(node.iter, bound))
        elif isinstance(node, ast.Call) and self._shows(node):
            return any(self._tells(part, bound) for part in (*node.args, *(item.value for item in node.keywords)))
        return False

    def _bind(self, names: Iterable[str], *, held: bool) -> None:
        change = self._held.update if held else self._held.difference_update
        change(list(names))

    def _keep(self, targets: Iterable[ast.expr], value: ast.expr, bound: Mapping[str, Bound]) -> None:
        """What is put into something is held by it; what it held before stays."""
        if self._tells(value, bound):
            for target in targets:
                while isinstance(target, ast.Subscript | ast.Attribute):
                    target = target.value  # noqa: PLW2901 - the outermost thing is meant
                if isinstance(target, ast.Name):
                    self._held.add(target.id)

    def _shows(self, call: ast.Call) -> bool:
        """Whether a call may print what it is given: ``print`` and its like, and the agent's own functions."""
        if isinstance(call.func, ast.Attribute):
            return call.func.attr in {"write", "writelines", "pprint", "pp"}
        return isinstance(call.func, ast.Name) and call.func.id in {
            "print",
            "pprint",
            "pp",
            "display",
            *self._functions,
        }

    def _tells(self, node: ast.AST, bound: Mapping[str, Bound]) -> bool:
        """Whether a part of a program has it; what an API is given says nothing of what it gives."""
        if isinstance(node, ast.Call):
            api = api_of(node.func, bound)
            name = requested(node) or (".".join(api.path) if api and len(api.path) == 2 else "")
            if name:
                return bool(self._pattern.search(name.partition(".")[2])) or (
                    self._pattern is _SECRET and bool(_LOGIN.search(name))
                )
            if isinstance(node.func, ast.Attribute) and node.func.attr in {"get", "pop"} and self._names(node.args[:1]):
                return True
        if isinstance(node, ast.Subscript) and self._names([node.slice]):
            return True
        if isinstance(node, ast.Name) and (node.id in self._held or self._pattern.search(node.id)):
            return True
        if isinstance(node, ast.Attribute) and self._pattern.search(node.attr):
            return True
        return any(self._tells(part, bound) for part in ast.iter_child_nodes(node))

    def _names(self, keys: Iterable[ast.expr]) -> bool:
        """Whether one of these is a key that tells."""
        return any(
            isinstance(key, ast.Constant) and isinstance(key.value, str) and self._pattern.search(key.value)
            for key in keys
        )


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """A program's parts as they stand: what is bound comes before what follows it."""
    yield node
    for part in ast.iter_child_nodes(node):
        yield from _in_order(part)
