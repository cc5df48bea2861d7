"""Memories built by the real builder from made-up runs, and arms that read them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import amd
from amd.arms import Arm
from amd.testing import run

FAMILIES = [f"multi_turn_{i}" for i in range(5)]


@pytest.fixture(scope="session")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of five tasks of five families, embedded by hash. Nobody writes to it."""
    folder = tmp_path_factory.mktemp("arms") / "memory"
    amd.build_memory([run(i) for i in range(5)], folder, embedder=amd.load_embedder("hash"))
    return folder


@pytest.fixture
def arm(memory: Path) -> Callable[..., Arm]:
    """An arm that reads the memory, with other settings by name."""
    return lambda **values: Arm.of({"memory": memory, **values})


@pytest.fixture
def split(tmp_path: Path) -> Callable[..., Path]:
    """How a split file is written: ``split(train, test, benchmark=...)``."""

    def written(train: Sequence[str], test: Sequence[str], benchmark: str = "made-up") -> Path:
        path = tmp_path / f"split-{len(list(tmp_path.iterdir()))}.json"
        value = {"format": "amd-split/1", "benchmark": benchmark, "train": [*train], "test": [*test]}
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return written
