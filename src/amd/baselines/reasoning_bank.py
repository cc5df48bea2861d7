"""ReasoningBank (arXiv 2509.25140): titled items of advice from a run, found by the instruction.

As in the paper, a run gives at most three items of title, description and content; a success tells what worked, a
failure what to avoid, and each is asked for in its own words. A record is all that one run gave, so top-k counts runs.
Where this departs from the paper: whether a run succeeded is the benchmark's own score and no model's verdict; the
embedder is the memory's own; nothing is scaled at test time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amd.evidence import Evidence
from amd.json_text import JSON
from amd.records import Record
from amd.sentences import check_at_the_end, failures, order_of, origins, seen_in, tools_of, without_call
from amd.tier import Assignment, Draft, Hit, Part, Prompt, Query, Question, Style, Writer
from amd.trajectory import Trajectory
from amd.transcript import fault_in_names

__all__ = ["ITEMS", "ITEMS_OF_FAILURE", "Item", "Items", "ReasoningBankTier", "fault_in_items"]

MOST_ITEMS = 3
"""Items of a run: the paper's figure."""

_LONGEST_TITLE, _LONGEST_DESCRIPTION, _LONGEST_CONTENT = 120, 300, 800  # characters


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of advice: what it is about, what it says in one sentence, and the advice itself."""

    title: str
    description: str
    content: str


@dataclass(frozen=True, slots=True)
class Items:
    """A writer's reply: what a run teaches."""

    items: tuple[Item, ...]


_FORM = f"""Give at least 1 and at most {MOST_ITEMS} items, none of which says what another says. title: at most 8 \
words. description: one sentence that sums the item up. content: 1 to 3 sentences of advice for somebody who cannot \
see this run. Names, ids, dates, amounts and other values of this run stand in none of them."""

ITEMS = Prompt(
    "items",
    f"""You read a finished run in which an assistant solved a task with tools. Think first about why it succeeded, \
then draw from it what will help with similar tasks, and with other tasks of its kind.
{_FORM}""",
    Items,
    room=1024,
)
"""Asked for a run that succeeded."""

ITEMS_OF_FAILURE = Prompt(
    "items_of_failure",
    f"""You read a finished run in which an assistant tried to solve a task with tools and failed. Think first about \
why it failed, then draw from it what keeps others from failing so, and what they should do instead.
{_FORM}""",
    Items,
    room=1024,
)
"""Asked for a run that failed."""


def fault_in_items(reply: Items) -> str | None:
    """What is wrong with the items of a run, or ``None``.

    >>> fault_in_items(Items(())), fault_in_items(Items((Item("Look first", "Look before a move.", "Call ls."),)))
    ('0 items, at least one and at most 3 are possible', None)
    """
    if not 1 <= len(reply.items) <= MOST_ITEMS:
        return f"{len(reply.items)} items, at least one and at most {MOST_ITEMS} are possible"
    if not all(item.title.strip() and item.content.strip() for item in reply.items):
        return "an item has no title or no content"
    if len({item.title for item in reply.items}) < len(reply.items):
        return "two items have the same title"
    if any(
        len(item.title) > _LONGEST_TITLE
        or len(item.description) > _LONGEST_DESCRIPTION
        or len(item.content) > _LONGEST_CONTENT
        for item in reply.items
    ):
        return "an item is too long: write at most 8 words, one sentence, and 1 to 3 sentences"
    return None


@dataclass(frozen=True, slots=True)
class ReasoningBankTier:
    """One record a run, keyed on the instruction, asked once before the task; ``failures`` teach too if wanted."""

    failures: bool = False
    name: str = "reasoning_bank"
    heading: str = "What was learned from similar tasks:"
    prompts: tuple[Prompt[Items], ...] = (ITEMS, ITEMS_OF_FAILURE)
    needs_calls: bool = False
    fused: bool = False
    floored: bool = True

    @property
    def accepts(self) -> frozenset[bool]:
        """Successes, and failures if it was made with ``failures``."""
        return frozenset({True, False} if self.failures else {True})

    def distill(self, run: Trajectory, evidence: Evidence, writer: Writer) -> Sequence[Draft]:
        """One draft: the writer's items, else those that the calls themselves bear out."""
        if not run.task.instruction.strip():
            return (Draft("", {}),)  # a build counts what nothing can find; no model is asked to write it
        good = run.outcome.success is not False
        reply = writer.write(Assignment(ITEMS if good else ITEMS_OF_FAILURE, run, fault_in_items))
        items = reply.items if reply else _what_worked(run, evidence) if good else _what_failed(run, evidence)
        body: dict[str, JSON] = {
            "outcome": "success" if good else "failure",
            "items": [
                {"title": item.title.strip(), "description": item.description.strip(), "content": item.content.strip()}
                for item in items
            ],
            "tools": [*tools_of(run)],
        }
        steps = (min(1, len(run.calls)), len(run.calls))
        return (Draft(run.task.instruction, body, steps, written=reply is not None),)

    def ask(self, question: Question) -> Sequence[Query]:
        """The instruction, once, before the task."""
        return (Query(question.text),) if question.at == "task" else ()

    def render(self, hits: Sequence[Hit], question: Question, style: Style) -> Sequence[Part]:  # noqa: ARG002 - protocol
        """Each item of each run; those of a failure say so."""
        return [part for hit in hits for part in _parts(hit)]

    def gist(self, record: Record) -> str:
        """The advice itself; in words of their own for a failure, which never agrees with a success."""
        words = " ".join(item["content"] for item in _items(record.body)).split()
        return " ".join(f"failed_{word}" for word in words) if record.body["outcome"] == "failure" else " ".join(words)

    def fault(self, body: Mapping[str, JSON]) -> str | None:
        """A body has an outcome, items of three texts each, and the names of its tools."""
        if body.get("outcome") not in ("success", "failure"):
            return "a reasoning_bank record's body needs the outcome success or failure"
        items = body.get("items")
        if not isinstance(items, list) or not items or len(_items(body)) < len(items):
            return "a reasoning_bank record's body needs items, each with a title, a description and a content"
        return fault_in_names(body)


def _items(body: Mapping[str, JSON]) -> list[dict[str, str]]:
    """The items of a body that have all three texts."""
    items = body.get("items")
    found = []
    for item in items if isinstance(items, list) else []:
        texts = {name: item.get(name) for name in ("title", "description", "content")} if isinstance(item, dict) else {}
        whole = {name: text for name, text in texts.items() if isinstance(text, str)}
        if len(whole) == 3 and whole["content"].strip():
            found.append(whole)
    return found


def _parts(hit: Hit) -> list[Part]:
    origin = "From a failed run: " if hit.record.body["outcome"] == "failure" else ""
    parts = []
    for number, item in enumerate(_items(hit.record.body)):
        agreement = "" if number else seen_in(hit.support)
        title = f"{item['title']}: {item['description']}" if item["description"] else item["title"]
        parts.append(Part(f"{origin}{title}{agreement}\n{item['content']}", hit.record.id))
    return parts


def _what_worked(run: Trajectory, evidence: Evidence) -> list[Item]:
    """The facts of a success as items; one that would have no fact is left out."""
    calls = run.calls
    if not calls:
        return [Item("No tool is needed", "The task was solved by talking.", f"Solved {without_call(run)}")]
    order = " ".join(text for text in (order_of(run), check_at_the_end(calls)) if text)
    found = [
        Item("The order of the calls", "Which tools solved the task, and how one knows.", order),
        Item("Where values come from", "Some arguments are another call's result.", origins(calls, evidence)),
        Item("Errors on the way", "What failed before it was solved.", failures(calls, evidence, tools_of(run))),
    ]
    return [item for item in found if item.content]


def _what_failed(run: Trajectory, evidence: Evidence) -> list[Item]:
    """The facts of a failure as items."""
    if not run.calls:
        return [Item("Talking alone was not enough", "The task was not solved.", f"It failed {without_call(run)}")]
    found = [
        Item("Calls that were not enough", "The task was not solved by these calls.", order_of(run)),
        Item("Errors that were met", "What failed in a run that failed.", failures(run.calls, evidence, tools_of(run))),
    ]
    return [item for item in found if item.content]
