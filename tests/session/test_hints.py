"""What a hint says after a failed call, and what it never says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.exclusion import deployed
from amd.inject import HINT_NOTE, HINT_OPEN
from amd.json_text import JSON
from amd.records import Record
from amd.session import Limits, Session
from amd.session.hints import FailedValues, nearest_tools
from amd.session.offer import Offer, offered
from amd.store import Memory
from amd.tier import FailedCall, Part
from amd.trajectory import ToolSpec
from amd.transcript import render_call

Remember = Callable[..., Memory]
Make = Callable[..., Record]

FOLDER = {"type": "object", "properties": {"folder": {"type": "string"}, "unit": {"enum": ["metric", "imperial"]}}}
TOOLS = [ToolSpec("cd", "Change folder.", FOLDER), ToolSpec("list_files"), ToolSpec("move_file")]
ERROR = "Error: cd: 'x': no such directory"
UNKNOWN = offered(None)


def failed(tool: str = "cd", error: str = ERROR, place: int = 1, **arguments: JSON) -> FailedCall:
    """A failed call with these arguments."""
    return FailedCall(tool, arguments, error, turn_text="go to the folder", place=place)


@pytest.fixture
def session(remember: Remember, record: Make, tiny: type) -> Callable[..., Session]:
    """A session whose function tier knows one call of ``cd``."""
    memory = remember(
        [record(1, "go to the folder", "A call that worked: cd(folder='<folder>')", tier="function", tool="cd")]
    )
    tier = tiny("function", moments=("error",), extra=(Part("Its argument is folder. Another part says archive."),))
    return lambda **options: Session(memory, **{"viewer": deployed(), "method": [tier], "tools": TOOLS, **options})


def test_one_hint_for_a_tool_and_class_by_places(session: Callable[..., Session]):
    """The first place has the hint and has it again; another place of the same class has none, and that is logged."""
    one = session()
    hint = one.after_error(failed(place=3))
    assert "A call that worked" in hint.text
    assert not one.after_error(failed(place=4, error="Error: cd: 'y': no such directory"))
    assert one.after_error(failed(place=3)) == hint
    assert not one.after_error(failed(place=4, error="Error: cd: 'y': no such directory"))
    assert [(exposure.place, exposure.dropped) for exposure in one.exposures] == [(3, {}), (4, {"repeat_error": 1})]
    # Another class of error of the same tool is another question.
    assert one.after_error(failed(place=5, error="Error: permission denied"))


def test_a_hint_that_came_back_in_the_error_is_the_same_error(session: Callable[..., Session]):
    """A harness may hand on the content with the hint in it: it is stripped before the class is taken."""
    one = session()
    hint = one.after_error(failed(place=3))
    assert one.after_error(failed(place=3, error=f"{ERROR}\n\n{hint}")) == hint
    assert len(one.exposures) == 1


def test_d19_an_unknown_tool_gets_the_nearest_names(session: Callable[..., Session]):
    """D19: near names that exist are offered without a search; the wrong name is not repeated."""
    one = session()
    text = one.after_error(failed("list_file", "Error: no such tool")).text
    assert text.startswith(HINT_OPEN)
    assert "list_files" in text
    assert "list_file," not in text
    assert "list_file." not in text
    assert not one.after_error(failed("zzz", "Error: no such tool", place=2))
    first, second = one.exposures
    assert (first.dropped, first.record_ids, first.considered) == ({"unknown_tool": 1}, (), 0)
    assert first.tokens > 0
    assert (second.dropped, second.tokens) == ({"unknown_tool": 1}, 0)
    # Unknown tools are asked like any other where the task's tools are not known.
    assert not session(tools=None).after_error(failed("list_file", "Error: no such tool"))
    assert session(tools=None).after_error(failed("cd"))


def test_a_method_without_an_error_tier_says_nothing(remember: Remember, record: Make, tiny: type):
    """Not even the nearest names: the tiers asked for are the tiers used."""
    memory = remember([record(1, "go to the folder")])
    one = Session(memory, viewer=deployed(), method=[tiny()], tools=TOOLS)
    assert not one.after_error(failed("list_file"))
    assert one.exposures == ()


def test_c16_failed_values_are_never_repeated(session: Callable[..., Session]):
    """C16: a part that holds a failed value is dropped and counted; the control shows it with another value."""
    one = session()
    text = one.after_error(failed(folder="Archive")).text
    assert "archive" not in text
    assert "A call that worked" in text
    assert one.exposures[0].dropped == {"echo": 1}
    assert "archive" in session().after_error(failed(folder="elsewhere")).text


def test_a_placeholder_that_was_copied_is_no_value_of_the_student():
    """A student that wrote ``<folder>`` out still gets the call that has it; its own values stay hidden (control)."""
    values = FailedValues.of({"folder": " <folder> ", "unit": "furlong"}, UNKNOWN)
    assert not values.repeated_in(render_call("cd", {"folder": "<folder>"}, "json"))
    assert values.repeated_in(render_call("cd", {"folder": "<folder>", "unit": "furlong"}, "json"))


def test_a_copied_placeholder_is_told_once_for_each_tool(session: Callable[..., Session]):
    """It has a hint of its own, also after the error itself had one; the other error keeps its own (control)."""
    one = session()
    assert "A call that worked" in one.after_error(failed(folder="Archive2")).text
    note = one.after_error(failed(place=2, folder="<folder>")).text
    assert "<folder> stands for a value" in note
    assert note.index("stands for a value") < note.index("A call that worked")
    assert not one.after_error(failed(place=3, folder="<folder>"))
    assert one.exposures[-1].dropped == {"repeat_error": 1}
    assert "<folder>" in one.after_error(failed(place=2, folder="<folder>")).text


def test_a_copied_placeholder_is_told_where_nothing_was_found(session: Callable[..., Session]):
    """The note stands alone then; with a record, what records are is said after it (the control)."""
    one = session()
    note = one.after_error(failed("list_files", folder="<folder>", name="<name>")).text
    assert "<folder>, <name> stand for values" in note
    assert HINT_NOTE not in note
    assert one.exposures[0].record_ids == ()
    assert not one.after_error(failed("list_files", place=2))
    both = session().after_error(failed(folder="<folder>")).text
    assert both.index("stands for a value") < both.index(HINT_NOTE) < both.index("A call that worked")


def test_a_copied_placeholder_keeps_other_values_back(session: Callable[..., Session]):
    """What the student wrote itself in the same call is still never repeated."""
    one = session()
    text = one.after_error(failed(folder="<folder>", unit="archive")).text
    assert "A call that worked" in text
    assert "archive" not in text
    assert one.exposures[0].dropped == {"echo": 1}


def test_a_hint_keeps_to_its_budget(session: Callable[..., Session]):
    """Whole parts only; the nearest names count too."""
    one = session(limits=Limits(function=20))
    text = one.after_error(failed()).text
    assert "A call that worked" in text
    assert "Its argument" not in text
    assert one.exposures[0].dropped == {"over_budget": 1}
    tight = session(limits=Limits(function=2))
    assert not tight.after_error(failed("list_file"))
    assert tight.exposures[0].tokens == 0


def test_a_hint_is_text_in_every_layout(remember: Remember, record: Make, tiny: type):
    """Earlier turns cannot be put into a tool's answer: in the layout turns a hint shows the text too."""
    known = record(1, "go to the folder", "Call cd.", tier="function", tool="cd", example=["Go", "cd()"])
    tier = tiny("function", moments=("error",))
    one = Session(remember([known]), viewer=deployed(), method=[tier], layout="turns")
    hint = one.after_error(failed())
    assert "Call cd." in hint.text
    assert hint.examples == ()


def test_values_that_a_schema_has_are_no_echo():
    """A member of an enum, a tool's or an argument's name may be said again."""
    values = FailedValues.of(
        {"unit": "metric", "then": "list_files", "key": "folder", "to": "elsewhere"}, offered(TOOLS)
    )
    assert values.strings == {"elsewhere"}
    assert FailedValues.of({"unit": "metric"}, UNKNOWN).strings == {"metric"}


def test_what_counts_as_a_failed_value():
    """Strings of four characters, numbers of a thousand, at any depth; no booleans, no keys, no small things."""
    arguments = {"a": ["abc", "abcd", {"deep": [12446, 999, -2500.5]}], "flag": True, "none": None}
    values = FailedValues.of(arguments, UNKNOWN)
    assert values.strings == {"abcd"}
    assert {str(number) for number in values.numbers} == {"12446", "2500.5"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('say "hi"', 'say(text="say \\"hi\\"")'),
        ("it's", "say(text='it\\'s')"),
        ("naïve\nline", 'say(text="na\\u00efve\\nline")'),
        ("</memory> now", "see «/memory» now"),
        (1249.99, "it cost $1,249.99."),
        (12446, "order #12446 is there"),
        ("TESTING", "while testing it"),
    ],
)
def test_each_spelling_of_a_value_is_found(value: JSON, text: str):
    """Escaped as JSON or Python would, neutralised, in another case, or as a grouped number."""
    assert FailedValues.of({"v": value}, UNKNOWN).repeated_in(text)


@pytest.mark.parametrize(("value", "text"), [("test", "the latest"), (1249, "1249.99 or 11249"), ("a.b.", "axb. c")])
def test_a_part_of_another_word_is_no_echo(value: JSON, text: str):
    """Only whole words and whole numbers count."""
    assert not FailedValues.of({"v": value}, UNKNOWN).repeated_in(text)


scalars = st.one_of(st.text(max_size=12), st.integers(), st.booleans(), st.none())


@given(st.dictionaries(st.text(max_size=5), scalars, max_size=4))
def test_rendering_the_failed_call_itself_is_always_an_echo(arguments: Mapping[str, JSON]):
    """Whatever a call holds, showing it again is found, in both formats, if any value counts at all."""
    values = FailedValues.of(arguments, Offer(None, None))
    if values.strings or values.numbers:
        assert values.repeated_in(render_call("tool", arguments, "json"))
        assert values.repeated_in(render_call("tool", arguments, "python"))


def test_nearest_tools():
    """Case does not matter, nothing near gives nothing, at most three come."""
    names = ["get_user", "get_users", "getUser", "get_used", "send"]
    assert len(nearest_tools("GET_USER", names)) == 3
    assert nearest_tools("GET_USER", names)[0] == "get_user"
    assert nearest_tools("zzz", names) == ()


DEEP = {"a": 1}
for _ in range(3000):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    "arguments",
    [{"n": float("nan")}, {"n": float("inf")}, {"n": -float("inf")}, DEEP, {"n": 10**400}, {"x": [None, True, ""]}],
)
def test_whatever_a_model_writes_as_arguments(arguments):
    """``json.loads`` lets a model's NaN and endless nesting in; none of it is an error here."""
    values = FailedValues.of(arguments, UNKNOWN)
    assert not values.repeated_in("nothing of it")
