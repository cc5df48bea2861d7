"""Tools that a real server takes and leaves out are noticed, and those that it shows to the model are not."""

from __future__ import annotations

import pytest

from amd.clients import ChatModel

pytestmark = pytest.mark.local_llm


def test_tools_that_are_left_out_are_noticed_once(recorder, served_locally):
    """The server answers 200 and says nothing; the prompt is as long as without them."""
    with ChatModel(served_locally.model, base_url=served_locally.url, timeout=600) as model:
        for _ in range(2):
            completion = model.complete(recorder.ASKED, max_tokens=16, tools=recorder.TOOLS)
            assert completion.tool_calls == ()
        assert model.tools_ignored is True
        assert len(model.notices) == 1
        assert "ignores tools" in model.notices[0]


def test_a_call_that_was_required_and_is_none_is_noticed(recorder, served_locally):
    """Without a second request, if the answer was not cut off."""
    with ChatModel(served_locally.model, base_url=served_locally.url, timeout=600) as model:
        model.complete(recorder.AFTER_A_CALL, max_tokens=64, tools=recorder.TOOLS, tool_choice="required")
        assert model.tools_ignored is True


def test_tools_that_are_shown_are_not_called_ignored(recorder, served_with_tools):
    """The positive control: the same model with a template that renders them."""
    with ChatModel(served_with_tools.model, base_url=served_with_tools.url, timeout=600) as model:
        plain = model.complete(recorder.ASKED, max_tokens=1)
        shown = model.complete(recorder.ASKED, max_tokens=16, tools=recorder.TOOLS)
        assert shown.usage.prompt_tokens > plain.usage.prompt_tokens + 50
        assert model.tools_ignored is False
        assert model.notices == ()
