"""``families``: the table of families from the harness's own scenarios. Needs the harness."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from amd_toolsandbox import family_table
from amd_toolsandbox.grouping import ScenarioTexts, families_of_bases, render
from amd_toolsandbox.harness import resolve
from amd_toolsandbox.texts import texts_of

__all__ = ["families", "scenario_texts"]

TABLE = Path(family_table.__file__)


def scenario_texts() -> dict[str, ScenarioTexts]:
    """The texts of all scenarios of the installed harness, by name: it takes about ten seconds.

    Raises:
        ConfigError: The harness is not installed.
    """
    return {name: texts_of(scenario) for name, scenario in resolve(None).items()}


def families(
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if the table is another.")] = False,
    out: Annotated[Path, typer.Option(help="The file to write or to compare.", show_default=False)] = TABLE,
) -> None:
    """Write the table of families anew from the harness's own scenarios, or compare it with them.

    Example: python -m amd_toolsandbox families --check
    """
    scenarios = scenario_texts()
    found = families_of_bases(scenarios)
    source = render(found)
    typer.echo(f"{len(scenarios)} scenarios, {len(found)} bases, {len(set(found.values()))} families")
    if not check:
        out.write_text(source, encoding="utf-8", newline="\n")
    elif not out.exists() or out.read_text(encoding="utf-8") != source:
        typer.echo(f"{out} is another table; write it anew without --check", err=True)
        raise typer.Exit(1)
