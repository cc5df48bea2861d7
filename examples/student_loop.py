"""A student in a loop of one's own: memory before the task, and a hint after a failed call.

    python examples/student_loop.py

The student is a scripted model behind a real server on the loopback device, so this runs anywhere. With a model of your
own, give its ``base_url`` and leave the server out.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openai

import amd
from amd.testing import LoopbackServer, run
from amd.trajectory import is_error


def call(name: str, **arguments: object) -> dict[str, Any]:
    """What the scripted student answers: one tool call."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": f"call_{name}", "type": "function", "function": function}]}


def execute(name: str, arguments: dict[str, Any]) -> str:
    """The tools of the task: ``mv`` insists on the argument ``folder``."""
    if name == "mv" and "folder" not in arguments:
        return '{"error": "mv: missing argument: folder"}'
    return f'{{"{name}": "done"}}'


def attempt(client: openai.OpenAI, session: amd.Session, task: amd.Task) -> list[dict[str, Any]]:
    """Run the student on a task until it stops calling tools; returns the conversation."""
    messages: list[Any] = [{"role": "user", "content": task.instruction}]
    messages = list(amd.prepend_memory(messages, session.before_task(task.instruction)))
    while True:
        reply = client.chat.completions.create(model="stub", messages=messages).choices[0].message
        messages.append(reply.model_dump(exclude_none=True))
        if not reply.tool_calls:
            return messages
        for asked in reply.tool_calls:
            if asked.type != "function":
                raise TypeError(f"the student was offered functions only, it called a {asked.type} tool")
            name, arguments = asked.function.name, json.loads(asked.function.arguments)
            content = execute(name, arguments)
            if is_error(content):
                failed = amd.FailedCall(name, arguments, content, place=f"step {len(messages)}")
                content = amd.append_hint(content, session.after_error(failed))
            messages.append({"role": "tool", "tool_call_id": asked.id, "content": content})


def main() -> None:
    """Let the student fail once, read the hint, and finish."""
    script: list[str | dict[str, Any]] = [
        call("cd", folder="archive"),
        call("mv", target="archive"),
        call("mv", folder="archive"),
        "Done.",
    ]
    with TemporaryDirectory() as folder, LoopbackServer(chat=script) as server:
        amd.build_memory([run(i) for i in range(4)], Path(folder), embedder=amd.load_embedder("hash"))
        client = openai.OpenAI(base_url=server.url, api_key="none", http_client=openai.DefaultHttpxClient())
        task = run(1).task
        with amd.open_memory(folder) as memory, client:
            session = amd.Session(memory, viewer=amd.self_excluded(task), tools=run(1).tools)
            messages = attempt(client, session, task)
    for message in messages:
        print(f"[{message['role']}] {message.get('content') or message['tool_calls'][0]['function']}\n")
    assert any("mv: missing argument" in str(message.get("content")) for message in messages)
    assert {exposure.tier for exposure in session.exposures} >= {"workflow", "function"}


if __name__ == "__main__":
    main()
