"""The handler in the harness, in this process: what it sends without memory, and whose state it works in."""

from __future__ import annotations

import json
from copy import deepcopy
from itertools import pairwise

import pytest

from amd.arms import Arm
from amd_bfcl.families import Category
from amd_bfcl.harness import Harness
from amd_bfcl.package import TESTED_VERSION
from amd_bfcl.slips import Slip
from amd_bfcl.tasks import entry
from amd_bfcl.trial import Trial

pytestmark = pytest.mark.filterwarnings("ignore")  # the harness's own, of its regular expressions


@pytest.fixture(scope="module")
def harness(tmp_path_factory):
    """The harness in this process."""
    return Harness(tmp_path_factory.mktemp("root"), TESTED_VERSION)


@pytest.fixture(scope="module")
def given(harness):
    """Gives the harness's own entry of a task, as its runner hands it to a handler."""
    from bfcl_eval.utils import load_dataset_entry

    known = {}

    def of(task_id):
        category = task_id.rpartition("_")[0]
        if category not in known:
            known[category] = {each["id"]: each for each in load_dataset_entry(category)}
        return deepcopy(known[category][task_id])

    return of


@pytest.fixture
def student(harness, package, monkeypatch):
    """Makes a handler, ours with an open arm or the harness's own without one."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def make(server, opened=None, *, calling="fc", state=None):
        from amd_bfcl.service import Service
        from amd_bfcl.student import OpenAICompletionsHandler, Student

        made = {"model_name": "student", "temperature": 0.001, "registry_name": "x", "is_fc_model": calling == "fc"}
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        if opened is None:
            stock = OpenAICompletionsHandler(**made)
            stock.model_name_underline_replaced = state or "student"
            return stock
        kept = []
        service = Service(
            client={"base_url": server.url},
            trial=lambda task_id: Trial(entry(task_id, package), opened, "json" if calling == "fc" else "python"),
            keep=kept.append,
            probe=lambda: None,
        )
        return type("Ours", (Student,), {"service": service, "kept": kept})(**made)

    return make


@pytest.mark.parametrize("calling", ["fc", "prompting"])
@pytest.mark.parametrize("category", Category)
def test_without_memory_the_requests_are_those_of_the_stock_handler(
    student, served, given, chats, memory, oracle, calling, category
):
    """The off switch is exact: the same bodies in the same order, results and logs alike. With memory they differ."""
    task_id = f"{category}_2"
    played = next(run for run in oracle(category) if run.task.task_id == task_id)
    turn = next(at for at, each in enumerate(played.turns) if each.calls)
    slips = {task_id: [Slip("raise", turn), Slip("parallel", turn)]}
    sent, results = {}, {}
    with Arm.of({"method": "none"}).open() as none, Arm.of({"memory": memory, "mode": "dynamic"}).open() as amd:
        for arm, opened in {"stock": None, "none": none, "amd": amd}.items():
            with served(slips, category) as server:
                result, metadata = student(server, opened, calling=calling, state=f"{calling}_alone").inference(
                    given(task_id), False, True
                )
                sent[arm] = chats(server)
            assert metadata.pop("amd", {}).get("method") == {"stock": None}.get(arm, arm)
            metadata.pop("latency")
            results[arm] = json.dumps([result, metadata["inference_log"]])
    assert len(sent["stock"]) > 5
    assert sent["none"] == sent["stock"]
    assert results["none"] == results["stock"] == results["amd"]
    assert sent["amd"] != sent["stock"]


def test_two_arms_of_one_model_do_not_share_their_state(student, served, given):
    """The harness names live backends after the model: the second stock run begins where the first one ended."""
    ends = {}
    with Arm.of({"method": "none"}).open() as none, served() as server:
        for kind, opened in (("ours", none), ("stock", None)):
            runs = [student(server, opened).inference(given("multi_turn_base_0"), False, True)[1] for _ in range(2)]
            first, second = (json.dumps(metadata["inference_log"]) for metadata in runs)
            ends[kind] = first == second
    assert ends == {"ours": True, "stock": False}


def test_long_context_keeps_to_its_budget(student, served, given, chats, memory):
    """Memory adds at most its budgets to a request, however long the results are."""
    task_id = "multi_turn_long_context_2"
    limits = {"workflow_tokens": 60, "subtask_tokens": 100, "function_tokens": 50}
    lengths = {}
    for settings in ({"method": "none"}, {"memory": memory, **limits}):
        with Arm.of(settings).open() as opened, served({task_id: [Slip("raise")]}, Category.LONG_CONTEXT) as server:
            student(server, opened).inference(given(task_id), False, True)
            lengths[opened.arm.method] = [len(json.dumps(body["messages"])) for body in chats(server)]
    added = [more - less for less, more in zip(lengths["none"], lengths["amd"], strict=True)]
    frame = 400  # the two frames: tags and notes
    assert 0 < max(added) <= 4 * sum(limits.values()) + frame


@pytest.mark.parametrize(("mode", "kept"), [("static", True), ("dynamic", True), ("replace", False)])
def test_the_harnesss_own_words_are_no_question(student, served, given, chats, memory, mode, kept):
    """In a miss_func turn in which tools arrive, memory is asked with what the user said last."""
    task_id = "multi_turn_miss_func_1"
    with Arm.of({"memory": memory, "mode": mode}).open() as opened, served(category=Category.MISS_FUNC) as server:
        handler = student(server, opened)
        handler.inference(given(task_id), False, True)
        bodies = chats(server)
    log = handler.kept[0]["amd"]
    asked = {each["place"]: each["query_sha256"] for each in log["exposures"] if each["tier"] == "subtask"}
    arrives = next(iter(entry(task_id).later))
    if mode == "static":
        assert set(asked) == {"task"}
    else:
        assert asked[arrives] == asked[arrives - 1]
        assert len(set(asked.values())) == len(asked) - 1
    grows = [b["messages"][: len(a["messages"])] == a["messages"] for a, b in pairwise(bodies)]
    assert all(grows) is kept
    assert (log.get("system_changes", 0) > 0) is not kept


def test_a_changed_harness_is_noticed(harness, monkeypatch):
    """A hook with other parameters than were tested is told with both versions, before anything runs."""
    from amd.errors import ConfigError
    from amd_bfcl import student as module

    harness._check()
    monkeypatch.setitem(module.HOOKS, "inference", ("test_entry", "a_new_one"))
    with pytest.raises(ConfigError, match=f"inference takes .*a_new_one.*{TESTED_VERSION}"):
        harness._check()


def test_one_process_has_one_root(harness, tmp_path):
    """The harness reads its folder once: a second one is refused instead of being ignored."""
    from amd.errors import ConfigError

    with pytest.raises(ConfigError, match="new process"):
        Harness(tmp_path, TESTED_VERSION)
