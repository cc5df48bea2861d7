"""The door of ``logs/api_calls.jsonl``: what the code of a run sent, in order; neither answers nor cells are in it.

Which request belongs to which call of the code is not told. But where all requests to an API had one value for an
argument, any call of it had that value; and what no call of the code writes out, those that compute it have sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from amd_appworld.api_docs import ApiDocs
from amd_appworld.cells import CodeCall
from amd_appworld.files import bytes_of

__all__ = ["Request", "Requests", "SentRequests", "read_log", "written_values"]

_MOST_BYTES: Final = 50_000_000
"""A larger file is not read: a run sends a few thousand requests."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, and what it was given."""

    method: str
    url: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Requests:
    """What a run sent: for each API its arguments, each with the different values that were sent for it."""

    sent: Mapping[str, Mapping[str, tuple[Any, ...]]] = field(default_factory=dict)

    def value_of(self, api: str, argument: str, written: Iterable[Any]) -> tuple[Any, ...]:
        """The value that a call computes, in a tuple; empty where it is not certain.

        ``written`` are the values that calls of this API write out for the argument, anywhere in the run.

        >>> Requests({"music.login": {"password": ("wrong", "right")}}).value_of("music.login", "password", ["wrong"])
        ('right',)
        """
        spelled = {_spelled(value) for value in written}
        sent = self.sent.get(api, {}).get(argument, ())
        left = [value for value in sent if _spelled(value) not in spelled] or (sent if len(sent) == 1 else ())
        return (left[0],) if len(left) == 1 else ()

    def was_sent(self, api: str) -> bool:
        """Whether anything at all went to an API."""
        return api in self.sent


@dataclass(frozen=True, slots=True)
class SentRequests:
    """The requests of a run, in order; ``whole`` is false where a line could not be read, or none could."""

    requests: tuple[Request, ...] = ()
    whole: bool = False

    @property
    def held(self) -> tuple[Mapping[str, Any], ...]:
        """What each request held, by its keys: for masking, which is glad of every line that can be read."""
        return tuple(request.values for request in self.requests if request.values)

    def by_api(self, docs: ApiDocs | None) -> Requests | None:
        """What was sent to each API; ``None`` where a hole leaves that open, or no documents say which API it was."""
        if docs is None or not self.whole:
            return None
        sent: dict[str, dict[str, dict[str, Any]]] = {}
        known: dict[tuple[str, str], str | None] = {}
        for request in self.requests:
            place = request.method, request.url
            if place not in known:
                known[place] = docs.find(*place)
            api = known[place]
            if api is not None:
                arguments = sent.setdefault(api, {})
                for name, value in request.values.items():
                    arguments.setdefault(name, {})[_spelled(value)] = value
        return Requests(
            {api: {name: tuple(values.values()) for name, values in named.items()} for api, named in sent.items()}
        )


def read_log(path: Path) -> SentRequests:
    """The log of a run's requests; an empty one that is not whole if it is not there, or too large."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return SentRequests()
        lines = bytes_of(path).split(b"\n")
    except OSError:
        return SentRequests()
    read = [_read(line) for line in lines if line.strip()]
    return SentRequests(tuple(filter(None, read)), whole=None not in read)


def _read(line: bytes) -> Request | None:
    try:
        value = json.loads(line.decode("utf-8", "replace"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    method, url, values = value.get("method"), value.get("url"), value.get("data") or {}
    if not (isinstance(method, str) and isinstance(url, str) and isinstance(values, dict)):
        return None
    return Request(method, url, values)


def _refuse(constant: str) -> float:
    raise ValueError(f"no JSON: {constant}")


def _spelled(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def written_values(calls: Iterable[CodeCall]) -> dict[tuple[str, str], list[Any]]:
    """What the code writes out, by API and argument."""
    found: dict[tuple[str, str], list[Any]] = {}
    for call in calls:
        for name, value in call.written.items():
            found.setdefault((call.api, name), []).append(value)
    return found
