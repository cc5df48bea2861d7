"""One build with a model that answers by a rule, as a process of its own, so that it can be killed.

``python resumed_build.py RUNS MEMORY LOG [WORKERS]``: RUNS is a canonical file; each request is appended to LOG before
it is answered, one line a request.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from pathlib import Path

from amd.build import Options, build_memory
from amd.build.journal import Journal
from amd.build.model_writer import ModelWriter
from amd.clients import Abilities, Completion, Usage
from amd.embedders import load_embedder
from amd.methods import method_named
from amd.traces import load_reader


class Chat:
    """Says the same to the same question, slowly enough that a kill can come in between."""

    notices = ()

    def probe(self):
        """What every endpoint should take; nothing is paid for it."""
        return Abilities(json_schema=True, limit="max_tokens", temperature=True, usage=Usage())

    def __init__(self, log):
        self.log = log

    def complete(self, messages, *, max_tokens, schema=None):
        """An insight, or one segment that covers all calls."""
        words = messages[1]["content"]
        mark = hashlib.sha256(str(messages).encode()).hexdigest()[:12]
        with self.log.open("a", encoding="utf-8") as file:
            file.write(f"{mark}\n")
            file.flush()
            os.fsync(file.fileno())
        time.sleep(0.002)
        if "Divide" in messages[0]["content"]:
            last = max(map(int, re.findall(r"^Call (\d+):", words, re.MULTILINE)))
            segment = {"start_step": 1, "end_step": last, "label": f"part {mark}", "description": "It is done."}
            reply = {"segments": [segment]}
        else:
            reply = {"text": f"Look first, then `mv`. {mark}"}
        return Completion(text=json.dumps(reply), finish_reason="stop", usage=Usage(10, 5))


def main(runs, memory, log, workers="1"):
    """Build, and print the digest."""
    reader = load_reader("amd")
    prompts = [prompt for tier in method_named("amd").tiers for prompt in tier.prompts]
    journal = Journal(Path(memory))
    writer = ModelWriter("by-rule", Chat(Path(log)), prompts, journal=journal, prompt_tokens=3_000)
    report = build_memory(
        reader.read([Path(runs)], reader.options()),
        memory,
        embedder=load_embedder("hash"),
        writer=writer,
        options=Options(workers=int(workers)),
    )
    told = {"digest": report.digest, "unused": journal.unused, "recalled": writer.recalled, "costs": dict(writer.costs)}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
