"""A chat model behind any OpenAI-compatible endpoint: one request at a time, from as many threads as there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from types import TracebackType
from typing import Any, Self

from amd.chat import Message, estimated_tokens
from amd.clients.abilities import PROBE, Abilities, find_abilities
from amd.clients.completion import Completion, cost_of, read_completion
from amd.clients.structured import with_schema
from amd.errors import ClientError, ConfigError
from amd.json_text import JSON, dumps, replace_surrogates
from amd.service import Service

__all__ = ["ChatModel"]

# What OpenAI answers, with the status 400, where a model has thought until there was no room for a word.
_NO_ROOM = "output limit was reached"


class ChatModel:
    """Asks ``model`` at ``base_url``; thread-safe, and a context manager.

    What the endpoint takes is found out with one small question (:meth:`probe`). Then each request is made as that
    endpoint likes it: the temperature where it can be had, a schema as ``response_format`` or else in words. Timeouts,
    408, 409, 429 and 5xx are tried again, after as many seconds as ``Retry-After`` says, or else after ``first_wait``
    seconds, doubled each time. Any other refusal is final.

    Args:
        model: the name that the endpoint knows the model by.
        base_url: up to and with ``/v1``; OpenAI's own if left out.
        api_key: may be left out for an endpoint of one's own.
        attempts: how often one request is made before it counts as failed.
        first_wait: seconds.
        timeout: seconds to connect, and again to wait for the next byte.
        connections: requests at the same time; more of them wait for their turn.
        temperature: of the answers; without one 0, where the endpoint lets it be chosen.
        seed: sent with each request, if any.

    Raises:
        ConfigError: neither an endpoint nor a key, an address that is none, or a key that cannot be sent.

    >>> from amd.testing import LoopbackServer
    >>> with LoopbackServer(chat=["Hello."]) as server, ChatModel("stub", base_url=server.url) as model:
    ...     completion = model.complete([{"role": "user", "content": "Hi."}], max_tokens=10)
    ...     completion.text, completion.usage.completion_tokens, model.probe().json_schema
    ('Hello.', 1, True)
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        attempts: int = 5,
        first_wait: float = 0.5,
        timeout: float = 120.0,
        connections: int = 16,
        temperature: float | None = None,
        seed: int | None = None,
    ) -> None:
        self.model = model
        self._service = Service(
            base_url, api_key, attempts=attempts, first_wait=first_wait, timeout=timeout, connections=connections
        )
        self._temperature = temperature
        self._seed = seed
        self._probing = Lock()
        self._abilities: Abilities | None = None
        self._judging = Lock()
        self._compared = False
        self._tools_ignored: bool | None = None
        self._notices: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the waits between attempts with a ``ClientError``; an answer that is under way may take its time."""
        self._service.close()

    @property
    def notices(self) -> tuple[str, ...]:
        """What a report should say of this endpoint, each sentence once, in the order in which it turned out."""
        return tuple(self._notices)

    @property
    def tools_ignored(self) -> bool | None:
        """Whether the endpoint took ``tools`` and left them out; ``None`` as long as nothing tells.

        They are ignored if the answer to ``tool_choice="required"`` is no call, or if the prompt is no longer with them
        than without: after the first answer without a call, one small request without them compares. Any call tells the
        contrary.
        """
        return self._tools_ignored

    def probe(self) -> Abilities:
        """What the endpoint takes: one small request, more only where the first is refused, and none the next time.

        Raises:
            ClientError: it cannot be reached, or it refuses every way to ask; the next call asks again.
            ConfigError: it refuses the temperature that was asked for.
        """
        with self._probing:
            if self._abilities is None:
                found = find_abilities(lambda options: self._ask(PROBE, options), self._temperature or 0.0)
                if self._temperature is not None and not found.temperature:
                    raise ConfigError(
                        f"{self._service.url} refuses the temperature {self._temperature}",
                        next_step="leave the temperature out: the endpoint has its own",
                        temperature=self._temperature,
                    )
                self._abilities = found
                if not found.json_schema:
                    self._notices.append(f"{self._service.url} keeps to no schema: it stands in the prompt instead")
                if not found.temperature:
                    self._notices.append(f"{self._service.url} refuses temperature 0: its answers may differ each time")
            return self._abilities

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        schema: Mapping[str, JSON] | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        tool_choice: str | Mapping[str, Any] | None = None,
    ) -> Completion:
        """The model's answer.

        Args:
            messages: OpenAI's; lone surrogates in them are replaced.
            max_tokens: of the answer, thoughts included.
            schema: what the answer must be of. Where the endpoint keeps to no schema, the last message asks for it in
                words, and nothing is promised: read the text with ``parse_reply``.
            tools: OpenAI's function definitions.
            tool_choice: OpenAI's; ``required`` asks for a call.

        Raises:
            ClientError: this request is refused, or all are, or the endpoint is overloaded or unreachable, or what it
                answers is no completion: ``status`` says which; ``fields`` has ``attempts`` and ``seconds``.
        """
        able = self.probe()
        if schema is not None and not able.json_schema:
            messages = with_schema(messages, schema)
        options = able.options(max_tokens, schema, self._temperature or 0.0)
        if self._seed is not None:
            options["seed"] = self._seed
        if not tools:
            return self._ask(messages, options)
        options["tools"] = list(tools)
        if tool_choice is not None:
            options["tool_choice"] = tool_choice
        completion = self._ask(messages, options)
        return self._judged(completion, messages, options)

    def _ask(self, messages: Sequence[Message], options: Mapping[str, JSON]) -> Completion:
        clean, _ = replace_surrogates([dict(message) for message in messages])
        body = {"model": self.model, "messages": clean, **options}
        prompt: JSON = [clean, options["tools"]] if "tools" in options else clean
        try:
            answer = self._service.post("/chat/completions", body)
        except ClientError as refusal:
            if refusal.status == 400 and _NO_ROOM in str(refusal.fields["said"]):
                asked = estimated_tokens(dumps(prompt).decode())
                return Completion("", "length", replace(cost_of(refusal), prompt_tokens=asked, estimated=True))
            raise
        try:
            return read_completion(answer.text, prompt, seconds=answer.seconds, attempts=answer.attempts)
        except ValueError as error:
            raise self._service.error(
                f"answered a chat request with no completion: {error}",
                next_step="give the base URL of a chat endpoint, up to and with /v1",
                status=200,
                attempts=answer.attempts,
                seconds=answer.seconds,
            ) from error

    def _judged(self, completion: Completion, messages: Sequence[Message], options: Mapping[str, JSON]) -> Completion:
        """The same completion, after a look at what became of the tools; comparing them costs one request, once."""
        choice = options.get("tool_choice", "auto")
        if completion.tool_calls or self._tools_ignored or choice == "none":
            self._tools_ignored = False if completion.tool_calls else self._tools_ignored
            return completion
        with self._judging:
            if choice != "auto" and completion.finish_reason != "length":
                self._ignored("a call was required, and the answer has none")
            elif self._tools_ignored is None and not self._compared:
                self._compared = True
                return self._compare(completion, messages)
        return completion

    def _compare(self, completion: Completion, messages: Sequence[Message]) -> Completion:
        """Ask the same without tools: a prompt of the same length says that nobody showed them to the model."""
        try:
            without = self._ask(messages, self.probe().options(1, None))
        except ClientError as error:  # then nothing tells; the completion is there all the same
            return replace(completion, usage=completion.usage + cost_of(error))
        if not (completion.usage.estimated or without.usage.estimated):
            self._tools_ignored = False
            if completion.usage.prompt_tokens <= without.usage.prompt_tokens:
                self._ignored("the prompt has the same length without them")
        return replace(completion, usage=completion.usage + without.usage)

    def _ignored(self, why: str) -> None:
        if not self._tools_ignored:
            self._tools_ignored = True
            self._notices.append(f"{self._service.url} ignores tools ({why}): ask for a call by schema (call_schema)")
