"""The harness's environment as ``scripts/setup_bfcl.sh`` makes it: its pins, and nothing heavy."""

from __future__ import annotations

import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from amd_bfcl.package import TESTED_VERSION

LIST = Path(__file__).resolve().parents[2] / "harness-requirements.txt"


def test_every_requirement_is_installed_as_it_is_listed():
    """No pin has moved, whatever else was installed."""
    lines = (line.partition("#")[0].strip() for line in LIST.read_text(encoding="utf-8").split("\n"))
    for requirement in (Requirement(line) for line in lines if line):
        assert requirement.specifier.contains(version(requirement.name)), requirement
    assert version("bfcl-eval") == TESTED_VERSION


@pytest.mark.skipif(find_spec("anthropic") is not None, reason="somebody put the whole package here")
def test_it_is_small():
    """No torch, and under 500 MB on the disk."""
    assert find_spec("torch") is None
    blocks = sum(path.lstat().st_blocks for path in Path(sys.prefix).rglob("*"))
    assert blocks * 512 < 500 * 2**20
