"""``play`` with the answer key of the installed harness, until it is interrupted."""

from __future__ import annotations

import json
import re
import signal
from urllib.request import urlopen


def test_it_serves_until_it_is_interrupted(start):
    """One line says where, what, and that no model is behind it; Ctrl-C is the normal end."""
    with start("play", "--port", "0") as process:
        line = process.stdout.readline()
        url = line.split()[0]
        with urlopen(f"{url}/models") as answer:
            models = [model["id"] for model in json.load(answer)["data"]]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert re.fullmatch(
        rf"{url} serves the models 'toolsandbox-oracle' and 'scripted-user': the answer key of 101 bases, "
        r"each with its 8 variants\. No model is behind it\. Stop it with Ctrl-C\.\n",
        line,
    )
    assert models == ["toolsandbox-oracle", "scripted-user"]
    assert (process.returncode, out, err) == (0, "stopped\n", "")
