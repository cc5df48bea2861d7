"""The process of one environment server: started on a free port of 127.0.0.1, watched, restarted and stopped."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from amd.errors import ConfigError
from amd_appworld import serving
from amd_appworld.environment import EnvironmentGone

__all__ = ["Server"]

_PATIENCE = 90.0  # seconds until a server that was started must answer; on an idle machine it takes one or two
_POLL = 0.05
_END = 10.0  # seconds in which a process that was killed is gone
_LAST_WORDS = 65_536  # bytes of the log's end in which they are looked for
# What a process needs to run at all. Keys of models are not among them: cells run in there.
_KEPT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "USERPROFILE",
    "LD_LIBRARY_PATH",
)


class Server:
    """One server process over a root with AppWorld's data; a context manager, and nothing is started before it is used.

    Args:
        root: the folder with ``data`` and ``experiments/outputs``.
        python: the interpreter of AppWorld's own environment.
        log: where the process writes.
        application: what it serves; AppWorld's own.
        patience: seconds until it must answer.
    """

    def __init__(
        self,
        root: Path,
        python: Path,
        log: Path,
        *,
        application: str = serving.APPLICATION,
        patience: float = _PATIENCE,
    ) -> None:
        self.log = log
        self._root = root.absolute()
        self._python = python.absolute()
        self._application = application
        self._patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int | None:
        """The process that serves, or ``None``."""
        return self._process.pid if self._process else None

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> str:
        """Start the process if there is none, wait until it answers, and give its address.

        Raises:
            ConfigError: it ended at once: the interpreter or AppWorld is not there.
            EnvironmentGone: it did not answer in time.
        """
        if not self.alive:
            self.stop()
            self._begin()
        return f"http://127.0.0.1:{self._port}"

    def stop(self) -> None:
        """End the process. What AppWorld writes is on its way to the disk after each cell: nothing is lost."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait(_END)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def last_words(self) -> str:
        """The last line of the log: of a traceback it is the error itself."""
        if not self.log.exists():
            return ""
        text = self.log.read_bytes()[-_LAST_WORDS:].decode("utf-8", "replace")
        return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "")

    def _begin(self) -> None:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self.log.parent.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        try:
            with self.log.open("ab") as log:
                process = subprocess.Popen(  # noqa: S603 - the interpreter that the user names
                    [str(self._python), "-P", serving.__file__, self._application],
                    cwd=self._root,
                    env={**kept, "APPWORLD_ROOT": str(self._root)},
                    stdin=subprocess.PIPE,  # never written to: it closes when this process ends, however it does
                    stdout=subprocess.PIPE,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C is ours to answer
                )
        except OSError as error:
            raise ConfigError(
                f"{self._python} cannot be started: {error.strerror or error}",
                next_step="run scripts/setup_appworld.sh, or name AppWorld's interpreter with --appworld-python",
            ) from error
        self._process = process
        assert process.stdout is not None
        late = threading.Timer(self._patience, process.kill)
        late.daemon = True
        late.start()
        first = process.stdout.readline().strip()
        late.cancel()
        if not first.isdigit():
            raise self._ended(began)
        self._port = int(first)
        self._await(process, began)

    def _await(self, process: subprocess.Popen[bytes], began: float) -> None:
        """Wait until the server answers anything."""
        with httpx.Client(base_url=f"http://127.0.0.1:{self._port}", timeout=self._patience, trust_env=False) as client:
            while True:
                if process.poll() is not None:
                    raise self._ended(began)
                try:
                    client.get("/")
                except httpx.HTTPError:
                    if time.monotonic() - began > self._patience:
                        self.stop()
                        raise self._late() from None
                    time.sleep(_POLL)
                else:
                    return

    def _ended(self, began: float) -> ConfigError | EnvironmentGone:
        """The error for a process that is gone before it served."""
        self.stop()
        if time.monotonic() - began >= self._patience:
            return self._late()
        return ConfigError(
            f"the environment server of {self._python} ended before it served: {self.last_words() or 'without a word'}",
            next_step=f"see {self.log}; scripts/setup_appworld.sh makes AppWorld's environment",
        )

    def _late(self) -> EnvironmentGone:
        return EnvironmentGone(
            f"the environment server did not answer within {self._patience:g} seconds",
            next_step=f"see {self.log}, then run the same command again",
        )
