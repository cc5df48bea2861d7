"""Real runs: none of a run's e-mails, birth dates, payment ids, user ids and names is left in it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from amd.json_text import dumps
from amd.mask import Mask
from amd.traces.chat_options import ChatOptions
from amd.traces.openai_chat import OpenAIChatReader
from amd.trajectory import Trajectory

WORD_KEYS = {"first_name", "last_name"}
KEYS = {"email", "dob", "user_id", "payment_id", *WORD_KEYS}
PAYMENT_ID = re.compile(r"(?:credit_card|gift_card|certificate)_\d+")


@pytest.fixture(scope="module")
def pairs():
    """Each run as it was read, and masked."""
    folder = os.environ.get("AMD_SAMPLE_RUNS")
    if not folder:
        pytest.skip("AMD_SAMPLE_RUNS is not set")
    found = OpenAIChatReader().read(sorted(Path(folder).glob("*.jsonl")), ChatOptions())
    runs = [run for run in found if isinstance(run, Trajectory)]
    assert len(runs) == 120
    return [(run, Mask.of(run).run(run)) for run in runs]


def values_of(value):
    """(kind, value) of everything personal in a JSON value."""
    if isinstance(value, dict):
        if value.keys() >= WORD_KEYS:
            yield "name", f"{value['first_name']} {value['last_name']}"
        for key, item in value.items():
            if PAYMENT_ID.fullmatch(key):
                yield "payment_id", key
            if key in KEYS and isinstance(item, str):
                yield key, item
            yield from values_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from values_of(item)


def personal(run):
    """All personal values under the structured keys of a run."""
    found = {pair for call in run.calls for pair in values_of(call.arguments)}
    for call in run.calls:
        if call.observation.startswith(("{", "[")):
            found.update(values_of(json.loads(call.observation)))
    return found


def text_of(run):
    """Instruction and turns of a run as one text."""
    return dumps([run.task.instruction, *(asdict(turn) for turn in run.turns)]).decode()


def holds(text, kind, value):
    """Whether a text holds a value: a single name as a whole word in its own case, all else in any case."""
    if kind in WORD_KEYS:
        return re.search(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", text) is not None
    return value.casefold() in text.casefold()


def test_nothing_personal_is_left(pairs):
    """S2: over the airline runs no e-mail, birth date, payment id, user id or person's name is in a masked run."""
    before, after = [], []
    for run, masked in pairs:
        raw, clean = text_of(run), text_of(masked)
        for kind, value in personal(run):
            before += [(run.source.run_id, kind, value)] * holds(raw, kind, value)
            after += [(run.source.run_id, kind, value)] * holds(clean, kind, value)
    assert len(before) > 1400
    assert {kind for _, kind, _ in before} == {"name", *KEYS}
    assert after == []


def test_the_rest_is_still_there(pairs):
    """The control: what an observation says of flights, prices and errors is kept, and so is the prose."""
    facts = re.compile(r"HAT\d{3}|\"price\": \d+|\"status\": \"\w+\"|2024-05-\d\d|Error: .{10}|\"amount\": \d+")
    for run, masked in pairs:
        for before, after in zip(run.calls, masked.calls, strict=True):
            assert facts.findall(after.observation) == facts.findall(before.observation)
        assert len(text_of(masked)) > len(text_of(run)) * 0.7


def test_masking_a_masked_run_changes_nothing(pairs):
    """Under its own mask and under a new one."""
    for run, masked in pairs[::10]:
        assert Mask.of(run).run(masked) == masked
        assert Mask.of(masked).run(masked) == masked
