"""How much ordinary text masking changes: user turns and initial configurations of BFCL ``multi_turn_base``."""

from __future__ import annotations

import ast
import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from amd.mask import mask_query
from amd.mask.keys import key_class

PLACEHOLDER = re.compile(r"<\w+>")


@pytest.fixture(scope="module")
def tasks():
    """The 200 tasks, each with its own texts and the true secrets that it holds under secret keys."""
    found = find_spec("bfcl_eval")
    if found is None or not found.submodule_search_locations:
        pytest.skip("bfcl_eval is not installed")
    data = Path(found.submodule_search_locations[0]) / "data"

    def lines(path):
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]

    name = "BFCL_v4_multi_turn_base.json"
    answers = {entry["id"]: entry["ground_truth"] for entry in lines(data / "possible_answer" / name)}
    return [task_of(entry, answers[entry["id"]]) for entry in lines(data / name)]


def task_of(entry, answer):
    """(user turns, initial configuration, secrets) of one task."""
    secrets = set(secrets_of(entry["initial_config"]))
    for call in [call for turn in answer for call in turn]:
        for keyword in ast.parse(call, mode="eval").body.keywords:
            if key_class(keyword.arg) == "secret":
                secrets.add(str(ast.literal_eval(keyword.value)))
    turns = [message["content"] for turn in entry["question"] for message in turn]
    return turns, json.dumps(entry["initial_config"], ensure_ascii=False), secrets


def secrets_of(value, kind=None):
    """Each scalar under a secret key."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from secrets_of(item, key_class(key))
    elif isinstance(value, list):
        for item in value:
            yield from secrets_of(item, kind)
    elif kind == "secret":
        yield str(value)


def replaced(text, masked):
    """What the placeholders of a masked text stand for."""
    parts = PLACEHOLDER.split(masked)
    match = re.fullmatch("(.+?)".join(map(re.escape, parts)), text, re.DOTALL)
    assert match, (text, masked)
    return match.groups()


def test_under_one_in_a_hundred_ordinary_texts_changes(tasks):
    """The gate. A text may change where a true password, token or card stands in it; nothing else of it may."""
    changed, needless, total = 0, [], 0
    for turns, configuration, secrets in tasks:
        for text in (*turns, configuration):
            total += 1
            masked = mask_query(text)
            changed += masked != text
            needless += [value for value in replaced(text, masked) if value not in secrets]
    print(f"{total} texts, {changed} changed, {len(needless)} needlessly: {needless}")  # noqa: T201 - shown by -s
    assert total == 934
    assert len(needless) <= total // 100


def test_the_true_secrets_are_found(tasks):
    """The control: in the turns that name a password or an access token, its value is gone."""
    named = re.compile(r"(?:password|access token)(?: is)? [`']?([\w@$!#]*\d[\w@$!#]*)")
    values = [(value, text) for turns, _, _ in tasks for text in turns for value in named.findall(text)]
    assert len(values) > 30
    assert not [value for value, text in values if value in mask_query(text)]
