"""A task's own solution (``ground_truth/solution.py``) as the cells that an agent would run one by one."""

from __future__ import annotations

import ast
import warnings

from amd.errors import TrajectoryError

__all__ = ["cells_of"]

_FUNCTION = "solution"


def cells_of(text: str, where: str) -> tuple[str, ...]:
    r"""The body of ``def solution(apis, requester)``, divided at the blank lines between its statements.

    A blank line inside a statement divides nothing. Comments go with what follows them. What it returns at its end is
    the task's answer; one that does not complete its task does so in a cell of its own.

    Raises:
        TrajectoryError: it is no Python, or there is no such function.

    >>> cells_of("def solution(apis, requester):\n    n = 1\n\n    # tell\n    print(n)\n    return n\n", "here")
    ('n = 1', '# tell\nprint(n)\napis.supervisor.complete_task(answer=n)')
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # odd escapes are the solution's own affair
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError) as error:
            raise _fault(where, f"is no Python: {error}") from error
    function = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == _FUNCTION), None)
    if function is None:
        raise _fault(where, f"has no function {_FUNCTION!r}")
    lines = _outdented(text, function)
    end = function.lineno  # the line behind which the body begins
    cells: list[list[str]] = []
    for node in function.body:
        own = lines[end : node.end_lineno]
        begins = next((at for at, line in enumerate(own) if line.strip()), 0)
        if begins or not cells:
            cells.append([])
        cells[-1] += own[begins:]
        end = node.end_lineno or end
    code = ["\n".join(cell).strip("\n") for cell in cells]
    last = function.body[-1]
    if isinstance(last, ast.Return):
        given = f"answer={ast.unparse(last.value)}" if last.value else ""
        code[-1] = f"{code[-1].rpartition('return')[0]}apis.supervisor.complete_task({given})"
    elif not any("complete_task" in cell for cell in code):
        code.append("apis.supervisor.complete_task()")
    return tuple(code)


def _outdented(text: str, function: ast.FunctionDef) -> list[str]:
    """The lines of a text, those of the function's body without its indentation; strings keep theirs."""
    inside = {
        number
        for node in ast.walk(function)
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for number in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }
    indent = " " * function.body[0].col_offset
    return [line if number in inside else line.removeprefix(indent) for number, line in enumerate(text.split("\n"), 1)]


def _fault(where: str, what: str) -> TrajectoryError:
    return TrajectoryError(f"{where} {what}", next_step="get the data again, or leave this task out")
