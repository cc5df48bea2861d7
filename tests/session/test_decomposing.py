"""A model's labels for a task, and what becomes of a reply that has none."""

from __future__ import annotations

import json

import pytest

from amd.clients import ChatModel
from amd.errors import ClientError
from amd.session.decomposing import Decomposer
from amd.testing import Fault, LoopbackServer
from amd.tiers.subtask import LABELS


def test_labels_come_from_the_instruction_and_the_offered_tools() -> None:
    """The words of the prompt, the names of the tools, the task: no more."""
    reply = json.dumps({"labels": ["enter the folder", "count the words"]})
    with LoopbackServer(chat=[reply]) as server, ChatModel("stub", base_url=server.url) as model:
        assert Decomposer(model)("Count the words.", ["cd", "wc"]) == ("enter the folder", "count the words")
        body = server.requests[-1].body
    assert body["messages"][0]["content"] == LABELS.words
    assert body["messages"][1]["content"] == "Tools: cd, wc\nThe task: Count the words."


@pytest.mark.parametrize("reply", ["", "I cannot do that.", '{"labels": "one"}', '{"labels": [1]}', '{"other": []}'])
def test_a_reply_without_labels_gives_none(reply: str) -> None:
    """Counted; the session asks with the instruction."""
    with LoopbackServer(chat=[reply]) as server, ChatModel("stub", base_url=server.url) as model:
        decompose = Decomposer(model)
        assert decompose("Count the words.", []) == ()
        assert (decompose.asked, decompose.failed) == (1, 1)


def test_a_service_that_fails_is_told() -> None:
    """A silent fallback would change an arm without a word."""
    refuse = [None, Fault(401, "wrong key")]
    with (
        LoopbackServer(faults=refuse) as server,
        ChatModel("stub", base_url=server.url) as model,
        pytest.raises(ClientError, match="wrong key"),
    ):
        Decomposer(model)("Count the words.", ["wc"])
