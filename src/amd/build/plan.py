"""What a build would ask a model for: calls and tokens by purpose, before anything is sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amd.build.journal import Journal
from amd.build.request import PROMPT_TOKENS, prompts_sha256, request_for
from amd.tier import Assignment, Prompt, Reply

__all__ = ["BuildPlan", "PlanItem", "PlanWriter"]


@dataclass(frozen=True, slots=True)
class PlanItem:
    """What one purpose would ask for. Tokens are estimated as bytes/3; a reply may be asked for again.

    ``calls`` are those to be made; ``known`` were answered in an earlier build that was not published.
    ``completion_tokens`` is the room of all replies, which most do not fill; a reply that is cut gets more.
    """

    purpose: str
    calls: int
    known: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """How many runs were read, admitted and would be written, and what that would ask for."""

    read: int
    admitted: int
    written: int
    items: Sequence[PlanItem]

    @property
    def calls(self) -> int:
        """All calls to be made."""
        return sum(item.calls for item in self.items)

    @property
    def prompt_tokens(self) -> int:
        """The tokens of all prompts."""
        return sum(item.prompt_tokens for item in self.items)

    @property
    def completion_tokens(self) -> int:
        """The room of all replies."""
        return sum(item.completion_tokens for item in self.items)


class PlanWriter:
    """Stands where a model's writer will stand, and counts. Arguments as for ``ModelWriter``.

    >>> from amd.testing import run
    >>> from amd.tiers.workflow import INSIGHT
    >>> writer = PlanWriter("my-model", [INSIGHT])
    >>> writer.write(Assignment(INSIGHT, run(1))) is None, [(item.purpose, item.calls) for item in writer.items()]
    (True, [('insight', 1)])
    """

    def __init__(
        self,
        model: str,
        prompts: Sequence[Prompt[Any]],
        *,
        journal: Journal | None = None,
        prompt_tokens: int = PROMPT_TOKENS,
        retry_fallbacks: bool = False,
    ) -> None:
        self.id = model
        self.prompts = prompts_sha256(prompts, prompt_tokens=prompt_tokens)
        self.calls: Mapping[str, int] = {}
        self.costs: Mapping[str, int | float] = {}
        self._journal = journal
        self._prompt_tokens = prompt_tokens
        self._retry_fallbacks = retry_fallbacks
        self._found: defaultdict[str, _Count] = defaultdict(_Count)

    def write(self, assignment: Assignment[Reply]) -> Reply | None:
        """Count, and leave it to the rules."""
        request = request_for(assignment, self.id, prompt_tokens=self._prompt_tokens)
        entry = self._journal.get(request.key) if self._journal else None
        count = self._found[assignment.prompt.purpose]
        if entry is not None and not (entry.reason is not None and self._retry_fallbacks):
            count.known += 1
        elif request.key not in count.keys:
            count.keys.add(request.key)
            count.prompt_tokens += request.tokens
            count.completion_tokens += assignment.prompt.room
        return None

    def settle(self) -> None:
        """Nothing was kept."""

    def items(self) -> tuple[PlanItem, ...]:
        """What was counted, by purpose."""
        return tuple(
            PlanItem(purpose, len(count.keys), count.known, count.prompt_tokens, count.completion_tokens)
            for purpose, count in sorted(self._found.items())
        )


@dataclass(slots=True)
class _Count:
    keys: set[str] = field(default_factory=set)
    known: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
