"""Whatever happens to a run's files, the run is read or refused, once; nothing else breaks."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_experiments import TASK, Note, Root, Trajectory, verdict

PIECES = st.sampled_from(
    [
        b"",
        b"\n",
        b"```",
        b"\xff",
        b"\0",
        b"{",
        b'"',
        b"NaN",
        b"\\ud800",
        b"\xe2\x80\xa8",
        b"\n```\n\n```\n",
        b"### Environment Interaction 2\n",
    ]
)
FILES = (
    "logs/environment_io.md",
    "logs/lm_calls.jsonl",
    "logs/api_calls.jsonl",
    "evaluation/report.md",
    "../../evaluations/train.json",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A good run with all its files."""
    return Root(tmp_path_factory.mktemp("root")).data().run().evaluation({TASK: verdict()})


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_changed_file(root, name, data):
    """Cut, with a piece in its place, at any byte of any file."""
    path = root.experiment / "tasks" / TASK / name
    good = path.read_bytes()
    start = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(start, min(len(good), start + 200)))
    try:
        path.write_bytes(good[:start] + data.draw(PIECES) + good[end:])
        found = [item for item in root.items() if not isinstance(item, Note)]
    finally:
        path.write_bytes(good)
    assert len(found) == 1
    if isinstance(found[0], Trajectory):
        assert all(call.name.count(".") == 1 for call in found[0].calls)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_a_folder(tmp_path, name):
    """Or is not there at all: the run is read or refused; without any change it is read."""
    root = Root(tmp_path).data().run().evaluation({TASK: verdict()})
    assert isinstance(root.only(), Trajectory)
    path = root.experiment / "tasks" / TASK / name
    path.unlink()
    root.only()
    path.mkdir()
    root.only()
