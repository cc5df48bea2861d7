"""What the overlays' commands share: the options of an arm, and how the reports of several arms are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, get_args

import typer

from amd.arms import Arm, ArmReport, RunDirectory
from amd.cli.console import print_columns, print_json
from amd.errors import LeakageError

__all__ = ["RunReport", "arm_of", "arm_option", "tell_reports"]


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


def arm_option(name: str) -> Any:  # noqa: ANN401 - typer's own
    """An option as the arm's own field describes it; what is not given is left to the field's default.

    >>> arm_option("layout").metavar
    'block|turns'
    """
    field = Arm.model_fields[name]
    default = f" [default: {field.default}]" if field.default is not None else ""
    choices = [choice for choice in get_args(field.annotation) if isinstance(choice, str)]
    return typer.Option(help=f"{field.description}{default}", metavar="|".join(choices) or None)


def arm_of(**given: object) -> Arm:
    """The arm of the options that were given: those that are not ``None``.

    Raises:
        ConfigError: in one line, what is wrong with them.

    >>> arm_of(method="none", memory=None).label
    'no memory'
    """
    return Arm.of({name: value for name, value in given.items() if value is not None})


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
        LeakageError: a task was shown records of its own family in an arm that hides them.
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
    leaks = {str(each.run.path): each.figures.leaks for each in reports if each.figures.leaks}
    if leaks:
        raise LeakageError(
            f"records of a {what}'s own family were shown where they are to be hidden: {leaks}",
            next_step="do not use these scores; check how families were given",
            leaks=leaks,
        )
