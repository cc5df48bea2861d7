"""Settings from a TOML file."""

from __future__ import annotations

from pathlib import Path

import pytest

from amd.arms import Arm, read_toml
from amd.errors import ConfigError


def test_a_file_gives_an_arm(tmp_path: Path) -> None:
    """Text beyond ASCII, numbers and tables; a path or its name."""
    path = tmp_path / "arm.toml"
    path.write_text('memory = "mémoire"\nworkflow_tokens = 200\n[more]\nseed = 1\n', encoding="utf-8")
    values = dict(read_toml(path))
    assert values.pop("more") == {"seed": 1}
    arm = Arm.of(values)
    assert (arm.memory, arm.workflow_tokens) == (Path("mémoire"), 200)
    assert read_toml(str(path)) == read_toml(path)


@pytest.mark.parametrize("text", [b"memory = ", b"memory = memory", b'a = "\xff"', b"a = 1\na = 2", b"[" * 5000])
def test_what_is_no_toml(tmp_path: Path, text: bytes) -> None:
    """The message begins with the file's name."""
    path = tmp_path / "arm.toml"
    path.write_bytes(text)
    with pytest.raises(ConfigError, match="not TOML") as caught:
        read_toml(path)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A usage error, as for a wrong name of anything else; a folder is no file either."""
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ConfigError) as caught:
            read_toml(path)
        assert str(caught.value).startswith(str(path))
