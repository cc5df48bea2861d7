"""The process of one environment server: started on a free port of 127.0.0.1, watched, restarted and stopped."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from pathlib import Path

import httpx

from amd.errors import AmdError, ConfigError
from amd_appworld import serving
from amd_appworld.answers import EnvironmentGone

__all__ = ["Server"]

_PATIENCE = 90.0  # seconds until a server that was started must answer; on an idle machine it takes one or two
_POLL = 0.05
_END = 10.0  # seconds in which a process that was killed is gone
_LAST_WORDS = 65_536  # bytes of the log's end in which they are looked for
# What a process needs to run at all. Keys of models are not among them: cells run in there.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
_KEPT_ON_WINDOWS = ("TEMP", "TMP", "SYSTEMROOT", "USERPROFILE")


class Server:
    """One server process over a root with AppWorld's data; nothing is started before it is used.

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
        # As it is written: a link resolved would be the interpreter without its environment.
        self._words = [str(python.absolute()), "-P", serving.__file__, application]
        self._patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def pid(self) -> int | None:
        """The process that serves, or ``None`` if there is none."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def start(self) -> str:
        """Start the process if there is none, wait until it answers, and give its address.

        Raises:
            ConfigError: it ended at once: the interpreter or AppWorld is not there.
            EnvironmentGone: it did not answer in time.
        """
        if self.pid is None:
            self.stop()
            self._begin()
        return f"http://127.0.0.1:{self._port}"

    def stop(self) -> None:
        """End the process. What AppWorld writes is with the system after each cell: nothing is lost."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait(_END)
            if process.stdin is not None:
                process.stdin.close()

    def last_words(self) -> str:
        """The last line of the log: of a traceback it is the error itself."""
        if not self.log.exists():
            return ""
        text = self.log.read_bytes()[-_LAST_WORDS:].decode("utf-8", "replace")
        return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "")

    def _begin(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self.log.open("ab") as log:
                process = self._process = subprocess.Popen(  # noqa: S603 - the interpreter that the user names
                    self._words,
                    cwd=self._root,
                    env={name: os.environ[name] for name in (*_KEPT, *_KEPT_ON_WINDOWS) if name in os.environ}
                    | {"APPWORLD_ROOT": str(self._root), "PYTHONDONTWRITEBYTECODE": "1"},  # not into the user's data
                    stdin=subprocess.PIPE,  # never written to: it closes when this process ends, however it does
                    stdout=subprocess.PIPE,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C is ours to answer
                )
        except OSError as error:
            raise self._never(f"it cannot be started: {error.strerror or error}") from error
        until = time.monotonic() + self._patience
        first = self._first_line(process, until)  # written before anything slow is imported
        if not first.isdigit():
            raise self._never(self.last_words() or "without a word")
        self._port = int(first)
        self._await(process, until)

    def _first_line(self, process: subprocess.Popen[bytes], until: float) -> bytes:
        """What the process writes first, or as much of it as it wrote before it ended."""
        said = b""
        assert process.stdout is not None
        with process.stdout as pipe, selectors.DefaultSelector() as waiting:
            waiting.register(pipe, selectors.EVENT_READ)
            while not said.endswith(b"\n"):
                if not waiting.select(max(0.0, until - time.monotonic())):
                    raise self._late()
                more = os.read(pipe.fileno(), 1)
                if not more:
                    break
                said += more
        return said.strip()

    def _await(self, process: subprocess.Popen[bytes], until: float) -> None:
        """Wait until the server answers anything."""
        with httpx.Client(timeout=self._patience, trust_env=False) as client:
            while True:
                if process.poll() is not None:
                    raise self._never(self.last_words())
                try:
                    client.get(f"http://127.0.0.1:{self._port}/")
                except httpx.HTTPError as failure:
                    if time.monotonic() > until:
                        raise self._late() from failure
                    time.sleep(_POLL)
                else:
                    return

    def _late(self) -> EnvironmentGone:
        """The error for a process that hangs before it serves."""
        self.stop()
        return EnvironmentGone(
            f"the environment server did not answer within {self._patience:g} seconds",
            next_step=f"see {self.log}, then run the same command again",
        )

    def _never(self, why: str) -> AmdError:
        """The error for a process that ended before it served."""
        self.stop()
        return ConfigError(
            f"the environment server of {self._words[0]} ended before it served: {why}",
            next_step=f"see {self.log}; scripts/setup_appworld.sh makes AppWorld's environment (--appworld-python)",
        )
