"""A writer whose replies are written down beforehand, behind the protocol that a model's writer uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TypeAlias

from amd.clients.replies import fit_reply
from amd.errors import ReplyError
from amd.json_text import JSON, replace_surrogates
from amd.tier import Assignment, Reply
from amd.trajectory import Trajectory

__all__ = ["Script", "ScriptedWriter"]

Script: TypeAlias = "JSON | Callable[[Trajectory], JSON]"
"""A reply as JSON, the same for every run, or a function of the masked run. ``None`` leaves it to the tier's rules."""


class ScriptedWriter:
    """Answers each purpose from ``replies``; a purpose that is not there is left to the tier's rules.

    Lone surrogates in a reply are replaced, as a model's writer must do. A reply that does not fit the assignment's
    shape is not given: the tier's rules write the record, as they do when a model's reply cannot be used. ``calls``
    counts assignments by purpose, ``rejected`` the replies that did not fit.

    >>> from dataclasses import replace
    >>> from amd.testing import run
    >>> from amd.tiers.workflow import INSIGHT, Insight
    >>> writer = ScriptedWriter({"insight": {"text": "Look first."}}, id="model-a")
    >>> [writer.write(Assignment(prompt, run(1))) for prompt in (INSIGHT, replace(INSIGHT, purpose="other"))]
    [Insight(text='Look first.'), None]
    >>> writer.calls.total()
    2
    """

    def __init__(
        self,
        replies: Mapping[str, Script],
        *,
        id: str = "scripted",  # noqa: A002 - the protocol's word
        prompts: str = "0" * 64,
    ) -> None:
        self.id = id
        self.prompts = prompts
        self.costs: Mapping[str, int | float] = {}
        self.calls: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()
        self._replies = replies
        self._lock = Lock()

    def write(self, assignment: Assignment[Reply]) -> Reply | None:
        """The scripted reply in the assignment's shape, or ``None``."""
        with self._lock:
            self.calls[assignment.prompt.purpose] += 1
        script = self._replies.get(assignment.prompt.purpose)
        value = script(assignment.run) if callable(script) else script
        if value is None:
            return None
        try:
            clean, _ = replace_surrogates(value)
            reply = fit_reply(clean, assignment.prompt.reply)
        except ReplyError:
            reply = None
        if reply is None or assignment.fault(reply) is not None:
            with self._lock:
                self.rejected[assignment.prompt.purpose] += 1
            return None
        return reply

    def settle(self) -> None:
        """Nothing was kept."""
