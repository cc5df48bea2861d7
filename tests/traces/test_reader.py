"""Readers are found by name, and each fault of a package or of an option is one clear error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from pydantic import Field

import amd.traces
from amd.errors import ConfigError
from amd.traces import Item, ReaderOptions, load_reader, reader_options, readers

Offer = Callable[[str, str], None]


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """A function that installs a package which offers a format: its name and the source of its module."""

    def install(name: str, source: str) -> None:
        module = f"overlay_{name}_{tmp_path.name}".replace("-", "_")
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        folder = tmp_path / f"{module}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
        (folder / "entry_points.txt").write_text(f"[amd.traces]\n{name} = {module}:reader\n", encoding="utf-8")

    monkeypatch.syspath_prepend(str(tmp_path))
    return install


GOOD = """
from amd.traces import ReaderOptions
class Reader:
    name, benchmark, options = "good", "b", ReaderOptions
    def read(self, paths, options): return iter(())
reader = Reader()
"""


class Options(ReaderOptions):
    """Two options."""

    teacher: str = Field("nobody", description="who")
    limit: int = Field(3, description="how many")


class OwnReader:
    """The least a reader is."""

    name = "own"
    benchmark = "b"
    options = Options

    def read(self, paths: Sequence[Path], options: Options) -> Iterator[Item]:
        """Nothing."""
        yield from ()


def test_own_formats_are_there() -> None:
    """Both formats of the library load, and each says its own name."""
    for name in ("amd", "openai-chat"):
        assert name in readers()
        assert load_reader(name).name == name


def test_unknown_format_names_the_known_ones() -> None:
    """An unknown name is a usage error that lists what there is."""
    with pytest.raises(ConfigError, match=r"'nonsense'.*amd, .*openai-chat") as caught:
        load_reader("nonsense")
    assert caught.value.exit_code == 2


def test_overlay_is_found(offer: Offer) -> None:
    """A package that offers a format is one of the readers."""
    offer("good", GOOD)
    assert "good" in readers()
    assert load_reader("good").benchmark == "b"


@pytest.mark.parametrize(
    "source",
    ["import a_harness_that_is_not_here", "reader_of_another_name = 1", "def broken(:", "raise RuntimeError(1)"],
)
def test_broken_overlay_is_an_error_only_when_asked_for(offer: Offer, source: str) -> None:
    """A package that cannot be imported is named, and disturbs nobody who does not ask for it."""
    offer("broken", source)
    assert "broken" in readers()
    assert load_reader("amd").name == "amd"
    with pytest.raises(
        ConfigError, match=r"overlay_broken.*:reader, offered as 'broken' in amd.traces, cannot be imported"
    ):
        load_reader("broken")


def test_what_is_no_reader(offer: Offer) -> None:
    """An entry point that names something else is refused with its type."""
    offer("number", "reader = 7")
    with pytest.raises(ConfigError, match="is a int, not a reader"):
        load_reader("number")


def test_two_packages_with_one_name(offer: Offer) -> None:
    """Nobody chooses silently between two packages."""
    offer("amd", GOOD)
    with pytest.raises(
        ConfigError, match=r"'amd' is offered twice in amd.traces: amd.traces.canonical:reader and overlay_amd"
    ):
        load_reader("amd")


def test_options() -> None:
    """Options have defaults, are typed, and a wrong one is named."""
    assert reader_options(OwnReader(), {}) == Options()
    assert reader_options(OwnReader(), {"limit": 5}).limit == 5
    with pytest.raises(ConfigError, match=r"wrong options for the format 'own': limit: .*integer.*teacher, limit"):
        reader_options(OwnReader(), {"limit": "many"})
    with pytest.raises(ConfigError, match="speed: Extra inputs"):
        reader_options(OwnReader(), {"speed": 5})


@pytest.mark.parametrize("name", ["amd", "openai-chat"])
def test_every_option_can_be_shown(name: str) -> None:
    """Each option of our own formats has a default and a description."""
    for field in load_reader(name).options.model_fields.values():
        assert not field.is_required()
        assert field.description


def test_face() -> None:
    """Every name of the face is there, once."""
    assert len(amd.traces.__all__) == len(set(amd.traces.__all__))
    assert all(hasattr(amd.traces, name) for name in amd.traces.__all__)
