"""A task's own solution (``ground_truth/solution.py``) as the cells that an agent would run one by one."""

from __future__ import annotations

import ast
import warnings
from textwrap import dedent

from amd.errors import TrajectoryError

__all__ = ["cells_of"]

_FUNCTION = "solution"


def cells_of(text: str, where: str) -> tuple[str, ...]:
    r"""The body of ``def solution(apis, requester)``, divided at the blank lines between its statements.

    A blank line inside a statement divides nothing. Comments go with what follows them.

    Raises:
        TrajectoryError: there is no such function, or it does nothing.

    >>> cells_of("def solution(apis, requester):\n    n = 1\n\n    # tell\n    print(n)\n", "here")
    ('n = 1', '# tell\nprint(n)')
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
    lines = text.split("\n")
    end = function.lineno  # the line behind which the body begins
    cells: list[list[str]] = []
    for node in function.body:
        own = lines[end : node.end_lineno]
        begins = next((at for at, line in enumerate(own) if line.strip()), 0)
        if begins or not cells:
            cells.append([])
        cells[-1] += own[begins:]
        end = node.end_lineno or end
    code = tuple(dedent("\n".join(cell)).strip("\n") for cell in cells)
    if not any("complete_task" in cell for cell in code):
        raise _fault(where, "never completes its task")
    return code


def _fault(where: str, what: str) -> TrajectoryError:
    return TrajectoryError(f"{where} {what}", next_step="get the data again, or leave this task out")
