"""What an answer of an OpenAI-compatible server needs before the harness can take it.

The harness was written for one vendor's answers: an empty list of tool calls makes its agent answer nothing for ever,
an id that is no Python name breaks every call, and words that a model thought to itself go to the user. Only the form
is mended: arguments that are no JSON, or a tool that is not there, are the model's own mistakes, and stay.
"""

from __future__ import annotations

import re
from typing import Any

from amd.errors import ClientError
from amd_toolsandbox.faults import ours

__all__ = ["repair", "without_thoughts"]

_THOUGHT = re.compile(r"<think>.*?(?:</think>\s*|\Z)", re.DOTALL)


@ours()
def repair(completion: Any) -> Any:  # noqa: ANN401 - a vendor's object, which is mended in place
    """The completion with ``tool_calls`` and ``content`` as the harness takes them.

    Raises:
        ClientError: it holds no answer: some servers send their own errors that way, with the status 200.
    """
    if not completion.choices or completion.choices[0].message is None:
        raise ClientError(
            f"the endpoint answered without a message: {completion!s:.200}",
            next_step="look at the server's own log, then run the same command again",
        )
    message = completion.choices[0].message
    if isinstance(message.content, str):
        message.content = without_thoughts(message.content)
    if not message.tool_calls:
        message.tool_calls = None
        message.content = message.content or ""
        return completion
    for at, call in enumerate(message.tool_calls):
        name = re.sub(r"\W", "_", call.id or f"call_{at}", flags=re.ASCII)
        call.id = name if name.isidentifier() else f"call_{name}"
        if not (call.function.arguments or "").strip():
            call.function.arguments = "{}"
    return completion


def without_thoughts(text: str) -> str:
    r"""The text without what stands between ``<think>`` and ``</think>``, also where the first tag was in the prompt.

    >>> without_thoughts("<think>He wants it off.</think>\n\nWifi is off."), without_thoughts("Hm.</think>Done.")
    ('Wifi is off.', 'Done.')
    """
    plain = _THOUGHT.sub("", text)
    return plain.rpartition("</think>")[2].lstrip() if "</think>" in plain else plain
