"""An arm at work: the memory opened once, and one session for each run of a task."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from amd.arms.kept_split import KeptSplit
from amd.chat import CallFormat
from amd.config import chat_model_named, embedder_named
from amd.errors import ConfigError
from amd.exclusion import Split, Viewer, cross_split, in_sample, read_split, self_excluded
from amd.methods import method_named
from amd.session import Session
from amd.session.offer import Tools
from amd.session.terms import Wording, as_it_is, check_viewer, resolved
from amd.session.tokens import token_counter
from amd.store import Memory, open_memory, read_memory
from amd.traces.families import families_of, family_of
from amd.trajectory import Task

if TYPE_CHECKING:  # an arm opens itself, so it stands above
    from amd.arms.arm import Arm
    from amd.session.decomposing import Decomposer

__all__ = ["OpenArm"]


class OpenArm:
    """What :meth:`Arm.open` gives: a context manager, shared by all threads of a run.

    ``content`` and ``seal`` name what was opened: the digest of the records, and the hash that a ``pin`` is compared
    with. All of ``memory``, ``content`` and ``seal`` are ``None`` for the method ``none``. ``teachers`` says whose runs
    the memory is made of, each with its kind: a benchmark's answer key is ``oracle``, never a teacher's.
    ``seed`` is the run's.

    >>> from amd.arms import Arm
    >>> from amd.testing import run
    >>> with Arm(method="none").open() as opened:
    ...     print(type(opened).__name__, opened.memory, opened.session(run(1).task, tools=None, call_format="json"))
    OpenArm None None
    """

    def __init__(
        self,
        arm: Arm,
        memory: Memory | None,
        split: Split | None,
        decompose: Decomposer | None = None,
        *,
        seed: int | None = None,
    ) -> None:
        self.arm = arm
        self.seed = seed
        self.memory = memory
        self.split = split
        self.content = memory.digest if memory else None
        self.seal = memory.seal if memory else None
        runs = memory.manifest.sources.runs if memory else ()
        self.teachers = tuple(sorted({f"{run.teacher} ({run.kind})" for run in runs}))
        self._tiers = method_named(arm.method).in_run(seed or 0).tiers
        self._limits = arm.limits
        self._decompose = decompose
        self._closed = False

    @classmethod
    def of(cls, arm: Arm, seed: int | None = None, split: Split | None = None) -> OpenArm:
        """Open what an arm names; see :meth:`Arm.open`."""
        split = split or (read_split(arm.split) if arm.split else None)
        token_counter(arm.tokenizer)  # a tokenizer that cannot be read is told now, not at the first task
        if arm.memory is None:
            return cls(arm, None, split, seed=seed)
        with read_memory(arm.memory, pin=arm.pin) as seen:
            embedder = embedder_named(arm.embedder or seen.manifest.embedder.id, arm.embedder_url)
        memory = open_memory(arm.memory, pin=arm.pin, embedder=embedder)
        with ExitStack() as stack:
            stack.callback(memory.close)
            resolved(arm.method, memory)
            _check_families(memory)
            if split is not None and arm.protocol == "cross-split":
                _check_held_out(split, memory)
            decompose = None
            if arm.decomposer is not None:
                # Imported here: the client of a service takes half a second, and few arms have one.
                from amd.session.decomposing import Decomposer  # noqa: PLC0415

                decompose = Decomposer(chat_model_named(arm.decomposer, arm.decomposer_url))
            stack.pop_all()
        return cls(arm, memory, split, decompose, seed=seed)

    def facts(self) -> dict[str, Any]:
        """What a run's settings (``RunSettings``) say of the arm that it opened."""
        return {
            "arm": self.arm,
            "memory_content": self.content,
            "memory_seal": self.seal,
            "memory_from": self.teachers,
            "split": KeptSplit.of(self.split) if self.split else None,
            "seed": self.seed,
        }

    def session(
        self, task: Task, *, tools: Tools | None, call_format: CallFormat, wording: Wording = as_it_is
    ) -> Session | None:
        """The session of one run of a task, or ``None`` for the method ``none``. Any thread may ask for one.

        Args:
            task: with its family, and the first message that the student sees as its instruction.
            tools: what the task offers; ``None`` is unknown.
            call_format: how the student writes calls.
            wording: how it would put a piece itself, given ``note``, ``user`` or ``assistant`` for who says it.

        Raises:
            ConfigError: under ``cross-split`` the task's family is not held out; the memory is of another benchmark;
                or this arm was closed.
        """
        if self._closed:
            raise ConfigError("the arm is closed", next_step="open it for as long as its tasks run")
        viewer = self._viewer(task)
        if self.memory is None:
            return None
        return Session(
            self.memory,
            viewer=viewer,
            method=self._tiers,
            tools=tools,
            mode=self.arm.mode,
            decompose=self._decompose,
            limits=self._limits,
            call_format=call_format,
            layout=self.arm.layout,
            wording=wording,
        )

    def close(self) -> None:
        """Close the memory; sessions that were begun must have ended."""
        self._closed = True
        if self._decompose is not None:
            self._decompose.close()
        if self.memory is not None:
            self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _viewer(self, task: Task) -> Viewer:
        if self.arm.protocol == "in-sample":
            return in_sample(task)
        if self.arm.protocol == "self-excluded":
            return self_excluded(task)
        assert self.split is not None
        if task.family not in self.split.test:
            raise ConfigError(
                f"task {task.task_id!r} is of family {task.family!r}, which the split at {self.arm.split} "
                "does not hold out",
                next_step="run the tasks of its test families, or another protocol",
                task_id=task.task_id,
                family=task.family,
            )
        return cross_split(task, self.split)


def _check_held_out(split: Split, memory: Memory) -> None:
    """Ask as any held-out task would, so that a memory with a test family is told before the first task."""
    task = Task(split.benchmark, "", min(split.test), "")
    check_viewer(cross_split(task, split), memory, any_benchmark=False)


def _check_families(memory: Memory) -> None:
    """Compare the families of a memory with the installed overlay's: it may have been built where there was none."""
    for run in memory.manifest.sources.runs:
        known = family_of(run.benchmark, run.task_id)
        if families_of(run.benchmark) is not None and known != run.family:
            raise ConfigError(
                f"the memory at {memory.path} has task {run.task_id!r} under the family {run.family!r}, "
                f"the installed overlay of {run.benchmark!r} says {known!r}",
                next_step="build it again where the overlay is installed",
                stored=run.family,
                known=known,
            )
