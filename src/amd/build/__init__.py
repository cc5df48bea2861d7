"""The teacher's side: the gate, distilling, merging and publishing."""

from amd.build.gate import Gate, admit
from amd.build.pipeline import build_memory
from amd.build.report import BuildReport, Options

__all__ = ["BuildReport", "Gate", "Options", "admit", "build_memory"]
