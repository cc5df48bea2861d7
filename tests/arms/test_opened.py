"""An arm at work: who sees what, what is told before the first task, and many tasks at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import amd
from amd.arms import Arm, OpenArm, RunLog, report
from amd.errors import ClientError, ConfigError, DigestDoesNotMatch, EmbedderDoesNotMatch, LeakageError, StoreError
from amd.methods import method_named
from amd.records import Exposure
from amd.session import Session
from amd.testing import Fault, LoopbackServer, run
from amd.tier import FailedCall

Make = Callable[..., Arm]
Split = Callable[..., Path]
FAMILIES = [f"multi_turn_{i}" for i in range(5)]


def session_of(opened: OpenArm, i: int = 0) -> Session:
    """The session of task ``i``, which there must be."""
    session = opened.session(run(i).task, tools=run(i).tools, call_format="json")
    assert session is not None
    return session


def all_of(session: Session, i: int = 0) -> tuple[str, str, tuple[Exposure, ...]]:
    """What a run of task ``i`` is shown: its block, one hint, and the exposures of both."""
    block = session.before_task(run(i).task.instruction).text
    hint = session.after_error(FailedCall("cd", {"folder": "x"}, "Error: no such folder", place="c1")).text
    return block, hint, session.exposures


def shown(exposures: tuple[Exposure, ...]) -> set[str]:
    """The families of all records shown."""
    return {family for exposure in exposures for family in exposure.families}


def test_c01_the_protocol_decides_what_is_seen(arm: Make) -> None:
    """C01: the own family is hidden from each task of the default arm, and shown in sample."""
    with arm().open() as opened:
        for i in range(5):
            _, _, exposures = all_of(session_of(opened, i), i)
            assert shown(exposures)
            assert FAMILIES[i] not in shown(exposures)
            assert {exposure.viewer for exposure in exposures} == {"self-excluded"}
    with arm(protocol="in-sample").open() as opened:
        assert FAMILIES[0] in shown(all_of(session_of(opened))[2])


def test_what_was_opened_is_named(arm: Make, memory: Path) -> None:
    """The digest and the seal are the memory's, and stay known after it is closed."""
    with arm().open() as opened, amd.open_memory(memory) as direct:
        assert opened.memory is not None
        assert (opened.content, opened.seal) == (direct.digest, direct.seal)
        again = arm(pin=opened.seal).open()
        again.close()
    assert (again.content, again.seal) == (opened.content, opened.seal)


def test_the_settings_reach_the_session(arm: Make) -> None:
    """Method, mode, layout, call format and each tier's budget are those of the arm."""
    with arm(method="workflow+function", mode="dynamic").open() as opened:
        session = session_of(opened)
        assert {exposure.tier for exposure in all_of(session)[2]} == {"workflow", "function"}
        assert session.mode == "dynamic"
    with arm(workflow_tokens=0, function_tokens=0).open() as opened:
        tokens = {exposure.tier: exposure.tokens for exposure in all_of(session_of(opened))[2]}
        assert (tokens["workflow"], tokens["function"]) == (0, 0)
        assert tokens["subtask"] > 0
    with arm(subtask_tokens=0).open() as opened:
        tokens = {exposure.tier: exposure.tokens for exposure in all_of(session_of(opened))[2]}
        assert tokens["subtask"] == 0
        assert tokens["workflow"] > 0
    with arm(method="subtask", layout="turns").open() as opened:
        assert session_of(opened).before_task(run(0).task.instruction).examples
    with arm(method="subtask").open() as opened:
        for call_format, words in (("json", '"name"'), ("python", "cd(folder=")):
            session = opened.session(run(0).task, tools=None, call_format=call_format)
            assert session is not None
            assert words in session.before_task(run(0).task.instruction).text
            assert not session.exposures[0].tools_known


def test_method_none_opens_nothing(tmp_path: Path) -> None:
    """No session, no digest; a memory that is named is not even looked for."""
    with Arm.of({"method": "none", "memory": tmp_path / "nothing-here"}).open() as opened:
        assert (opened.memory, opened.content, opened.seal, opened.split) == (None, None, None, None)
        assert opened.session(run(0).task, tools=run(0).tools, call_format="json") is None


def test_a_closed_arm_says_so(arm: Make) -> None:
    """Nobody goes on without memory because a block has ended; closing twice is closing."""
    for one in (arm(), Arm(method="none")):
        with one.open() as opened:
            pass
        opened.close()
        with pytest.raises(ConfigError, match="the arm is closed"):
            opened.session(run(0).task, tools=None, call_format="json")


def test_cross_split_holds_out(arm: Make, memory: Path, split: Split, tmp_path: Path) -> None:
    """A held-out task sees train families alone; any other task is refused, without memory as well."""
    held = split(FAMILIES[:4], FAMILIES[4:])
    train = tmp_path / "train"
    amd.build_memory(
        [run(i) for i in range(5)],
        train,
        embedder=amd.load_embedder("hash"),
        options=amd.Options(split=amd.read_split(held)),
    )
    for one in (
        arm(memory=train, protocol="cross-split", split=held),
        arm(protocol="cross-split", split=held, method="none"),
    ):
        with one.open() as opened:
            assert opened.split == amd.read_split(held)
            session = opened.session(run(4).task, tools=None, call_format="json")
            assert (session is None) is (one.method == "none")
            if session is not None:
                assert shown(all_of(session, 4)[2]) <= {*FAMILIES[:4]}
                assert session.viewer.protocol == "cross-split"
            with pytest.raises(
                ConfigError, match=r"'multi_turn_base_0' is of family 'multi_turn_0', which the split at"
            ):
                opened.session(run(0).task, tools=None, call_format="json")


def test_cross_split_is_checked_before_the_first_task(arm: Make, split: Split) -> None:
    """A memory with a test family, and one of another benchmark, are told when the arm is opened."""
    with pytest.raises(LeakageError, match="holds 1 families that are not train families"):
        arm(protocol="cross-split", split=split(FAMILIES[:4], FAMILIES[4:])).open()
    with pytest.raises(ConfigError, match="'elsewhere'"):
        arm(protocol="cross-split", split=split(FAMILIES, ["f9"], benchmark="elsewhere")).open()


def test_a_split_with_another_protocol_hides_nothing_more(arm: Make, split: Split) -> None:
    """There it only says which tasks are run: it is read, and each task may be asked for."""
    with arm(split=split(FAMILIES[:1], FAMILIES[1:])).open() as opened:
        assert opened.split is not None
        assert opened.split.test == {*FAMILIES[1:]}
        assert shown(all_of(session_of(opened, 0), 0)[2]) <= {*FAMILIES[1:]}


def test_what_is_missing_is_told_at_opening(arm: Make, memory: Path, tmp_path: Path) -> None:
    """Memory, pin, tier, split and tokenizer: before a task has begun."""
    small = tmp_path / "small"
    amd.build_memory([run(1)], small, embedder=amd.load_embedder("hash"), options=amd.Options(method="workflow"))
    for values, error, words in [
        ({"memory": tmp_path / "nowhere"}, StoreError, "no memory at"),
        ({"pin": "0" * 64}, DigestDoesNotMatch, "seal"),
        ({"memory": small}, ConfigError, "needs the tier subtask, function"),
        ({"split": tmp_path / "no.json"}, ConfigError, "is no split"),
        ({"tokenizer": memory / "manifest.json"}, ConfigError, "is no tokenizer file|needs the package 'tokenizers'"),
    ]:
        with pytest.raises(error, match=words):
            arm(**values).open()
    arm(memory=small, method="workflow").open().close()


def test_the_embedder_is_the_one_at_the_url(arm: Make, tmp_path: Path) -> None:
    """A memory embedded by a service is opened with that service; one that fails is told at opening."""
    place = tmp_path / "served"
    with LoopbackServer() as server:
        amd.build_memory([run(1), run(2)], place, embedder=amd.load_embedder("openai:stub", base_url=server.url))
        asked = len(server.requests)
        with arm(memory=place, embedder_url=server.url).open() as opened:
            assert shown(all_of(session_of(opened, 1), 1)[2]) == {"multi_turn_2"}
        assert len(server.requests) > asked
        with pytest.raises(ConfigError, match="neither an endpoint nor a key"):
            arm(memory=place).open()
    with (
        LoopbackServer(faults=lambda _: Fault(401, "wrong key")) as server,
        pytest.raises(ClientError, match="answered 401: wrong key"),
    ):
        arm(memory=place, embedder_url=server.url).open()


def test_an_embedder_that_is_named_is_the_memorys_own(arm: Make, tmp_path: Path) -> None:
    """For one whose id does not say where it lies; another one is refused."""
    place = tmp_path / "hashed"
    amd.build_memory([run(1), run(2)], place, embedder=amd.load_embedder("hash"))
    with arm(memory=place, embedder="hash").open() as opened:
        assert shown(all_of(session_of(opened, 1), 1)[2]) == {"multi_turn_2"}
    with pytest.raises(EmbedderDoesNotMatch, match="the embedder given is 'minilm:"):
        arm(memory=place, embedder="minilm").open()


def test_another_benchmark_is_refused(arm: Make) -> None:
    """Families are comparable only within one benchmark."""
    with arm().open() as opened, pytest.raises(ConfigError, match=re.escape("the task is of benchmark 'other'")):
        opened.session(run(0, benchmark="other").task, tools=None, call_format="json")


@pytest.mark.parametrize("protocol", ["self-excluded", "in-sample"])
def test_many_threads_share_one_arm(arm: Make, protocol: str) -> None:
    """Each task is shown what it is shown alone, however many begin at the same moment, the first one included."""
    with arm(protocol=protocol).open() as opened:
        alone = [all_of(session_of(opened, i), i) for i in range(5)]
    threads, rounds = 8, 5
    together = Barrier(threads)

    def work(number: int) -> list[tuple[int, tuple[str, str, tuple[Exposure, ...]]]]:
        together.wait()
        order = [(number + step) % 5 for step in range(rounds)]
        return [(i, all_of(session_of(opened, i), i)) for i in order]

    with arm(protocol=protocol).open() as opened, ThreadPoolExecutor(threads) as pool:
        done = [each for worked in pool.map(work, range(threads)) for each in worked]
    assert len(done) == threads * rounds
    assert all(found == alone[i] for i, found in done)


def test_a_decomposer_names_the_parts_that_are_asked_for(arm: Make) -> None:
    """Its model is asked once a task, before the task; the arm closes it. Without one nobody is asked."""
    reply = '{"labels": ["Turn 1 of task 2: move report_2.txt into folder_2 and count word_15"]}'
    with LoopbackServer(chat=[reply], models=["student"]) as server:
        with arm(decomposer="student", decomposer_url=server.url).open() as opened:
            all_of(session_of(opened, 0), 0)
        asked = [each.body["messages"] for each in server.requests if each.method == "POST"]
        assert run(0).task.instruction in asked[-1][1]["content"]
        before = len(server.requests)
        with arm().open() as opened:
            all_of(session_of(opened, 0), 0)
        assert len(server.requests) == before


def test_a_decomposer_is_for_the_mode_static(arm: Make) -> None:
    """Turn by turn nobody asks with parts."""
    with pytest.raises(ConfigError, match="asks turn by turn"):
        arm(decomposer="student", mode="dynamic")


@pytest.mark.parametrize(
    "method", ["reasoning_bank", "reasoning_bank-k3", "memp-script", "sasm", "random", "random-sasm-k2"]
)
@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_a_baseline_is_an_arm_as_any_other(tmp_path: Path, method: str, mode: str) -> None:
    """Opened, asked, logged and reported through the same code, its own family hidden, in sample not (control)."""
    built, folder, task = method_named(method).memory or "amd", tmp_path / "m", run(1).task
    floors = {tier.name: -1.0 for tier in method_named(built).tiers if tier.floored}
    options = amd.Options(method=built, floors=floors)
    amd.build_memory([run(i) for i in range(4)], folder, embedder=amd.load_embedder("hash"), options=options)
    own = {}
    for protocol in ("self-excluded", "in-sample"):
        values = {"memory": folder, "method": method, "mode": mode, "protocol": protocol}
        with Arm.of(values).open() as opened:
            session = opened.session(task, tools=run(1).tools, call_format="json")
            assert session is not None
            session.before_task(task.instruction)
            session.before_turn("count the words", 2)
            log = RunLog.of(opened, task, session, calls=1, failed_calls=0, hints=0, placeholders=0, system_changes=0)
        figures = report([RunLog.read(log.as_json())], family=lambda _: task.family)
        assert (figures.method, figures.leaks) == (method, 0)
        assert sum(tier.shown for tier in figures.tiers) > 0
        own[protocol] = sum(tier.excluded.get("own_family", 0) for tier in figures.tiers)
    assert own["self-excluded"] > 0
    assert own["in-sample"] == 0


def test_each_seed_draws_anew(arm: Make) -> None:
    """One seed the same each time, another one others; what a question chooses is the same for all (the control)."""
    found: dict[str, list[tuple[Exposure, ...]]] = {}
    for method in ("random", "amd"):
        for seed in (None, 0, 1, 2, 3):
            with arm(method=method).open(seed) as opened:
                found.setdefault(method, []).append(all_of(session_of(opened))[2])
    assert found["random"][0] == found["random"][1]
    assert len({str(each) for each in found["random"]}) > 1
    assert len({str(each) for each in found["amd"]}) == 1


def test_a_run_is_told_what_was_opened(arm: Make, split: Split) -> None:
    """All that its settings keep, the split's own hash among it."""
    with arm(method="none", split=split(FAMILIES[1:], FAMILIES[:1])).open(7) as opened:
        facts = opened.facts()
        assert opened.split is not None
    assert (facts["seed"], facts["split"].split, facts["memory_content"]) == (7, opened.split, None)
    with arm().open() as opened:
        assert (opened.facts()["split"], opened.facts()["memory_seal"]) == (None, opened.seal)
