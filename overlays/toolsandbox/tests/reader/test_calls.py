"""Calls as the harness writes them: parsed, never run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd_toolsandbox.calls import parse_arguments, parse_code

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
IDS = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1)


@given(
    call_id=IDS, name=st.from_regex(r"[a-z_]+", fullmatch=True), arguments=st.dictionaries(st.text(), JSON, max_size=4)
)
def test_what_the_harness_writes_comes_back(call_id, name, arguments):
    """Whatever stands in ids and values: quotes, line ends, backslashes, and the words of the form itself."""
    code = f"{call_id}_parameters = {arguments}\n{call_id}_response = {name}(**{call_id}_parameters)\nprint(1)"
    written = parse_code(code)
    assert written.name == name
    assert parse_arguments(written.arguments) == arguments


@pytest.mark.parametrize("code", ["", "water(bed=4)", "a_parameters = {}\nb_response = water(**b_parameters)"])
def test_another_form_is_refused(code):
    """Nothing is guessed from code that the harness did not write."""
    with pytest.raises(ValueError, match="not a call"):
        parse_code(code)


@pytest.mark.parametrize(
    "written", ["nan", "{'a': inf}", "{'a': b''}", "{'a': (1,)}", "[]", "{1: 2}", "__import__('os')", "{"]
)
def test_what_is_no_json_object_is_refused(written):
    """A literal of Python's that JSON has not is none either."""
    with pytest.raises(ValueError, match=r"no literal|not a dictionary"):
        parse_arguments(written)


def test_odd_escapes_warn_nobody():
    r"""``"\d"`` is a warning of Python's about its own programs; here warnings are errors."""
    assert parse_arguments(r"{'path': 'C:\d'}") == {"path": r"C:\d"}
