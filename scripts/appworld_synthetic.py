"""Makes a small AppWorld of invented people and tasks, to run everything without the benchmark's data.

    scripts/setup_appworld.sh                                                  # makes the environment and the world
    .venvs/appworld/bin/python scripts/appworld_synthetic.py appworld-world    # the world alone

All of AppWorld's APIs and its own evaluator, and 18 tasks in 6 scenarios with their answers. It is written to
ROOT/data, as AppWorld has it, and only if that is missing or was made by this program; runs beside it stay. What is up
to date is left as it is. The same sources give the same world, byte for byte.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from appworld_world.place import Mark, NotOursError, digest_of, publish, standing

UNPACKED = "appworld/apps/spotify/models.py"
"""A file that is there after ``appworld install``, and not before it."""


class NotInstalledError(Exception):
    """This Python has no AppWorld, or one whose code is still packed."""


def appworld_version() -> str:
    """The version of AppWorld in this Python.

    Raises:
        NotInstalledError: it is not installed, or not unpacked.
    """
    try:
        found = distribution("appworld")
    except PackageNotFoundError:
        raise NotInstalledError(f"{sys.executable} has no appworld: run scripts/setup_appworld.sh") from None
    if not Path(str(found.locate_file(UNPACKED))).is_file():
        raise NotInstalledError(
            f"the appworld of {sys.executable} is still packed ({UNPACKED} is missing): run scripts/setup_appworld.sh"
        )
    return found.version


def make(root: Path) -> str:
    """Make the world in ``root/data`` if it is not there as it should be; says what was done.

    Raises:
        NotInstalledError: AppWorld is needed and is not there.
        NotOursError: something else is in the world's place.
    """
    digest = digest_of(Path(__file__).parent / "appworld_world", appworld_version())
    found = standing(root, digest)
    if found == "current":
        return "is up to date"
    building = importlib.import_module("appworld_world.building")
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=root) as folder:
        building.build(Path(folder))
        Mark(digest, building.task_ids()).write(Path(folder) / "data")
        publish(Path(folder), root)
    return "was made anew" if found == "outdated" else "was made"


def main() -> int:
    """Make it and say so; one line and exit code 1 if it cannot be made."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("root", type=Path, help="the folder that gets a folder named data")
    root = parser.parse_args().root.resolve()
    try:
        done = make(root)
    except (NotInstalledError, NotOursError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"the invented world in {root} {done}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
