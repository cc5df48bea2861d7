"""Result and score files as the harness writes them, of invented runs; what the reader's tests are made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amd.arms import RunLog
from amd.traces import Item, Refusal, Trajectory, load_reader, reader_options
from amd_bfcl.families import family

READER = load_reader("bfcl")

DECODED = "Successfully decoded model response."
UNDECODED = "Error decoding the model response. Proceed to next turn."
EMPTY = "Empty response from the model. Proceed to next turn."
FORCED = "Model has been forced to quit after 20 steps."

Call = tuple[str, dict[str, Any], str]
"""Name, arguments, and what the tool says."""


@dataclass(frozen=True)
class Said:
    """One step: words, or calls with their results."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str = ""

    def content(self, style: str) -> Any:
        """The step as the handlers of this style give it."""
        if not self.calls:
            return [self.text] if style == "claude" else self.text
        if style == "prompting":
            return f"[{', '.join(self.decoded(style))}]"
        return [{name: json.dumps(arguments)} for name, arguments, _ in self.calls]

    def decoded(self, style: str) -> list[str]:
        """The calls as the harness decodes them."""
        between = ", " if style == "prompting" else ","
        return [
            f"{name}({between.join(f'{key}={value!r}' for key, value in arguments.items())})"
            for name, arguments, _ in self.calls
        ]

    def entries(self, style: str) -> list[dict[str, Any]]:
        """The step in ``inference_log``."""
        answer = {"role": "assistant", "content": self.content(style)}
        if self.reasoning:
            answer["reasoning_content"] = self.reasoning
        if not self.calls:
            return [answer, {"role": "handler_log", "content": UNDECODED, "error": "no calls"}]
        success = {"role": "handler_log", "content": DECODED, "model_response_decoded": self.decoded(style)}
        return [answer, success, *({"role": "tool", "content": result} for _, _, result in self.calls)]


def call(*calls: Call, reasoning: str = "") -> Said:
    """A step with calls."""
    return Said(calls=calls, reasoning=reasoning)


MOVE = ("mv", {"source": "a.txt", "destination": "old"}, '{"result": "moved"}')
LOOK = ("ls", {"a": True}, '{"current_directory_content": ["a.txt"]}')
LOST = ("cd", {"folder": "attic"}, '{"error": "cd: \'attic\': No such directory"}')
WRONG = ("ls", {"bogus": 1}, "Error during execution: ls() got an unexpected keyword argument 'bogus'")

TURNS = [
    ("Tidy the invented folder.", [call(LOOK, LOST), call(MOVE), Said("Tidied.")]),
    ("Now show it.", [call(LOOK), Said("Here it is.")]),
]


def query(words: str | None, style: str = "fc", system: str = "") -> list[dict[str, Any]]:
    """The messages that open a turn."""
    content = [{"type": "text", "text": words}] if style == "claude" else words
    opening = [{"role": "system", "content": system}] if system else []
    return [*opening, {"role": "user", "content": content}]


def turn(words: str | None, steps: list[Said], style: str = "fc", system: str = "") -> dict[str, Any]:
    """A turn of ``inference_log``."""
    entries = {f"step_{number}": said.entries(style) for number, said in enumerate(steps)}
    return {"begin_of_turn_query": query(words, style, system), **entries}


def line(task_id: str, turns: Any = None, style: str = "fc", **more: Any) -> dict[str, Any]:
    """A line of a result file; ``more`` replaces or adds members, and ``None`` takes one out."""
    turns = TURNS if turns is None else turns
    state = [{"role": "state_info", "class_name": "GorillaFileSystem", "content": {"root": "<Directory>"}}]
    log = [state]
    for words, steps in turns:
        log += [turn(words, steps, style), state]
    built = {
        "id": task_id,
        "result": [[said.content(style) for said in steps] for _, steps in turns],
        "latency": [[0.5 for _ in steps] for _, steps in turns],
        "inference_log": log,
    } | more
    return {name: value for name, value in built.items() if value is not None}


def failed_line(task_id: str) -> dict[str, Any]:
    """A line whose request failed: an error text for a result, and no log."""
    return {"id": task_id, "result": "Error during inference: connection reset", "traceback": "..."}


def write_lines(path: Path, lines: list[Any]) -> Path:
    """A JSONL file; a text is written as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def write_results(
    root: Path, lines: list[Any], category: str = "multi_turn_base", model: str = "sample-model-FC", version: int = 4
) -> Path:
    """A result file where the harness puts it: grouped in version 4, flat in version 3."""
    group = ("multi_turn",) if version == 4 else ()
    return write_lines(root.joinpath("result", model, *group, f"BFCL_v{version}_{category}_result.json"), lines)


def score_of(results: Path) -> Path:
    """Where the score file of a result file lies."""
    return Path(str(results).replace("/result/", "/score/").replace("_result.json", "_score.json"))


def score_lines(
    total: int, failed: list[str], model: str = "sample-model-FC", category: str = "multi_turn_base", **header: Any
) -> list[Any]:
    """The lines of a score file."""
    correct = total - len(failed)
    counts = {"accuracy": correct / total if total else 0, "correct_count": correct, "total_count": total} | header
    error = {"error_type": "multi_turn:instance_state_mismatch", "error_message": "differs", "details": {}}
    common = {"model_name": model, "test_category": category, "valid": False, "error": error}
    return [counts, *({"id": task_id} | common for task_id in failed)]


def items(*paths: Path, **options: object) -> list[Item]:
    """All that the reader gives."""
    return list(READER.read(list(paths), reader_options(READER, options)))


def runs(*paths: Path, **options: object) -> list[Trajectory]:
    """The trajectories."""
    return [item for item in items(*paths, **options) if isinstance(item, Trajectory)]


def refused(*paths: Path, **options: object) -> list[tuple[int, str]]:
    """(line, reason) of each refusal."""
    found = [item for item in items(*paths, **options) if isinstance(item, Refusal)]
    return [(int(item.where.rpartition(":")[2]), item.reason) for item in found]


def ids(*numbers: int, category: str = "multi_turn_base") -> list[str]:
    """Task ids."""
    return [f"{category}_{number}" for number in numbers]


def scored(root: Path, lines: list[Any], failed: Sequence[str] = (), total: int | None = None, **more: Any) -> Path:
    """A result file with a score file beside it that counts its ids, or ``total``."""
    path = write_results(root, lines, **more)
    found = {value["id"] for value in lines if isinstance(value, dict) and "id" in value}
    write_lines(score_of(path), score_lines(len(found) if total is None else total, list(failed)))
    return path


def run_log(task_id: str, **more: object) -> dict[str, Any]:
    """What a run of ours writes under the key ``amd``."""
    values = {
        "method": "amd",
        "protocol": "self-excluded",
        "mode": "static",
        "layout": "block",
        "memory": "0" * 64,
        "task_id": task_id,
        "family": family(task_id),
        "exposures": (),
        "calls": 0,
        "failed_calls": 0,
        "hints": 0,
        "placeholders": 0,
        "system_changes": 0,
    }
    return RunLog(**values | more).as_json()
