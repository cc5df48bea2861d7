"""What the overlay's tests share: the installed benchmark, or a reason to skip."""

from __future__ import annotations

import pytest

from amd.errors import ConfigError
from amd_bfcl.package import Package, find_package


@pytest.fixture(scope="session")
def package() -> Package:
    """The installed bfcl-eval; a test that needs it is skipped without it, and says why."""
    try:
        return find_package()
    except ConfigError as error:
        pytest.skip(str(error))
