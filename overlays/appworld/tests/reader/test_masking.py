"""Passwords, tokens, telephone numbers and e-mail addresses of a run reach neither a memory nor a builder's model."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest
from made_experiments import DENIED, TASK, Root, failed

from amd.testing import LoopbackServer

JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ0ZXNzIn0.4olrYeuhmjeIE4xzqkEKueUrPmu2kmr62"
SECRETS = (
    "pw-Tess-91x",  # written out in a call
    "q7!Vault#33",  # a variable of an earlier cell
    "Zk_music_04",  # only printed, whole, in what the environment answered
    "ev8}Fz~o2b",  # computed by the code: it stands in the log of requests alone
    JWT,
    "opaque-token-5517-aa",  # a token of no known shape
    "tess.quill@example.org",
    "bo.tern@example.com",
    "5550102938",  # a telephone number without separators
    "415-555-0199",
)
GOOD = "Execution successful."
LOGIN = "apis.music.login(username='tess.quill@example.org', password='pw-Tess-91x')"

CELLS = (
    (
        "# the password is pw-Tess-91x, the phone 5550102938\nprint(apis.supervisor.show_account_passwords())",
        json.dumps(
            [
                {"account_name": "music", "password": "pw-Tess-91x", "email": "tess.quill@example.org"},
                {"account_name": "spare", "password": "Zk_music_04", "phone_number": "5550102938"},
            ],
            indent=1,
        ),
    ),
    (
        "apis.music.show_songs(access_token='opaque-token-5517-aa')",
        failed(1, "apis.music.show_songs(access_token='opaque-token-5517-aa')", f"{DENIED} Mail bo.tern@example.com."),
    ),
    ("vault = 'q7!Vault#33'\nmail = 'bo.tern@example.com'", GOOD),
    (
        "apis.music.login(username=mail, password=vault)",
        failed(1, "apis.music.login(username=mail, password=vault)", "Invalid credentials"),
    ),
    (f"print({LOGIN})", json.dumps({"access_token": JWT, "token_type": "Bearer"}, indent=1)),
    (
        "for row in apis.supervisor.show_account_passwords():\n    print(row['account_name'], row['password'])",
        "music pw-Tess-91x\nspare Zk_music_04",
    ),
    ("other = apis.music.login(username=f'{name}@example.com', password=words[1])", GOOD),
    (
        f"found = apis.music.show_songs(access_token='{JWT}', order='louder')\nprint(found)",
        json.dumps(
            [{"song_id": 3, "owner": {"email": "tess.quill@example.org", "phone_number": "5550102938"}}], indent=1
        ),
    ),
    ("apis.supervisor.complete_task(answer='tess.quill@example.org')", GOOD),
)
TEXTS = (
    "I look up the password.",
    "I try the token opaque-token-5517-aa, as `Authorization: Bearer opaque-token-5517-aa`.",
    "The vault's word is q7!Vault#33, for bo.tern@example.com.",
    "Log in with q7!Vault#33.",
    "pw-Tess-91x is the right one; call 415-555-0199 or 5550102938 otherwise.",
    "The spare account has Zk_music_04.",
    "Now with ev8}Fz~o2b for the other account.",
    f'The header is {{"Authorization": "Bearer {JWT}"}}.',
    "Answer with tess.quill@example.org.",
)
REQUESTS = (
    {"method": "get", "url": "/supervisor/account_passwords", "data": {}},
    {"method": "get", "url": "/music/songs", "data": {"access_token": "opaque-token-5517-aa"}},
    {
        "method": "post",
        "url": "/music/auth/token",
        "data": {"username": "bo.tern@example.com", "password": "q7!Vault#33"},
    },
    {
        "method": "post",
        "url": "/music/auth/token",
        "data": {"username": "tess.quill@example.org", "password": "pw-Tess-91x"},
    },
    {
        "method": "post",
        "url": "/music/auth/token",
        "data": {"username": "bo.tern@example.com", "password": "ev8}Fz~o2b"},
    },
    {"method": "get", "url": "/music/songs", "data": {"access_token": JWT, "order": "louder"}},
    {"method": "post", "url": "/supervisor/message", "data": {"answer": "tess.quill@example.org"}},
)


@pytest.fixture
def root(tmp_path):
    """A run that holds every secret, in its code, its answers and the agent's words."""
    made = Root(tmp_path).data().run(cells=CELLS, texts=TEXTS, requests=REQUESTS)
    asked = "Who owns my loudest song? Write to tess.quill@example.org or call 415-555-0199."
    return made.write(f"data/tasks/{TASK}/specs.json", {"instruction": asked})


def build(root, *more):
    """``amd build`` in a process of its own; everything that the memory's files hold."""
    out = root.path / "memory"
    command = (
        sys.executable,
        "-m",
        "amd",
        "build",
        "appworld",
        root.experiment,
        "--out",
        out,
        "--embedder",
        "hash",
        *more,
    )
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    held = b"\n".join(path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file())
    return held.decode("utf-8", "replace") + done.stdout + done.stderr, json.loads((out / "manifest.json").read_bytes())


def leaked(text):
    """The secrets that a text holds, as they are or as JSON writes them."""
    return {secret for secret in SECRETS if secret in text or json.dumps(secret)[1:-1] in text}


def words(body):
    """The model's reply, in the words of the run that it is shown: what it read comes back."""
    system, told = (message["content"] for message in body["messages"][:2])
    calls = [int(number) for number in re.findall(r"^Call (\d+):", told, re.MULTILINE)]
    if "Divide the calls" in system:
        segment = {"start_step": 1, "end_step": max(calls), "label": "find the owner", "description": "It is found."}
        return json.dumps({"segments": [segment]})
    if "For each call" in system:
        return json.dumps({"reasons": [{"step": number, "why": "It was needed."} for number in calls]})
    return json.dumps({"text": "Log in first, then list the songs. Check the owner at the end."})


def test_every_secret_is_in_the_input(root):
    """The control: without it the tests below say nothing."""
    logs = "\n".join(path.read_text(encoding="utf-8") for path in root.logs().iterdir())
    assert leaked(logs) == set(SECRETS)
    run = root.only()
    assert leaked(
        json.dumps(
            [[step.text, [[c.observation, dict(c.arguments)] for c in step.calls]] for step in run.turns[0].steps]
        )
    ) == set(SECRETS)


def test_none_is_in_a_memory_made_by_rules(root):
    """Whatever the tier; what is no secret is there."""
    held, manifest = build(root)
    assert leaked(held) == set()
    assert "music.show_songs" in held
    assert "louder" in held
    assert manifest["sources"]["admitted"] == 1


def test_none_reaches_a_model_nor_the_memory_in_its_words(root):
    """Of all requests that the builder sends, reasons asked for too."""
    with LoopbackServer(chat=words, models=["builder"]) as server:
        held, _ = build(root, "--distiller", "builder", "--base-url", server.url, "--reasoning")
        sent = "\n".join(json.dumps(request.body, ensure_ascii=False) for request in server.requests)
    assert leaked(held) == set()
    assert leaked(sent) == set()
    assert "music.show_songs" in sent


def test_a_secret_that_was_only_printed_bare(root):
    """It stands under no key anywhere: words that repeat it are left out, and counted; other words stay."""
    printed = "for row in rows:\n    print(row['account'], row['password'], row['phone'])"
    cells = ((printed, "music Bare-secret-7\nspare hunter22 5559871234"), CELLS[4], CELLS[4], CELLS[8])
    texts = ("I look.", "I use Bare-secret-7 for this.", "Or ring 5559871234.", "Done, I think.")
    root.run(cells=cells, texts=texts, requests=None)
    assert [step.text for step in root.only().turns[0].steps] == ["I look.", "", "", "Done, I think."]
    assert root.notes() == {"words_left_out": 2}
    held, _ = build(root)
    assert not any(value in held for value in ("Bare-secret-7", "hunter22", "5559871234"))
    assert "Done, I think." in held


def test_the_memory_says_that_it_may_not_be_published(root):
    """In its manifest, unless the world is an invented one."""
    assert "plain text" in build(root)[1]["sources"]["terms"]
    root.write("data/invented-world.json", {})
    shutil.rmtree(root.path / "memory")
    assert build(root)[1]["sources"]["terms"] is None
