"""The scripted student: a solution's cells, its slips, and where it is in a task."""

from __future__ import annotations

import pytest
from greenhouse import TASKS, TRAIN

from amd.errors import AmdError, ConfigError, TrajectoryError
from amd_appworld.oracle.player import Player
from amd_appworld.oracle.slips import with_slips
from amd_appworld.oracle.solution import cells_of
from amd_appworld.prompt import cell_of, first_messages

HEAD = "def solution(apis, requester):\n"


def test_a_solution_is_divided_at_its_blank_lines():
    """Between statements alone; comments go with what follows them, and strings keep theirs."""
    body = '    x = 1\n    y = 2\n\n    # third\n    for z in (x, y):\n        print(z)\n\n        print("")\n'
    body += '    s = """\n\nkept"""\n\n\n    apis.supervisor.complete_task()\n'
    assert cells_of(HEAD + body, "here") == (
        "x = 1\ny = 2",
        '# third\nfor z in (x, y):\n    print(z)\n\n    print("")\ns = """\n\nkept"""',
        "apis.supervisor.complete_task()",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [("def solution(:", "no Python"), ("x = 1\n", "'solution'")],
)
def test_a_solution_that_is_none_is_told(text, words):
    """With its file."""
    with pytest.raises(TrajectoryError, match=f"here .*{words}"):
        cells_of(text, "here")


@pytest.mark.parametrize(
    ("body", "last"),
    [
        ("    return sum(\n        x\n    )\n", "apis.supervisor.complete_task(answer=sum(x))"),
        ("    return\n", "apis.supervisor.complete_task()"),
        ("    x = 1\n", "apis.supervisor.complete_task()"),
        ("    apis.supervisor.complete_task(answer=x)\n", "apis.supervisor.complete_task(answer=x)"),
    ],
)
def test_a_solution_always_completes_its_task(body, last):
    """With what it returns, if it returns anything."""
    assert cells_of(HEAD + "    y = 1\n\n" + body, "here")[-1] == last


def test_the_slips_stand_before_the_cell_that_does_it_right():
    """Only what looks: nothing is changed by a slip, and a value of the code's own is left out."""
    cells = ("t = 1", "apis.a.add_x(access_token=t)", "y = apis.a.search_x(access_token=t, query='q', n=t)")
    slips = ("print(apis.a.search_x(query='q'))", "print(apis.a.list_x())")
    assert with_slips(cells, unknown=True) == (*cells[:2], *slips, cells[2])
    assert with_slips(cells, unknown=False) == (*cells[:2], slips[0], cells[2])
    assert with_slips(cells[:2], unknown=True) == cells[:2]


def test_it_plays_a_task_cell_by_cell(root):
    """It knows where it is from the replies so far, whatever else the messages hold."""
    player = Player(root)
    assert set(player.tasks) == set(TASKS)
    task_id = TRAIN[1]
    solution = (root.path / "data" / "tasks" / task_id / "ground_truth" / "solution.py").read_text()
    messages = first_messages(root.briefing(task_id))
    messages[1:1] = [{"role": "user", "content": "An example."}, {"role": "assistant", "content": "x"}]
    played = []
    while cell := cell_of(player({"messages": messages})):
        played.append(cell.code)
        messages += [{"role": "assistant", "content": cell.said}, {"role": "user", "content": "Output"}]
    assert tuple(played) == with_slips(cells_of(solution, "here"), unknown=True)
    assert len(played) == len(cells_of(solution, "here")) + 2


def test_a_task_without_a_solution_is_not_played(root):
    """Test sets have none; with none at all there is nothing to serve."""
    truths = [root.path / "data" / "tasks" / task / "ground_truth" / "solution.py" for task in TASKS]
    truths[0].unlink()
    player = Player(root)
    assert set(player.tasks) == set(TASKS[1:])
    with pytest.raises(AmdError, match="no task"):
        player({"messages": first_messages(root.briefing(TASKS[0]))})
    for truth in truths[1:]:
        truth.unlink()
    with pytest.raises(ConfigError, match="no task"):
        Player(root)
