"""The harness: found, checked, and run by its own command line, with one more name in its table of models."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

from amd.errors import AmdError, ConfigError
from amd_bfcl import stubs
from amd_bfcl.package import TESTED_VERSION
from amd_bfcl.run import Settings
from amd_bfcl.service import Service, Stopped

__all__ = ["Harness"]

_INTERRUPTED = 130  # as shells have it
_SETUP = "run: make bfcl-env, and then use .venvs/bfcl/bin/python"


class Harness:
    """The harness with ``root`` as its project folder. A process can have one: the harness reads it when imported.

    Raises:
        ConfigError: the harness or something that it needs is not installed, or it is another version whose methods
            are not those that are overridden here, or this process has it with another project folder.
    """

    def __init__(self, root: Path, version: str) -> None:
        self._version = version
        self._root = root
        os.environ["BFCL_PROJECT_ROOT"] = str(root)
        stubs.install()
        with (root / "harness.log").open("a", encoding="utf-8") as log, redirect_stdout(log):
            self._commands = self._import("bfcl_eval.__main__")
            self._student = self._import("amd_bfcl.student")
        found = self._import("bfcl_eval.constants.eval_config").PROJECT_ROOT
        if found != root:
            raise ConfigError(f"this process runs the harness in {found}, not in {root}", next_step="use a new process")
        self._check()

    def endpoint(self, base_url: str | None) -> tuple[str | None, str | None]:
        """Base URL and key: what is given, else the run's ``.env`` as the harness reads it, else the environment."""
        try:
            own = self._import("dotenv").dotenv_values(self._root / ".env")
        except ValueError as error:
            raise ConfigError(f"{self._root / '.env'}: {error}", next_step="write it in UTF-8") from error
        environment = {**os.environ, **own}
        return base_url or environment.get("OPENAI_BASE_URL"), environment.get("OPENAI_API_KEY")

    def register(self, settings: Settings, service: Service | None = None) -> None:
        """Put the run's student into the harness's table of models; without a service it can only be evaluated."""
        table = self._import("bfcl_eval.constants.model_config")
        if settings.name in table.MODEL_CONFIG_MAPPING:
            raise ConfigError(f"the harness has a model {settings.name!r} already", next_step="give another --name")
        handler = type("Student", (self._student.Student,), {"service": service})
        try:
            table.MODEL_CONFIG_MAPPING[settings.name] = table.ModelConfig(
                model_name=settings.model,
                display_name=settings.name,
                url="",
                org="",
                license="",
                model_handler=handler,
                is_fc_model=settings.calling == "fc",
                underscore_to_dot=True,
            )
        except TypeError as error:
            raise self._changed(f"ModelConfig: {error}") from error

    def call(self, command: str, options: Mapping[str, str], more: Sequence[str]) -> None:
        """Run one of the harness's commands; what it prints goes to ``harness.log``, its progress to standard error.

        Raises:
            AmdError: the student's service or memory failed half-way, or the command did.
            KeyboardInterrupt: it was interrupted.
        """
        arguments = [command, *(word for option in options.items() for word in option if word), *more]
        typer = self._import("typer")
        with (self._root / "harness.log").open("a", encoding="utf-8") as log, redirect_stdout(log):
            try:
                # A code comes back instead of an exit; an interrupt is one of them.
                code = typer.main.get_command(self._commands.cli).main(
                    arguments, prog_name="bfcl", standalone_mode=False
                )
            except Stopped as stopped:
                raise stopped.error from stopped.__cause__
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            raise AmdError(
                f"bfcl {command} ended with {code}", next_step=f"see {self._root / 'harness.log'}", code=code
            )

    def _check(self) -> None:
        """The overridden methods are what they were when this was written."""
        handler = self._student.OpenAICompletionsHandler
        for name, expected in self._student.HOOKS.items():
            method = getattr(handler, name, None)
            found = tuple(inspect.signature(method).parameters)[1:] if method else None
            if found != expected:
                raise self._changed(f"{handler.__name__}.{name} takes {found}, known is {expected}")

    def _changed(self, what: str) -> ConfigError:
        return ConfigError(
            f"bfcl-eval {self._version}: {what}",
            next_step=f"install the version that was tested: bfcl-eval=={TESTED_VERSION}",
            installed=self._version,
            tested=TESTED_VERSION,
        )

    @staticmethod
    def _import(name: str) -> ModuleType:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"the harness needs the module {error.name!r}, which is not installed in {sys.prefix}",
                next_step=_SETUP,
                module=error.name,
            ) from error
