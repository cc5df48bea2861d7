"""From recorded runs to a student's prompt, in one file and a few seconds.

    python examples/build_and_ask.py

The runs are made up. With your own, name their format and their files:
``reader = load_reader("openai-chat"); runs = reader.read([Path("runs.jsonl")], reader.options())``.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import amd
from amd.testing import run


def main() -> None:
    """Build a memory from four runs and show what the second task's student would read."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memory"
        report = amd.build_memory([run(i) for i in range(4)], path, embedder=amd.load_embedder("hash"))
        print(f"{report.admitted} of {report.read} runs admitted, records: {dict(report.records)}")

        task = run(1).task
        with amd.open_memory(path) as memory:
            session = amd.Session(memory, viewer=amd.self_excluded(task), tools=run(1).tools)
            messages = [{"role": "user", "content": task.instruction}]
            for message in amd.prepend_memory(messages, session.before_task(task.instruction)):
                print(f"\n[{message['role']}]\n{message['content']}")

            print()
            for exposure in session.exposures:
                print(f"{exposure.tier}: from {exposure.families}, hidden {dict(exposure.excluded)}")
                assert task.family not in exposure.families


if __name__ == "__main__":
    main()
