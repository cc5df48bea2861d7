"""How long a build with a model takes at the scale of a benchmark, against the ideal and the promised limits.

    python scripts/bench_model_build.py                 1,000 made-up runs, 16 workers, 200 ms a reply
    python scripts/bench_model_build.py --runs 200

The model is a server of this machine, in a process of its own, that answers by a rule. Exit code 1 if a limit is
missed.
The ideal is the time that the replies alone take: two of them a run, ``--latency`` each, ``--workers`` at once.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from amd.build import BuildReport, Options, build_memory
from amd.build.journal import Journal
from amd.build.model_writer import ModelWriter
from amd.clients import ChatModel
from amd.embedders import load_embedder
from amd.methods import method_named
from amd.testing import run

WALL_RATIO = 1.3
CPU_MILLISECONDS = 10.0  # of our own, for one run

SERVER = r"""
import json, re, sys, threading
from amd.testing import LoopbackServer

def chat(body):
    server.requests.clear()
    told = body["messages"][1]["content"]
    if "Divide the calls" not in body["messages"][0]["content"]:
        return json.dumps({"text": "Enter the folder first, then `mv` the file. Check the count at the end."})
    last = max(map(int, re.findall(r"^Call (\d+):", told, re.MULTILINE)))
    segment = {"start_step": 1, "end_step": last, "label": "the whole task", "description": "It is done."}
    return json.dumps({"segments": [segment]})

with LoopbackServer(chat=chat, latency=float(sys.argv[1])) as server:
    print(server.url, flush=True)
    threading.Event().wait()
"""


@contextmanager
def served(latency: float) -> Iterator[str]:
    """The endpoint of a server in a process of its own."""
    command = [sys.executable, "-c", SERVER, str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def build(runs: int, workers: int, url: str, folder: str) -> tuple[BuildReport, ModelWriter, float]:
    """Build made-up runs with the model at ``url``; processor seconds of this process are the third."""
    prompts = [prompt for tier in method_named("amd").tiers for prompt in tier.prompts]
    made = [run(i) for i in range(runs)]
    with ChatModel("stub", base_url=url, connections=workers) as chat:
        writer = ModelWriter("stub", chat, prompts, journal=Journal(Path(folder)))
        before = time.process_time()
        embedder, options = load_embedder("hash"), Options(workers=workers)
        report = build_memory(made, folder, embedder=embedder, writer=writer, options=options)
        return report, writer, time.process_time() - before


def main() -> int:
    """Build once, and print each figure with its limit."""
    options = _options()
    with served(options.latency) as url, tempfile.TemporaryDirectory() as folder:
        report, writer, seconds = build(options.runs, options.workers, url, folder)
    assert not writer.fallbacks
    ideal = 2 * options.runs * options.latency / options.workers
    figures = {
        f"wall time of {options.runs} runs to the ideal {ideal:.1f} s": (report.seconds["distill"] / ideal, WALL_RATIO),
        "processor milliseconds a run, the whole build": (1000 * seconds / options.runs, CPU_MILLISECONDS),
    }
    missed = 0
    for name, (value, limit) in figures.items():
        missed += value > limit
        print(f"{'MISSED' if value > limit else 'ok':7}{name}: {value:.2f} (limit {limit:g})")
    return int(missed > 0)


def _options() -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds a reply takes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
