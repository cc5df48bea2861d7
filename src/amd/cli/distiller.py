"""Who writes the records of ``amd build``: the rules, or a model behind an endpoint, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from amd.build.journal import Journal
from amd.build.model_writer import ModelWriter
from amd.build.plan import BuildPlan, PlanWriter
from amd.build.report import BuildReport
from amd.cli.console import counts, print_json, print_some, print_table
from amd.config import Price, chat_model_named
from amd.methods import Method
from amd.store import check_place

__all__ = ["Distiller", "cost_rows", "print_plan", "print_remarks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distiller:
    """What the command line says of the model that writes."""

    name: str
    base_url: str | None
    workers: int
    timeout: float
    prompt_tokens: int
    budget: int | None
    retry_fallbacks: bool

    @contextmanager
    def writer(self, place: Path, method: Method) -> Iterator[ModelWriter]:
        """The model's writer, with what an earlier build at ``place`` left; the endpoint is asked for the model."""
        check_place(place)
        with chat_model_named(self.name, self.base_url, timeout=self.timeout, connections=self.workers) as chat:
            yield _Telling(
                self.name,
                chat,
                [prompt for tier in method.tiers for prompt in tier.prompts],
                journal=Journal(place),
                prompt_tokens=self.prompt_tokens,
                budget=self.budget,
                retry_fallbacks=self.retry_fallbacks,
            )

    def planner(self, place: Path, method: Method) -> PlanWriter:
        """What counts in its place."""
        check_place(place)
        return PlanWriter(
            self.name,
            [prompt for tier in method.tiers for prompt in tier.prompts],
            journal=Journal(place),
            prompt_tokens=self.prompt_tokens,
            retry_fallbacks=self.retry_fallbacks,
        )


class _Telling(ModelWriter):
    """Says what the endpoint does not do as soon as that is known, which is before the first record is written."""

    _said = 0

    def _probe(self) -> None:
        super()._probe()
        with self._lock:
            news, self._said = self.notices[self._said :], len(self.notices)
        for notice in news:
            typer.echo(notice, err=True)


def cost_rows(writer: ModelWriter, report: BuildReport, price: Price | None) -> list[tuple[str, object]]:
    """What a model's words have cost, for the table of a build."""
    costs = report.costs
    sums = {name: sum(value for key, value in costs.items() if key.endswith(f".{name}")) for name in _SUMMED}
    rows: list[tuple[str, object]] = [
        ("requests", f"{sums['requests']}, retried {sums['retries']}, repaired {sums['repairs']}"),
        ("tokens", f"prompts {sums['prompt_tokens']:,}, replies {sums['completion_tokens']:,}"),
        ("written by rules", counts(writer.fallbacks)),
        ("kept from before", writer.recalled),
    ]
    if price:
        rows.append(("price", f"{price.of(sums['prompt_tokens'], sums['completion_tokens']):.4f}"))
    return rows


_SUMMED = ("requests", "retries", "repairs", "prompt_tokens", "completion_tokens")


def print_plan(plan: BuildPlan, price: Price | None, *, json: bool) -> None:
    """What would be asked for: a table, or one JSON object."""
    cost = price.of(plan.prompt_tokens, plan.completion_tokens) if price else None
    if json:
        items = {
            item.purpose: {
                "calls": item.calls,
                "known": item.known,
                "prompt_tokens": item.prompt_tokens,
                "completion_tokens": item.completion_tokens,
            }
            for item in plan.items
        }
        print_json(
            {
                "read": plan.read,
                "admitted": plan.admitted,
                "written": plan.written,
                "calls": plan.calls,
                "prompt_tokens": plan.prompt_tokens,
                "completion_tokens": plan.completion_tokens,
                "price": cost,
                "purposes": items,
            }
        )
        return
    rows: list[tuple[str, object]] = [
        ("runs read", plan.read),
        ("admitted", plan.admitted),
        ("to be written", plan.written),
    ]
    rows += [
        (
            item.purpose,
            f"{item.calls} calls, prompts {item.prompt_tokens:,} tokens, room for replies {item.completion_tokens:,}"
            + (f"; {item.known} known already" if item.known else ""),
        )
        for item in plan.items
    ]
    rows.append(("in all", f"{plan.calls} calls, {plan.prompt_tokens:,} + {plan.completion_tokens:,} tokens"))
    if cost is not None:
        rows.append(("price", f"{cost:.4f} if all replies fill their room"))
    print_table("plan: nothing was sent, nothing was written", rows)
    typer.echo(
        "tokens are estimated as bytes/3; a reply that cannot be used is asked for once more, one that was cut too, "
        "with four times the room: --budget-tokens is a limit, and this is none"
    )


def print_remarks(writer: ModelWriter) -> None:
    """What a person should know of the endpoint, and the first few things of single runs."""
    journal = writer.journal
    if journal and journal.dropped:
        typer.echo(
            f"{journal.dropped} lines of the journal could not be read: those replies were asked for anew", err=True
        )
    if journal and journal.unused:
        typer.echo(f"{journal.unused} finished replies are of another input, prompt or model: they are kept", err=True)
    print_some([f"{remark.task_id}: {remark.purpose}: {remark.what}" for remark in writer.remarks])
