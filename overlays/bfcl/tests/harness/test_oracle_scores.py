"""The answer key, replayed here and written as results, is scored by the harness's own evaluator."""

from __future__ import annotations

import json

from amd.arms import Arm
from amd_bfcl.families import Category
from amd_bfcl.lines import replace_lines
from amd_bfcl.package import TESTED_VERSION
from amd_bfcl.run import Run, Settings


def _line(run):
    """A result line of the run, as a function-calling model would have made it."""
    turns = []
    for turn in run.turns:
        step = [{call.name: json.dumps(call.arguments)} for call in turn.calls]
        turns.append([*([step] if step else []), "Done."])
    ones = [[1] * len(turn) for turn in turns]
    counts = dict.fromkeys(("input_token_count", "output_token_count", "latency"), ones)
    return {"id": run.task.task_id, "result": turns, **counts}


def test_all_800_replays_are_right(cli, oracle, tmp_path):
    """Every replay is right in the evaluator's eyes; one wrong answer in each category is found (the control)."""
    for name, spoilt in (("whole", 0), ("spoilt", 1)):
        run = Run(tmp_path / name)
        run.begin(
            Settings(
                name="oracle-FC",
                model="oracle",
                calling="fc",
                base_url=None,
                categories=tuple(Category),
                ids=None,
                arm=Arm(method="none"),
                memory_content=None,
                memory_seal=None,
                harness=(),
                bfcl_eval=TESTED_VERSION,
                tasks_sha256="0" * 64,
            )
        )
        for category in Category:
            lines = [_line(each) for each in oracle(category)]
            for line in lines[:spoilt]:
                line["result"] = [["Done."] for _ in line["result"]]
            replace_lines(run.result_file(category), lines)
        done = cli("evaluate", run.path, "--json")
        assert done.code == 0, done.err
        expected = {"correct": 200 - spoilt, "total": 200}
        assert done.json["scores"] == {str(category): expected for category in Category}
