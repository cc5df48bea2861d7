"""Which API of AppWorld failed in a cell, as far as that is certain: from the request, the message, the code.

Served to both sides: the student asks it what to look up, the reader which call an error belongs to.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from amd_appworld.api_docs import ApiDocs
from amd_appworld.code import Cell, CodeCall, Names, read_cell
from amd_appworld.failures import HINTED, STATUS, Failure, FailureKind, Via
from amd_appworld.names import parsed
from amd_appworld.tracebacks import FAILED, Frame, Traceback, read_traceback

__all__ = ["HINTED", "Failure", "FailureKind", "Via", "failing_api"]

_NO_API: Final = re.compile(r"No API named '([^'\n]{1,200})' found in the (\w{1,100}) app\.")
_NO_APP: Final = re.compile(r"No app named '([^'\n]{1,200})' found\.")
_APP: Final = re.compile(r"access this (\w{1,100}) API endpoint")
_LIMIT: Final = "Number of requests exceeded the limit"
_TIMEOUT: Final = "Execution timed out after"
_SYNTAX: Final = "Syntax error in line"
_UNSAFE: Final = "Usage of the following"
_LOOKED_AT: Final = 50_000
"""So many characters of an answer's end are looked at: an exception stands there."""


def failing_api(
    code: str,
    output: str,
    *,
    last_request: Mapping[str, object] | None = None,
    docs: ApiDocs | None = None,
    before: Names | None = None,
) -> Failure | None:
    r"""What failed in a cell, or ``None`` if nothing shows that anything did.

    Args:
        code: the cell.
        output: what the environment answered.
        last_request: the last request that this cell sent, with ``method`` and ``url``; ``None`` if it sent none, or
            if nobody knows. It counts only with ``docs``.
        docs: the world's APIs.
        before: the names that earlier cells left.

    >>> said = 'Execution failed. Traceback:\n  File "<python-input>", line 1, in <module>\n    apis.music.play()\n'
    >>> failing_api("apis.music.play()", said + 'Exception: Response status code is 422:\n{"message": "song_id"}').api
    'music.play'
    """
    cell = read_cell(code, before)
    asked = _asked(last_request, docs)
    if not output.startswith(FAILED):
        return _caught(code, cell, output, asked)
    body = output[len(FAILED) :].lstrip("\n")
    if body.startswith(_SYNTAX):
        return Failure("syntax", message=body)
    if body.startswith(_UNSAFE):
        return Failure("unsafe", message=body)
    return _Raised(code, cell, read_traceback(body[-_LOOKED_AT:]), asked).failure()


def _asked(last_request: Mapping[str, object] | None, docs: ApiDocs | None) -> str | None:
    """The API of the last request."""
    if last_request is None or docs is None:
        return None
    method, url = last_request.get("method"), last_request.get("url")
    return docs.find(method, url) if isinstance(method, str) and isinstance(url, str) else None


def _caught(code: str, cell: Cell, output: str, asked: str | None) -> Failure | None:
    """An error that the code caught and printed: only where it can catch any."""
    end = output[-_LOOKED_AT:]
    status = STATUS.search(end)
    if not _may_catch(code, cell):
        return None
    if status is None:
        return _unknown(end, cell)
    message = end[status.start() :].rstrip("\n")
    app = _app_in(message)
    guarded = {call.api for call in cell.calls if call.guarded and _is_of(call.api, app)}
    found = Failure("api_status_caught", None, app, int(status[1]), "message" if app else "", message)
    if len(guarded) == 1:
        return _naming(found, guarded.pop(), "code")
    if asked and _is_of(asked, app) and (asked in guarded or not guarded):
        return _naming(found, asked, "request")
    return found


class _Raised:
    """A failure that ended its cell."""

    def __init__(self, code: str, cell: Cell, chain: Sequence[Traceback], asked: str | None) -> None:
        self._lines = code.split("\n")
        self._cell = cell
        self._chain = chain
        self._asked = asked

    def failure(self) -> Failure:
        """The failure of the exception that was raised last, or of the API's error below it."""
        last = self._chain[-1]
        site = last.site
        if _TIMEOUT in last.message:
            return Failure("timeout", message=last.message, site=site)
        if _LIMIT in last.message:
            return Failure("limit", message=last.message, site=site)
        for one in reversed(self._chain):
            found = self._of_api(one)
            if found is not None:
                return replace(found, site=site)
        if last.message.startswith("TypeError: "):
            api = self._called_at(last.innermost)
            if api is not None:
                return _naming(Failure("arguments", message=last.message, site=site), api, "traceback")
        return Failure("python", message=last.message, site=site)

    def _of_api(self, one: Traceback) -> Failure | None:
        if status := STATUS.search(one.message):
            return self._status(one, int(status[1]))
        return _unknown(one.message, self._cell)

    def _status(self, one: Traceback, status: int) -> Failure:
        """A request that was answered with an error.

        The line of the code counts more than the last request: an error that was kept and raised again is older.
        """
        app = _app_in(one.message)
        found = Failure("api_status", None, app, status, "message" if app else "", one.message)
        api = self._called_at(one.innermost)
        if self._asked and _is_of(self._asked, app) and api in (None, self._asked):
            return _naming(found, self._asked, "request")
        return _naming(found, api, "traceback") if api and _is_of(api, app) else found

    def _called_at(self, frame: Frame | None) -> str | None:
        """The API whose call is what a frame shows, if it shows exactly that."""
        if frame is None:
            return None
        return self._in_cell(frame) or _in_text(frame, self._cell.names)

    def _in_cell(self, frame: Frame) -> str | None:
        """The call of this cell that stands where the carets are; without any, the one that is the whole line."""
        if not 0 < frame.line <= len(self._lines):
            return self._in_earlier(frame)
        line = self._lines[frame.line - 1]
        if line.strip() != frame.text.strip():
            return self._in_earlier(frame)
        indent = len(line) - len(line.lstrip())
        start, end = frame.columns or (0, len(line.strip()))
        columns = tuple(len(line[: indent + at].encode("utf-8", "replace")) for at in (start, end))
        found = {call.api for call in self._cell.calls if _is_at(call, frame.line, *columns)}
        return found.pop() if len(found) == 1 else None

    def _in_earlier(self, frame: Frame) -> str | None:
        """The call of a function of an earlier cell, whose text is not at hand: by its line and its width."""
        start, end = frame.columns or (0, len(frame.text))
        found = {
            call.api
            for call in self._cell.calls
            if not frame.module and call.end == (frame.line, call.column + end - start) and call.line == frame.line
        }
        return found.pop() if len(found) == 1 else None


def _is_at(call: CodeCall, line: int, start: int, end: int) -> bool:
    return (call.line, call.column) == (line, start) and (call.end[0] > line or call.end[1] == end)


def _in_text(frame: Frame, names: Names) -> str | None:
    """The API that the marked text of a frame calls: of a cell that is not at hand, or that runs over several lines."""
    start, end = frame.columns or (0, len(frame.text))
    marked = frame.text[start:end].strip()
    tree = parsed(marked) or parsed(marked.rstrip(", ") + ")")
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        return None
    call = tree.body[0].value
    if not isinstance(call, ast.Call):
        return None
    found = read_cell(ast.unparse(call.func) + "()", names).calls if not call.args else read_cell(marked, names).calls
    direct = [one.api for one in found]
    return direct[-1] if direct else None


def _unknown(message: str, cell: Cell) -> Failure | None:
    """A name that the environment does not know. What the code calls of an unknown app is known if it is one API."""
    if match := _NO_API.search(message):
        return Failure("unknown_api", f"{match[2]}.{match[1]}", match[2], via="message", message=match[0])
    if match := _NO_APP.search(message):
        called = {call.api for call in cell.calls if _is_of(call.api, match[1])}
        found = Failure("unknown_app", None, match[1], via="message", message=match[0])
        return _naming(found, called.pop(), "code") if len(called) == 1 else found
    return None


def _naming(found: Failure, api: str, via: Via) -> Failure:
    return replace(found, api=api, app=api.partition(".")[0], via=via)


def _app_in(message: str) -> str | None:
    match = _APP.search(message)
    return match[1] if match else None


def _is_of(api: str, app: str | None) -> bool:
    """Whether an API can be the one that a message speaks of."""
    return app is None or api.startswith(f"{app}.")


def _may_catch(code: str, cell: Cell) -> bool:
    """Whether the code can have caught an error: itself, or in a function that no cell at hand defines."""
    if cell.catches or not cell.parsed:
        return True
    tree = parsed(code)
    known = set(dir(builtins)) | set(cell.names.bound)
    return tree is not None and any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id not in known
        for part in ast.walk(tree)
    )
