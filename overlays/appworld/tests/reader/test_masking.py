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
from amd.traces import ReaderOptions, load_reader, write
from amd_appworld.tasks import INVENTED_TERMS, TERMS

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


ROWS = "rows = apis.supervisor.show_account_passwords()"
LOGINS = tuple((f"apis.music.login(username='x', password=rows[{at}]['password'])", GOOD) for at in (0, 1))
DONE = ("apis.supervisor.complete_task()", GOOD)
CAUGHT = (
    f"{ROWS}\nprint(rows[0]['password'], rows[1]['password'])\n"
    "try:\n    apis.music.login(username='x')\nexcept Exception as e:\n    print('sorry', e)"
)
FIELD = 'sorry Response status code is 422:\n{"message":"Validation error. Reason: \\npassword: field required"}'
BARE = {
    "with a caught error": (((CAUGHT, f"q7!Vault#33 Zk_music_04\n{FIELD}"),), ("q7!Vault#33", "Zk_music_04")),
    "plain words": (
        ((f"{ROWS}\nprint(rows[0]['password'], rows[1]['password'])", "sunflowers Marigold"),),
        ("sunflowers", "Marigold"),
    ),
    "no telling word in the cell": (
        (
            (ROWS, GOOD),
            ("for row in rows:\n    print(list(row.values()))", "['music', 'sunflowers']\n['b', 'Zk_music_04']"),
        ),
        ("sunflowers", "Zk_music_04"),
    ),
    "a dictionary in a loop": (
        (
            (ROWS, GOOD),
            ("for row in rows:\n    print(row)", "{'app': 'a', 'password': 'sunflowers'}\n{'pin': 'Marigold'}"),
        ),
        ("sunflowers", "Marigold"),
    ),
    "by a function of the agent's own": (
        (
            (
                f"def show(them):\n    for one in them:\n        print(*one.values())\n{ROWS}\nshow(rows)",
                "a sunflowers\nb pale",
            ),
        ),
        ("sunflowers", "pale"),
    ),
}


@pytest.mark.parametrize("with_log", [True, False])
@pytest.mark.parametrize("name", BARE)
def test_secrets_that_were_printed_bare(root, name, with_log):
    """They stand under no key of any call; the agent names them. No model is told, and its other words stay."""
    shown, secrets = BARE[name]
    cells = (*shown, *LOGINS, DONE)
    told = f"For music they are {secrets[0]} and {secrets[1]}, I try both."
    texts = (*("I look.",) * len(shown), told, "", "Done, I think.")
    sent = [{"method": "get", "url": "/supervisor/account_passwords", "data": {}}] + [
        {"method": "post", "url": "/music/auth/token", "data": {"username": "x", "password": secret}}
        for secret in secrets
    ]
    root.run(cells=cells, texts=texts, requests=(*sent, REQUESTS[-1]) if with_log else None)
    assert [step.text for step in root.only().turns[0].steps] == list(texts)  # the control: they are there to be found
    with LoopbackServer(chat=words, models=["builder"]) as server:
        held, _ = build(root, "--distiller", "builder", "--base-url", server.url, "--reasoning")
        asked = "\n".join(json.dumps(request.body, ensure_ascii=False) for request in server.requests)
    assert [secret for secret in secrets if secret in held + asked] == []
    assert re.search(r"For music they are <\w+> and <\w+>, I try both\.", asked)
    assert "Done, I think." in asked


def test_words_of_the_interface_stay(root):
    """A cell that prints the names of the apps beside their passwords makes no secret of these names."""
    printed = "passwords = {row['account_name']: row['password'] for row in rows}\nprint(sorted(passwords))"
    cells = ((ROWS, GOOD), (printed, "['music', 'supervisor', 'sunflowers']"), CELLS[4], CELLS[7], DONE)
    told = "I call music.show_songs of the music app as the supervisor said, with order, and sunflowers."
    root.run(cells=cells, texts=("I ask.", "I look.", "Log in to music.", told, "Done."), requests=None)
    assert root.notes() == {}
    held, _ = build(root)
    assert re.search(r"I call music.show_songs of the music app as the supervisor said, with order, and <\w+>\.", held)


def test_a_file_of_runs_tells_no_more(root, tmp_path):
    """What ``amd read`` wrote holds no secret that stands under no key, and the memory of it holds none at all."""
    cells, secrets = BARE["plain words"]
    asked = "Use sunflowers, or write to tess.quill@example.org."
    root.write(f"data/tasks/{TASK}/specs.json", {"instruction": asked})
    texts = ("I look.", f"They are {' and '.join(secrets)}.", "", "Done.")
    root.run(cells=(*cells, *LOGINS, DONE), texts=texts, requests=None)
    path = tmp_path / "runs.jsonl"
    write(path, [root.only()])
    assert [secret for secret in secrets if secret in path.read_text(encoding="utf-8")] == []
    (run,) = load_reader("amd").read([path], ReaderOptions())
    assert run.turns[0].steps[1].text == "They are <secret> and <secret>."


def test_the_memory_says_what_may_be_done_with_it(root):
    """In its manifest, of AppWorld's tasks and of an invented world's."""
    assert build(root)[1]["sources"]["terms"] == TERMS
    root.write("data/invented-world.json", {})
    shutil.rmtree(root.path / "memory")
    held, manifest = build(root)
    assert manifest["sources"]["terms"] == INVENTED_TERMS
    assert "which are free" in held
