"""From logged turns to a conversation: who speaks, what is a call, what is said, and what was injected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_lines import LOOK, LOST, MOVE, TURNS, WRONG, Said, call, turn

from amd import append_hint, prepend_memory
from amd.errors import TrajectoryError
from amd.inject import Block, build_block, build_hint
from amd_bfcl.conversation import to_conversation
from amd_bfcl.inference_log import LoggedStep, LoggedTurn, read_log

USER = {"role": "user", "content": "Tidy up."}


def conversation(turns, style="fc"):
    """The conversation of turns in one of the handlers' shapes."""
    return to_conversation(read_log([turn(words, steps, style) for words, steps in turns]), {})


def one_step(content, calls=(), observations=(), reasoning="", parameters=None):
    """The only step of a turn."""
    logged = LoggedTurn((USER,), (LoggedStep(content, reasoning, tuple(calls), tuple(observations)),))
    chat = to_conversation([logged], parameters or {})
    return chat.turns[0].steps[0], chat.notes


def opened(*query):
    """What the first turn says that such a query opens, and whether memory was in it."""
    chat = to_conversation([LoggedTurn(query, ())], {})
    assert len(chat.turns) == 1
    return chat.turns[0].user, chat.memory_assisted


@pytest.mark.parametrize("style", ["fc", "claude", "prompting"])
def test_every_shape_of_a_run_reads_alike(style):
    """Lists, lists of texts with parts, raw text: the same turns, texts and calls."""
    first, second = conversation(TURNS, style).turns
    assert [turn.user for turn in (first, second)] == ["Tidy the invented folder.", "Now show it."]
    assert [step.text for step in first.steps] == ["", "", "Tidied."]
    assert [(c.name, dict(c.arguments), c.observation) for c in first.calls] == [LOOK, LOST, MOVE]
    assert [c.ok for c in first.calls] == [True, False, True]
    assert {c.call_id for c in first.calls} == {None}


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.sampled_from(["fc", "claude", "prompting"]))
def test_every_call_keeps_its_own_result(shape, style):
    """D16, D17: any number of parallel calls, text steps before, between and after them or none at all."""
    steps, expected = [], []
    for number, calls in enumerate(shape):
        these = [(f"tool{at}_x", {"n": number}, f"res{number}.{at}") for at in range(calls)]
        steps.append(call(*these) if these else Said(f"Words {number}."))
        expected.append([(name, observation) for name, _, observation in these])
    read = conversation([("Go.", steps)], style).turns[0].steps
    assert [[(c.name, c.observation) for c in step.calls] for step in read] == expected
    assert [step.text for step in read] == [said.text for said in steps]


def test_both_error_shapes_fail_and_lookalikes_do_not():
    """D19: a raised and a returned error; an empty error list and a word are none."""
    results = ["Error during execution: missing", " error during execution: x", '{"error": "no"}', {"error": "dict"}]
    fine = ["{'errors': [], 'ok': True}", "Reminder: retake failed exam", "None"]
    logged = LoggedStep(None, "", tuple(f"f{n}_x()" for n in range(7)), (*results, *fine))
    chat = to_conversation([LoggedTurn((USER,), (logged,))], {})
    assert [c.ok for c in chat.turns[0].calls] == [False] * 4 + [True] * 3


def test_a_failed_call_that_cannot_be_parsed_keeps_its_name():
    """Its arguments are dropped, and it is counted; one that went well is refused instead."""
    step, notes = one_step(None, ["mv(source=a b)", "ls()"], ["Error during execution: invalid syntax", "[]"])
    assert [(c.name, dict(c.arguments), c.ok) for c in step.calls] == [("mv", {}, False), ("ls", {}, True)]
    assert notes["unparsable_call"] == 1
    with pytest.raises(TrajectoryError, match="turn 0, step 0: a call of 'mv'"):
        one_step(None, ["mv(source=a b)"], ["None"])


def test_positional_arguments_are_named_where_the_benchmark_is_installed():
    """Without it the run is refused, and the message says what to install."""
    step, _ = one_step(None, ["sort('a')"], ["sorted"], parameters={"sort": ("file_name",)})
    assert dict(step.calls[0].arguments) == {"file_name": "a"}
    with pytest.raises(TrajectoryError, match="pip install"):
        one_step(None, ["sort('a')"], ["sorted"])


def test_calls_that_the_harness_could_not_decode_are_no_calls():
    """D22: a step without calls, counted; what they would have said is not kept."""
    step, notes = one_step([{"login": '{"password": "hunter2"'}])
    assert (step.text, step.calls, notes["undecoded_step"]) == ("", (), 1)
    assert one_step("All done.")[1]["undecoded_step"] == 0
    assert one_step([])[1]["undecoded_step"] == 0


def test_reasoning_comes_before_the_words():
    """It is text of the step, and think tags are taken off."""
    assert one_step("Done.", reasoning="I was asked.")[0].text == "I was asked.\nDone."
    assert one_step("<think>Hm.</think>\nDone.")[0].text == "Hm.\nDone."
    assert one_step([{"ls": "{}"}], ["ls()"], ["[]"], reasoning="I look.")[0].text == "I look."


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("[ls(a=True)]", ""),
        ("```python\n[ls(a=True)]```", ""),
        ("[ls(a=1 + 0)]", ""),
        ("<think>I look.</think>[ls(a=True)]", "I look."),
        ("I look.</think>\n[ls(a=True)]", "I look."),
        ("I look now: ls(a=True)", "I look now:"),
        ('I look.\n<tool_call>{"name": "ls", "arguments": {"a": true}}</tool_call>', "I look."),
        ('{"name": "ls", "arguments": {}}', ""),
    ],
)
def test_a_prompting_answer_does_not_say_its_calls_again(answer, words):
    """The calls stand beside the text; what is said before them stays."""
    step, _ = one_step(answer, ["ls(a=True)"], ["[]"])
    assert step.text == words
    assert [c.name for c in step.calls] == ["ls"]


def test_words_that_only_look_like_calls_stay_words():
    """Text is never a call."""
    step, _ = one_step("[ls(a=True)] would list it.")
    assert (step.text, step.calls) == ("[ls(a=True)] would list it.", ())


def test_what_opens_a_turn():
    """Several user messages are one turn; the system's are dropped; null content is a turn without a word (D22d)."""
    assert opened({"role": "system", "content": "Rules."}, USER) == ("Tidy up.", False)
    assert opened({"role": "developer", "content": "Rules."}, USER) == ("Tidy up.", False)
    assert opened(USER, {"role": "user", "content": [{"text": "Now."}]}) == ("Tidy up.\nNow.", False)
    assert opened({"role": "user", "content": None}) == (None, False)
    assert opened() == (None, False)


def test_memory_does_not_become_memory():
    """A block before the system's or the user's words, examples as earlier turns, a hint: gone, and marked."""
    block = Block(build_block([("Strategies:", ["Look first."])]))
    assert opened(*prepend_memory([USER], block)) == ("Tidy up.", True)
    assert opened(*prepend_memory([{"role": "system", "content": "Rules."}, USER], block)) == ("Tidy up.", True)
    shown = Block(build_block([("Strategies:", ["Look first."])], examples=True), (("Old task", "old_call()"),))
    assert opened(*prepend_memory([USER], shown)) == ("Tidy up.", True)
    hinted = append_hint("Error: no seats", Block(build_hint([("Try:", ["book()"])])))
    logged = LoggedTurn((USER,), (LoggedStep(None, "", ("book()",), (hinted,)),))
    chat = to_conversation([logged], {})
    assert (chat.turns[0].calls[0].observation, chat.memory_assisted) == ("Error: no seats", True)


@pytest.mark.parametrize(
    "query",
    [{"role": "tool", "content": "x"}, {"content": "x"}, {"role": ["user"]}, {"role": "user", "content": 5}],
)
def test_an_unknown_speaker_or_content_is_refused(query):
    """Nobody's words are taken for the user's."""
    with pytest.raises(TrajectoryError):
        opened(query)


@pytest.mark.parametrize("content", [5, [5], [["x"]], True])
def test_an_answer_of_another_kind_is_refused(content):
    """Positive control: text, lists of texts and of calls are read above."""
    with pytest.raises(TrajectoryError, match="turn 0, step 0"):
        one_step(content)


def test_half_a_character_in_an_argument_is_replaced_and_counted():
    """The harness writes it as an escape of Python, which no check of JSON can see."""
    step, notes = one_step(None, [r"echo(content='\ud83d')"], ["None"])
    assert (dict(step.calls[0].arguments), notes["replaced_surrogates"]) == ({"content": "\ufffd"}, 1)


def test_the_wrong_call_of_the_samples_is_read_too():
    """A keyword that the tool does not have is an argument like any other."""
    assert conversation([("Go.", [call(WRONG)])]).turns[0].calls[0].arguments == {"bogus": 1}
