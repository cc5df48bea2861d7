"""The invented world in the real environment, over HTTP: its solutions are right, and nothing else passes for right."""

from __future__ import annotations

import os
import socket
import subprocess
import textwrap
import time
from pathlib import Path

import httpx
import pytest

from amd_appworld.api_docs import ApiDocs
from amd_appworld.root import Root

ROOT = Path(os.environ.get("AMD_APPWORLD_ROOT", ""))
PYTHON = os.environ.get("AMD_APPWORLD_PYTHON", "")
INVENTED = ROOT / "data" / "invented-world.json"
BUILDER = Path(__file__).resolve().parents[4] / "scripts" / "appworld_synthetic.py"
PATIENCE = 120
FAILED = "Execution failed."

pytestmark = [
    pytest.mark.appworld,
    pytest.mark.skipif(
        not (PYTHON and INVENTED.is_file()),
        reason="AMD_APPWORLD_PYTHON and AMD_APPWORLD_ROOT name no AppWorld with its invented world: make appworld",
    ),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """An environment server with this world, as a client; what it writes goes elsewhere."""
    folder = tmp_path_factory.mktemp("root")
    (folder / "data").symlink_to(ROOT.resolve() / "data")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = (folder / "server.log").open("wb")
    words = ("-m", "uvicorn", "appworld.serve.environment:app", "--host", "127.0.0.1", "--port", str(port))
    environment = {**os.environ, "APPWORLD_ROOT": str(folder), "IPYTHONDIR": str(folder / "ipython")}
    process = subprocess.Popen([PYTHON, *words], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, trust_env=False) as client:
            until = time.monotonic() + PATIENCE
            while not answers(client):
                assert process.poll() is None, (folder / "server.log").read_text(encoding="utf-8")
                assert time.monotonic() < until
                time.sleep(0.1)
            yield client
    finally:
        process.kill()
        process.wait(PATIENCE)
        log.close()


def answers(client):
    """Whether the server is up."""
    try:
        return client.get("/").is_success
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def tasks():
    """Every task of the datasets, in their order."""
    files = [ROOT / "data" / "datasets" / f"{dataset}.txt" for dataset in ("train", "dev", "test_normal")]
    return [task_id for file in files for task_id in file.read_text(encoding="utf-8").split("\n") if task_id]


def cells(task_id):
    """The cells of a task's own solution."""
    text = (ROOT / "data" / "tasks" / task_id / "ground_truth" / "solution.py").read_text(encoding="utf-8")
    head, _, body = text.partition("\n")
    assert head == "def solution(apis, requester):"
    return textwrap.dedent(body).strip().split("\n\n")


@pytest.fixture(scope="module")
def play(server):
    """Plays cells in a task's own fresh world: what each printed, and the report of the evaluation."""

    def post(method, **body):
        response = server.post(f"/{method}", json=body)
        assert response.is_success, (method, body, response.text)
        return response.json()["output"]

    def run(task_id, played):
        post("initialize", task_id=task_id, experiment_name="world")
        outputs = [post("execute", task_id=task_id, code=cell) for cell in played]
        return outputs, post("evaluate", task_id=task_id, suppress_errors=True)

    return run


def test_all_apis_are_documented(server):
    """By their number, which the harness's version fixes; the apps of the tasks are among them."""
    docs = server.get("/api_docs").json()
    assert sum(map(len, docs.values())) == 457
    assert docs.keys() >= {"spotify", "venmo", "simple_note", "file_system", "phone", "todoist", "supervisor"}


def test_the_reader_and_the_student_know_the_same_schemas(server):
    """One from the data, the other from the server: were a hash another one, each record of it would be stale."""
    read = Root(ROOT).docs
    assert read is not None
    served = ApiDocs.of(server.get("/api_docs").json())
    assert {tool.name: tool.schema_sha256 for tool in read.tools} == {
        tool.name: tool.schema_sha256 for tool in served.tools
    }


def test_every_solution_is_right(play, tasks):
    """Cell by cell, none of which fails; each task says its own words."""
    assert len(tasks) == 18
    assert len({task_id.split("_")[0] for task_id in tasks}) == 6
    wrong = {}
    for task_id in tasks:
        assert len(cells(task_id)) >= 4
        outputs, report = play(task_id, cells(task_id))
        if not report["success"] or any(output.startswith(FAILED) for output in outputs):
            wrong[task_id] = outputs, report["failures"]
    assert wrong == {}


def test_completing_alone_is_not_enough(play, tasks):
    """For no task: something must be done, or answered."""
    assert [task_id for task_id in tasks if play(task_id, ["apis.supervisor.complete_task()"])[1]["success"]] == []


def test_the_solution_of_another_variant_is_wrong(play, tasks):
    """So values that were copied out of a memory do not pass."""
    scenarios = {}
    for task_id in tasks:
        scenarios.setdefault(task_id.split("_")[0], []).append(task_id)
    passed = []
    for variants in scenarios.values():
        for task_id, other in zip(variants, [*variants[1:], variants[0]], strict=True):
            if play(task_id, cells(other))[1]["success"]:
                passed.append((task_id, other))
    assert passed == []


def test_what_an_idle_run_fails_is_labelled(play, tasks):
    """As AppWorld counts it: each requirement says whether a run that does nothing meets it."""
    for task_id in tasks[::3]:
        _, report = play(task_id, [])
        assert {each["label"] for each in report["failures"]} == {"no_op_fail"}
        assert {each["label"] for each in report["passes"]} <= {"no_op_pass"}


def files(folder):
    """The bytes of every file below a folder, by its path there; without what Python leaves where it reads code."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    return {path.relative_to(folder): path.read_bytes() for path in found}


def test_the_same_sources_give_the_same_world(tmp_path):
    """Byte for byte, databases too, in another place and with another order of sets."""
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    subprocess.run(
        [PYTHON, BUILDER, tmp_path], env=environment, check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL
    )
    made, kept = files(tmp_path / "data"), files(ROOT / "data")
    assert made.keys() == kept.keys()
    assert [path for path in made if made[path] != kept[path]] == []
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
