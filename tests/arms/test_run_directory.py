"""A run directory: its settings as they went and came, what makes two runs unlike, and its lock."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

import amd
from amd.arms import RUN_SETTINGS, Arm, RunDirectory, RunResults, RunSettings, replace_text
from amd.arms.kept_split import KeptSplit
from amd.errors import ConfigError

SPLIT = KeptSplit(benchmark="beds", train=("a",), test=("b",))


class Settings(RunSettings):
    """The settings of a made-up overlay."""

    format: Literal["garden-run/1"] = "garden-run/1"
    student: str

    def compared(self) -> dict[str, object]:
        """The student counts too."""
        return {"student": self.student, **super().compared()}


def settings(**values: object) -> Settings:
    """Settings of one student, with other values by name."""
    arm = {"arm": Arm.of({"memory": "m"}), "memory_content": "0" * 64, "memory_seal": "1" * 64}
    return Settings.model_validate({"student": "näme", **arm, **values})


def directory(path: Path) -> RunDirectory[Settings]:
    """The directory as an overlay opens it."""
    return RunDirectory(path, Settings, "garden run")


def test_settings_come_back_as_they_went(tmp_path: Path) -> None:
    """All fields; version and moment without being told."""
    run = directory(tmp_path / "new" / "run")
    run.keep(settings(memory_from=("a teacher (teacher)",)))
    assert run.settings == directory(run.path).settings == settings(created_at=run.settings.created_at, **_from())
    assert run.settings.amd == amd.__version__
    assert run.settings.created_at.endswith("+00:00")


def _from() -> dict[str, object]:
    return {"memory_from": ("a teacher (teacher)",)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "is no run: .*; name a directory that garden run wrote"),
        (b"", "Invalid JSON"),
        (b'{"format": "garden-run/1", "stud', "Invalid JSON"),
        (b"[]", "the file"),
        (b'{"format": "garden-run/2"}', ": format: .*; garden run again into a new directory"),
        (b"\xff\xfe", "Invalid JSON"),
    ],
)
def test_a_directory_that_is_no_run(tmp_path: Path, text: bytes | None, words: str) -> None:
    """One line that names the directory or the file, and what to do."""
    if text is not None:
        (tmp_path / RUN_SETTINGS).write_bytes(text)
    with pytest.raises(ConfigError, match=words) as caught:
        _ = directory(tmp_path).settings
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"student": "other"}, "student: 'näme', not 'other'"),
        ({"memory_content": "2" * 64}, "memory_content: '000"),
        ({"arm": {"memory": "m", "mode": "dynamic"}}, "arm.mode: 'static', not 'dynamic'"),
        ({"arm": {"memory": "m", "protocol": "in-sample"}}, "arm.protocol: 'self-excluded', not 'in-sample'"),
        ({"arm": {"memory": "m", "function_tokens": 7}}, "arm.function_tokens: "),
    ],
)
def test_what_makes_two_runs_unlike(values: dict[str, object], told: str) -> None:
    """The field, and both values."""
    (difference,) = settings().differences(settings(**values))
    assert difference.startswith(told)


@pytest.mark.parametrize(
    "values",
    [
        {"created_at": "2032-01-01T00:00:00+00:00"},
        {"memory_from": ("somebody",)},
        {"amd": "9.9"},
        {"arm": {"memory": "elsewhere", "pin": "4" * 64, "embedder_url": "http://127.0.0.1:1/v1"}},
    ],
)
def test_what_may_differ(values: dict[str, object]) -> None:
    """The control: the same memory may lie anywhere."""
    assert settings().differences(settings(**values)) == []


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """Nothing else lies beside it; its folder is made."""
    path = tmp_path / "new" / "file.json"
    for text in ("one\n", "zwei ü\n"):
        replace_text(path, text)
        assert path.read_bytes() == text.encode()
    assert list(path.parent.iterdir()) == [path]


HOLD = """
import sys
from pathlib import Path
from amd.arms import RunDirectory, RunSettings
with RunDirectory(Path(sys.argv[1]), RunSettings, "run").locked():
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("ending", ["close", "kill"])
def test_two_commands_never_work_in_one_directory(tmp_path: Path, ending: str) -> None:
    """A second process is refused in one line; when the first one ends, or is killed, the way is free."""
    path = tmp_path / "run"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(ConfigError, match="another command is at work") as caught, directory(path).locked():
            pytest.fail("two had the lock")
        assert str(path) in str(caught.value)
        if ending == "kill":
            holder.kill()
    with directory(path).locked():
        pass


def test_a_run_and_its_results_say_the_same(tmp_path: Path) -> None:
    """What an overlay hands on; two runs never begin at one moment, so that a copy is told."""
    one, other = settings(seed=3, split=SPLIT), settings()
    assert one.created_at != other.created_at
    shared = one.shared()
    assert (shared["seed"], shared["split"], shared["created_at"]) == (3, SPLIT, one.created_at)
    results = RunResults(path=tmp_path, benchmark="b", student="s", tasks=(), **shared)
    assert (results.arm, results.memory_seal) == (one.arm, one.memory_seal)
    assert settings(seed=3).differences(settings(seed=4)) == ["seed: 3, not 4"]
    drawn_again = SPLIT.model_copy(update={"test": ("c",)})
    assert settings(split=SPLIT).differences(settings(split=SPLIT)) == []
    (difference,) = settings(split=SPLIT).differences(settings(split=drawn_again))
    assert difference == f"split: {SPLIT.split.sha256!r}, not {drawn_again.split.sha256!r}"
    (retired,) = settings().differences(settings(memory_seal="3" * 64))
    assert retired.startswith("memory_seal: '111")
    assert (settings(seed=3).sent_seed, settings(seed=3, draw_only=True).sent_seed) == (3, None)
