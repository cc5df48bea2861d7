"""What a test needs instead of services: a loopback server, a stub embedder, a scripted writer, and made-up runs.

Nothing here patches anything: a test talks to a real server on 127.0.0.1, or hands over an object that keeps the
same protocol as the real one.
"""

from __future__ import annotations

from amd.testing.embedder import StubEmbedder
from amd.testing.runs import openai_chat, run
from amd.testing.server import Fault, LoopbackServer
from amd.testing.wire import Request
from amd.testing.writer import ScriptedWriter

__all__ = ["Fault", "LoopbackServer", "Request", "ScriptedWriter", "StubEmbedder", "openai_chat", "run"]
