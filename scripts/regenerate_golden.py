"""Write the golden texts anew: every record of the runs in examples/runs.json, as a student reads it.

    python scripts/regenerate_golden.py            write tests/golden/records.md and tests/golden/baselines.md
    python scripts/regenerate_golden.py FOLDER     write them into another folder

Read the difference before you commit it: the golden files are what a person found good to read.
"""

from __future__ import annotations

import sys
from pathlib import Path

from amd.build import admit
from amd.build.distill import distill
from amd.methods import method_named
from amd.tier import RULES, FailedCall, Hit, Question, Style
from amd.traces import load_reader

ROOT = Path(__file__).parent.parent
RUNS = ROOT / "examples" / "runs.json"
GOLDEN = ROOT / "tests" / "golden"
METHODS = {"records.md": "amd", "baselines.md": "reasoning_bank+memp+memp-keywords+sasm"}


def records_as_text(runs: Path, method: str = "amd") -> str:
    """The records of a file of runs in Markdown: origin, key, and the text that a student is shown.

    A tier that learns from failed runs is shown those of the file too.
    """
    reader = load_reader("openai-chat")
    failures = method != "amd"
    gate = admit(reader.read([runs], reader.options()), include_failures=failures)
    tiers = method_named(method, include_failures=failures).tiers
    found = distill(gate.admitted, tiers, RULES, created_at="")
    lines = ["# Records of examples/runs.json", ""]
    for tier in tiers:
        for record in found.records[tier.name].values():
            error = str(record.body.get("error", ""))
            question = Question("error", record.key, failed=FailedCall(record.tool or "", {}, error))
            shown = "\n".join(part.text for part in tier.render([Hit(record, 1.0)], question, Style()))
            origin = f"## {record.task.task_id}, {tier.name}, calls {record.source.steps[0]}-{record.source.steps[1]}"
            lines += [origin, "", f"key: {record.key}", "", "```", shown, "```", ""]
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Write the golden files into their folder, or into the one that is named."""
    folder = Path(arguments[0]) if arguments else GOLDEN
    for name, method in METHODS.items():
        (folder / name).write_text(records_as_text(RUNS, method), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
