"""The page of scripts/thirty_records.py: two memories of the same runs, record by record, in Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from amd.lint import CHECKS, Report
from amd.methods import method_named
from amd.records import Record
from amd.store import Manifest
from amd.tier import Hit, Question, Style

TIERS = {tier.name: tier for tier in method_named("amd").tiers}
SHOWN = {"workflow": ("insight", "insight_without_calls"), "subtask": ("segments",)}
"""The tiers that the page shows, and what a model is asked for in each. For function records it is asked nothing."""

_WIDTH = 110  # characters of a line of prose; a call keeps its line
_QUOTED = 500  # characters of a refused reply
_COSTS = ("requests", "lengthened", "repairs", "prompt_tokens", "completion_tokens", "fallbacks")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two memories: its manifest, what ``amd lint`` finds, its records.

    ``fallbacks`` has, by task and purpose, why the rules wrote what the model was asked for; ``refused`` the last text
    that it wrote there, which is in no memory.
    """

    manifest: Manifest
    report: Report
    records: Sequence[Record]
    fallbacks: Mapping[tuple[str, str], str]
    refused: Mapping[tuple[str, str], str]

    @property
    def name(self) -> str:
        """Who wrote it."""
        return self.manifest.distiller["id"]

    def of(self, tier: str, task_id: str | None = None) -> list[Record]:
        """The records of a tier, of one task or of all, in the order of their calls."""
        found = [each for each in self.records if each.tier == tier and task_id in (None, each.task.task_id)]
        return sorted(found, key=lambda each: (each.task.task_id, each.source.steps))


def page(rules: Side, model: Side, served: str) -> str:
    """Where the records come from, then each record of the rules with those of the model that tell of its calls."""
    lines = ["", "## Where they come from", "", *_table(rules, model, served)]
    number = 0
    for task_id in dict.fromkeys(record.task.task_id for record in rules.of("workflow")):
        lines += ["", f"## {task_id}", "", f"> {_plain(rules.of('workflow', task_id)[0].key)}"]
        for tier in SHOWN:
            told: dict[str, int] = {}
            for record in rules.of(tier, task_id):
                number += 1
                lines += ["", f"### {number}. {tier}, {_calls(record)}", "", "By the rules:", ""]
                lines += shown(record, rules.report)
                lines += _beside(record, model, told, number)
    return "\n".join([*lines, "", ""])


def _beside(record: Record, model: Side, told: dict[str, int], number: int) -> Iterator[str]:
    """What the model wrote of these calls; ``told`` has the number under which each record of it was shown."""
    task_id, tier = record.task.task_id, record.tier
    for asked in ((task_id, purpose) for purpose in SHOWN[tier] if (task_id, purpose) in model.fallbacks):
        before = told.setdefault(asked[1], number)
        where = f", see {before}" if before < number else f" ({_plain(model.fallbacks[asked])})"
        yield from ("", f"By {model.name}: no reply that could be used{where}; in its memory the rules wrote this too.")
        if before == number and asked in model.refused:
            yield from quoted(model.refused[asked])
        return
    for other in model.of(tier, task_id):
        if not _meet(record, other):
            continue
        before = told.setdefault(other.id, number)
        yield from ("", f"By {model.name}, {_calls(other)}{':' if before == number else f': see {before}.'}")
        if before == number:
            yield from ("", *shown(other, model.report))


def _table(rules: Side, model: Side, served: str) -> Iterator[str]:
    """Who wrote, what it cost, and what ``amd lint`` finds, side by side."""
    yield from ("| | rules | model |", "|---|---|---|")
    yield f"| distiller | `{rules.name}` | `{model.name}` |"
    yield f"| served by | | {served} |"
    yield f"| hash of the prompts | | `{model.manifest.distiller['prompts'][:16]}…` |"
    for tier in TIERS:
        words = sum(record.distiller == model.name for record in model.of(tier))
        yield f"| {tier} records | {len(rules.of(tier))} | {len(model.of(tier))}, {words} of them in its words |"
    for tier, purposes in SHOWN.items():
        costs = {what: sum(model.manifest.costs.get(f"{each}.{what}", 0) for each in purposes) for what in _COSTS}
        yield (
            f"| {tier}: what was asked | | {costs['requests']} requests, {costs['lengthened']} of them for more room, "
            f"{costs['repairs']} for a repair |"
        )
        yield f"| {tier}: tokens | | {costs['prompt_tokens']:,} of prompts, {costs['completion_tokens']:,} of replies |"
        yield f"| {tier}: runs without a reply that could be used | | {costs['fallbacks']} |"
    found, other = rules.report.found, model.report.found
    for check in CHECKS:
        if check in found or check in other:
            yield f"| `amd lint`: {check} | {found.get(check, 0)} | {other.get(check, 0)} |"


def _calls(record: Record) -> str:
    first, last = record.source.steps
    return "no call" if last == 0 else f"call {first}" if first == last else f"calls {first}-{last}"


def _meet(one: Record, other: Record) -> bool:
    """Whether two records tell of a call in common."""
    (first, last), (start, end) = one.source.steps, other.source.steps
    return first <= end and start <= last


def _plain(text: str) -> str:
    """A text between words of Markdown: a placeholder is no tag."""
    return text.replace("<", "\\<").replace("\n", " ")


def shown(record: Record, report: Report) -> Iterator[str]:
    """A record as a student reads it, its long lines broken, and what ``amd lint`` says of it."""
    parts = TIERS[record.tier].render([Hit(record, 1.0)], Question("task", record.key), Style())
    text = "\n".join(part.text for part in parts)
    yield from _block([line if line.startswith("{") else _wrapped(line) for line in text.split("\n")])
    for finding in report.findings:
        if finding.record == record.id:
            quotes = ", ".join(f"“{_plain(quote)}”" for quote in finding.quotes)
            yield from ("", f"`amd lint`, {finding.check}: {finding.what}{': ' if quotes else ''}{quotes}")


def quoted(text: str) -> Iterator[str]:
    """The beginning of a refused reply, marked as what it is."""
    part = f"the first {_QUOTED} of {len(text):,} characters" if len(text) > _QUOTED else "whole"
    yield from ("", f"Refused, and in no memory: its last reply, {part}.", "")
    yield from _block([_wrapped(line) for line in text[:_QUOTED].split("\n")])


def _wrapped(line: str) -> str:
    return textwrap.fill(line, _WIDTH, break_on_hyphens=False)


def _block(lines: Sequence[str]) -> Iterator[str]:
    """Lines as a block of text that none of them ends."""
    fence = max(["``", *re.findall("`+", "\n".join(lines))], key=len) + "`"
    yield from (f"{fence}text", *lines, fence)
