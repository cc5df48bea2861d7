"""Steps decoded as the harness does: its two decoders, with their quirks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.errors import TrajectoryError
from amd_bfcl.decode import decode_function_calling, decode_prompting


@pytest.mark.parametrize(
    ("step", "calls"),
    [
        ([{"cd": '{"folder": "a"}'}, {"ls": "{}"}], ["cd(folder='a')", "ls()"]),
        ([{"mv": {"source": "a", "destination": "b"}}], ["mv(source='a',destination='b')"]),
        ({"cd": '{"folder": "a"}'}, ["cd(folder='a')"]),
        ([{"a_x": "{}", "b_x": "{}"}], ["a_x()", "b_x()"]),
        ([], []),
    ],
)
def test_function_calling_steps(step, calls):
    """Lists of objects, one object, arguments as text or as they are."""
    assert decode_function_calling(step) == calls


@pytest.mark.parametrize(
    "step",
    [
        "All done.",
        ["All done."],
        None,
        [{"cd": '{"folder": "a"'}],
        [{"cd": '["a", "b"]'}],
        [{"cd": 5}],
        [{"ls": "{}"}, "x"],
    ],
)
def test_function_calling_steps_that_are_words_to_the_harness(step):
    """D22b: arguments that are no JSON, or a JSON list, make the whole step words."""
    assert decode_function_calling(step) is None


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[cd(folder='a'), ls()]", ["cd(folder='a')", "ls()"]),
        ("```\n[ls()]\n```", ["ls()"]),
        ("ls()", ["ls()"]),
        ("[ls(", None),
        ("cd(folder='a')]", ["cd(folder='a')"]),
        ("[sort('a.txt')]", ["sort()"]),
        ("[f(a=-5, b=+5, c=not True, d=...)]", ["f(a=-5, b=-5, c=-1, d='...')"]),
        ("[f(a=north, b=x[1], c=g())]", ["f(a='north', b='x[1]', c='g()')"]),
        ("[f(a=(1, 'x'), b={'k': [1], 2: 'v'})]", ["f(a=(1, 'x'), b={'k': [1], '2': 'v'})"]),
        ("[f(a=1, a=2), fs.cd(), f()()]", ["f(a=2)", "fs.cd()", "()"]),
        ("", []),
        ("[]", []),
        ("All done.", None),
        ("Done", None),
        ("[x, ls()]", None),
        ("[f(a={})]", None),
        ("[f(a={1, 2})]", None),
        ("[f(a=x.y)]", None),
        ("[f(a=-'x')]", None),
        ("[f(a={**b})]", None),
        ("[f(a={[]: 1})]", None),
        ("[f(a=f'{x}')]", None),
    ],
)
def test_prompting_steps(text, calls):
    """Keyword arguments only; a bare name is a text; any sign is a minus; what it cannot do is words."""
    assert decode_prompting(text) == calls


@pytest.mark.parametrize("text", ["[f(a=1 + 1)]", "[f(a=g(b=1))]", "[f(a={'g': {'b': 1}})]"])
def test_what_the_harness_would_evaluate_is_refused(text):
    """A sum and an inner call are evaluated there; here nothing of a file is run to find out what it says."""
    with pytest.raises(TrajectoryError):
        decode_prompting(text)


@pytest.mark.bfcl
@given(st.text(alphabet="abf(),='[]{}:1.-*`\n", max_size=40))
def test_any_text_is_calls_words_or_refused(text):
    """Nothing else is raised."""
    try:
        calls = decode_prompting(text)
    except TrajectoryError:
        return
    assert calls is None or all(isinstance(call, str) for call in calls)


@pytest.mark.bfcl
@given(st.text(alphabet="abf(),='[]{}:1.-*`\n", max_size=40))
def test_the_harness_decodes_alike(text):
    """Where its own decoder can be imported, which needs its own environment."""
    theirs = pytest.importorskip(
        "bfcl_eval.model_handler.utils", reason="needs the harness's own environment", exc_type=ImportError
    )
    try:
        expected = theirs.default_decode_execute_prompting(text)
    except Exception:  # noqa: BLE001 - any exception of it means words, which is what is tested
        expected = None
    try:
        assert decode_prompting(text) == expected
    except TrajectoryError:
        return
