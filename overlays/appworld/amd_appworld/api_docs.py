"""AppWorld's own documentation of its APIs: as tools with schemas, and as the way back from a request to its API.

The documents are read where they lie (``data/api_docs/standard``, or the environment server's ``/api_docs``); nothing
of them is kept in this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from amd.errors import ConfigError
from amd.traces import ToolSpec

__all__ = ["ApiDocs"]

_NEAREST: Final = 3
_TYPES: Final = {
    "string": "string",
    "str": "string",
    "integer": "integer",
    "int": "integer",
    "number": "number",
    "float": "number",
    "boolean": "boolean",
    "bool": "boolean",
    "list": "array",
    "array": "array",
    "dict": "object",
    "object": "object",
}
_LIST = re.compile(r"(?:list|array)\[(?P<items>.+)\]")
_CHOICES = re.compile(r"""value (?:in|must be one of)\s*[:\[(]?\s*(?P<choices>(?:['"][^'"]*['"],?\s*)+)""")
_CHOICE = re.compile(r"""['"]([^'"]*)['"]""")
_PART = re.compile(r"\\\{[^/{}]*\\\}")
_QUERY = re.compile(r"[?#].*", re.DOTALL)


class _Parameter(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    type: str = ""
    required: bool = False
    description: str | None = ""
    constraints: tuple[str, ...] = ()


class _Doc(BaseModel):
    model_config = ConfigDict(extra="ignore")

    path: str
    method: str
    description: str | None = ""
    parameters: tuple[_Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class _Route:
    """One API's method and path. ``variables`` counts what of the path is filled in: the fewest win."""

    method: str
    pattern: re.Pattern[str]
    variables: int
    api: str


@dataclass(frozen=True, slots=True)
class ApiDocs:
    """The APIs of a world. ``tools`` are named ``app.api`` and sorted; ``apps`` are the names of all apps.

    >>> docs = ApiDocs.of({"music": {"play": {"path": "/songs/{song_id}/play", "method": "POST", "parameters": [
    ...     {"name": "song_id", "type": "integer", "required": True, "description": "Which."}]}}})
    >>> docs.tools[0].name, docs.tools[0].parameters["required"]
    ('music.play', ['song_id'])
    >>> docs.find("post", "/music/songs/7/play"), docs.find("get", "/music/songs")
    ('music.play', None)
    >>> docs.nearest("music", "play_song"), docs.nearest("musik", "play")
    (('music.play',), ('music.play',))
    """

    tools: tuple[ToolSpec, ...] = ()
    apps: tuple[str, ...] = ()
    _routes: tuple[_Route, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, documents: Mapping[str, Any]) -> Self:
        """The APIs that documents ``{app: {api: document}}`` in AppWorld's standard format tell of.

        Raises:
            ConfigError: A document is of another shape.
        """
        tools: list[ToolSpec] = []
        routes: list[_Route] = []
        for app, apis in documents.items():
            for api, document in apis.items() if isinstance(apis, Mapping) else [("", apis)]:
                name = f"{app}.{api}"
                doc = _read(name, document)
                tools.append(ToolSpec(name, (doc.description or "").strip(), _schema(doc.parameters)))
                routes.append(_route(app, name, doc))
        tools.sort(key=lambda tool: tool.name)
        routes.sort(key=lambda route: route.variables)
        return cls(tuple(tools), tuple(sorted(documents)), tuple(routes))

    def __contains__(self, api: object) -> bool:
        """Whether ``app.api`` is one of the world's."""
        return any(tool.name == api for tool in self.tools)

    def find(self, method: str, url: str) -> str | None:
        """The API that a request went to, by its method (any case) and its path."""
        path = _QUERY.sub("", url).rstrip("/")
        method = method.lower()
        return next(
            (route.api for route in self._routes if route.method == method and route.pattern.fullmatch(path)), None
        )

    def nearest(self, app: str, api: str) -> tuple[str, ...]:
        """The names nearest to one that is not there, best first, at most three; of that app where there is one.

        For an app that is not there they are of the app with the nearest name; with none near, there are no names.
        """
        own = app if app in self.apps else next(iter(get_close_matches(app, self.apps, n=1)), None)
        if own is None:
            return ()
        names = [tool.name.partition(".")[2] for tool in self.tools if tool.name.startswith(f"{own}.")]
        return tuple(f"{own}.{name}" for name in _nearest_of(api, names))


def _read(name: str, document: object) -> _Doc:
    try:
        return _Doc.model_validate(document)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise ConfigError(
            f"the document of the API {name!r}: {'.'.join(map(str, fault['loc'])) or 'the whole'}: {fault['msg']}",
            next_step="give AppWorld's documents of the standard format, as {app: {api: document}}",
            api=name,
        ) from error


def _route(app: str, name: str, doc: _Doc) -> _Route:
    """The path stands in the documents with the app's own name before it, or without."""
    path = doc.path.rstrip("/")
    if path != f"/{app}" and not path.startswith(f"/{app}/"):
        path = f"/{app}/{path.lstrip('/')}".rstrip("/")
    pattern, variables = _PART.subn("[^/]+", re.escape(path))
    return _Route(doc.method.lower(), re.compile(pattern), variables, name)


def _schema(parameters: tuple[_Parameter, ...]) -> dict[str, Any]:
    """The JSON schema of an API's arguments."""
    return {
        "type": "object",
        "properties": {parameter.name: _property(parameter) for parameter in parameters},
        "required": [parameter.name for parameter in parameters if parameter.required],
    }


def _property(parameter: _Parameter) -> dict[str, Any]:
    schema = _type(parameter.type.strip().lower())
    limits = "; ".join(limit.strip() for limit in parameter.constraints)
    said = " ".join(part for part in ((parameter.description or "").strip(), f"({limits})" if limits else "") if part)
    if said:
        schema["description"] = said
    choices = [choice for limit in parameter.constraints for choice in _choices(limit)]
    if choices:
        schema["enum"] = choices
    return schema


def _type(name: str) -> dict[str, Any]:
    """A type as JSON schema says it; any value where the documents' word for it is not known."""
    if match := _LIST.fullmatch(name):
        return {"type": "array", "items": _type(match["items"].strip())}
    return {"type": _TYPES[name]} if name in _TYPES else {}


def _choices(limit: str) -> list[str]:
    match = _CHOICES.fullmatch(limit.strip().rstrip("])."))
    return _CHOICE.findall(match["choices"]) if match else []


def _nearest_of(api: str, names: list[str]) -> Iterator[str]:
    """By spelling, then by the most words in common."""
    words = set(api.lower().split("_"))
    close = get_close_matches(api.lower(), names, n=_NEAREST)
    shared = {name: len(words & set(name.split("_"))) for name in names if name not in close}
    others = sorted((name for name, count in shared.items() if count), key=lambda name: (-shared[name], len(name)))
    yield from [*close, *others][:_NEAREST]
