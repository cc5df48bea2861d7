"""The hook of a task, without a server: memory before it, hints after a call that failed, and what it logs."""

from __future__ import annotations

import pytest
from greenhouse import DOCS, TRAIN, instruction_of

from amd.arms import Arm
from amd.chat import estimated_tokens
from amd.errors import ConfigError
from amd_appworld.api_docs import ApiDocs
from amd_appworld.student import TaskMemory

TASK = TRAIN[0]
MESSAGES = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go."})
DENIED = """Execution failed. Traceback:
  File "<python-input>", line 1, in <module>
    print(apis.garden.show_beds())
Exception: Response status code is 401:
{"message":"You are either not authorized to access this garden API endpoint."}"""
CODE = "print(apis.garden.show_beds())"
REQUEST = {"method": "get", "url": "/garden/beds", "data": {}}
BROKEN = 'Execution failed. Traceback:\n  File "<python-input>", line 1, in <module>\n    {}\n{}'


@pytest.fixture
def opened(memory):
    """Opens an arm with the garden's memory."""
    arms = []

    def of(**values):
        arms.append(Arm.of({"memory": str(memory), **values}).open())
        return arms[-1]

    yield of
    for arm in arms:
        arm.close()


@pytest.fixture
def begun(opened):
    """A task that has begun."""

    def of(task_id=TASK, **values):
        task = TaskMemory(task_id, opened(**values), ApiDocs.of(DOCS))
        return task, task.begin(instruction_of(task_id), MESSAGES)

    return of


def test_memory_is_put_before_the_system_message(begun):
    """In the words of a cell: ``apis.app.api``; the given messages are unchanged."""
    _, messages = begun()
    assert messages[0]["content"].startswith("<memory>\n")
    assert messages[0]["content"].endswith("\n\nBe brief.")
    assert "apis.garden.water_bed" in messages[0]["content"]
    assert "apis.apis." not in messages[0]["content"]
    assert messages[1:] == [MESSAGES[1]]
    assert MESSAGES[0]["content"] == "Be brief."


def test_examples_as_messages_are_cells(begun):
    """With the layout ``turns`` the assistant of an example writes as this agent does."""
    _, messages = begun(layout="turns")
    said = [each["content"] for each in messages if each["role"] == "assistant"]
    assert said
    assert all(text.startswith("```python\napis.") and text.endswith("\n```") for text in said)


@pytest.mark.parametrize("layout", ["block", "turns"])
def test_the_tokens_are_those_of_what_is_read(begun, layout):
    """``apis.`` and the fences of examples too: what is counted and kept within its budget is what the model reads."""
    whole = 0
    for tokens in range(0, 400, 5):
        task, messages = begun(layout=layout, workflow_tokens=0, subtask_tokens=tokens)
        shown = [each["content"] for each in messages[1:-1]]  # examples; else the block, without its frame
        head = messages[0]["content"]
        if layout == "block" and head.startswith("<memory>"):
            shown = [head.partition("\n\n")[2].partition("\n</memory>")[0]]
        (counted,) = [each.tokens for each in task.log().exposures if each.tier == "subtask"]
        assert counted == (estimated_tokens("\n".join(shown)) if shown else 0)
        assert counted <= tokens
        whole += bool(shown)
    assert 0 < whole < 80


def test_a_hint_is_counted_as_it_is_read(begun):
    """The nearest names too."""
    task, _ = begun()
    shown = task.after(CODE, DENIED, REQUEST, shown="")
    hint = shown.partition("\n\n")[2].partition("\n\n")[2].partition("\n</memory_hint>")[0]
    assert "apis.garden.show_beds" in hint
    assert task.log().exposures[-1].tokens == estimated_tokens(hint)
    said = "Exception: No API named 'water_beds' found in the garden app."
    shown = task.after("apis.garden.water_beds()", BROKEN.format("apis.garden.water_beds()", said), shown="")
    note = shown.partition("<memory_hint>\n")[2].partition("\n</memory_hint>")[0]
    assert "apis.garden.water_bed" in note
    assert task.log().exposures[-1].tokens == estimated_tokens(note)


def test_no_task_sees_its_own_scenario(begun):
    """And each sees another one: a guard that always says no would pass the first."""
    for task_id in TRAIN:
        task, _ = begun(task_id)
        task.after(CODE, DENIED, REQUEST)
        exposures = task.log().exposures
        shown = [family for exposure in exposures for family in exposure.families]
        assert shown
        assert task_id[:7] not in shown
    task, _ = begun(protocol="in-sample")
    assert TASK[:7] in [family for exposure in task.log().exposures for family in exposure.families]


def test_a_failed_call_has_a_hint_behind_what_is_shown(begun):
    """The output's own fence is closed before it; an example comes first."""
    task, _ = begun()
    shown = task.after(CODE, DENIED, REQUEST, shown=f"Output:\n```\n{DENIED}\n```")
    assert shown.startswith(f"Output:\n```\n{DENIED}\n```\n\n<memory_hint>\n")
    assert "apis.garden.show_beds(access_token=" in shown
    log = task.log()
    assert (log.calls, log.failed_calls, log.hints) == (1, 1, 1)


def test_the_same_error_again_has_no_second_hint(begun):
    """It was said."""
    task, _ = begun()
    first, second = (task.after(CODE, DENIED, REQUEST) for _ in range(2))
    assert "<memory_hint>" in first
    assert second == DENIED
    assert (task.log().failed_calls, task.log().hints) == (2, 1)


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("print(1)", "1\n"),
        ("x = (", "Execution failed. Traceback:\nSyntax error in line:\nx = (\nMessage: '(' was never closed"),
        ("{}['x']", BROKEN.format("{}['x']", "KeyError: 'x'")),
        ("import os", "Execution failed. Traceback:\nUsage of the following function is not allowed: os.system."),
        ("", "No code available to execute."),
    ],
)
def test_nothing_else_has_a_hint(begun, code, output):
    """Nor does plain Python, a syntax error or what is not allowed."""
    task, _ = begun()
    assert task.after(code, output) == output
    assert (task.log().failed_calls, task.log().hints) == (0, 0)


def test_an_error_that_the_code_caught_has_a_hint(begun):
    """It is printed, and nothing failed."""
    task, _ = begun()
    code = "try:\n    print(apis.garden.show_beds())\nexcept Exception as error:\n    print(error)"
    output = DENIED.partition("Exception: ")[2]
    assert "<memory_hint>" in task.after(code, output, REQUEST)


def test_an_api_that_is_not_there_gets_the_nearest_of_its_app(begun):
    """Of no other app; and the next failure is asked with all tools again."""
    task, _ = begun()
    code = "apis.garden.water_beds()"
    said = "Exception: No API named 'water_beds' found in the garden app."
    shown = task.after(code, BROKEN.format(code, said))
    assert "apis.garden.water_bed" in shown
    assert "pond" not in shown.partition("<memory_hint>")[2]
    code = "apis.garden.login(username='a')"
    said = (
        'Exception: Response status code is 422:\n{"message":"Validation error. Reason: \\npassword: field required"}'
    )
    shown = task.after(code, BROKEN.format(code, said))
    assert "nearest names" not in shown
    assert "apis.garden.login(username=" in shown.partition("<memory_hint>")[2]


def test_the_last_request_names_an_api_that_the_code_does_not(begun):
    """Where it is computed, only the request tells."""
    code = "getattr(apis.garden, 'show_' + what)()"
    output = DENIED.replace("print(apis.garden.show_beds())", code)
    for request, hinted in ((None, False), (REQUEST, True)):
        task, _ = begun()
        assert ("apis.garden.show_beds(" in task.after(code, output, request)) == hinted


def test_names_that_an_earlier_cell_left_are_known(begun):
    """An alias, without a request to tell."""
    task, _ = begun()
    task.after("beds = apis.garden.show_beds", "Execution successful.")
    output = DENIED.replace("print(apis.garden.show_beds())", "beds()")
    assert "apis.garden.show_beds(access_token=" in task.after("beds()", output)


def test_a_placeholder_that_was_copied_is_counted(begun):
    """One that stands for a computed argument is none."""
    task, _ = begun()
    task.after("apis.garden.water_bed(access_token='<access_token>', bed='x')", "Execution successful.")
    task.after("apis.garden.water_bed(access_token=token, bed='x')", "Execution successful.")
    assert (task.log().calls, task.log().placeholders) == (2, 1)


def test_without_memory_nothing_changes(opened):
    """The same calls are counted."""
    task = TaskMemory(TASK, Arm(method="none").open(), ApiDocs.of(DOCS))
    assert task.log() is None
    assert task.begin(instruction_of(TASK), MESSAGES) == list(MESSAGES)
    assert task.after(CODE, DENIED, REQUEST, shown="shown") == "shown"
    assert (task.log().calls, task.log().failed_calls, task.log().exposures) == (1, 1, ())


@pytest.mark.parametrize("mode", ["dynamic", "replace"])
def test_modes_that_ask_at_each_turn_are_refused(opened, mode):
    """A task has one turn."""
    with pytest.raises(ConfigError, match="one turn"):
        TaskMemory(TASK, opened(mode=mode), ApiDocs.of(DOCS))


def test_a_task_that_is_none_is_refused(opened):
    """A family is never guessed."""
    with pytest.raises(ConfigError, match="no task of AppWorld"):
        TaskMemory("garden-1", opened(), ApiDocs.of(DOCS))
