# ruff: noqa: BLE001, D101, D102, T201, TRY002 - it raises, catches and prints what AppWorld does
"""A real HTTP server that speaks the protocol of AppWorld's environment server, over an invented garden.

It stands in the place of an interpreter (``start_garden``): it prints its port, serves, and ends with its parent. It
writes the files that AppWorld writes. Comments in a cell make it misbehave: ``#die``, ``#hang``, ``#break`` (500), each
as often as the file ``ROOT/misbehaves`` has lines. ``ROOT/data/version.txt`` is of another version than the server,
``ROOT/bad_servers`` names logs whose servers die when a world begins, and a task's ``deaths`` has a line for each
evaluation in which its server dies.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).parent
ROOT = Path(os.environ.get("APPWORLD_ROOT", "."))
DOCS = json.loads((HERE / "greenhouse_docs.json").read_text(encoding="utf-8"))
RULE = "-" * 76
DENIED = (
    '{"message":"You are either not authorized to access this garden API endpoint or your access token is missing."}'
)


class App:
    """One app: an attribute is an API, or raises as AppWorld does."""

    def __init__(self, world, name):
        self._world, self._name = world, name

    def __getattr__(self, api):
        if api not in DOCS[self._name]:
            raise Exception(f"No API named '{api}' found in the {self._name} app.")
        return lambda **arguments: self._world.call(self._name, api, arguments)


class Apis:
    """``apis``."""

    def __init__(self, world):
        self._world = world

    def __getattr__(self, app):
        if app not in DOCS:
            raise Exception(f"No app named '{app}' found.")
        return App(self._world, app)


class World:
    """One task's world."""

    def __init__(self, task_id, experiment):
        self.task_id = task_id
        self.folder = ROOT / "experiments" / "outputs" / experiment / "tasks" / task_id
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "logs").mkdir(parents=True)
        self.specs = json.loads((ROOT / "data" / "tasks" / task_id / "specs.json").read_text(encoding="utf-8"))
        self.names = {"apis": Apis(self)}
        self.cells, self.requests, self.watered = [], [], []
        self.answer, self.done = None, False
        self.save()

    def call(self, app, api, arguments):
        doc = DOCS[app][api]
        self.requests.append({"method": doc["method"].lower(), "url": doc["path"], "data": arguments})
        for parameter in doc["parameters"]:
            if parameter["name"] == "access_token" and arguments.get("access_token") != "t0k3n":
                raise Exception(f"Response status code is 401:\n{DENIED}")
            if parameter["required"] and parameter["name"] not in arguments:
                why = f"Validation error. Reason: \\n{parameter['name']}: field required"
                raise Exception(f'Response status code is 422:\n{{"message":"{why}"}}')
        return getattr(self, api)(**arguments)

    def show_account_passwords(self):
        return [{"account_name": "garden", "password": "secret-1"}]

    def login(self, username, password):
        return {"access_token": "t0k3n"}

    def show_beds(self, access_token):
        return [{"bed": "roses"}, {"bed": "beans"}, {"bed": "herbs"}]

    def water_bed(self, access_token, bed):
        self.watered.append(bed)
        return {"message": f"{bed} is wet"}

    def complete_task(self, answer=None):
        self.answer, self.done = answer, True
        return {"message": "done"}

    def execute(self, code):
        code = code.strip()
        if not code:
            return self.row(code, "No code available to execute.")
        try:
            compile(code, "<python-input>", "exec")
        except SyntaxError as error:
            told = f"Execution failed. Traceback:\nSyntax error in line:\n{error.text}\nMessage: {error.msg}"
            return self.row(code, told)
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                exec(compile(code, "<python-input>", "exec"), self.names)
            output = said.getvalue() if said.getvalue().strip() else "Execution successful."
        except Exception as error:
            frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == "<python-input>"]
            lines = code.split("\n")
            where = "\n".join(
                f'  File "<python-input>", line {each.lineno}, in {each.name}\n    {lines[each.lineno - 1].strip()}'
                for each in frames
            )
            output = f"Execution failed. Traceback:\n{where}\n{type(error).__name__}: {error}"
        self.row(code, output)
        self.save()
        return output

    def row(self, code, output):
        self.cells.append((code, output.rstrip()))
        return output

    def save(self):
        blocks = [
            f"\n### Environment Interaction {number}\n{RULE}\n```python\n{code}\n```\n\n```\n{output}\n```\n\n\n"
            for number, (code, output) in enumerate(self.cells, 1)
        ]
        logs = self.folder / "logs"
        (logs / "environment_io.md").write_text("".join(blocks), encoding="utf-8")
        (logs / "api_calls.jsonl").write_text("".join(json.dumps(each) + "\n" for each in self.requests))

    def evaluate(self):
        wanted = json.loads((ROOT / "data" / "tasks" / self.task_id / "ground_truth" / "private_data.json").read_text())
        tests = {"assert the bed is wet.": self.watered == [wanted["bed"]], "assert it is done.": self.done}
        passes = [{"requirement": name, "label": "no_op_fail"} for name, right in tests.items() if right]
        failures = [
            {"requirement": name, "trace": "AssertionError", "label": "no_op_fail"}
            for name, right in tests.items()
            if not right
        ]
        (self.folder / "evaluation").mkdir(exist_ok=True)
        report = (
            f"Num Passed Tests : {len(passes)}\nNum Failed Tests : {len(failures)}\nNum Total  Tests : {len(tests)}\n"
        )
        (self.folder / "evaluation" / "report.md").write_text(report)
        return {
            "success": not failures,
            "difficulty": 1,
            "num_tests": len(tests),
            "passes": passes,
            "failures": failures,
        }


def has_line(path):
    """Whether a file has a line left, which is used up."""
    if not path.exists() or not path.read_text():
        return False
    path.write_text(path.read_text()[2:])
    return True


def misbehave(code):
    """Die, hang or break if a cell says so."""
    word = next((word for word in ("die", "hang", "break") if f"#{word}" in code), None)
    if word is None or not has_line(ROOT / "misbehaves"):
        return
    if word == "die":
        os._exit(1)
    if word == "hang":
        time.sleep(600)
    raise Exception("the world is broken")


def begin(task_id):
    """Die or break before a world begins."""
    bad, version = ROOT / "bad_servers", ROOT / "data" / "version.txt"
    if bad.exists() and Path("/proc/self/fd/2").readlink().name in bad.read_text().split():
        os._exit(1)
    if version.exists():
        raise Exception(f"The database version of the task ({version.read_text()}) is not compatible.")


class Handler(BaseHTTPRequestHandler):
    world: World | None = None
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # each answer is two writes

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.answer({"message": "Welcome"} if self.path == "/" else DOCS)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            self.answer({"output": self.output(self.path.strip("/"), body)})
        except Exception as error:
            print(f"Exception: {error}", file=sys.stderr, flush=True)
            self.answer("Internal Server Error", 500)

    def output(self, method, body):
        task_id = body["task_id"]
        if method == "initialize":
            begin(task_id)
            if body["load_ground_truth"] and not (ROOT / "data" / "tasks" / task_id / "ground_truth").exists():
                raise Exception("The ground_truth directory doesn't exist.")
            Handler.world = World(task_id, body["experiment_name"])
            return {"task_id": task_id, "datetime": "2031-05-18T12:00:00", **Handler.world.specs}
        world = Handler.world
        if world is None or world.task_id != task_id:
            raise Exception("AppWorld has not been initialized.")
        if method == "execute":
            misbehave(body["code"])
            return world.execute(body["code"])
        if method == "close":
            raise Exception("the world cannot be closed")
        if method == "evaluate":
            if has_line(ROOT / "data" / "tasks" / task_id / "deaths"):
                os._exit(1)
            if (ROOT / "data" / "tasks" / task_id / "unfair").exists():
                raise Exception("the evaluation is broken")
            return world.evaluate()
        if method == "save_logs":
            world.save()
        return world.done if method == "task_completed" else None

    def answer(self, value, status=200):
        body = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main():
    """Serve until standard input closes."""
    threading.Thread(target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    os.write(1, f"{server.server_port}\n".encode())
    os.dup2(2, 1)
    print("started", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
