"""The student side: what to show a student, when, and the log of it. It meets the teacher side only in a memory."""

from __future__ import annotations

from amd.session.budget import Limits
from amd.session.session import Session

__all__ = ["Limits", "Session"]
