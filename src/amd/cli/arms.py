"""What the overlays' commands share: the options of an arm, and how the reports of several arms are told."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeAlias, TypeVar, get_args

import typer

from amd.arms import Arm, ArmReport, RunDirectory
from amd.cli.console import print_columns, print_json
from amd.errors import LeakageError

__all__ = ["DrawOnly", "GivenArm", "MemoryOption", "RunReport", "Seed", "Temperature", "takes_arm", "tell_reports"]

GivenArm: TypeAlias = dict[str, Any]
"""The settings of an arm that were given on a command line, for ``Arm.of``."""


class RunReport(Protocol):
    """What an overlay tells of one run: its own figures, and those of what was shown."""

    @property
    def run(self) -> RunDirectory[Any]:
        """The run's directory."""
        ...

    @property
    def figures(self) -> ArmReport:
        """What its tasks were shown."""
        ...

    def rows(self) -> Sequence[tuple[str, object]]:
        """Name and value of each figure, for people."""
        ...

    def as_json(self) -> dict[str, object]:
        """The same for machines."""
        ...


Report = TypeVar("Report", bound=RunReport)


def _option(name: str) -> Any:  # noqa: ANN401 - typer's own
    """An option as the arm's own field describes it; what is not given is left to the field's default."""
    field = Arm.model_fields[name]
    default = f" [default: {field.default}]" if field.default is not None else ""
    words = [word for word in get_args(field.annotation) if isinstance(word, str)]
    kinds = [kind for kind in (field.annotation, *get_args(field.annotation)) if kind in (int, Path)]
    said = str(field.description)
    option = typer.Option(help=f"{said[0].upper()}{said[1:]}.{default}", metavar="|".join(words) or None)
    return Annotated[(kinds[0] if kinds else str) | None, option]


MemoryOption: TypeAlias = Annotated[Path | None, typer.Option(help="The memory's directory.")]
Seed: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=0, max=2**31 - 1, help="Of this run: sent with each request to a model, and draws random records."
    ),
]
DrawOnly: TypeAlias = Annotated[
    bool, typer.Option("--draw-only", help="Send no seed, for an endpoint that refuses one: it draws records alone.")
]
Temperature: TypeAlias = Annotated[float | None, typer.Option(min=0.0, max=10.0, help="Of the student's answers.")]


def takes_arm(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command of an overlay every setting of an arm as an option, with the words of the arm's own fields.

    Its parameter ``arm`` gets those that were given, as :data:`GivenArm`; they are not checked yet.

    >>> @takes_arm
    ... def water(*, bed: str, arm: GivenArm) -> None:
    ...     print(bed, Arm.of(arm).label)
    >>> "workflow_tokens" in inspect.signature(water).parameters
    True
    >>> water(bed="north", method="none", memory=None)
    north no memory
    """
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def with_arm(**given: Any) -> None:  # noqa: ANN401 - options are typed by the signature
        arm = {name: given.pop(name) for name in Arm.model_fields if name in given}
        command(**given, arm={name: value for name, value in arm.items() if value is not None})

    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        parameters += _parameters() if parameter.name == "arm" else [parameter]
    with_arm.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # what typer reads
    with_arm.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_arm


def _parameters() -> list[inspect.Parameter]:
    kind = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(name, kind, default=None, annotation=_option(name)) for name in Arm.model_fields]


def tell_reports(
    reports: Sequence[Report], unlike: Callable[[Report, Report], Sequence[str]], *, json: bool, what: str
) -> None:
    """Print the reports side by side, and what keeps two of them from being compared.

    Args:
        reports: one or more; the others are compared with the first.
        unlike: why two of them cannot be compared; empty if they can.
        json: one JSON object instead of the table.
        what: the benchmark's word for a task.

    Raises:
        LeakageError: a task was shown records of its own family, or of a held-out one, in an arm that hides them.
    """
    if json:
        print_json({"runs": [each.as_json() for each in reports]})
    else:
        print_columns("what each arm was shown", [(each.run.path.name, each.rows()) for each in reports])
    for other in reports[1:]:
        reasons = unlike(reports[0], other)
        if reasons:
            names = f"{reports[0].run.path.name} and {other.run.path.name}"
            typer.echo(f"NOT COMPARABLE: {names} differ in {'; '.join(reasons)}", err=True)
    for each in reports:
        if not each.figures.split_known:
            typer.echo(f"NOT CHECKED: {each.run.path.name} kept no split, and its file is not there any more", err=True)
    leaks = {str(each.run.path): each.figures.leaks for each in reports if each.figures.leaks}
    if leaks:
        raise LeakageError(
            f"records were shown that are to be hidden, of a {what}'s own family or of what a split holds out: {leaks}",
            next_step="do not use these scores; check how families were given",
            leaks=leaks,
        )
