"""The walk through a cell of code: which of AppWorld's APIs are called, in the order in which Python calls them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from amd_appworld.arguments import arguments_of, requested, suppresses
from amd_appworld.cells import CodeCall, Setting
from amd_appworld.names import Bound, Function, Names, Unwritten, Written, api_of, assigned_in, literal

__all__ = ["Walk"]

_NEST: Final = 8
"""So many functions of the agent's own are followed into each other."""
_MOST_CALLS: Final = 10_000

_Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class Walk:
    """The walk through one cell, statement by statement, as Python would go.

    ``calls`` are the calls so far, ``names`` the names that are bound, ``prints`` counts the calls of ``print``, and
    ``catches`` says whether an error can be caught. ``RecursionError`` for a program nested beyond Python's own stack.
    """

    def __init__(self, before: Names) -> None:
        self.names: dict[str, Bound] = dict(before.bound)
        self.calls: list[CodeCall] = []
        self.prints = 0
        self.catches = False
        self._frame = Setting()
        self._values: dict[str, int] = {}  # a name that holds a call's value, and which
        self._at: dict[ast.Call, int] = {}

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Statements, in order."""
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._forget([node.name])
            self.names[node.name] = Function(node)
        elif isinstance(node, ast.ClassDef):
            self._forget([node.name])
        elif isinstance(node, ast.Assign):
            self._expression(node.value)
            for target in node.targets:
                self._bind(target, node.value)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._expression(node.value)
                self._bind(node.target, node.value)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            self._loop(node)
        elif isinstance(node, ast.Try | ast.TryStar):
            self._try(node)
        elif isinstance(node, ast.If | ast.With | ast.AsyncWith | ast.Match):
            self._block(node)
        else:
            self._expression(node)
            self._forget(assigned_in(node))

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        changed = set(assigned_in(node))
        if not isinstance(node, ast.While):
            self._expression(node.iter)
        self._forget(changed)  # a second round sees what the first one left
        with_loop = self._entered(repeated=True)
        if isinstance(node, ast.While):
            self._expression(node.test)
        self.body(node.body)
        self._frame = with_loop
        self.body(node.orelse)
        self._forget(changed)

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        self.catches = self.catches or bool(node.handlers)
        outside = self._entered(guarded=bool(node.handlers))
        self.body(node.body)
        self._frame = outside
        for handler in node.handlers:
            self.body(handler.body)
        self.body(node.orelse)
        self.body(node.finalbody)
        self._forget(assigned_in(node))

    def _block(self, node: ast.If | ast.With | ast.AsyncWith | ast.Match) -> None:
        """A block whose parts may not happen: what it binds is not known behind it, unless it is a ``with``."""
        guards = isinstance(node, ast.With | ast.AsyncWith) and any(suppresses(item) for item in node.items)
        self.catches = self.catches or guards
        outside = self._entered(guarded=guards)
        for part in ast.iter_child_nodes(node):
            self._part(part)
        self._frame = outside
        if not isinstance(node, ast.With | ast.AsyncWith) or guards:
            self._forget(assigned_in(node))

    def _part(self, part: ast.AST) -> None:
        if isinstance(part, ast.stmt):
            self._statement(part)
        elif isinstance(part, ast.match_case):
            if part.guard:
                self._expression(part.guard)
            self.body(part.body)
        else:
            self._expression(part)

    def _entered(self, *, guarded: bool = False, repeated: bool = False) -> Setting:
        """Step inside; gives the frame to come back to."""
        outside = self._frame
        self._frame = Setting(outside.site, outside.guarded or guarded, outside.repeated or repeated, outside.depth)
        return outside

    def _expression(self, node: ast.AST) -> None:
        """The calls of an expression, those of its parts first."""
        if isinstance(node, _Comprehension):
            self._comprehension(node)
            return
        if isinstance(node, ast.Lambda):
            outside = self._entered(repeated=True)
            self._expression(node.body)
            self._frame = outside
            return
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr | ast.keyword | ast.withitem | ast.FormattedValue | ast.pattern):
                self._expression(part)
        if isinstance(node, ast.NamedExpr):
            self._bind(node.target, node.value)
        elif isinstance(node, ast.Call):
            self._call(node)

    def _comprehension(self, node: _Comprehension) -> None:
        hidden = {name: self.names.pop(name) for name in set(assigned_in(node)) if name in self.names}
        self._expression(node.generators[0].iter)
        outside = self._entered(repeated=True)
        for number, generator in enumerate(node.generators):
            if number:
                self._expression(generator.iter)
            for condition in generator.ifs:
                self._expression(condition)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self._expression(part)
        self._frame = outside
        self.names.update(hidden)

    def _call(self, node: ast.Call) -> None:
        api = api_of(node.func, self.names)
        if api is not None and len(api.path) == 2:
            self._add(node, ".".join(api.path))
        elif (asked := requested(node)) is not None:
            self._add(node, asked)
        elif isinstance(node.func, ast.Name) and node.func.id == "print" and "print" not in self.names:
            self.prints += 1
            self._print(node)
        elif isinstance(node.func, ast.Name):
            self._own_function(node, self.names.get(node.func.id))

    def _add(self, node: ast.Call, api: str) -> None:
        arguments, computed = arguments_of(node, self.names)
        frame = self._frame
        self._at[node] = len(self.calls)
        self.calls.append(
            CodeCall(
                api,
                arguments,
                computed,
                node.lineno,
                node.col_offset,
                (node.end_lineno or node.lineno, node.end_col_offset or 0),
                frame.site or node.lineno,
                frame.guarded,
                frame.repeated,
            )
        )

    def _print(self, node: ast.Call) -> None:
        """Mark the call whose value, or a part of it, is all that is printed, once and here."""
        if len(node.args) != 1 or node.keywords or self._frame.repeated or isinstance(node.args[0], ast.Starred):
            return
        shown, part = node.args[0], ""
        while isinstance(shown, ast.Subscript):
            if not part and isinstance(shown.slice, ast.Constant) and isinstance(shown.slice.value, str):
                part = shown.slice.value
            shown = shown.value
        place = self._place_of(shown)
        if place is not None and not self.calls[place].repeated:
            self.calls[place] = replace(self.calls[place], printed=True, part=part)

    def _place_of(self, node: ast.expr) -> int | None:
        """Which call's value an expression is."""
        if isinstance(node, ast.Call):
            return self._at.get(node)
        return self._values.get(node.id) if isinstance(node, ast.Name) else None

    def _own_function(self, node: ast.Call, function: Bound | None) -> None:
        """The calls of a function of the agent's own happen here."""
        if not isinstance(function, Function) or isinstance(function.node, ast.Lambda):
            return
        if self._frame.depth >= _NEST or len(self.calls) > _MOST_CALLS:
            return
        outside, kept, values = self._frame, self.names, self._values
        self._frame = Setting(outside.site or node.lineno, outside.guarded, outside.repeated, outside.depth + 1)
        hidden = {argument.arg for argument in ast.walk(function.node.args) if isinstance(argument, ast.arg)}
        self.names = {name: bound for name, bound in kept.items() if name not in hidden}
        self._values = {}
        self.body(function.node.body)
        self._frame, self.names, self._values = outside, kept, values

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        """Bind what is known of a value to its name."""
        parts, values = _members(target), _members(value)
        if parts and len(parts) == len(values):
            for one, other in zip(parts, values, strict=True):
                self._bind(one, other)
            return
        if not isinstance(target, ast.Name):
            self._forget(assigned_in(target))
            return
        bound = self._known(value)
        place = self._place_of(value)
        self._forget([target.id])
        if bound is not None:
            self.names[target.id] = bound
        if place is not None:
            self._values[target.id] = place

    def _known(self, value: ast.expr) -> Bound | None:
        if (api := api_of(value, self.names)) is not None:
            return api
        if isinstance(value, ast.Name) and isinstance(self.names.get(value.id), Function):
            return self.names[value.id]
        try:
            return Written(literal(value, self.names))
        except Unwritten:
            return None

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self.names.pop(name, None)
            self._values.pop(name, None)


def _members(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple | ast.List) else []
