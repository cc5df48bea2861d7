"""What a memory adds to the messages of each request, in every mode and layout, and what it never changes."""

from __future__ import annotations

from copy import deepcopy

import pytest
from garden import BASES, FROZEN, SCRAMBLED, SYSTEM, calls, result, said, texts, tools, user
from hypothesis import given
from hypothesis import strategies as st

from amd.arms import RunLog, report
from amd.errors import TrajectoryError
from amd.inject import CLOSE_TAG, HINT_OPEN, OPEN_TAG
from amd_toolsandbox.families import family
from amd_toolsandbox.family_table import FAMILIES
from amd_toolsandbox.trial import Trial

SCRAMBLES = ("tool_name", "tool_description", "arg_type", "arg_description")
VARIANTS = (
    *("", "_3_distraction_tools", "_10_distraction_tools", "_all_tools"),
    *(f"_3_distraction_tools_{what}_scrambled" for what in SCRAMBLES),
)
OTHER = "search_holiday_other"
FIRST = [SYSTEM, user()]
SECOND = [*FIRST, said("Watered."), user(turn=1)]


def is_block(message):
    """Whether a message begins with a block of memory."""
    return str(message["content"]).startswith(f"{OPEN_TAG}\n")


@pytest.fixture
def trial(garden):
    """Makes a trial of a scenario whose family the memory does not have, in an arm."""
    opened = []

    def make(scenario="get_cellular", real_name=str, **values):
        opened.append(garden.arm(**values).open())
        return Trial(scenario, opened[-1], real_name)

    yield make
    for each in opened:
        each.close()


def test_without_memory_everything_goes_through(trial):
    """The same objects in their order, and a failed call without a hint; calls are counted all the same."""
    made = trial(method="none")
    talk = [*FIRST, calls(("measure", {"bed": "<bed>"}, "call_1")), result()]
    shown = made.request(talk, tools(), [FROZEN])
    assert len(shown) == len(talk)
    assert all(one is other for one, other in zip(shown, talk, strict=True))
    log = made.log()
    assert (log.calls, log.failed_calls, log.hints, log.placeholders, log.memory) == (1, 1, 0, 1, None)
    assert not log.memory_assisted


def test_static_memory_stands_before_the_system_s_own_words(trial):
    """Once; what the user says stays, in this turn and in the next."""
    made = trial()
    first, second = made.request(FIRST, tools(), []), made.request(SECOND, tools(), [])
    assert is_block(first[0])
    assert first[0]["content"].endswith(f"{CLOSE_TAG}\n\n{SYSTEM['content']}")
    assert first[1] is FIRST[1]
    assert second == [first[0], *SECOND[1:]]
    assert '"name": "measure"' in first[0]["content"]


def test_dynamic_memory_stands_before_what_the_user_says(trial):
    """Each turn has its own part, which stays."""
    made = trial(mode="dynamic")
    first, second = made.request(FIRST, tools(), []), made.request(SECOND, tools(), [])
    assert is_block(first[0])
    assert is_block(first[1])
    assert first[1]["content"].endswith(f"{CLOSE_TAG}\n\n{texts(9)[0]}")
    assert second[: len(first)] == first
    assert is_block(second[3])
    assert "lock_gate" in second[3]["content"]
    assert made.log().system_changes == 0


def test_replaced_memory_stands_in_the_system_message_and_changes(trial):
    """One block, that of the last turn; what the user says stays, and each change is counted once."""
    made = trial(mode="replace")
    first = made.request(FIRST, tools(), [])
    again = made.request(
        [*FIRST, calls(("water", {"bed": "b"}, "call_1")), result("water", content="None")], tools(), [None]
    )
    second = made.request(SECOND, tools(), [])
    assert again[0] == first[0] != second[0]
    assert second[0]["content"].count(OPEN_TAG) == 1
    assert "lock_gate" in second[0]["content"]
    assert second[1:] == SECOND[1:]
    assert made.log().system_changes == 1


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_examples_stand_as_earlier_messages(trial, mode):
    """Layout turns: exchanges between the system's words and the user's first ones."""
    shown = trial(mode=mode, layout="turns").request(FIRST, tools(), [])
    roles = [message["role"] for message in shown]
    assert roles[0] == "system"
    assert roles[1:] == ["user", "assistant"] * (len(roles) // 2 - 1) + ["user"]
    assert len(roles) > 3
    assert shown[-1]["content"].endswith(texts(9)[0])
    assert '"name": "measure"' in str(shown[1:-1])


def test_a_scenario_without_a_system_message_gets_one(trial):
    """The harness's scenarios all have one today."""
    shown = trial().request([user()], tools(), [])
    assert [message["role"] for message in shown] == ["system", "user"]
    assert shown[1] == user()


@pytest.mark.parametrize(
    "scenario", ["wifi_off", "wifi_off_all_tools", "get_wifi_3_distraction_tools_tool_name_scrambled"]
)
def test_a_scenario_never_sees_its_own_family(trial, scenario):
    """D01: nor does any variant of it; in-sample sees it (the control)."""
    own = family(scenario)
    index = BASES.index(own)
    for protocol, hits in (("self-excluded", False), ("in-sample", True)):
        made = trial(scenario, protocol=protocol)
        made.request([SYSTEM, user(index)], tools(), [])
        log = made.log()
        assert log.exposures
        assert any(own in each.families for each in log.exposures) == hits
        assert any(each.record_ids for each in log.exposures)


def test_no_variant_of_any_family_sees_its_own(whole_garden):
    """D01: 40 families in eight dresses, before the task and after an error; in-sample is the control."""
    firsts = {group: base for base, group in reversed(FAMILIES.items())}
    hits = {}
    for protocol, variants in (("self-excluded", VARIANTS), ("in-sample", VARIANTS[:1])):
        logs = []
        with whole_garden.arm(protocol=protocol).open() as opened:
            for name in (base + variant for base in firsts.values() for variant in variants):
                made, asked = Trial(name, opened), [SYSTEM, user(500)]
                made.request(asked, tools(), [])
                made.request([*asked, calls(("measure", {}, "call_1")), result()], tools(), [FROZEN])
                logs.append(RunLog.read(made.log().as_json()))
        figures = report(logs, family=family)
        hits[protocol] = figures.own_family
        assert (figures.tasks, figures.leaks) == (40 * len(variants), 0)
        assert all(log.memory_assisted for log in logs)
    assert hits["self-excluded"] == 0 < hits["in-sample"]


def test_scrambled_names_are_real_ones_inside_and_shown_ones_outside(trial):
    """Records are looked up by real names; all that the agent reads has the names that it is offered."""
    made = trial(real_name=SCRAMBLED.__getitem__)
    offered = tools(scrambled=True)
    assert {each["function"]["name"] for each in offered} == set(SCRAMBLED)
    called = calls(("garden_1", {"bed": "b"}, "call_1"))
    shown = made.request([*FIRST, called, result("garden_1")], offered, [FROZEN])
    block, hint = shown[0]["content"], shown[-1]["content"]
    assert HINT_OPEN in hint
    assert '"name": "garden_1"' in hint
    for text in (block, hint):
        assert "garden_" in text
        assert not any(f'"{real}"' in text or f"`{real}`" in text for real in SCRAMBLED.values())
    assert shown[2] == called
    plain = trial().request([*FIRST, calls(("measure", {"bed": "b"}, "call_1")), result()], tools(), [FROZEN])
    assert '"name": "measure"' in plain[-1]["content"]


@pytest.mark.parametrize("layout", ["block", "turns"])
def test_examples_of_scrambled_tools_are_renamed_too(trial, layout):
    """In either layout."""
    made = trial(real_name=SCRAMBLED.__getitem__, layout=layout, mode="dynamic")
    shown = str(made.request(FIRST, tools(scrambled=True), []))
    assert '"name": "garden_0"' in shown
    assert '"name": "water"' not in shown


def test_nothing_is_named_that_the_scenario_does_not_offer(trial):
    """A call of such a tool would end the scenario: records that name one are left out, and counted."""
    fewer = tools()[:1]
    made = trial(mode="dynamic")
    shown = str(made.request(SECOND, fewer, []))
    assert "measure" not in shown.replace(texts(9)[0], "")
    assert "lock_gate" not in shown
    assert sum(each.dropped.get("tool_not_offered", 0) for each in made.log().exposures) > 0
    assert "lock_gate" in str(trial(mode="dynamic").request(SECOND, tools(), []))


def test_the_instruction_is_what_the_user_says_first(trial):
    """Never another message: the same text in a record hides it, whatever its family."""
    made = trial("get_cellular")
    made.request([SYSTEM, user(0)], tools(), [])
    assert "wifi_off" not in str([each.families for each in made.log().exposures if each.tier == "workflow"])
    assert made.log().task_id == "get_cellular"


def test_before_the_first_request_there_is_no_log(trial):
    """A scenario that a service spoilt at once says nothing."""
    assert trial().log() is None


def test_a_log_can_be_read_back(trial):
    """Whole, and by the reader's own check."""
    made = trial()
    made.request(FIRST, tools(), [])
    value = made.log().as_json()
    assert RunLog.read(value) == made.log()
    with pytest.raises(TrajectoryError):
        RunLog.read({**value, "task_id": OTHER})


TURNS = st.lists(
    st.one_of(
        st.just("user"),
        st.lists(st.sampled_from(["water", "measure", "lock_gate"]), min_size=1, max_size=3),
    ),
    max_size=7,
)


def talk_of(plan, fails, same_ids):
    """A conversation of a plan: (messages, exceptions) at each request."""
    messages, exceptions, asked = [SYSTEM, user()], [], []
    turns = 0
    for at, step in enumerate(["user", *plan]):
        if step == "user":
            if at:
                turns += 1
                messages = [*messages, said(), user(turn=turns % 3)]
        else:
            made = [
                (name, {"bed": f"b{at}"}, "call_0" if same_ids else f"call_{at}_{n}") for n, name in enumerate(step)
            ]
            failed = [fails[(at + n) % len(fails)] for n in range(len(step))]
            results = [
                result(name, call_id, FROZEN if bad else "None")
                for (name, _, call_id), bad in zip(made, failed, strict=True)
            ]
            messages = [*messages, calls(*made), *results]
            exceptions = [*exceptions, *(FROZEN if bad else None for bad in failed)]
        asked.append((messages, exceptions))
    return asked


@pytest.mark.parametrize("layout", ["block", "turns"])
@pytest.mark.parametrize("mode", ["static", "dynamic"])
@given(plan=TURNS, fails=st.lists(st.booleans(), min_size=1, max_size=4), same_ids=st.booleans())
def test_the_bytes_of_earlier_requests_never_change(garden, mode, layout, plan, fails, same_ids):
    """The harness makes all messages anew each time; each request begins with the whole earlier one, hints and all."""
    with garden.arm(mode=mode, layout=layout).open() as opened:
        made, earlier = Trial("get_cellular", opened), []
        asked = talk_of(plan, fails, same_ids)
        for messages, exceptions in asked:
            fresh = deepcopy(messages)
            shown = made.request(fresh, tools(), exceptions)
            assert fresh == messages
            assert shown[: len(earlier)] == earlier
            assert made.request(deepcopy(messages), tools(), exceptions) == shown
            earlier = shown
        log = made.log()
    last = asked[-1][1]
    assert (log.calls, log.failed_calls) == (len(last), sum(each is not None for each in last))
    hinted = [message for message in earlier if HINT_OPEN in str(message["content"])]
    assert len(hinted) == log.hints
    assert all(message["role"] == "tool" and message["content"].startswith(FROZEN) for message in hinted)
