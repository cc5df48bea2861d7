"""What is installed beside the harness: its own pins, nothing heavy, and no more than it imports."""

from __future__ import annotations

import re
from importlib.metadata import requires
from pathlib import Path

import pytest

LIST = Path(__file__).resolve().parents[1] / "harness-requirements.txt"
LINE = re.compile(r"([\w-]+)(?:(==|>=)([\d.]+))? +# .+")


def listed():
    """Name -> (``==``, ``>=`` or nothing, version)."""
    lines = [line for line in LIST.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")]
    matches = [LINE.fullmatch(line) for line in lines]
    assert None not in matches, "a line is a requirement and its reason"
    return {match[1].lower().replace("_", "-"): (match[2] or "", match[3] or "") for match in matches}


def number(version):
    """A version that can be compared."""
    return tuple(int(part) for part in version.split("."))


@pytest.fixture
def asked(package):
    """What the harness asks for, in the same shape, without its extras."""
    found = {}
    for line in requires("bfcl-eval") or ():
        if ";" not in line:
            name, how, version = re.fullmatch(r"([\w-]+)(==|>=)?([\d.]*)", line).groups()
            found[name.lower().replace("_", "-")] = (how or "", version)
    return found


def test_every_line_is_one_of_the_harness_s_own(asked):
    """Its pins are the same, and a lower bound is at least its own; httpx stands for what its openai brought."""
    assert set(listed()) - set(asked) == {"httpx"}
    for name, (how, version) in listed().items():
        own, least = asked.get(name, ("", ""))
        if own == "==":
            assert (how, version) == (own, least), name
        elif own == ">=":
            assert how == own, name
            assert number(version) >= number(least), name
        else:
            assert how == "", name


def test_nothing_heavy_is_listed():
    """No torch, no vendor's client but openai's."""
    assert not set(listed()) & {"torch", "transformers", "sentence-transformers", "faiss-cpu", "anthropic", "boto3"}
    assert len(listed()) == 16
