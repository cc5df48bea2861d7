"""The name that a run goes by in the harness: made of model and arm, or chosen by a person."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.arms import Arm
from amd.errors import ConfigError
from amd_bfcl.names import check_name, registry_name

ARMS = [
    Arm.of({"method": "none"}),
    Arm.of({"memory": "m"}),
    Arm.of({"memory": "m", "mode": "dynamic", "layout": "turns"}),
    Arm.of({"memory": "m", "method": "workflow+function", "protocol": "in-sample"}),
]
MODELS = st.one_of(
    st.text(min_size=1),
    st.text(min_size=90, max_size=300),
    st.from_regex(r"[A-Za-z0-9_:/. -]*(FC|fc)?[A-Za-z0-9_:/. -]+", fullmatch=True),
)


@given(model=MODELS, arm=st.sampled_from(ARMS), calling=st.sampled_from(["fc", "prompting"]))
def test_any_model_gives_a_name_that_the_harness_reads_as_it_is_meant(model, arm, calling):
    """No underscore (a slash to the harness), a Python name's beginning, and FC if and only if functions are called."""
    name = registry_name(model, arm, calling)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9.-]*", name)
    assert ("FC" in name) == (calling == "fc")
    assert check_name(name, calling) == name


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("my_org/My_Model:7b", "my-org-My-Model-7b-none"),
        ("4o-mini", "model-4o-mini-none"),
        ("modelFC", "modelfc-none"),
        ("日本", "cf2abf0c-none"),
        ("x" * 100, "x" * 100 + "-none"),
        ("x" * 101, "x" * 100 + "-c675a2e6-none"),
        ("../../etc", "etc-none"),
    ],
)
def test_names_that_the_harness_could_not_take(model, name):
    """Registry names with ``_`` or ``:``, a digit first, a path, ``FC`` where none is called."""
    assert registry_name(model, ARMS[0], "prompting") == name


def test_names_that_say_nothing_or_too_much_are_told_apart():
    """Models in other scripts, and long ones that end unlike each other; a folder can have each name."""
    models = ["日本", "中国", "モデル", "🦙", "x" * 101, "x" * 300, "x" * 100 + "y", "y" * 100_000]
    for calling in ("fc", "prompting"):
        names = {registry_name(model, arm, calling) for model in models for arm in ARMS}
        assert len(names) == len(models) * len(ARMS)
        assert all(len(f"BFCL_v4_{name}_result.json".encode()) < 255 for name in names)


def test_two_arms_of_one_model_have_two_names():
    """So that their results lie in two folders."""
    names = {registry_name("qwen3-4b", arm, calling) for arm in ARMS for calling in ("fc", "prompting")}
    assert len(names) == 2 * len(ARMS)


@pytest.mark.parametrize(
    ("name", "calling"),
    [
        ("my_run-FC", "fc"),
        ("my:run-FC", "fc"),
        ("4b-FC", "fc"),
        ("a/b-FC", "fc"),
        ("", "prompting"),
        ("run\n", "prompting"),
        ("rün", "prompting"),
        ("run", "fc"),
        ("run-FC", "prompting"),
        ("r" * 201, "prompting"),
    ],
)
def test_a_chosen_name_that_would_be_read_otherwise_is_refused(name, calling):
    """One line that quotes it; names of the same kind that are right pass (the control)."""
    with pytest.raises(ConfigError) as caught:
        check_name(name, calling)
    assert repr(name) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert check_name("run.7-FC", "fc") == "run.7-FC"
    assert check_name("run.7", "prompting") == "run.7"
    assert check_name("r" * 200, "prompting") == "r" * 200
