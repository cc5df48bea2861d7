"""Made-up experiments in AppWorld's shapes: invented tasks, people and APIs."""

from __future__ import annotations

import json
from pathlib import Path

from amd.traces import Note, Refusal, Trajectory, load_reader, reader_options

READER = load_reader("appworld")
TASK = "abc1234_1"
ASKED = "How many of my songs are loud?"
MODEL = "big-model"

DOCS = {
    "music": {
        "login": {
            "path": "/music/auth/token",
            "method": "POST",
            "description": "Log in to the app.",
            "parameters": [
                {"name": "username", "type": "string", "required": True, "constraints": ["value is email address"]},
                {"name": "password", "type": "string", "required": True},
            ],
        },
        "show_songs": {
            "path": "/music/songs",
            "method": "GET",
            "description": "List the songs.",
            "parameters": [
                {"name": "access_token", "type": "string", "required": True},
                {"name": "page_index", "type": "integer", "required": False, "constraints": ["value >= 0.0"]},
                {"name": "order", "type": "string", "constraints": ["value in ['louder', 'softer']"]},
            ],
        },
        "show_song": {
            "path": "/music/songs/{song_id}",
            "method": "GET",
            "description": "Show one song.",
            "parameters": [{"name": "song_id", "type": "integer", "required": True}],
        },
    },
    "supervisor": {
        "show_account_passwords": {
            "path": "/supervisor/account_passwords",
            "method": "GET",
            "description": "Show the passwords.",
            "parameters": [],
        },
        "complete_task": {
            "path": "/supervisor/message",
            "method": "POST",
            "description": "End the task.",
            "parameters": [{"name": "answer", "type": "number | integer | string", "required": False}],
        },
    },
}
"""Two invented apps, in the shape of AppWorld's standard documents."""

DENIED = (
    "You are either not authorized to access this music API endpoint "
    "or your access token is missing, invalid or expired."
)


def failed(line, source, message, *, status=401, marks=""):
    """What the environment answers when a request fails in a line of the cell."""
    carets = f"\n    {marks}" if marks else ""
    body = json.dumps({"message": message}, separators=(",", ":"))
    return (
        f'Execution failed. Traceback:\n  File "<python-input>", line {line}, in <module>\n    {source}{carets}\n'
        f"Exception: Response status code is {status}:\n{body}"
    )


def interaction(number, code, output):
    """One cell as the environment's log has it."""
    return f"\n### Environment Interaction {number}\n{'-' * 76}\n```python\n{code}\n```\n\n```\n{output}\n```\n\n"


def log(*cells):
    """The environment's log."""
    return "".join(interaction(number, code, output) for number, (code, output) in enumerate(cells, 1))


def reply(code, text="", model=MODEL, messages=None):
    """One line of the model's log."""
    asked = [{"role": "user", "content": f"Task: {ASKED}"}] if messages is None else messages
    content = f"{text}\n```python\n{code}\n```" if text else f"```python\n{code}\n```"
    choice = {"index": 0, "message": {"role": "assistant", "content": content}}
    return json.dumps({"id": "x", "input": {"model": model, "messages": asked}, "output": {"choices": [choice]}})


CELLS = (
    (
        "print(apis.music.show_songs(order='louder'))",
        failed(1, "print(apis.music.show_songs(order='louder'))", DENIED, marks="      " + "^" * 37),
    ),
    (
        "token = apis.music.login(username='tess@example.org', password='pw-tess-9')['access_token']",
        "Execution successful.",
    ),
    ("songs = apis.music.show_songs(access_token=token, order='louder')\nprint(songs)", '[\n {\n  "song_id": 3\n }\n]'),
    ("apis.supervisor.complete_task(answer=len(songs))", "Execution successful."),
)
TEXTS = ("I look at the songs.", "I must log in first.", "", "There is one.")
REQUESTS = (
    {"method": "get", "url": "/music/songs", "data": {"order": "louder"}},
    {"method": "post", "url": "/music/auth/token", "data": {"username": "tess@example.org", "password": "pw-tess-9"}},
    {"method": "get", "url": "/music/songs", "data": {"access_token": "t-123", "order": "louder"}},
    {"method": "post", "url": "/supervisor/message", "data": {"answer": 1}},
)


def report(passed=3, failed_tests=0):
    """The report of a task's evaluation."""
    return (
        f"──── Overall Stats ────\nNum Passed Tests : {passed}\nNum Failed Tests : {failed_tests}\n"
        f"Num Total  Tests : {passed + failed_tests}\n──── Passes ────\n"
    )


def verdict(success=True, **more):
    """A task of an evaluation."""
    tests = [{"requirement": "assert answers match.", "label": "no_op_fail"}]
    passes, failures = (tests, []) if success else ([], tests)
    return {"success": success, "difficulty": 1, "num_tests": 1, "passes": passes, "failures": failures, **more}


class Root:
    """A root in a temporary folder, with data and one experiment; each method adds something and gives the root."""

    def __init__(self, path: Path, name="run") -> None:
        self.path = path
        self.experiment = path / "experiments" / "outputs" / name

    def write(self, place, content):
        """A file below the root: text, bytes, or JSON."""
        path = self.path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return self

    def data(self, *tasks, split="train", docs=True):
        """The tasks of a dataset, and the documents of the APIs."""
        for task in tasks or (TASK,):
            self.write(f"data/tasks/{task}/specs.json", {"instruction": ASKED, "supervisor": {}})
        if split:
            self.write(f"data/datasets/{split}.txt", "\n".join(tasks or (TASK,)) + "\n")
        for app, apis in DOCS.items() if docs else ():
            self.write(f"data/api_docs/standard/{app}.json", apis)
        return self

    def run(self, task=TASK, cells=CELLS, texts=TEXTS, requests=REQUESTS, scored=True, **more):
        """A task's run, with its own report."""
        place = self.experiment.relative_to(self.path) / "tasks" / task
        self.write(place / "logs/environment_io.md", log(*cells))
        if texts is not None:
            lines = [reply(code, text, **more) for (code, _), text in zip(cells, texts, strict=True)]
            self.write(place / "logs/lm_calls.jsonl", "".join(f"{line}\n" for line in lines))
        if requests is not None:
            self.write(place / "logs/api_calls.jsonl", "".join(f"{json.dumps(one)}\n" for one in requests))
        if scored is not None:
            self.write(place / "evaluation/report.md", report() if scored else report(2, 1))
        return self

    def logs(self, task=TASK):
        """The folder of a task's logs."""
        return self.experiment / "tasks" / task / "logs"

    def evaluation(self, individual, name="train"):
        """An evaluation of the experiment."""
        place = self.experiment.relative_to(self.path) / "evaluations" / f"{name}.json"
        return self.write(place, {"aggregate": {}, "individual": individual})

    def items(self, **options):
        """Everything that the reader gives."""
        return list(READER.read([self.experiment], reader_options(READER, options)))

    def only(self, **options):
        """The only run or refusal that it gives."""
        (found,) = [item for item in self.items(**options) if not isinstance(item, Note)]
        return found

    def notes(self, **options):
        """What it counts."""
        return {item.name: item.count for item in self.items(**options) if isinstance(item, Note)}


def told(run: Trajectory):
    """The calls of a run: name, whether it went well, and its observation."""
    return [(call.name, call.ok, call.observation) for call in run.calls]


__all__ = ["CELLS", "DOCS", "Note", "Refusal", "Root", "Trajectory", "told"]
