"""The scripted student: it finds its place in any request, slips as it is told to, and remembers nothing."""

from __future__ import annotations

import ast
import json
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amd.errors import ConfigError, TrajectoryError
from amd.inject import Block, build_block, build_hint, prepend_memory, prepend_turn, replace_memory
from amd.testing import LoopbackServer, run
from amd.traces import Step
from amd_bfcl.backends import Backend, to_python
from amd_bfcl.families import Category
from amd_bfcl.player import Player
from amd_bfcl.record import record
from amd_bfcl.slips import CLOSING, REFUSED, Slip, every_slip
from amd_bfcl.tasks import entries

CALLINGS = ("fc", "prompting")
TOOLS_ARRIVE = "Here is another tool. Try again?"
BLOCK = Block(build_block([("Strategies:", ["Look first."])]))
OTHER = Block(build_block([("Strategies:", ["Look twice."])]))
EXAMPLES = Block(
    build_block([], examples=True),
    (("Move the report, then count.", "[mv(folder='<folder>')]"), ("Where am I?", '{"name": "pwd", "arguments": {}}')),
)
LIMIT = 20


def spoken(message):
    """The calls of an assistant's message as (name, arguments), or ``None`` for text and what cannot be read."""
    try:
        if message.get("tool_calls"):
            functions = [call["function"] for call in message["tool_calls"]]
            return [(function["name"], json.loads(function["arguments"])) for function in functions]
        calls = ast.parse(message["content"], mode="eval").body.elts
    except (SyntaxError, ValueError, AttributeError):
        return None
    return [(call.func.id, {word.arg: ast.literal_eval(word.value) for word in call.keywords}) for call in calls]


def results(message, calls, hint):
    """What comes back for calls, as the harness words it."""
    observations = [f"result of {name}{hint}" for name, _ in calls]
    if "tool_calls" in message:
        ids = [call["id"] for call in message["tool_calls"]]
        assert len(set(ids)) == len(ids)
        return [
            {"role": "tool", "content": content, "tool_call_id": each}
            for each, content in zip(ids, observations, strict=True)
        ]
    named = [
        {"role": "tool", "name": to_python(*call), "content": content}
        for call, content in zip(calls, observations, strict=True)
    ]
    return [{"role": "user", "content": repr(named)}]


def play(player, trajectory, calling, *, before=lambda messages: messages, at_turn=None, system=None, hint=""):
    """A whole task as the harness runs it: for each turn the messages that the player sent, and each request."""
    messages = before([{"role": "user", "content": trajectory.turns[0].user}])
    turns, requests = [], []
    for at, turn in enumerate(trajectory.turns):
        if at:
            arrive = TOOLS_ARRIVE if calling == "fc" else f"[{{'name': 'mv'}}]\n{TOOLS_ARRIVE}"
            new = [{"role": "user", "content": arrive if turn.user is None else turn.user}]
            messages += at_turn(new) if at_turn else new
            messages = system(messages) if system else messages
        turns.append([])
        for _ in range(LIMIT + 1):
            request = {"model": "scripted", "messages": list(messages)} | ({"tools": []} if calling == "fc" else {})
            requests.append(request)
            message = player(request)
            turns[-1].append(message)
            messages.append(message)
            calls = spoken(message)
            if not calls:
                break
            messages += results(message, calls, hint)
    return turns, requests


def calls_of(turns):
    """All calls that were sent, a list for each turn."""
    return [[call for message in turn for call in spoken(message) or ()] for turn in turns]


def recorded(trajectory):
    """The calls of a run in the same shape."""
    return [[(call.name, call.arguments) for call in turn.calls] for turn in trajectory.turns]


MEMORIES = {
    "none": {},
    "static": {
        "before": lambda messages: prepend_memory(messages, BLOCK),
        "hint": f"\n\n{build_hint([('Try:', ['x'])])}",
    },
    "dynamic": {
        "before": lambda messages: prepend_turn(prepend_memory(messages, BLOCK), OTHER),
        "at_turn": lambda messages: prepend_turn(messages, BLOCK),
    },
    "replace": {
        "before": lambda messages: prepend_memory(messages, BLOCK),
        "system": lambda messages: replace_memory(messages, OTHER),
    },
    "turns": {"before": lambda messages: prepend_memory(messages, EXAMPLES)},
    "turns at each turn": {
        "before": lambda messages: prepend_turn(prepend_memory(messages, EXAMPLES), EXAMPLES),
        "at_turn": lambda messages: prepend_turn(messages, EXAMPLES),
    },
}


@pytest.mark.parametrize("calling", CALLINGS)
@pytest.mark.parametrize("memory", MEMORIES)
def test_it_plays_a_run_whatever_memory_is_shown(calling, memory):
    """Each call of each turn once and in order, then the run's own closing words."""
    player = Player([run(0), run(1), run(2)])
    turns, _ = play(player, run(1), calling, **MEMORIES[memory])
    assert calls_of(turns) == recorded(run(1))
    assert [turn[-1]["content"] for turn in turns] == [f"Done with turn {turn}." for turn in range(3)]


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=4),
    quiet=st.sets(st.integers(1, 3)),
    calling=st.sampled_from(CALLINGS),
    memory=st.sampled_from(sorted(MEMORIES)),
    among=st.integers(0, 3),
)
def test_any_run_is_played_whole(sizes, quiet, calling, memory, among):
    """Turns without calls, turns in which the user says nothing, and more calls than a turn may have messages."""
    whole = run(among, turns=len(sizes), calls=30)
    cut = tuple(
        replace(turn, steps=turn.steps[:size], user=None if at in quiet else turn.user)
        for at, (turn, size) in enumerate(zip(whole.turns, sizes, strict=True))
    )
    trajectory = replace(whole, turns=cut)
    others = [run(i) for i in range(4) if i != among]
    turns, _ = play(Player([*others, trajectory]), trajectory, calling, **MEMORIES[memory])
    assert calls_of(turns) == recorded(trajectory)
    assert all(len(turn) <= 13 for turn in turns)
    assert all(turn[-1]["content"] == CLOSING for turn in turns)


@pytest.mark.parametrize("calling", CALLINGS)
def test_examples_may_say_what_other_tasks_say(calling):
    """An earlier exchange with the first words of another known task, or of this one, confuses nobody."""
    examples = Block("", tuple((run(i).turns[0].user, "[cd(folder='<folder>')]") for i in (2, 1, 0)))
    player = Player([run(0), run(1), run(2)])
    for shown in ({"before": lambda m: prepend_memory(m, examples)}, {"at_turn": lambda m: prepend_turn(m, examples)}):
        turns, _ = play(player, run(1), calling, **shown)
        assert calls_of(turns) == recorded(run(1))


def test_content_may_be_a_list_of_parts():
    """As some handlers send it."""
    messages = [{"role": "user", "content": [{"type": "text", "text": run(3).task.instruction}]}]
    assert Player([run(3)])({"messages": prepend_turn(messages, BLOCK)})["content"] == "[cd(folder='folder_3', n=0)]"


def test_parallel_calls_stay_together():
    """A step with two calls is one message with two calls, with the text of neither lost."""
    one = run(0, turns=1, calls=2)
    both = Step("Both.", one.turns[0].steps[0].calls + one.turns[0].steps[1].calls)
    together = replace(one, turns=(replace(one.turns[0], steps=(both, Step("That was it."))),))
    turns, _ = play(Player([together]), together, "fc")
    assert [len(spoken(message) or ()) for message in turns[0]] == [2, 0]
    assert turns[0][-1]["content"] == "That was it."


@pytest.mark.parametrize("calling", CALLINGS)
def test_a_call_that_answers_an_error_and_one_that_raises_come_first(calling):
    """In the order of the slips, each in a message of its own; then the turn is played as recorded."""
    slips = {"multi_turn_base_1": [Slip("error", turn=1), Slip("raise", turn=1)]}
    turns, _ = play(Player([run(0), run(1)], slips), run(1), calling)
    known = recorded(run(1))
    assert calls_of(turns) == [
        known[0],
        [("cd", dict(REFUSED["cd"])), ("cd", {"no_such_argument": 1}), *known[1]],
        known[2],
    ]
    assert [len(spoken(message) or ()) for message in turns[1]] == [1, 1, 1, 1, 1, 0]
    assert calls_of(play(Player([run(0), run(1)], slips), run(0), calling)[0]) == recorded(run(0))


@pytest.mark.parametrize("calling", CALLINGS)
def test_of_two_parallel_calls_one_fails(calling):
    """The run's own call first, so that a hint must find the second one's result."""
    failing = ("mv", {"folder": "nowhere"})
    turns, _ = play(Player([run(0)], {"multi_turn_base_0": [Slip("parallel", call=failing)]}), run(0), calling)
    known = recorded(run(0))
    assert spoken(turns[0][0]) == [known[0][0], failing]
    assert calls_of(turns) == [[known[0][0], failing, *known[0][1:]], *known[1:]]


@pytest.mark.parametrize("calling", CALLINGS)
def test_arguments_that_cannot_be_read_end_the_turn(calling):
    """The message is no JSON and no Python; the next turn is found again."""
    turns, _ = play(Player([run(0)], {"multi_turn_base_0": [Slip("broken", turn=1)]}), run(0), calling)
    known = recorded(run(0))
    assert calls_of(turns) == [known[0], [], known[2]]
    broken = turns[1][0]
    if calling == "fc":
        with pytest.raises(ValueError, match="delimiter"):
            json.loads(broken["tool_calls"][0]["function"]["arguments"])
    else:
        assert broken["content"] == "[cd(folder='folder_0', n=0"


@pytest.mark.parametrize("calling", CALLINGS)
def test_a_turn_may_never_end(calling):
    """The last call again and again, beyond any limit on the messages of a turn."""
    turns, _ = play(Player([run(0)], {"multi_turn_base_0": [Slip("endless", turn=2)]}), run(0), calling)
    assert [len(turn) for turn in turns] == [4, 4, LIMIT + 1]
    assert all(spoken(message) == [recorded(run(0))[2][-1]] for message in turns[2][2:])


@pytest.mark.parametrize("calling", CALLINGS)
def test_it_remembers_nothing(calling):
    """Requests in any order, twice and from many threads get the answers of the first time."""
    runs = [run(i) for i in range(5)]
    player = Player(runs, every_slip(runs))
    played = [play(player, each, calling) for each in runs]
    pairs = [
        (request, answer)
        for turns, requests in played
        for request, answer in zip(requests, (message for turn in turns for message in turn), strict=True)
    ] * 3
    random.Random(7).shuffle(pairs)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(player, [request for request, _ in pairs])) == [answer for _, answer in pairs]


def test_it_is_a_student_behind_an_endpoint():
    """The real client talks to it, and words that nobody recorded are a failing service that says so.

    With the category that it has, which is what is wrong where a student runs on another one.
    """
    with (
        LoopbackServer(chat=Player([run(0)]), models=("scripted",)) as server,
        openai.OpenAI(
            base_url=server.url, api_key="x", max_retries=0, http_client=openai.DefaultHttpxClient()
        ) as client,
    ):
        asked = [{"role": "user", "content": run(0).task.instruction}]
        tools = [{"type": "function", "function": {"name": "cd"}}]
        said = client.chat.completions.create(model="scripted", messages=asked, tools=tools).choices[0].message
        with pytest.raises(
            openai.InternalServerError,
            match=r"this player has multi_turn_base; .* -c .* turn 1 in which the user says 'Hello'",
        ):
            client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "Hello"}])
    assert said.tool_calls[0].function.name == "cd"


def test_a_turn_that_no_run_reaches_is_refused():
    """More turns than were recorded, and no turn at all."""
    player = Player([run(0, turns=1)])
    turns = [{"role": "user", "content": turn.user} for turn in run(0, turns=2).turns]
    with pytest.raises(TrajectoryError, match="turn 2"):
        player({"messages": turns})
    with pytest.raises(TrajectoryError, match="turn 0"):
        player({"messages": []})


@pytest.mark.parametrize("ids", [("multi_turn_base_0", "multi_turn_miss_param_7"), ("somewhere_0",), ()])
def test_a_player_of_several_categories_names_none(ids):
    """Nor one of other tasks, nor one of nothing; of one category it is named (the control)."""
    runs = [replace(run(i), task=replace(run(i).task, task_id=task_id)) for i, task_id in enumerate(ids)]
    for player, named in ((Player(runs), False), (Player([run(0), run(1)]), True)):
        with pytest.raises(TrajectoryError, match="no run has a turn 1") as caught:
            player({"messages": [{"role": "user", "content": "Hello"}]})
        assert ("this player has multi_turn_base;" in str(caught.value)) == named


def test_runs_that_cannot_be_told_apart_are_refused():
    """The same words of the user and other calls; the same calls twice are no conflict."""
    one, short = run(0), run(0, calls=1)
    Player([one, replace(one, task=replace(one.task, task_id="multi_turn_miss_param_0"))])
    with pytest.raises(ConfigError, match=r"'multi_turn_base_0' and 'multi_turn_base_0'.* in turn 0; play one"):
        Player([one, short])


@pytest.mark.parametrize(
    ("slips", "message"),
    [
        ({"multi_turn_base_9": [Slip("raise")]}, "'multi_turn_base_9', and no run"),
        ({"multi_turn_base_0": [Slip("raise", turn=1)]}, "has 1 turns, none is 1"),
        ({"multi_turn_base_1": [Slip("raise")]}, "turn 0 of 'multi_turn_base_1' has no call"),
        ({"multi_turn_base_2": [Slip("error")]}, "no tool of 'multi_turn_base_2' is known to refuse"),
    ],
)
def test_a_slip_that_cannot_be_made_is_refused(slips, message):
    """A typing error in a test is told before anything is served."""
    runs = [run(0, turns=1), run(1, turns=1, calls=0), replace(run(2, turns=1), tools=None)]
    Player(runs)
    with pytest.raises(ConfigError, match=message):
        Player(runs, slips)


def test_an_unknown_kind_of_slip_is_refused():
    """With the kinds there are."""
    with pytest.raises(ConfigError, match="'late' is no slip; use one of: error, raise, parallel, broken, endless"):
        Slip("late")


@pytest.mark.parametrize("category", Category)
def test_the_answer_key_of_a_category_can_be_played(package, category):
    """All 200 tasks, told apart by the words of the user alone, with and without slips."""
    runs = list(record(category, package))
    slips = every_slip(runs)
    assert len(slips) == 200
    assert {slip.kind for each in slips.values() for slip in each} == {
        "error",
        "raise",
        "parallel",
        "broken",
        "endless",
    }
    Player(runs, slips)
    player = Player(runs)
    for each in runs[::20]:
        for calling in CALLINGS:
            turns, _ = play(player, each, calling, **MEMORIES["static"])
            assert calls_of(turns) == recorded(each)


def test_two_categories_cannot_be_played_at_once(package):
    """A tool that was held back changes the answer to the same words."""
    runs = [each for category in (Category.BASE, Category.MISS_FUNC) for each in record(category, package)]
    with pytest.raises(ConfigError, match="'multi_turn_base_0' and 'multi_turn_miss_func_0'"):
        Player(runs)


def test_refused_calls_answer_an_error_and_change_nothing(package):
    """On the real backends of all 200 tasks: one error, and the answer key's results are as they were."""
    for entry, each in zip(entries(Category.BASE, package), record(Category.BASE, package), strict=True):
        name = next(name for name in REFUSED if name in {tool.name for tool in entry.tools})
        with Backend(entry) as backend:
            assert "error" in json.loads(backend.execute((name, REFUSED[name])))
            for call in each.calls:
                assert backend.execute((call.name, call.arguments)) == call.observation
                assert backend.execute((call.name, {"no_such_argument": 1})).startswith("Error during execution: ")


@pytest.mark.parametrize("calling", CALLINGS)
@pytest.mark.parametrize("index", [0, 1, 7])
def test_the_harness_s_own_words_for_tools_that_arrive_are_looked_through(package, calling, index):
    """Whatever they are: no text of the harness is known here. The user's own words are no such words (the control)."""
    runs = list(record(Category.MISS_FUNC, package, limit=8))
    player = Player(runs)
    turns, requests = play(player, runs[index], calling)
    assert calls_of(turns) == recorded(runs[index])

    def said(words):
        messages = [
            {**each, "content": words} if (each["content"] or "").endswith(TOOLS_ARRIVE) else each
            for each in requests[-1]["messages"]
        ]
        assert messages != requests[-1]["messages"]
        return player({**requests[-1], "messages": messages})

    for words in ("", "Anything at all."):
        assert said(words) == turns[-1][-1]
    with pytest.raises(TrajectoryError, match="this player has multi_turn_miss_func"):
        said(runs[index].turns[0].user)
