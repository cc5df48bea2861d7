"""A TOML file as named values."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from amd.errors import ConfigError

__all__ = ["read_toml"]


def read_toml(path: Path | str) -> Mapping[str, object]:
    """The values of a TOML file, for :meth:`amd.arms.Arm.of` or for settings of an overlay's own.

    Raises:
        ConfigError: the file cannot be read or is no TOML; the message begins with the file's name.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
    ...     _ = file.write('method = "none"')
    ...     file.flush()
    ...     read_toml(file.name)
    {'method': 'none'}
    """
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}", next_step="name a TOML file", path=str(path)) from error
    except (ValueError, RecursionError) as error:  # not UTF-8, or not TOML
        raise ConfigError(f"{path}: not TOML: {error}", next_step="correct the file", path=str(path)) from error
