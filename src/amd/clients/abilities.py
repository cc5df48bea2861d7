"""What an endpoint takes: found out with one small question, and more of them only where the first is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from amd.chat import Message
from amd.clients.completion import Completion, Usage, cost_of
from amd.errors import ClientError
from amd.json_text import JSON, loads

__all__ = ["PROBE", "Abilities", "find_abilities"]

PROBE: tuple[Message, ...] = ({"role": "user", "content": "Is ice cold? Answer with one word."},)
"""The question. It speaks of no JSON, so that JSON in the answer is the endpoint's doing."""

_SCHEMA: Mapping[str, JSON] = {
    "type": "object",
    "properties": {"ice_is_cold": {"type": "boolean"}},
    "required": ["ice_is_cold"],
    "additionalProperties": False,
}
_ROOM = (64, 1024)  # tokens; a model that thinks first needs the second
_NOTHING = Usage(attempts=0)
_REFUSES_A_PARAMETER = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an endpoint takes, and what asking cost.

    ``json_schema``: it keeps to the schema of a ``response_format``. ``limit``: how it calls the most tokens of an
    answer. ``temperature``: it lets it be chosen; where it does not, answers differ from one request to the next.

    >>> Abilities(json_schema=False, limit="max_completion_tokens", temperature=False, usage=Usage()).options(50, None)
    {'max_completion_tokens': 50}
    """

    json_schema: bool
    limit: Literal["max_tokens", "max_completion_tokens"]
    temperature: bool
    usage: Usage

    def options(self, max_tokens: int, schema: Mapping[str, JSON] | None, temperature: float = 0.0) -> dict[str, JSON]:
        """The members of a request that ask for at most so many tokens, at this temperature, and by the schema."""
        options: dict[str, JSON] = {self.limit: max_tokens}
        if self.temperature:
            options["temperature"] = temperature
        if self.json_schema and schema is not None:
            named: JSON = {"name": "reply", "schema": schema, "strict": True}
            options["response_format"] = {"type": "json_schema", "json_schema": named}
        return options


_LIMITS: tuple[Literal["max_tokens", "max_completion_tokens"], ...] = ("max_tokens", "max_completion_tokens")
# The fewest concessions first, and of equally many the one that costs an answer the least.
_CANDIDATES = sorted(
    (
        Abilities(schema, limit, warm, _NOTHING)
        for limit, warm, schema in product(_LIMITS, (True, False), (True, False))
    ),
    key=lambda able: (not able.json_schema) + (not able.temperature) + (able.limit != "max_tokens"),
)


def find_abilities(ask: Callable[[Mapping[str, JSON]], Completion], temperature: float = 0.0) -> Abilities:
    """What the endpoint behind ``ask`` takes.

    A refusal (400 or 422) is read for the names of the parameters in it; where it has none, they are left out one after
    the other. An endpoint that takes a schema and answers something else does not have it.

    Args:
        ask: makes one request with these members beside model and messages.
        temperature: the one that is wanted.

    Raises:
        ClientError: the endpoint refuses every way, or fails.
    """
    spent, refused, refusal = _NOTHING, set[str](), None
    for able in _CANDIDATES:
        if refused & _asked_by(able):
            continue
        try:
            answer = ask(able.options(_ROOM[0], _SCHEMA, temperature))
            spent += answer.usage
            if able.json_schema and answer.finish_reason == "length" and not answer.text:
                answer = ask(able.options(_ROOM[1], _SCHEMA, temperature))
                spent += answer.usage
        except ClientError as error:
            if error.status not in _REFUSES_A_PARAMETER:
                raise
            refusal, said = error, str(error.fields["said"])
            spent += cost_of(error)
            asked = _asked_by(able)
            named = {name for name in asked if name in said}
            # Some servers repeat the whole request in a refusal; that blames nothing.
            refused |= named if len(named) < len(asked) or len(asked) == 1 else set()
            continue
        return replace(able, json_schema=able.json_schema and _is_of_the_schema(answer), usage=spent)
    assert refusal is not None
    raise refusal


def _asked_by(able: Abilities) -> set[str]:
    """The names of the parameters that a request makes use of and could do without."""
    used = {able.limit: True, "temperature": able.temperature, "response_format": able.json_schema}
    return {name for name, is_used in used.items() if is_used}


def _is_of_the_schema(answer: Completion) -> bool:
    """Whether the answer is JSON of the schema, or was on the way to it when it was cut off."""
    if answer.finish_reason == "length":
        return answer.text.lstrip().removeprefix("```json").lstrip().startswith("{")  # some fence what they bind
    try:
        value = loads(answer.text)
    except ValueError:
        return False
    return isinstance(value, Mapping) and list(value) == ["ice_is_cold"] and isinstance(value["ice_is_cold"], bool)
