"""C13: secrets of a run are in no file and in no word of any command; harmless look-alikes survive."""

from __future__ import annotations

import base64
import json

EMAIL, PASSWORD, TOKEN, CARD = "tess.example@example.org", "Plum-7731!", "c0ffee00c0ffee00", "4111 1111 1111 1111"
SURVIVE = (
    "the password tool asks for the old password first",
    "12446",
    "1735689600",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "report_2024.csv",
    "AAPL",
    "94016",
    "お願いします。よろしく",
)


def call(number, name, arguments, result):
    """A tool call and its result as chat messages."""
    made = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def test_c13_no_door_is_open(amd, tmp_path):
    """User text, arguments, results, an error text that percent-encodes, and every command's own output."""
    said = f"log in as {EMAIL} / pw {PASSWORD}, {' and '.join(SURVIVE)}, {EMAIL}お願い"
    encoded = f"Error: no profile of {EMAIL.replace('@', '%40')} at /u/tess.example%40example.org"
    messages = [
        {"role": "user", "content": said},
        *call(
            1, "login", {"username": EMAIL, "password": PASSWORD}, f'{{"access_token":"{TOKEN}","token_type":"Bearer"}}'
        ),
        *call(2, "profile", {"access_token": TOKEN}, encoded),
        *call(3, "profile", {"access_token": TOKEN, "user": EMAIL}, f'{{"welcome": "{EMAIL}"}}'),
        *call(4, "pay", {"access_token": TOKEN, "card": CARD, "amount": 1249.99}, '{"status": "paid"}'),
    ]
    runs = tmp_path / "runs.jsonl"
    runs.write_text(json.dumps({"task_id": "t1", "score": 1.0, "messages": messages}), encoding="utf-8")
    out = tmp_path / "out"
    task = ("--benchmark", "openai-chat", "--task-id", "t1", "--protocol", "in-sample")
    commands = (
        ("build", "openai-chat", runs, "--out", out),
        ("build", "openai-chat", runs, "--out", out, "--json"),
        ("check", out),
        ("show", out),
        ("show", out, "--json"),
        ("ask", out, "--instruction", said, *task, "--json"),
        ("ask", out, "--instruction", "log in", *task, "--error", "profile", encoded),
    )
    results = [amd(*command) for command in commands]
    assert [result.code for result in results] == [0] * len(commands)
    written = b"\n".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    everything = written + "".join(result.out + result.err for result in results).encode()
    for secret in (EMAIL, EMAIL.replace("@", "%40"), PASSWORD, TOKEN, CARD, CARD.replace(" ", "")):
        forms = {secret, json.dumps(secret)[1:-1], base64.b64encode(secret.encode()).decode().rstrip("=")}
        assert [form for form in forms if form.encode() in everything] == []
    assert [kept for kept in SURVIVE if kept.encode() not in written] == []
