"""How long the teacher's side and the imports take, as ratios and against the promised limits.

    python scripts/bench_build.py             1,000 made-up runs
    python scripts/bench_build.py --runs 100

Exit code 1 if a limit is missed. Each ratio compares two measurements of this one run, taken in turn, for machines
are noisy; the seconds of the build are this machine's own.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

import amd
from amd.testing import StubEmbedder, run

BUILD_SECONDS = 20.0  # for 1,000 runs, on two cores
IMPORT_AMD_SECONDS = 0.01  # over a bare start of Python: nothing that one would notice
SESSION_RATIO = 1.3  # the first amd.Session against importing numpy and pydantic
REPEATS = 7


def build(runs: int) -> dict[str, tuple[float, float]]:
    """Build ``runs`` runs with rules and hash, then one more; figures with their limits."""
    made = [run(i) for i in range(runs)]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        amd.build_memory(made, Path(folder) / "hash", embedder=amd.load_embedder("hash"))
        seconds = time.perf_counter() - start
        stub = StubEmbedder(width=64)
        amd.build_memory(made, Path(folder) / "stub", embedder=stub)
        stub.texts.clear()
        amd.build_memory([run(runs)], Path(folder) / "stub", embedder=stub)
    return {
        f"seconds to build {runs} runs": (seconds, BUILD_SECONDS * runs / 1000),
        f"texts embedded to add one run to {runs}": (len(stub.texts), 7),
    }


def imports() -> dict[str, tuple[float, float]]:
    """What importing costs, each in processes of its own, in turn."""
    programs = {
        "bare": "pass",
        "amd": "import amd",
        "base": "import numpy, pydantic",
        "session": "import amd; amd.Session",
    }
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(REPEATS):
        for name, program in programs.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            seconds[name].append(time.perf_counter() - start)
    pairs = zip(seconds["amd"], seconds["bare"], strict=True)
    ratios = zip(seconds["session"], seconds["base"], strict=True)
    return {
        "seconds that import amd adds": (statistics.median(one - other for one, other in pairs), IMPORT_AMD_SECONDS),
        "first Session / numpy and pydantic": (statistics.median(one / other for one, other in ratios), SESSION_RATIO),
    }


def main() -> int:
    """Print every figure beside its limit."""
    parser = ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=1000)
    figures = {**imports(), **build(parser.parse_args().runs)}
    for name, (found, limit) in figures.items():
        print(f"{name:45} {found:8.3f}   limit {limit:8.3f}   {'ok' if found <= limit else 'MISSED'}")
    return int(any(found > limit for found, limit in figures.values()))


if __name__ == "__main__":
    sys.exit(main())
