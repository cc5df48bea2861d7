"""The command line that serves a student by vLLM, from ``configs/students``: see ``scripts/serve_vllm.sh``.

Needs nothing but Python 3.11, so that it runs in vLLM's own environment.
"""

from __future__ import annotations

import os
import shlex
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

STUDENTS = Path(__file__).resolve().parents[1] / "configs" / "students"
KNOWN = ("repo", "tool_call_parser", "reasoning_parser", "max_model_len", "chat_template", "extra")
"""The keys of a table ``[vllm]``."""


def command(
    student: Mapping[str, object], more: Sequence[str] = (), *, source: str = "", weights: str = ""
) -> list[str]:
    """The words of ``vllm serve`` for a student; ``more`` come last, where vLLM takes the later of two.

    ``source`` is the folder of vLLM's source, where the chat templates of its documentation lie. ``weights`` is a
    folder of weights to serve in place of the hub's repo.

    Raises:
        ValueError: there is no ``model``, no ``repo``, or a key in ``[vllm]`` that nobody reads.

    >>> shlex.join(command({"model": "tiny", "vllm": {"repo": "org/Tiny"}}, ["--port", "8001"]))
    'vllm serve org/Tiny --served-model-name tiny --port 8001'
    """
    vllm = student.get("vllm")
    if "model" not in student or not isinstance(vllm, Mapping) or "repo" not in vllm:
        raise ValueError("it needs a model, and a table [vllm] with a repo")
    if unread := sorted(set(vllm) - set(KNOWN)):
        raise ValueError(f"[vllm] has {', '.join(unread)}; known are: {', '.join(KNOWN)}")
    words = ["vllm", "serve", weights or vllm["repo"], "--served-model-name", student["model"]]
    if "max_model_len" in vllm:
        words += ["--max-model-len", vllm["max_model_len"]]
    if "tool_call_parser" in vllm:
        words += ["--enable-auto-tool-choice", "--tool-call-parser", vllm["tool_call_parser"]]
    if "reasoning_parser" in vllm:
        words += ["--reasoning-parser", vllm["reasoning_parser"]]
    if "chat_template" in vllm:
        words += ["--chat-template", os.path.join(source, vllm["chat_template"])]  # noqa: PTH118 - "" adds nothing
    return [str(word) for word in (*words, *vllm.get("extra", ()), *more)]


def main(arguments: Sequence[str]) -> int:
    """Print the command line of the student that is named first, as a shell reads it."""
    known = sorted(path.stem for path in STUDENTS.glob("*.toml"))
    name = arguments[0] if arguments else ""
    if name.endswith(".toml"):  # the file itself may be named too
        name = Path(name).stem
    if name not in known:
        print(f"{name!r} is no student that is configured; known are: {', '.join(known)}", file=sys.stderr)
        return 2
    path = STUDENTS / f"{name}.toml"
    try:
        student = tomllib.loads(path.read_text(encoding="utf-8"))
        source, weights = os.environ.get("VLLM_SOURCE", ""), os.environ.get("WEIGHTS", "")
        print(shlex.join(command(student, arguments[1:], source=source, weights=weights)))
    except ValueError as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
