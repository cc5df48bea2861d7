"""What the calls of a run bear out, as sentences: the rules' own words, shared by the tiers that write prose.

Each is a fact of the calls, or empty: nothing is filled in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

from amd.evidence import Evidence
from amd.json_text import loads
from amd.trajectory import ToolCall, ToolSpec, Trajectory
from amd.transcript import join, phrase, tool_words

__all__ = [
    "check_at_the_end",
    "failures",
    "fault_in_naming",
    "order_of",
    "origins",
    "seen_in",
    "tools_of",
    "without_call",
]

# Beyond these a text says more than a small model reads, and no longer fits the tier's budget.
_MOST_STAGES = 8
_MOST_LINKS = 3
_MOST_KEYS = 4
_MOST_NAMED = 8  # tools, in words for a model


def seen_in(support: int) -> str:
    """How many runs agree, as the end of a sentence; nothing where a run stands alone.

    >>> seen_in(3), seen_in(1)
    (' (Seen in 3 runs.)', '')
    """
    return f" (Seen in {support} runs.)" if support > 1 else ""


def fault_in_naming(text: str, tools: Sequence[str]) -> str | None:
    """What is wrong with words that name none of the tools that a run called: they are about nothing that happened.

    >>> fault_in_naming("Look first.", ["ls", "mv"])
    'the text names none of the tools that the run called, which are `ls` and `mv`'
    """
    if not tools or any(re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", text) for tool in tools):
        return None
    names = join(f"`{tool}`" for tool in tools[:_MOST_NAMED])
    return f"the text names none of the tools that the run called, which are {names}"


def without_call(run: Trajectory) -> str:
    """How long a run without a call was, and how many tools it left alone."""
    turns = len(run.turns)
    exchange = "one exchange" if turns == 1 else f"{turns} exchanges"
    offered = f", although {len(run.tools)} tools were offered" if run.tools else ""
    return f"in {exchange} with the user and without a tool call{offered}."


def order_of(run: Trajectory) -> str:
    """The tools in the order of first use, each with what it does, turn by turn."""
    specs = {spec.name: spec for spec in run.tools or ()}
    named: set[str] = set()
    stages: list[list[str]] = []
    later: dict[str, None] = {}
    for turn in run.turns:
        good = [call.name for call in turn.calls if call.ok]
        if len(stages) == _MOST_STAGES:
            later.update((f"`{name}`", None) for name in good if name not in named)
            continue
        steps = [_step(name, len(list(same)), specs, named) for name, same in groupby(good)]
        if steps and (not stages or steps != stages[-1]):
            stages.append(steps)
    if not stages:
        return ""
    text = "; then ".join(join(steps) for steps in stages) + (f"; later {join(later)}" if later else "")
    return f"Call {text}." if text.startswith("`") else f"{text[0].upper()}{text[1:]}."


def _step(name: str, times: int, specs: Mapping[str, ToolSpec], named: set[str]) -> str:
    again = f" {times} times" if times > 1 else ""
    words = phrase(name, specs.get(name))
    if name in named or words == tool_words(name):
        named.add(name)
        return f"`{name}`{again}"
    named.add(name)
    return f"{words} (`{name}`{again})"


def origins(calls: Sequence[ToolCall], evidence: Evidence) -> str:
    """Which arguments were taken from earlier results."""
    taken: dict[tuple[str, str], dict[str, None]] = {}
    for link in evidence.links:
        call, source = calls[link.call - 1], calls[link.source - 1]
        if call.ok and call.name != source.name:
            taken.setdefault((call.name, source.name), {})[f"`{link.argument}`"] = None
    facts = [
        f"{join(list(names)[:_MOST_KEYS])} for `{tool}` from `{source}`"
        for (tool, source), names in list(taken.items())[:_MOST_LINKS]
    ]
    return f"Take {', and '.join(facts)}." if facts else ""


def check_at_the_end(calls: Sequence[ToolCall]) -> str:
    """The validation cue: what the last good call answers with when all went well."""
    last = next((call for call in reversed(calls) if call.ok), None)
    keys = [key for key in _answer_keys(last.observation) if key not in last.arguments] if last else []
    if last is None or not keys:
        return ""
    return f"At the end, check that the result of `{last.name}` has {join(f'`{key}`' for key in keys[:_MOST_KEYS])}."


def _answer_keys(observation: str) -> list[str]:
    try:
        value = loads(observation)
    except ValueError:
        return []
    return [key for key in value if key.isidentifier()] if isinstance(value, dict) else []


def tools_of(run: Trajectory) -> list[str]:
    """The tools that a run called, each once: a name that was not offered and never went well is no tool.

    >>> from dataclasses import replace
    >>> from amd.testing import run
    >>> from amd.trajectory import Step
    >>> guessed = ToolCall("list_beds", {}, "Error: no such tool", ok=False)
    >>> made = replace(run(1).turns[0], steps=(Step(calls=(guessed, *run(1).calls[:2])),))
    >>> tools_of(replace(run(1), turns=(made,)))
    ['cd', 'mv']
    """
    offered = None if run.tools is None else {spec.name for spec in run.tools}
    good = {call.name for call in run.calls if call.ok}
    names = dict.fromkeys(call.name for call in run.calls)
    return [name for name in names if offered is None or name in offered or name in good]


def failures(calls: Sequence[ToolCall], evidence: Evidence, tools: Collection[str]) -> str:
    """Each kind of error of these tools that was met, and what repaired it."""
    facts: dict[tuple[str, str], str] = {}
    for repair in evidence.repairs:
        tool = calls[repair.failed - 1].name
        if tool not in tools:
            continue
        kind = (tool, repair.error_class)
        fact = f"`{tool}` failed with “{repair.error_class}”"
        if repair.repaired is None:
            facts.setdefault(kind, fact)
        elif repair.changed:
            facts[kind] = f"{fact} until {join(f'`{name}`' for name in repair.changed)} changed"
        else:
            facts[kind] = f"{fact} and went through when called again"
    return f"Avoid: {'; '.join(facts.values())}." if facts else ""
