"""The name that a run goes by in the harness."""

from __future__ import annotations

import hashlib
import re

from amd.arms import Arm
from amd.errors import ConfigError

__all__ = ["check_name", "registry_name"]

_LONGEST = 100
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9.-]*")


def registry_name(model: str, arm: Arm, calling: str) -> str:
    """The name that a run goes by in the harness: the model, the arm, and ``FC`` for function calling.

    The harness makes a folder and a Python name of it, reads ``_`` as ``/``, and takes any name with ``FC`` in it for
    function calling: so only letters, digits, dots and dashes are left, a letter comes first, and ``FC`` says what it
    means.

    >>> registry_name("Qwen/Qwen3_4B:awq", Arm(method="none"), "fc")
    'Qwen-Qwen3-4B-awq-none-FC'
    """
    kind = [arm.method] if arm.method == "none" else [arm.method, arm.protocol, arm.mode, arm.layout]
    short = re.sub(r"[^A-Za-z0-9.]+", "-", model).strip("-.")
    if not short or len(short) > _LONGEST:  # a file system takes no longer names, and other scripts leave none
        short = f"{short[:_LONGEST]}-{hashlib.sha256(model.encode()).hexdigest()[:8]}"
    plain = "-".join([short, *(re.sub(r"[^A-Za-z0-9.]+", "-", word) for word in kind)]).strip("-.").replace("FC", "fc")
    named = plain if plain[0].isalpha() else f"model-{plain}"
    return f"{named}-FC" if calling == "fc" else named


def check_name(name: str, calling: str) -> str:
    """A name that a person chose; ``ConfigError`` if the harness would read it as something else."""
    if not _NAME.fullmatch(name) or len(name) > 2 * _LONGEST or ("FC" in name) != (calling == "fc"):
        raise ConfigError(
            f"{name!r} cannot be a run's name with {calling!r} calling",
            next_step="use letters, digits, dots and dashes, a letter first, and FC in it if and only if it calls "
            "functions",
            name=name,
        )
    return name
