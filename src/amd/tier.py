"""The contract of a tier: a trajectory in, drafts of records out; a question in, queries out; hits in, text out.

A tier is blind. It has no store, no vectors and no viewer, so a new tier or a baseline cannot get round
self-exclusion. It sees trajectories that were masked before (``amd.mask``), and its drafts are masked again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from amd.chat import CallFormat
from amd.evidence import Evidence
from amd.json_text import JSON
from amd.records import Place, Record
from amd.trajectory import ToolSpec, Trajectory

__all__ = [
    "RULES",
    "Assignment",
    "Draft",
    "Draw",
    "FailedCall",
    "Hit",
    "Part",
    "Prompt",
    "Query",
    "Question",
    "RulesWriter",
    "Style",
    "Tier",
    "Writer",
]

Reply = TypeVar("Reply")


@dataclass(frozen=True, slots=True)
class Prompt(Generic[Reply]):
    """What a model is told to write for one tier: the instructions, and the shape of its reply.

    A prompt stands in its tier's file. It is short, and has no example values, which a small model would copy.

    Attributes:
        purpose: a word for it, unique within a method.
        words: the instructions.
        reply: a frozen dataclass; its fields are the members of the JSON that is asked for.
        room: tokens that a reply may take.
    """

    purpose: str
    words: str
    reply: type[Reply]
    room: int = 512


def _no_fault(reply: Any) -> str | None:  # noqa: ANN401, ARG001 - any reply
    return None


def _as_it_is(value: JSON) -> JSON:
    return value


@dataclass(frozen=True, slots=True)
class Assignment(Generic[Reply]):
    """What a writer is asked for: a reply to ``prompt`` about a masked run.

    ``fault`` says what is wrong with a reply of the right shape, or ``None``. ``clean`` masks what a model wrote; the
    build fills it in, for a tier knows no mask.
    """

    prompt: Prompt[Reply]
    run: Trajectory
    fault: Callable[[Reply], str | None] = _no_fault
    clean: Callable[[JSON], JSON] = _as_it_is


class Writer(Protocol):
    """Finds the words of a record. ``id`` and ``prompts`` (a hash) say in the memory who wrote and how."""

    @property
    def id(self) -> str:
        """``rules``, or the model's name."""
        ...

    @property
    def prompts(self) -> str:
        """The hash of the prompts, empty where there are none."""
        ...

    @property
    def calls(self) -> Mapping[str, int]:
        """How often a model was asked so far, by purpose."""
        ...

    @property
    def costs(self) -> Mapping[str, int | float]:
        """What asking has cost so far, as the manifest keeps it: ``insight.prompt_tokens`` and so on."""
        ...

    def write(self, assignment: Assignment[Reply]) -> Reply | None:
        """The reply, or ``None``: then the tier's own rules write the record. Called from several threads."""
        ...

    def settle(self) -> None:
        """Hear that what was written is published: nothing of it has to be kept any more."""
        ...


@dataclass(frozen=True, slots=True)
class RulesWriter:
    """The writer without a model: it leaves every word to the tier's own rules."""

    id: str = "rules"
    prompts: str = ""
    calls: Mapping[str, int] = field(default_factory=dict)
    costs: Mapping[str, int | float] = field(default_factory=dict)

    def write(self, assignment: Assignment[Reply]) -> Reply | None:  # noqa: ARG002 - the protocol's signature
        """Nothing, always."""
        return None

    def settle(self) -> None:
        """Nothing was kept."""


RULES = RulesWriter()


@dataclass(frozen=True, slots=True)
class Draft:
    """A record before it has an id: its key, its body, and the calls it covers (first and last, from 1).

    ``tool`` is the one that it is found by. ``calls_of`` names the tools whose calls it shows, or tells down to their
    arguments: with another schema of one of them it is not shown. ``written`` says that the words are a writer's, and
    not the tier's own.
    """

    key: str
    body: Mapping[str, JSON]
    steps: tuple[int, int] = (0, 0)
    tool: str | None = None
    calls_of: tuple[str, ...] = ()
    written: bool = False


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call of the student that came back with an error.

    ``place`` names the call within the run: asked again for the same place, a session gives the same bytes.

    >>> FailedCall("mv", {"source": "a"}, "Error: no such file", turn_text="move a", place="call-7").tool
    'mv'
    """

    tool: str
    arguments: Mapping[str, JSON]
    error: str
    reasoning: str = ""
    turn_text: str = ""
    place: Place = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What a session wants to know, and when: before the task, before a turn, or after a failed call."""

    at: Literal["task", "turn", "error"]
    text: str
    labels: tuple[str, ...] = ()
    failed: FailedCall | None = None


@dataclass(frozen=True, slots=True)
class Draw:
    """Records drawn at random by a seed, among those that may be seen and have what ``where`` names.

    A tier gives the seed of an arm; the session adds the task and the place.
    """

    seed: str
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Query:
    """A text to search a shelf by. ``where`` names a ``tool``, or members of a record's body, that must be equal.

    With ``draw``, as many records as the text finds are drawn, and shown instead: the control for length.
    """

    text: str
    k: int = 1
    where: Mapping[str, str] = field(default_factory=dict)
    draw: Draw | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that was found, its cosine, and how many visible runs agree with it (its own included)."""

    record: Record
    score: float
    support: int = 1


@dataclass(frozen=True, slots=True)
class Style:
    """How a student is shown things: its call format, and the tools it is offered (``None``: unknown)."""

    call_format: CallFormat = "json"
    tools: Mapping[str, ToolSpec] | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A whole piece of text that a budget keeps or drops; ``record_id`` is empty for a part from no record.

    ``example`` is the same piece as one earlier exchange (user, assistant) for the layout ``turns``.
    """

    text: str
    record_id: str = ""
    example: tuple[str, str] | None = None


class Tier(Protocol):
    """One tier of memory: three verbs and what the sides must know to serve it."""

    @property
    def name(self) -> str:
        """The shelf's name."""
        ...

    @property
    def heading(self) -> str:
        """The line that introduces the tier's parts in a prompt."""
        ...

    @property
    def accepts(self) -> Collection[bool]:
        """The outcomes that it learns from: ``{True}``, or ``{True, False}`` with failures marked."""
        ...

    @property
    def prompts(self) -> Sequence[Prompt[Any]]:
        """What it may ask a writer for."""
        ...

    @property
    def needs_calls(self) -> bool:
        """Whether a run without a call gives it nothing."""
        ...

    @property
    def fused(self) -> bool:
        """Whether a search fuses BM25 with the cosine."""
        ...

    @property
    def floored(self) -> bool:
        """Whether a hit must reach the shelf's floor."""
        ...

    def distill(self, run: Trajectory, evidence: Evidence, writer: Writer) -> Sequence[Draft]:
        """The drafts that a masked run gives; ``evidence`` was read off it before it was masked."""
        ...

    def ask(self, question: Question) -> Sequence[Query]:
        """The queries that a question needs; none where the tier has nothing to say at that moment."""
        ...

    def render(self, hits: Sequence[Hit], question: Question, style: Style) -> Sequence[Part]:
        """The hits as text, in the order in which a budget should keep them."""
        ...

    def gist(self, record: Record) -> str:
        """The text by which two records are near duplicates."""
        ...

    def fault(self, body: Mapping[str, JSON]) -> str | None:
        """What is wrong with a body that a person edited; ``None`` if :meth:`render` and :meth:`gist` can read it."""
        ...
