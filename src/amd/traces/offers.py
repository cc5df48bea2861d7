"""What other installed packages offer by entry points: found by name, imported only when asked for."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from amd.errors import ConfigError

__all__ = ["load_offer", "offered"]

# What importing somebody else's module and looking up a name in it may raise when that package is broken.
_BROKEN = (
    ImportError,
    AttributeError,
    NameError,
    SyntaxError,
    TypeError,
    ValueError,
    LookupError,
    OSError,
    RuntimeError,
)


def offered(group: str) -> list[str]:
    """The names that installed packages offer in a group, sorted. Nothing is imported.

    >>> "openai-chat" in offered("amd.traces")
    True
    """
    return sorted({entry.name for entry in entry_points(group=group)})


def load_offer(group: str, name: str) -> object | None:
    """The object behind a name, or ``None`` if nobody offers it.

    Raises:
        ConfigError: Two packages offer it, or the one that does is broken.
    """
    offers: dict[str, EntryPoint] = {entry.value: entry for entry in entry_points(group=group, name=name)}
    if not offers:
        return None
    if len(offers) > 1:
        raise ConfigError(
            f"{name!r} is offered twice in {group}: {' and '.join(sorted(offers))}",
            next_step="uninstall one of the packages",
            name=name,
            entry_points=sorted(offers),
        )
    entry = next(iter(offers.values()))
    try:
        found: object = entry.load()
    except _BROKEN as error:
        raise ConfigError(
            f"{entry.value}, offered as {name!r} in {group}, cannot be imported: {type(error).__name__}: {error}",
            next_step="reinstall the package that offers it",
            name=name,
            entry_point=entry.value,
        ) from error
    return found
