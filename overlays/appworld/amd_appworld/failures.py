"""What a failure in a cell is: its kind, the API that failed, and what both sides know it by."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

__all__ = ["HINTED", "STATUS", "Failure", "FailureKind", "Via"]

FailureKind: TypeAlias = Literal[
    "api_status",
    "api_status_caught",
    "unknown_api",
    "unknown_app",
    "arguments",
    "python",
    "syntax",
    "unsafe",
    "timeout",
    "limit",
]
Via: TypeAlias = Literal["request", "message", "traceback", "code", ""]

HINTED: Final = frozenset({"api_status", "api_status_caught", "unknown_api", "unknown_app", "arguments"})
"""The failures that a memory of calls can say something about."""

STATUS: Final = re.compile(r"Response status code is ([0-9]{3}):")
"""How the environment tells that a request was answered with an error."""

_REASON: Final = re.compile(r"\. Reason:\s{0,4}")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a cell failed. ``api`` is ``app.api`` and ``app`` its app, ``None`` where they are not certain.

    ``status`` is the HTTP status of a failed request, ``via`` what told the API, ``message`` the exception as the
    agent read it, ``site`` the line of the cell that failed.
    """

    kind: FailureKind
    api: str | None = None
    app: str | None = None
    status: int | None = None
    via: Via = ""
    message: str = ""
    site: int | None = None

    @property
    def error(self) -> str:
        r"""What went wrong in one line, in the API's own words where it had any: both sides tell errors apart by it.

        >>> said = 'Exception: Response status code is 422:\n{"message":"Validation error. Reason: \\nloud: required"}'
        >>> Failure("api_status", message=said).error
        'Validation error: loud: required'
        """
        status = STATUS.search(self.message)
        said = self.message[status.end() :].strip() if status else self.message
        message = _message(said)
        lines = (line.strip() for line in _REASON.sub(": ", message).split("\n"))
        return "; ".join(filter(None, lines))

    @property
    def hinted(self) -> bool:
        """Whether an example of a call could help: not for plain Python, nor where no API or app is known.

        >>> Failure("api_status", "music.play", "music", 401).hinted, Failure("python").hinted
        (True, False)
        """
        return self.kind in HINTED and self.api is not None


def _message(said: str) -> str:
    """The message of an API's answer; what else it says, as it is."""
    try:
        value, _ = json.JSONDecoder().raw_decode(said)
    except (ValueError, RecursionError):
        return said
    message = value.get("message") if isinstance(value, dict) else None
    return message if isinstance(message, str) else said
