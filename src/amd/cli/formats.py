"""One command for each installed trace format, made from the reader's own options.

``amd build FORMAT --help`` shows what FORMAT can be told: a reader's options are a pydantic model, and each of its
fields becomes a typed option of the command. A reader is imported only when its format is named.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias

import typer
from typer.core import TyperGroup

from amd.cli.console import help_of
from amd.traces import Reader, load_reader, reader_options, readers

__all__ = ["FormatGroup", "Job"]

Job: TypeAlias = Callable[..., None]
"""``job(reader, paths, options, **own)``: what the command does with the runs of one format."""


class FormatGroup(TyperGroup):
    """A group whose commands are the installed formats; a subclass names the ``job`` that each of them does."""

    job: ClassVar[Job]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - click's own type moved between typer releases
        """The installed formats."""
        return readers()

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - as above
        """The formats by name alone: a help that imports every reader would break with any one of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, f"runs of the format {name}") for name in self.list_commands(ctx)])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - as above
        """The command of a format; a ``ConfigError`` names the formats that there are."""
        reader, job = load_reader(cmd_name), type(self).job
        single = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
        single.command(name=cmd_name, help=help_of(job).format(format=reader.name))(_command(reader, job))
        return typer.main.get_command(single)


def _command(reader: Reader[Any], job: Job) -> Callable[..., None]:
    """The job as a function of paths, the reader's options and the job's own options."""
    fields = reader.options.model_fields

    def command(**values: object) -> None:
        chosen = {name: values.pop(name) for name in fields}
        paths = values.pop("paths")
        assert isinstance(paths, Sequence)
        job(reader, paths, reader_options(reader, chosen), **values)

    paths = Annotated[list[Path], typer.Argument(help="Files or folders of runs.", show_default=False)]
    own = list(inspect.signature(job, eval_str=True).parameters.values())[3:]
    parameters = [
        inspect.Parameter("paths", inspect.Parameter.KEYWORD_ONLY, annotation=paths),
        *(_parameter(name, fields[name]) for name in fields),
        *own,
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _parameter(name: str, field: Any) -> inspect.Parameter:  # noqa: ANN401 - pydantic's FieldInfo
    option = typer.Option(help=field.description, show_default=field.default not in (None, ""))
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[field.annotation, option], default=field.default
    )
