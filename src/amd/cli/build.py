"""``amd build``: from a teacher's runs to a published memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from amd.build import BuildReport, Options, build_memory
from amd.build.model_writer import ModelWriter
from amd.build.pipeline import plan_build
from amd.build.request import PROMPT_TOKENS
from amd.chat import Embedder
from amd.cli.console import StageProgress, counts, print_json, print_some, print_table, unreadable
from amd.cli.distiller import Distiller, cost_rows, print_plan, print_remarks
from amd.cli.formats import FormatGroup
from amd.cli.options import Json, Pin
from amd.config import Price, embedder_named, price_of
from amd.errors import ConfigError
from amd.exclusion import read_split
from amd.methods import Method, method_named
from amd.tier import RULES
from amd.traces import Item, Reader, ReaderOptions, Refusal

__all__ = ["app"]

_Out = Annotated[Path, typer.Option(help="The memory directory, new or to be added to.", show_default=False)]
_Method = Annotated[
    str,
    typer.Option(help="amd, or a sum of tiers such as workflow+function; reasoning_bank, memp, memp-keywords, sasm."),
]
_Distiller = Annotated[str, typer.Option(help="Who writes the records: rules (no model), or a model at --base-url.")]
_BaseUrl = Annotated[
    str | None,
    typer.Option(
        help="The endpoint of the distiller and of openai:MODEL, as http://127.0.0.1:8000/v1; else OPENAI_BASE_URL."
    ),
]
_EmbedderUrl = Annotated[str | None, typer.Option(help="The endpoint of openai:MODEL, where it is another one.")]
_Workers = Annotated[int, typer.Option(min=1, max=256, help="Runs that a model writes at the same time.")]
_Reasoning = Annotated[bool, typer.Option("--reasoning", help="Ask the model why each call was made, too.")]
_IncludeFailures = Annotated[
    bool, typer.Option("--include-failures", help="Learn from failed runs too: reasoning_bank and memp.")
]
_Plan = Annotated[bool, typer.Option("--plan", help="Print the calls and tokens of this build, and send nothing.")]
_Budget = Annotated[
    int | None, typer.Option(min=1, help="Stop before the next request once so many tokens are spent; exit code 5.")
]
_RetryFallbacks = Annotated[
    bool, typer.Option("--retry-fallbacks", help="Ask again where no reply could be used, published or not.")
]
_PromptTokens = Annotated[int, typer.Option(min=500, help="The most that a prompt may have, estimated as bytes/3.")]
_Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds that one request may take.")]
_Prices = Annotated[
    Path | None, typer.Option(help='A TOML file: [prices."MODEL"] prompt, completion per million tokens.')
]
_Embedder = Annotated[str, typer.Option(help="minilm, hash (no model), onnx:DIR, or openai:MODEL for an endpoint.")]
_AllTrials = Annotated[bool, typer.Option("--all-trials", help="Keep every successful trial of a task, not the best.")]
_Replace = Annotated[bool, typer.Option("--replace", help="Publish this input alone: what was there goes, edits too.")]
_Strict = Annotated[bool, typer.Option("--strict", help="Fail, and publish nothing, if a run cannot be read.")]
_AssumeUnassisted = Annotated[
    bool, typer.Option("--assume-unassisted", help="Take runs for which it is unknown whether a memory helped.")
]
_Floor = Annotated[
    list[str] | None, typer.Option(metavar="TIER=X", help="Pin a tier's floor, the least cosine that counts.")
]
_Split = Annotated[Path | None, typer.Option(help="Admit only the train families of this split file.")]


def _build(
    reader: Reader[Any],
    paths: Sequence[Path],
    options: ReaderOptions,
    *,
    out: _Out,
    method: _Method = "amd",
    distiller: _Distiller = "rules",
    embedder: _Embedder = "minilm",
    base_url: _BaseUrl = None,
    embedder_url: _EmbedderUrl = None,
    workers: _Workers = 8,
    reasoning: _Reasoning = False,
    include_failures: _IncludeFailures = False,
    plan: _Plan = False,
    budget_tokens: _Budget = None,
    retry_fallbacks: _RetryFallbacks = False,
    prompt_tokens: _PromptTokens = PROMPT_TOKENS,
    timeout: _Timeout = 120.0,
    prices: _Prices = None,
    all_trials: _AllTrials = False,
    replace: _Replace = False,
    strict: _Strict = False,
    assume_unassisted: _AssumeUnassisted = False,
    floor: _Floor = None,
    split: _Split = None,
    pin: Pin = None,
    json: Json = False,
) -> None:
    """Build a memory from runs of the format {format}, or add to one.

    Only scored successes are admitted; every other run is counted by its reason. What was published before stays
    as it was until the end of the build, and building the same input again changes nothing. A build with a model may be
    interrupted at any time: the same command goes on, and no finished reply is asked for again.

    Example: amd build {format} runs.jsonl --out memory

    Example: amd build {format} runs.jsonl --out memory --distiller qwen3-30b --base-url http://127.0.0.1:8000/v1 --plan
    """
    chosen = Options(
        method=method,
        all_trials=all_trials,
        replace=replace,
        strict=strict,
        assume_unassisted=assume_unassisted,
        floors=_floors(floor or ()),
        split=read_split(split) if split else None,
        pin=pin,
        reasoning=reasoning,
        include_failures=include_failures,
        retry_fallbacks=retry_fallbacks,
        workers=1 if distiller == RULES.id else workers,
    )
    writes = Distiller(
        name=distiller,
        base_url=base_url,
        workers=workers,
        timeout=timeout,
        prompt_tokens=prompt_tokens,
        budget=budget_tokens,
        retry_fallbacks=retry_fallbacks,
    )
    if distiller == RULES.id:
        _refuse_in_vain(
            plan=plan, reasoning=reasoning, budget_tokens=budget_tokens, retry_fallbacks=retry_fallbacks, prices=prices
        )
    # An embedder that needs no endpoint is not given the distiller's; one that is given in vain is told.
    shared = base_url if embedder.startswith("openai:") or distiller == RULES.id else None
    embeds = embedder_named(embedder, embedder_url or shared)
    price = price_of(distiller, prices)
    runs = reader.read(paths, options)
    if plan:
        _plan(runs, out, chosen, writes, embeds, price, json=json)
    else:
        _publish(runs, out, chosen, writes, embeds, price, json=json)


def _method_of(options: Options) -> Method:
    return method_named(options.method, reasoning=options.reasoning, include_failures=options.include_failures)


def _plan(
    runs: Iterator[Item],
    out: Path,
    options: Options,
    writes: Distiller,
    embeds: Embedder,
    price: Price | None,
    *,
    json: bool,
) -> None:
    """What the model would be asked for."""
    writer = writes.planner(out, _method_of(options))
    with StageProgress() as progress:
        planned = plan_build(runs, out, embedder=embeds, writer=writer, options=options, progress=progress)
    print_plan(planned, price, json=json)


def _publish(
    runs: Iterator[Item],
    out: Path,
    options: Options,
    writes: Distiller,
    embeds: Embedder,
    price: Price | None,
    *,
    json: bool,
) -> None:
    """Build, and tell what was done; exit code 1 if nothing was admitted."""
    tiers = _method_of(options)
    with StageProgress() as progress, ExitStack() as stack:
        writer = None if writes.name == RULES.id else stack.enter_context(writes.writer(out, tiers))
        report = build_memory(runs, out, embedder=embeds, writer=writer or RULES, options=options, progress=progress)
    if json:
        print_json({**_as_json(report, writer), "split": options.split.sha256 if options.split else None})
    else:
        costs = cost_rows(writer, report, price) if writer else [("model calls", 0)]
        _print(report, out, [*costs, *([("split", options.split.sha256)] if options.split else [])])
        if writer:
            print_remarks(writer)
    if not report.admitted:
        raise typer.Exit(1)


def _refuse_in_vain(**options: object) -> None:
    """What only a model can be told: with the rules it would have no effect, and nobody would know."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if given:
        raise ConfigError(
            f"the rules ask no model, so {', '.join(given)} would have no effect", next_step="give --distiller MODEL"
        )


def _floors(pairs: Sequence[str]) -> dict[str, float]:
    floors = {}
    for pair in pairs:
        tier, _, value = pair.partition("=")
        try:
            floors[tier] = float(value)
        except ValueError:
            raise ConfigError(f"--floor {pair}: write TIER=X, as in workflow=0.4") from None
    return floors


def _as_json(report: BuildReport, writer: ModelWriter | None) -> Mapping[str, object]:
    value = asdict(report)
    value["refusals"] = [asdict(refusal) for refusal in report.refusals]
    if writer:
        value |= {
            "fallbacks": dict(writer.fallbacks),
            "remarks": [asdict(remark) for remark in writer.remarks],
            "notices": list(writer.notices),
            "recalled": writer.recalled,
            "unused": writer.journal.unused if writer.journal else 0,
        }
    return value


def _print(report: BuildReport, out: Path, costs: Sequence[tuple[str, object]]) -> None:
    """The table of a build, then what a person must know besides."""
    rows: list[tuple[str, object]] = [
        ("runs read", report.read),
        ("admitted", report.admitted),
        ("refused", counts(report.refused)),
        ("notes", counts(report.notes)),
        ("records", counts(report.records)),
        ("rows embedded", report.embedded),
        *costs,
        ("generation", report.generation),
        ("seconds", ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in report.seconds.items())),
        *([("terms", report.terms)] if report.terms else []),
    ]
    state = "" if report.changed else " (unchanged)" if report.generation else ": nothing admitted, nothing published"
    print_table(f"memory {out}{state}", rows)
    if report.seal:
        typer.echo(f"content {report.digest}\nseal    {report.seal}")
    for tier, (before, after) in report.moved_floors.items():
        typer.echo(f"the floor of {tier} moved from {before:.3f} to {after:.3f}", err=True)
    print_some([f"retired: {task_id}" for task_id in report.retired])
    print_some([_line(refusal) for refusal in unreadable(report.refusals)])
    if not report.admitted:
        first = {refusal.reason: refusal for refusal in reversed(report.refusals)}
        for reason in report.refused:
            if reason != "unreadable":
                typer.echo(_line(first[reason]), err=True)


def _line(refusal: Refusal) -> str:
    return f"{refusal.reason}: {refusal.where}: {refusal.detail}"


class _Formats(FormatGroup):
    job = staticmethod(_build)


app = typer.Typer(
    cls=_Formats,
    help="Build a memory from runs, or add to one. `amd build FORMAT --help` shows a format's options.\n\n"
    "\b\nExample: amd build openai-chat runs.jsonl --out memory",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _formats() -> None:
    """Exists so that typer makes a group."""
