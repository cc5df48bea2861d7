# ruff: noqa: INP001 - each overlay is a distribution of its own
"""Leaves the files out of collection that cannot be imported without their harness."""

from __future__ import annotations

from importlib.util import find_spec

_NEEDS = {
    "overrides": "bfcl/amd_bfcl/student.py",
    "tool_sandbox": "toolsandbox/amd_toolsandbox/student.py",
    "appworld_experiments": "appworld/amd_appworld/ace.py",
}

collect_ignore = [file for module, file in _NEEDS.items() if find_spec(module) is None]
