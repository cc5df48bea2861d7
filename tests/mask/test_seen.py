"""What tools answer in any notation: masked by key where it stands, and wherever it recurs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.mask import Mask
from amd.mask.seen import mask_named, named_values, pieces

BODY = '"user":{"name":"Tess Quill","user_id":"tq_8841","address":"4 Elm Road"}'
JSON_TEXT = f"{{{BODY}}}"
LITERAL = repr(json.loads(JSON_TEXT))
ESCAPED = json.dumps(JSON_TEXT)[1:-1]

ANSWERS = {
    "plain": JSON_TEXT,
    "nan": f'{{{BODY},"rating":NaN}}',
    "infinity": f'{{{BODY},"rating":-Infinity}}',
    "overflow": f'{{{BODY},"rating":1e999}}',
    "digits": f'{{{BODY},"rating":{"9" * 5000}}}',
    "line break": f'{{{BODY},"note":"a\nb"}}',
    "python nan": f"{LITERAL[:-1]}, 'rating': nan}}",
    "python digits": f"{LITERAL[:-1]}, 'rating': {'9' * 5000}}}",
    "javascript": f"{LITERAL[:-1]}, 'rating': null, 'open': true, 'full': false}}",
    "mark": f"\ufeff{JSON_TEXT}",
    "fences": f"```json\n{JSON_TEXT}\n```",
    "fences in prose": f"Here it is:\n```json\n{json.dumps(json.loads(JSON_TEXT), indent=2)}\n```\nDone.",
    "fences in a line": f"```{JSON_TEXT}```",
    "lines": f'{{"a": 1}}\n{JSON_TEXT}\n{JSON_TEXT}',
    "lines of both": f"found two\n{LITERAL}\n{JSON_TEXT}\r\n",
    "leaf": json.dumps({"content": [{"type": "text", "text": JSON_TEXT}]}),
    "leaf with nan": json.dumps({"content": [{"type": "text", "text": f'{{{BODY},"rating":NaN}}'}]}),
    "leaf of leaf": json.dumps([json.dumps([json.dumps([JSON_TEXT])])]),
    "text": json.dumps(JSON_TEXT),
    "literal leaf": repr({"text": LITERAL}),
    "cut": JSON_TEXT[:-6],
    "cut literal": LITERAL[:-6],
    "cut leaf": f'{{"text": "{ESCAPED}", "more": "',
    "object": f"{LITERAL[:-1]}, 'when': datetime.date(2024, 1, 2)}}",
    "prose": f"Error: cannot take {JSON_TEXT}",
    "pretty": "Result:\n" + json.dumps(json.loads(JSON_TEXT), indent=2),
    "no comma": JSON_TEXT.replace(",", ""),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_no_notation_turns_masking_off(make_run, answer):
    """The name, the id and the address go where they stand and from the user's words; twice is once."""
    said = "Tess Quill (tq_8841) of 4 Elm Road asks"
    run = make_run(said, ("", "find", {}, answer))
    mask = Mask.of(run)
    once = mask.run(run)
    seen = once.calls[0].observation
    assert not [value for value in ("Tess", "Quill", "tq_8841", "Elm") if value in seen]
    assert all(word in seen for word in ("name", "user_id", "address", "<name>", "<user_id>"))
    if answer != ANSWERS["cut"]:
        assert "tq_8841" not in once.turns[0].user
        assert "Quill" not in once.turns[0].user
    assert mask.run(once) == once


@pytest.mark.parametrize(
    "answer",
    [
        '{"rating": NaN, "seats": [1e999, "12A"]}',
        "```json\n{'city': 'Ulm', 'open': true}\n```",
        '{"type": "text", "text": "{\\"city\\": \\"Ulm\\"}"}',
        '{"a": 1}\n{"a": 2}',
        '{"city": "Ulm", "name": null, "token": true, "x',
        "(see 'name': none)",
    ],
)
def test_what_holds_no_value_stays_byte_for_byte(make_run, answer):
    """The control: a lenient reader rewrites nothing that it does not mask."""
    run = make_run("go", ("", "find", {}, answer))
    assert Mask.of(run).run(run).calls[0].observation == answer


def test_what_is_masked_stays_readable(make_run):
    """Endless numbers keep their own notation, and so do fences and the value inside a value."""
    answer = '```json\n{"name": "Tess Quill", "rating": NaN, "text": "{\\"pin\\": 4821}"}\n```'
    run = make_run("go", ("", "find", {}, answer))
    masked = '```json{"name": "<name>", "rating": NaN, "text": "{\\"pin\\": \\"<pin>\\"}"}```'
    assert Mask.of(run).run(run).calls[0].observation.replace("\n", "") == masked


def test_arguments_are_read_in_the_same_way(make_run):
    """What an argument says in a text must not recur either."""
    run = make_run("I am Tess Quill", ("", "send", {"body": '{"name": "Tess Quill", "n": NaN}'}, "sent to Tess Quill"))
    masked = Mask.of(run).run(run)
    assert (masked.turns[0].user, masked.calls[0].observation) == ("I am <name>", "sent to <name>")


@pytest.mark.parametrize(
    ("text", "values", "masked"),
    [
        ('{"names": ["Ann", "Bob"', ["Ann", "Bob"], '{"names": ["<names>"]'),
        ("{'pin': 4821, 'x': f()", ["4821"], "{'pin': '<pin>', 'x': f()"),
        ('{"name": "Zo\\u00eb"', ["Zo\u00eb"], '{"name": "<name>"'),
        ('{"name": "a \\"b\\" c", "x', ['a "b" c'], '{"name": "<name>", "x'),
        ('{"name": "Tess', ["Tess"], '{"name": "<name>"'),
        ("{'name': \"O'Neil\", ", ["O'Neil"], "{'name': '<name>', "),
        ('{"hotel": "Ritz", "name": "", "pin": null', [], None),
    ],
)
def test_keys_of_broken_texts(text, values, masked):
    """Lists, numbers, escapes, either quote, and what was cut off."""
    assert [value for _, _, value in named_values(text)] == values
    assert mask_named(text) == (text if masked is None else masked)
    assert mask_named(mask_named(text)) == mask_named(text)


PARTS = [
    '"name": ',
    "'pin': ",
    '"',
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\n",
    "```json",
    "\ufeff",
    "Tess",
    "NaN",
    "1",
    "(",
]


@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_the_pieces_are_the_text(text):
    """Nothing is lost between them."""
    assert "".join(piece for piece, _ in pieces(text)) == text


@pytest.mark.parametrize("part", [*PARTS, '"name": "', '"name": \'\\"', "'name':[", '"name": \\"\n', "{\n", '\\\\"'])
def test_linear_in_any_text(make_run, part):
    """A hundred thousand of anything end; what is quadratic would take minutes."""
    text = "{" + part * 30_000
    run = make_run("go", ("", "find", {}, text))
    masked = Mask.of(run).run(run)
    assert masked.turns[0].user == "go"
