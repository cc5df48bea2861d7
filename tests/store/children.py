"""Run in other processes by the tests: writers that race, and writers that are killed at each operation.

``children.py race PLACE NUMBER...`` waits for a line on standard input, then publishes the tasks NUMBER.
``children.py kill ACTION STEP PLACE FOLDER`` copies the memory PLACE to FOLDER/1, FOLDER/2 ... and kills a process that
runs ACTION on such a copy, each at an operation STEP later, until one gets through; it prints how many there are.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from conftest import FakeEmbedder, union

from amd.store import publish, reindex

OPERATIONS = ("open", "write", "fsync", "link", "replace", "mkdir", "unlink", "rmdir")


def race(place: Path, numbers: list[int]) -> None:
    """Publish when everybody is ready."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for number in numbers:
        publish(place, union(number))


def add(place: Path) -> None:
    """Publish one more task."""
    publish(place, union(9))


def move(place: Path) -> None:
    """Embed all anew."""
    reindex(place, embedder=FakeEmbedder("fake-b", 32))


def die_at(number: int) -> None:
    """Kill this process at its ``number``-th operation; a write is torn in the middle."""
    count = 0

    def watched(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def operation(*arguments: object, **options: object) -> object:
            nonlocal count
            count += 1
            if count == number:
                if name == "write":
                    real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)

        return operation

    os.fsync = lambda descriptor: None  # nobody pulls the plug
    for name in OPERATIONS:
        setattr(os, name, watched(name))


def kill(action: Callable[[Path], None], step: int, place: Path, folder: Path) -> None:
    """Kill at every ``step``-th operation in turn."""
    count, number, status = 0, 1 - step, 1
    while status:
        count, number = count + 1, number + step
        copy = shutil.copytree(place, folder / str(count))
        child = os.fork()
        if child == 0:
            die_at(number)
            action(copy)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        assert status in (0, signal.SIGKILL), status
    sys.stdout.write(f"{count}\n")


if __name__ == "__main__":
    if sys.argv[1] == "race":
        race(Path(sys.argv[2]), [int(number) for number in sys.argv[3:]])
    else:
        kill({"add": add, "move": move}[sys.argv[2]], int(sys.argv[3]), Path(sys.argv[4]), Path(sys.argv[5]))
