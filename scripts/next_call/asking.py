"""Asks the student, item by item, each request once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from amd.build.report import Progress
from amd.clients import ChatModel, read_call
from amd.errors import ReplyError
from next_call.answers import Answer, Answers
from next_call.arms import PARROT, Shown
from next_call.figures import Call
from next_call.items import Item
from next_call.prompts import MOST_TOKENS, Request, offer, request
from next_call.report import Outcome

__all__ = ["ask_all"]

_BEGUN = re.compile(r'\s*\{\s*"name"\s*:\s*"([^"\\]+)"')


def ask_all(
    student: ChatModel,
    answers: Answers,
    asked: Sequence[tuple[Item, Mapping[str, Shown]]],
    arms: Sequence[str],
    *,
    seed: int,
    progress: Progress,
) -> dict[str, list[Outcome]]:
    """The outcome of each item in each arm: all arms of an item, then the next item.

    Args:
        student: who is asked.
        answers: those that are there already; each new one is added.
        asked: the items, each with what every arm shows for it.
        arms: those that are run. The tools that an item offers follow from all arms, whichever are run.
        seed: of the offered tools.
        progress: told of each request.

    Raises:
        ClientError: a request failed for good; what was answered before is kept.
    """
    outcomes: dict[str, list[Outcome]] = {arm: [] for arm in arms}
    total = len(asked) * len(arms)
    for at, (item, seen) in enumerate(asked):
        tools = offer(item, set(chain.from_iterable(shown.tools for shown in seen.values())), seed)
        for done, arm in enumerate(arms, at * len(arms)):
            progress("asking", done, total)
            shown = seen[arm]
            if arm == PARROT:
                outcomes[arm].append(Outcome(item, _repeated(shown), len(shown.records)))
                continue
            answer = _ask(student, answers, request(item, arm, shown, tools))
            outcomes[arm].append(Outcome(item, _call_in(answer), len(shown.records), answer.prompt_tokens))
    return outcomes


def _ask(student: ChatModel, answers: Answers, what: Request) -> Answer:
    """The kept answer to a request, or the student's, which is kept."""
    sha256 = what.sha256(student.model)
    if kept := answers.get(sha256):
        return kept
    said = student.complete(what.messages, max_tokens=MOST_TOKENS, schema=what.schema)
    answer = Answer(
        request=sha256,
        item=what.item.name,
        arm=what.arm,
        text=said.text,
        finish_reason=said.finish_reason,
        prompt_tokens=said.usage.prompt_tokens,
        completion_tokens=said.usage.completion_tokens,
        seconds=said.usage.seconds,
    )
    answers.add(answer)
    return answer


def _call_in(answer: Answer) -> Call | None:
    """The call that was written; of an answer that was cut off the tool alone, which comes first in the schema."""
    if answer.finish_reason == "length":
        begun = _BEGUN.match(answer.text)
        return (begun[1], None) if begun else None
    try:
        return read_call(answer.text)
    except ReplyError:
        return None


def _repeated(shown: Shown) -> Call | None:
    """The first call of the best record, as it stands there."""
    calls = shown.records[0].body["calls"] if shown.records else None
    first = calls[0] if isinstance(calls, list) else None
    if not isinstance(first, Mapping):
        return None
    name, arguments = first["name"], first["arguments"]
    assert isinstance(name, str)
    assert isinstance(arguments, Mapping)
    return name, arguments
