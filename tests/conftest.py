"""What all tests share: hypothesis without a clock, an environment without keys or proxies, the real sample runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A property test must not fail because the machine is busy; in CI it must not fail by another draw either.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(autouse=True)
def _no_services_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may depend on a key, an endpoint or a proxy that the machine happens to have."""
    for name in list(os.environ):
        if name.startswith("OPENAI_") or name.casefold().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def sample_runs() -> Path:
    """The folder of real airline runs that ``AMD_SAMPLE_RUNS`` names; without it the test is skipped."""
    folder = os.environ.get("AMD_SAMPLE_RUNS")
    if not folder:
        pytest.skip("AMD_SAMPLE_RUNS is not set")
    return Path(folder)
