"""Observations as values: JSON, Python literals, and what stays text."""

from __future__ import annotations

import ast
import json
import os
import pprint
import subprocess
import sys
import threading
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.build import build_memory
from amd.json_text import MAX_DEPTH, dumps
from amd.mask import Mask
from amd.observation import parse
from amd.testing import StubEmbedder, run
from amd.trajectory import is_error

DEEP = [text * 5000 for text in ('{"a":', "[", '{"error":', "{'a':", "(", "{", "[{'a':(", "['a',")]

SCRIPT = """
import sys
from amd.mask import Mask
from amd.testing import run
made = run(1, observe=lambda turn, step: sys.argv[1])
print(ascii(Mask.of(made).run(made).calls[0].observation))
"""


@pytest.mark.parametrize("text", ['{"a": [1, 2.5, null, "é"]}', "{'a': ['x', None, True]}", "['RMS', 'SBK']", '"text"'])
def test_what_parses_is_written_back_in_its_own_notation(text):
    """JSON stays JSON and a Python literal stays one."""
    observed = parse(text)
    assert observed is not None
    assert observed.text() == text


@pytest.mark.parametrize(
    "text",
    [
        *("done", "", "Error: no seats", "{'result': mpf('2.0')}", "{broken", "12", "[b'x']", "{'a': 1 'b': 2}"),
        *("[1 2]", "[1,,2]", "[,]", "{,}", "{1: 2, 3}", "['a'] ['b']", "[1e999]", '{"a": 1e999}', "[01]", "[1if]"),
        *("['\\N{NO SUCH CHARACTER}']", "[--1]", "['a", "[" + "9" * 5000 + "]", "[True, Falsey]"),
    ],
)
def test_what_does_not_parse_is_text(text):
    """A number is text too: it stands under no key."""
    assert parse(text) is None


@pytest.mark.parametrize("text", DEEP)
def test_deep_nesting_is_text_and_builds(tmp_path, text):
    """No parser's limit, wherever it is, stops a build: the run is admitted and gives its records."""
    assert parse(text) is None
    assert not is_error(text)
    closed = f"{'[' * 5000}{']' * 5000}"
    made = run(1, observe=lambda turn, step: closed if step else text)
    report = build_memory([made], tmp_path / "memory", embedder=StubEmbedder())
    assert report.admitted == 1
    assert all(count > 0 for count in report.records.values())


def test_nesting_that_is_allowed():
    """The control: down to the limit both notations are read."""
    for opened, closed in (("[", "]"), ("{'a':", "}"), ("(1,", ")"), ("{", "}")):
        assert parse(opened * (MAX_DEPTH - 1) + "'x'" + closed * (MAX_DEPTH - 1)) is not None
        assert parse(opened * (MAX_DEPTH + 2) + "'x'" + closed * (MAX_DEPTH + 2)) is None


def test_keys_that_are_no_strings_become_their_own_spelling():
    """JSON has no such keys; a literal does."""
    observed = parse("{1: 'a', (2, 3): {'b'}}")
    assert observed is not None
    assert observed.value == {"1": "a", "(2, 3)": ["b"]}


literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.lists(inner).map(tuple),
    max_leaves=12,
)


@given(st.lists(literals) | st.dictionaries(st.text(), literals), st.integers(10, 80))
def test_literals_read_as_python_reads_them(value, width):
    """What ``repr`` and ``pprint`` write comes back, tuples as lists."""
    for text in (repr(value), pprint.pformat(value, width=width)):
        observed = parse(text)
        assert observed is not None
        assert observed.value == json.loads(json.dumps(value))


@given(st.text(st.sampled_from("'\"\\nxuN{}01479abAB \n,é"), max_size=12))
def test_escapes_read_as_python_reads_them(inner):
    """Every escape, known and unknown, inside either quote."""
    text = f"['{inner}']"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return
    observed = parse(text)
    assert observed is None or observed.value == expected


@pytest.mark.parametrize(
    ("inner", "value"),
    [
        (r"\a\'b\"\\", "\a'b\"\\"),
        (r"\x41\u00e9\U0001F600\N{BULLET}\101", "Aé😀•A"),
        (r"C:\Users\d", "C:\\Users\\d"),
        ("a\\\nb", "ab"),
        (r"\U00110000 \UFFFFFFFF", "\\U00110000 \\UFFFFFFFF"),
    ],
)
def test_escapes_are_read(inner, value):
    """The control of the test above: these are."""
    assert parse(f"['{inner}']").value == [value]


def test_a_path_of_windows_warns_nobody():
    r"""``"C:\d"`` is no known escape: its backslash stays, and no warning is raised, in threads either."""
    found = []
    threads = [threading.Thread(target=lambda: found.append(parse(r"{'p': 'C:\d\400'}"))) for _ in range(4)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [observed.value for observed in found] == [{"p": "C:\\d\u0100"}] * 4
    assert not caught


@pytest.mark.parametrize(
    "text",
    [
        "{'owner': {'Zoe', 'Ann', 'Bob', 'Eve'}, 'seen': {'r2', 'q8', 'z1'}}",
        "{'seats': {'12A', '14C', '9F'}, 'email': 'ann@x.example', 'free': {1: {'b', 'a'}}}",
        str([{"name": "Ann Quill", "row": {"a": 1, "b": ("x", None)}}]),
        '{"email": "ann@x.example", "tags": ["b", "a"]}',
    ],
)
def test_masking_does_not_depend_on_the_hash_seed(text):
    """Sets keep the order of the text, so equal runs give equal records in every process."""
    made = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, text],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert made[0] == made[1]
    assert "<" in made[0], "the control: something was masked, so the value was written anew"


@pytest.mark.parametrize("text", ['{"password": "Plum7731x", "password": null}', "{'pw': 'Plum7731x', 'pw': None}"])
def test_a_name_that_occurs_twice_hides_nothing(text):
    """C13: the first value is masked too, though a reader of JSON sees the last one only."""
    made = run(1, observe=lambda turn, step: text)
    masked = Mask.of(made).run(made)
    assert "Plum" not in masked.calls[0].observation
    assert parse('{"a": 1, "b": 2, "a": 3}').value == {"a": [1, 3], "b": 2}


@pytest.mark.parametrize(
    "text", [r'{"email": "a@b.co", "note": "bad \ud83d"}', r"{'email': 'a@b.co', 'note': '\ud83d'}"]
)
def test_an_escaped_surrogate_does_not_come_alive(text):
    """D11a: what is written anew can be written: half a character is replaced."""
    made = run(1, observe=lambda turn, step: text)
    masked = Mask.of(made).run(made)
    assert "\ufffd" in masked.calls[0].observation
    dumps(masked)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": NaN, "b": -Infinity, "c": 1e999}', "{'a': nan, 'b': -inf, 'c': inf}"),
        ("{'a': nan, 'b': -inf, 'c': 1e999, 'd': Infinity}", "{'a': nan, 'b': -inf, 'c': inf, 'd': inf}"),
        ("{'a': null, 'b': true, 'c': false}", "{'a': None, 'b': True, 'c': False}"),
        ('{"a": "x\ny"}', "{'a': 'x\\ny'}"),
        ('["' + "9" * 4301 + '"]', f"['{'9' * 4301}']"),
        ("[" + "9" * 4301 + "]", f"['{'9' * 4301}']"),
        ("['', " + "9" * 4301 + "]", f"['', '{'9' * 4301}']"),
    ],
)
def test_masking_reads_more(text, value):
    """What is no JSON by the letter is read with ``lenient``, and only then where it is no value of ours."""
    assert repr(parse(text, lenient=True).value) == value
    strict = parse(text)
    assert strict is None or repr(strict.value) == value


def test_leniency_has_its_limits():
    """The control: what is broken stays text, and deep nesting too."""
    for text in ("{broken", "{'a': nul}", "[nano]", "[1 2]", *DEEP):
        assert parse(text, lenient=True) is None


def test_names_of_characters_are_looked_up_in_linear_time():
    """A name has a bounded length: a text of opened ones took a minute and a half."""
    assert parse("['" + "\\N{" * 100_000 + "']").value == ["\\N{" * 100_000]
    assert parse("['\\N{LATIN SMALL LETTER E WITH ACUTE}']").value == ["\u00e9"]
