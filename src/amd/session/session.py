"""The student side of a memory: one session asks for one run of one task, and logs all that it showed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from amd.chat import CallFormat
from amd.errors import ConfigError
from amd.exclusion import Viewer
from amd.inject import HINT_NOTE, Block, build_block, build_hint, strip_memory
from amd.json_text import replace_surrogates
from amd.records import Exposure, Place
from amd.session.asking import Asker, Shown
from amd.session.budget import DEFAULT_LIMITS, Limits
from amd.session.hints import nearest_tools, placeholder_note, placeholders_in, unknown_tool_note
from amd.session.offer import Tools, offered
from amd.session.terms import Decompose, Layout, Mode, Wording, as_it_is, check_choices, check_viewer, resolved, serves
from amd.session.tokens import token_counter
from amd.tier import FailedCall, Question, Style, Tier
from amd.trajectory import error_class

if TYPE_CHECKING:  # a session is handed an open memory, so it need not load what opening one needs
    from amd.store.memory import Memory

__all__ = ["Session"]

_MOST_LABELS = 6  # the paper's figure for a decomposition


class Session:
    """One run of one task, used by one thread; the memory may be shared by many.

    Every answer is kept by its place (the task, a turn's number, the place of a failed call): asked again for the
    same place, a session gives the same bytes and logs nothing new, so a harness that rebuilds its messages for each
    request keeps its prefix. A block goes into the messages with the functions of ``amd.inject``.

    Args:
        memory: an open memory.
        viewer: who asks (``amd.exclusion``), and so what may be seen.
        method: a method's name, or a tuple of tiers. ``"none"`` and ``()`` show nothing.
        tools: what the task offers; ``None`` is unknown: then nothing is filtered by tool, and exposures say so.
            Tools that come or go later are told by :meth:`offer_tools`.
        mode: ``static`` asks once, before the task. In ``dynamic`` and ``replace`` a tier that can answer a turn is
            asked at each turn instead.
        decompose: divides the instruction into labels for the mode ``static``; at most six are used. It is called
            only where the method has a tier that is asked about parts of a task.
        limits: tokens for each tier.
        call_format: the format in which the student itself writes calls.
        layout: ``block``, or ``turns`` for examples as earlier messages.
        wording: how the student itself would put a piece, before its tokens are counted; as the tiers wrote it if
            left out.
        any_benchmark: look into a memory of another benchmark too; exposures then say ``widened``.

    Raises:
        ConfigError: the choices contradict each other or the memory.

    >>> import tempfile
    >>> import amd
    >>> from amd.testing import run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = amd.build_memory([run(1), run(2)], folder, embedder=amd.load_embedder("hash"))
    ...     with amd.open_memory(folder) as memory:
    ...         session = amd.Session(memory, viewer=amd.self_excluded(run(1).task))
    ...         block = session.before_task(run(1).task.instruction)
    ...         print("`mv`" in block.text, [exposure.families for exposure in session.exposures])
    True [('multi_turn_2',), ('multi_turn_2',)]
    """

    def __init__(
        self,
        memory: Memory,
        *,
        viewer: Viewer,
        method: str | Sequence[Tier] = "amd",
        tools: Tools | None = None,
        mode: Mode = "static",
        decompose: Decompose | None = None,
        limits: Limits = DEFAULT_LIMITS,
        call_format: CallFormat = "json",
        layout: Layout = "block",
        wording: Wording = as_it_is,
        any_benchmark: bool = False,
    ) -> None:
        check_choices(mode, layout, call_format)
        self.method = resolved(method, memory)
        self.viewer = viewer
        self.mode = mode
        self.widened = check_viewer(viewer, memory, any_benchmark=any_benchmark)
        self._offer = offered(tools)
        self._decompose = decompose
        self._asker = Asker(
            memory=memory,
            viewer=viewer,
            offer=self._offer,
            style=Style(call_format, self._offer.specs),
            limits=limits,
            count=token_counter(limits.tokenizer),
            layout=layout,
            wording=wording,
            widened=self.widened,
        )
        self._turn_tiers = tuple(tier for tier in self.method.tiers if serves(tier, "turn"))
        self._error_tiers = tuple(tier for tier in self.method.tiers if serves(tier, "error"))
        self._instruction = ""
        self._turn_text = ""
        self._task_shown: tuple[Shown, ...] = ()
        self._blocks: dict[tuple[Place, ...], Block] = {}

    @property
    def exposures(self) -> tuple[Exposure, ...]:
        """What was shown so far, and what was not and why, in the order of the questions."""
        return tuple(self._asker.exposures)

    def offer_tools(self, tools: Tools | None) -> None:
        """The tools that the task offers from now on, all of them; answers already given stay as they are.

        Raises:
            ConfigError: an entry is no tool, or two tools have one name; then nothing changes.
        """
        self._offer = self._asker.offer = offered(tools)
        self._asker.style = replace(self._asker.style, tools=self._offer.specs)

    def before_task(self, instruction: str) -> Block:
        """What to put before the whole task. ``instruction`` is the first message that the student sees."""
        place = ("task",)
        if place not in self._blocks:
            self._instruction = _clean(instruction)
            self._asker.viewer = self._asker.viewer.asking(self._instruction)
            static = self.mode == "static"
            tiers = [tier for tier in self.method.tiers if static or tier not in self._turn_tiers]
            question = Question("task", self._instruction, self._labels() if static else ())
            self._task_shown = self._asker.ask(tiers, question, "task")
            self._blocks[place] = _as_block(self._task_shown)
        return self._blocks[place]

    def before_turn(self, text: str, turn: int) -> Block:
        """What to put before a turn: nothing in the mode ``static``.

        In ``dynamic`` it is this turn's part alone, for ``prepend_turn``; in ``replace`` it is the whole block, the
        part from ``before_task`` included, for ``replace_memory``.
        """
        place = ("turn", turn)
        if place not in self._blocks:
            self._turn_text = _clean(text)
            self._asker.viewer = self._asker.viewer.asking(self._turn_text)
            tiers = () if self.mode == "static" else self._turn_tiers
            shown = self._asker.ask(tiers, Question("turn", self._turn_text), turn)
            self._blocks[place] = _as_block((*self._task_shown, *shown) if self.mode == "replace" else shown)
        return self._blocks[place]

    def after_error(self, failed: FailedCall) -> Block:
        """The hint for a call that failed; whether it failed is the caller's to say (``amd.trajectory.is_error``).

        There is one hint for a tool and a class of error: the first place has it, and has it again when asked
        again; any other place gets an empty block. So ``failed.place`` must name the call within the run. A call in
        which a placeholder was copied out of an example is a class of its own, and its hint says so.

        Raises:
            ConfigError: ``failed.place`` is empty: two failures could not be told apart.
        """
        if failed.place == "":
            raise ConfigError(
                f"the failed call of {failed.tool!r} has no place",
                next_step="give the call's id or number within the run",
                tool=failed.tool,
            )
        failed = replace(
            failed,
            error=_clean(failed.error),
            reasoning=_clean(failed.reasoning),
            turn_text=_clean(failed.turn_text),
        )
        # A placeholder that was copied is what is wrong, whatever the tool says of it.
        copied = placeholders_in(failed.arguments)
        what = "placeholder" if copied else error_class(failed.error, failed.arguments)
        kind = ("error", failed.tool, what)
        place = (*kind, failed.place)
        if place not in self._blocks:
            repeated = any(known[:3] == kind for known in self._blocks)
            self._blocks[place] = self._hint(failed, copied, repeated=repeated) if self._error_tiers else Block()
        return self._blocks[place]

    def _hint(self, failed: FailedCall, copied: tuple[str, ...], *, repeated: bool) -> Block:
        text = failed.reasoning or failed.turn_text or self._turn_text or self._instruction or failed.error
        question = Question("error", text, failed=failed)
        first = self._error_tiers[0]
        if repeated:
            self._asker.note(first, question, failed.place, reason="repeat_error")
            return Block()
        if self._offer.specs is not None and failed.tool not in self._offer.specs:
            near = nearest_tools(failed.tool, self._offer.names)
            words = unknown_tool_note(near) if near else ""
            note = self._asker.note(first, question, failed.place, reason="unknown_tool", text=words)
            return Block(build_hint([], note=note)) if note else Block()
        shown = self._asker.ask(self._error_tiers, question, failed.place)
        sections = [(one.heading, one.texts) for one in shown if one.texts]
        if copied and self._asker.limits.of(
            first.name, "error"
        ):  # the note is frame: counted to no tier, but not without one
            words = placeholder_note(copied)
            return Block(build_hint(sections, note=f"{words} {HINT_NOTE}" if sections else words))
        return Block(build_hint(sections)) if sections else Block()

    def _labels(self) -> tuple[str, ...]:
        if self._decompose is None or not self._turn_tiers or not self._instruction.strip():
            return ()
        found = self._decompose(self._instruction, self._offer.names)
        labels = None if isinstance(found, str) or not isinstance(found, Iterable) else list(found)
        if labels is None or not all(isinstance(label, str) for label in labels):
            raise ConfigError(
                f"decompose gave {type(found).__name__!r}, not a list of texts",
                next_step="let it return at most six labels as strings",
            )
        return tuple(label for label in map(str.strip, map(_clean, labels)) if label)[:_MOST_LABELS]


def _clean(text: str) -> str:
    """The text as it was before any memory was put into it, and as UTF-8 can hold it."""
    if not isinstance(text, str):
        raise ConfigError(f"a {type(text).__name__} was given where a text is needed", next_step="give a string")
    return strip_memory(str(replace_surrogates(text)[0]))[0]


def _as_block(shown: Sequence[Shown]) -> Block:
    sections = [(one.heading, one.texts) for one in shown if one.texts]
    examples = tuple(example for one in shown for example in one.examples)
    return Block(build_block(sections, examples=bool(examples)), examples)
