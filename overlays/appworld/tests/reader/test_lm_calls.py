"""The log of the agent's model."""

from __future__ import annotations

import json

import pytest
from made_experiments import reply

from amd.inject import build_block
from amd_appworld.lm_calls import read_lm_calls


@pytest.fixture
def calls(tmp_path):
    """Reads these lines."""

    def read(*lines, end="\n"):
        path = tmp_path / "lm_calls.jsonl"
        path.write_bytes(
            b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + end.encode()
        )
        return read_lm_calls(path)

    return read


def test_replies_and_models(calls):
    """In order; several models are all told."""
    found = calls(reply("a()", "One."), "", reply("b()", model="other"))
    assert found.replies == ("One.\n```python\na()\n```", "```python\nb()\n```")
    assert (found.models, found.faults, found.torn, found.memory) == (("big-model", "other"), 0, False, False)


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"input": {}, "output": {"choices": []}}', b"\xff", "[" * 100_000, '"x"']
)
def test_lines_that_are_none(calls, line):
    """A hole is counted; a last line without an end was torn."""
    assert (calls(line, reply("a()")).faults, calls(line, reply("a()")).torn) == (1, False)
    assert (calls(reply("a()"), line, end="").faults, calls(reply("a()"), line, end="").torn) == (0, True)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "image"}, "x"], "a"),
        ("sm\ud83dile", "sm?ile"),
        (7, ""),
        ("a\u2028b", "a\u2028b"),
    ],
)
def test_contents_of_other_kinds(calls, content, text):
    """Parts are joined, a lone surrogate is replaced, no text is an empty one."""
    line = json.dumps({"input": {"model": "m"}, "output": {"choices": [{"message": {"content": content}}]}})
    assert calls(line).replies == (text,)


def test_memory_is_seen_in_any_message(calls):
    """In a system message, or in a list of parts."""
    block = build_block([("Then:", ["old"])])
    for content in (block, [{"type": "text", "text": block}]):
        assert calls(
            reply("a()", messages=[{"role": "user", "content": "x"}, {"role": "user", "content": content}])
        ).memory
    assert not calls(reply("a()", messages=[{"role": "user", "content": "<memory>16 GB</memory>"}])).memory


def test_no_file(tmp_path):
    """There is none, or a folder stands in its place."""
    assert read_lm_calls(tmp_path / "no") is read_lm_calls(tmp_path) is None
