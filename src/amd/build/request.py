"""What a builder model is asked for one assignment: messages, the reply's schema, and the key that it is kept by."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from amd.build.telling import VERSION, Told, tell
from amd.chat import Message, estimated_tokens
from amd.clients.replies import reply_schema
from amd.json_text import JSON, dumps
from amd.tier import Assignment, Prompt

__all__ = ["LARGEST_ROOM", "PROMPT_TOKENS", "Request", "prompts_sha256", "request_for"]

PROMPT_TOKENS = 4_000
"""Tokens of one prompt, estimated as bytes/3: with the largest reply it fits a context of 8,192."""

LARGEST_ROOM = 4_096
"""Tokens that a reply may take at most, once it was cut."""

_BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Request:
    """Messages and schema; ``key`` is the same for the same model, words, schema and run as it is told."""

    messages: tuple[Message, ...]
    schema: dict[str, JSON]
    key: str
    told: Told

    @property
    def tokens(self) -> int:
        """The prompt's tokens, estimated."""
        return sum(estimated_tokens(str(message["content"])) for message in self.messages)


def request_for(assignment: Assignment[Any], model: str, *, prompt_tokens: int = PROMPT_TOKENS) -> Request:
    """The request for an assignment, its prompt within ``prompt_tokens``."""
    prompt = assignment.prompt
    told = tell(assignment.run, prompt_tokens * _BYTES_PER_TOKEN - len(prompt.words.encode()))
    messages = ({"role": "system", "content": prompt.words}, {"role": "user", "content": told.text})
    schema = reply_schema(prompt.reply)
    asked: JSON = [VERSION, model, prompt.purpose, prompt.words, prompt.room, told.text, schema]
    return Request(messages, schema, hashlib.sha256(dumps(asked)).hexdigest(), told)


def prompts_sha256(prompts: Iterable[Prompt[Any]], *, prompt_tokens: int) -> str:
    """The hash that says in a memory how its words were asked for."""
    asked: list[JSON] = [[prompt.purpose, prompt.words, prompt.room, reply_schema(prompt.reply)] for prompt in prompts]
    return hashlib.sha256(dumps([VERSION, prompt_tokens, asked])).hexdigest()
