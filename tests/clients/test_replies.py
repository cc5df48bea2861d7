"""A model's reply: asked for by a schema, read with patience, taken with none."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.clients import fit_reply, parse_reply, reply_schema
from amd.errors import AmdError, ReplyError
from amd.json_text import JSON, dumps
from amd.tiers.subtask import Segment, Segments, fault_in
from amd.tiers.workflow import Insight

ONE = '{"start_step":1,"end_step":3,"label":"a","description":"b"}'
GOOD = f"[{ONE}]"
SEGMENTS = Segments((Segment(1, 3, "a", "b"),))


@dataclass(frozen=True)
class Inner:
    """A part of a reply."""

    on: bool
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    """A reply with every kind that one may have."""

    text: str
    count: int
    inner: Inner
    many: tuple[Inner, ...]
    grid: tuple[tuple[int, ...], ...] = ()


def read(text: str) -> Segments:
    """What a writer does with a reply."""
    return fit_reply(parse_reply(text), Segments)


def reason(text: str) -> str:
    """Why a reply is refused."""
    with pytest.raises(ReplyError) as caught:
        read(text)
    assert str(caught.value)
    return caught.value.reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"```json\n{GOOD}\n```", id="fenced"),
        pytest.param(f'{{"segments": {GOOD}}}', id="as asked"),
        pytest.param(f"Steps [1-3] are: {GOOD}", id="after words"),
        pytest.param(f"<think> hmm {GOOD}", id="thought never closed"),
        pytest.param(f"{GOOD[:-1]},]", id="trailing comma"),
        pytest.param(GOOD.replace('"', "'"), id="single quotes"),
        pytest.param(GOOD.replace("1", "1.0").replace("3", "3.0"), id="whole floats"),
    ],
)
def test_d09_what_is_accepted(text: str) -> None:
    """D09: dressed up, but whole; and nothing else comes out than what was in it."""
    assert read(text) == SEGMENTS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param("I cannot do that.", "prose", id="prose"),
        pytest.param(GOOD[:-8], "cut", id="cut"),
        pytest.param('["a","b"]', "shape", id="texts"),
        pytest.param(GOOD.replace("1", "null"), "shape", id="null"),
        pytest.param(GOOD.replace("1", '"one"'), "shape", id="a word"),
        pytest.param(GOOD.replace("1", '"1"'), "shape", id="a number as text"),
        pytest.param(GOOD.replace("1", '"1-3"'), "shape", id="a range"),
        pytest.param(GOOD.replace("1", "NaN"), "shape", id="NaN"),
        pytest.param(GOOD.replace("1", "true"), "shape", id="true"),
        pytest.param(GOOD.replace("1", "1.0").replace("3", "2.9"), "shape", id="a fraction"),
        pytest.param(GOOD.replace('"a"', '["a","b"]'), "shape", id="a list as label"),
        pytest.param(f'{GOOD[:-1]},{{"label":"x"}}]', "shape", id="no bounds"),
    ],
)
def test_d09_what_is_rejected(text: str, why: str) -> None:
    """D09: with its reason, and nothing of it is kept."""
    assert reason(text) == why


@pytest.mark.parametrize("bounds", [[(9, 2)], [(50, 60)], [(1, 3), (1, 3)], [(1, 1)], [(1, 2), (3, 3)]], ids=str)
def test_d09_what_the_tier_rejects(bounds: list[tuple[int, int]]) -> None:
    """D09: bounds are the tier's business: a reply of the right shape whose segments do not cover the run once."""
    reply = json.dumps([{"start_step": first, "end_step": last, "label": "a"} for first, last in bounds])
    assert fault_in(read(reply).segments, 3) is not None
    assert fault_in(SEGMENTS.segments, 3) is None, "control"


THREE = '{"segments": [' + ",".join(ONE.replace("1", str(n)).replace("3", str(n)) for n in (1, 2, 3)) + "]}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(f"<think>step {{1}}..</think>\n```json\n{THREE}\n```", 3, id="a"),
        pytest.param(THREE[: THREE.index("}", THREE.index("}") + 1) + 1], "cut", id="b"),
        pytest.param("", "empty", id="d"),
        pytest.param(" \n", "empty", id="d, blank"),
        pytest.param("<think>What would a good answer be?</think>\n", "empty", id="d, thoughts only"),
        pytest.param("I'm sorry, but I can't help with [that].", "prose", id="e"),
    ],
)
def test_c08_truncated_and_dressed_up(text: str, found: int | str) -> None:
    """C08 a, b, d, e: accepted whole, or refused with a reason that says what to do next."""
    if isinstance(found, int):
        assert len(read(text).segments) == found
    else:
        assert reason(text) == found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("3", 3),
        ('"words"', "words"),
        ("null", None),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('Sure! {"a": 1} I hope that helps.', {"a": 1}),
        ('Use `{x}` and [file] so: {"a": 1}', {"a": 1}),
        ('as in [1] and [2, 3]: {"a": []}', {"a": []}),
        ("the steps are [1, 2]", [1, 2]),
        ("nothing: []", []),
        ('{"a": 1}\nor once more:\n{"a": 1}', {"a": 1}),
        ("{'a': True, 'b': None, 'c': (1, 2),}", {"a": True, "b": None, "c": [1, 2]}),
        ("{'it': \"it's\"}", {"it": "it's"}),
        ('{"text": "two\nlines"}', {"text": "two\nlines"}),
        ('{"path": "C:\\dir"}', {"path": "C:\\dir"}),
        ('{"smile": "\\ud83d\\ude00",}', {"smile": "\N{GRINNING FACE}"}),
        ('{"half": "\\ud83d"}', {"half": "\ufffd"}),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        ('<think>{"a": 0}</think>{"a": 1}', {"a": 1}),
        ('[THINK]{"a": 0}[/THINK]{"a": 1}', {"a": 1}),
        ('I try {"a": 0} or [{"a": </think>{"a": 1}', {"a": 1}),
        ('<think>{"a": 0}</think>it is {"a": "</think>"}', {"a": "</think>"}),
        ('<think>so\n```json\n{"a": 1}\n```\n', {"a": 1}),
        ('<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>', {"name": "ls", "arguments": {}}),
    ],
)
def test_one_value_is_found(text: str, value: JSON) -> None:
    """Past everything that models put around an answer."""
    assert parse_reply(text) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1}\n{"a": 2}', "shape"),
        ('{"a": 1, "a": 2}', "shape"),
        ('so: {"a": 1, "a": 2}', "shape"),
        ('{"a": 1e999}', "shape"),
        ('{"a": -Infinity}', "shape"),
        ("{'a': nan}", "shape"),
        ('[{"a": 1} {"b": 2}]', "shape"),
        ('{"a": {"b": 2}, c}', "shape"),
        ('{"a": "b"]', "shape"),
        ("{'a': it's}\n", "shape"),
        ("[" * 102 + "]" * 102, "shape"),
        ("[" * 100_000, "shape"),
        ('{"a": {"b": 2}, "c', "cut"),
        ("[{'a': 'b', 'c", "cut"),
        ('{"a": 1} and also {"b": "', "cut"),
        ('<think>first {"a": 1}, no', "cut"),
        ("<think>never said", "cut"),
        ('{"a": 1}</think>', "empty"),
        ("[1] or [2]", "prose"),
        ("NaN", "prose"),
    ],
)
def test_no_part_of_a_broken_reply_is_taken(text: str, why: str) -> None:
    """What breaks off, contradicts itself or cannot be read is refused as a whole."""
    with pytest.raises(ReplyError) as caught:
        parse_reply(text)
    assert caught.value.reason == caught.value.fields["reason"] == why
    assert isinstance(caught.value, AmdError)


def test_nesting_up_to_the_limit_is_read() -> None:
    """The control of the depth above, bare and in words."""
    deep = "[" * 100 + "]" * 100
    assert parse_reply(deep) == parse_reply(f"so: {deep}")


TEXTS = st.text(st.sampled_from("\"'\\{}[],:`<>/ \nthinkTHINK1e.-a\u00e9\ud83d\u2028")) | st.text()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
PLAIN = st.text(st.characters(blacklist_characters="[]{}<", blacklist_categories=("Cs",)))


@given(TEXTS | st.lists(st.sampled_from(["<think>", "</think>", GOOD, "{", "[", '"', "'", ",", "x"])).map("".join))
def test_any_text_is_a_value_or_a_reply_error(text: str) -> None:
    """Nothing else is raised, and what comes out can be kept as JSON."""
    with contextlib.suppress(ReplyError):
        dumps(parse_reply(text))


@given(
    VALUES,
    PLAIN,
    PLAIN,
    st.sampled_from(["{}", "```json\n{}\n```", "<think>{{1}} and [2, </think>{}", "I [1] think</think>{}"]),
)
def test_any_value_is_found_in_any_wrapping(value: JSON, before: str, after: str, wrapping: str) -> None:
    """Words, fences and thoughts around an object or a list change nothing; a scalar stands alone."""
    text = dumps(value).decode()
    assert parse_reply(text) == value
    if isinstance(value, dict | list):
        assert parse_reply(before + wrapping.format(text) + after) == value
        literal = repr(value)
        assert parse_reply(before + literal + after) == value


NAMES = st.lists(st.text(), max_size=3).map(tuple)
INNERS = st.builds(Inner, st.booleans(), NAMES)
GRIDS = st.lists(st.lists(st.integers(), max_size=3).map(tuple), max_size=3).map(tuple)
OUTERS = st.builds(Outer, st.text(), st.integers(), INNERS, st.lists(INNERS, max_size=3).map(tuple), GRIDS)


@given(OUTERS)
def test_what_was_taken_apart_fits_again(reply: Outer) -> None:
    """From Python's own parts, and through JSON; a text stays as it is, to the last blank."""
    assert fit_reply(asdict(reply), Outer) == reply
    clean = json.loads(json.dumps(asdict(reply)))
    assert fit_reply(clean, Outer) == reply


def test_the_schema_of_a_reply() -> None:
    """Written out in place, all members required, no other allowed, in the order of the fields."""
    inner = {
        "type": "object",
        "properties": {"on": {"type": "boolean"}, "names": {"type": "array", "items": {"type": "string"}}},
        "required": ["on", "names"],
        "additionalProperties": False,
    }
    assert reply_schema(Outer) == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "inner": inner,
            "many": {"type": "array", "items": inner},
            "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        },
        "required": ["text", "count", "inner", "many", "grid"],
        "additionalProperties": False,
    }
    assert reply_schema(str) == {"type": "string"}


def test_the_schema_has_stable_bytes() -> None:
    """A journal is keyed by it: these bytes may only change with the shape."""
    assert dumps(reply_schema(Segments), sort_keys=False).decode() == (
        '{"type":"object","properties":{"segments":{"type":"array","items":{"type":"object","properties":{'
        '"start_step":{"type":"integer"},"end_step":{"type":"integer"},"label":{"type":"string"},'
        '"description":{"type":"string"}},"required":["start_step","end_step","label","description"],'
        '"additionalProperties":false}}},"required":["segments"],"additionalProperties":false}'
    )


@pytest.mark.parametrize("kind", [float, list[str], tuple[int, int], dict, int | None])
def test_a_kind_that_no_reply_has(kind: Any) -> None:
    """Said when the shape is written, not when a model answers."""
    with pytest.raises(TypeError, match="is no kind of reply"):
        reply_schema(kind)
    with pytest.raises(TypeError, match="is no kind of reply"):
        fit_reply({}, kind)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "the reply must be an object with text, not []"),
        ("x", 'the reply must be an object with text, not "x"'),
        ({}, "the reply must be an object with text, not {}"),
        ({"text": None}, "text must be text, not null"),
        ({"text": 3}, "text must be text, not 3"),
        ({"insight": "x"}, 'the reply must be an object with text, not {"insight": "x"}'),
        ({"text": ["x" * 100]}, f'text must be text, not ["{"x" * 58}...'),
    ],
)
def test_a_fault_is_told_to_the_model(value: JSON, words: str) -> None:
    """Which member, what it must be, what it is: on one short line."""
    with pytest.raises(ReplyError) as caught:
        fit_reply(value, Insight)
    assert (str(caught.value), caught.value.reason) == (words, "shape")


def test_a_fault_deep_inside_has_its_path() -> None:
    """The place is in the words and beside them."""
    with pytest.raises(ReplyError, match=r"^segments\[1\]\.start_step must be a whole number, not \"one\"$") as caught:
        fit_reply({"segments": [json.loads(ONE), {**json.loads(ONE), "start_step": "one"}]}, Segments)
    assert caught.value.fields["path"] == "segments[1].start_step"


def test_members_that_are_missing_or_strange() -> None:
    """A default stands in for a missing member; a strange one is passed over, unless it may be the missing one."""
    bounds: dict[str, JSON] = {"start_step": 1, "end_step": 3, "label": "a"}
    assert fit_reply(bounds, Segment) == Segment(1, 3, "a")
    assert fit_reply({**bounds, "description": "b", "confidence": 0.9}, Segment) == Segment(1, 3, "a", "b")
    with pytest.raises(ReplyError, match="must be an object with description"):
        fit_reply({**bounds, "summary": "b"}, Segment)


def test_numbers_are_taken_for_what_they_are() -> None:
    """A float without a fraction is a whole number of the type of one; nothing else is converted."""
    found = fit_reply(3.0, int)
    assert (found, type(found)) == (3, int)
    for value in (True, "3", None, 2.9, math.nan, math.inf):
        with pytest.raises(ReplyError):
            fit_reply(value, int)
    for other in (0, 1, "true", None):
        with pytest.raises(ReplyError):
            fit_reply(other, bool)
    assert fit_reply(value=False, kind=bool) is False


N = 300_000


@pytest.mark.parametrize(
    "text",
    [
        "[" * N,
        "[ " * N,
        '{"a":' * N,
        "[1-3] " * N,
        "{}" * N,
        "a {x} " * N,
        '["' + '\\"' * N,
        "[1 '" + "[1 \\'" * N,
        "[1," * 50 + "1," * N,
        "<think>" * N,
        "<think>[1,</think>" * N,
        '["\\"</think>' * (N // 5),
        "\n" * N + "{",
        "[" + ", " * N,
        "x [" + ",".join([ONE] * (N // 30)) + ",]",
        "x [" + ",".join([ONE.replace('"', "'")] * (N // 60)) + "]",
    ],
    ids=range(16),
)
def test_long_replies_take_time_by_their_length(text: str) -> None:
    """The worst that a model may loop into, in megabytes: it ends, and with the square of its length it would not."""
    with contextlib.suppress(ReplyError):
        parse_reply(text)
