"""The mask of one run: arguments by key and type, observations by key, and every text by what must not recur."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from amd.json_text import JSON
from amd.mask.keys import KeyClass, holds_ids, is_data_key, is_placeholder, key_class, slug
from amd.mask.recurrence import Recurrence
from amd.mask.run_values import ToolWords, names_of, recurrence_of, words_of
from amd.mask.seen import mask_named, pieces
from amd.mask.shapes import mask_shapes, until_stable
from amd.observation import Observed
from amd.trajectory import Step, ToolCall, Trajectory, Turn

__all__ = ["Mask"]

# Nothing that a tool takes or gives is nested deeper; below this an argument is denied as a whole.
_DEPTH = 64
# What a model wrote may be nested in any way; a masked run's values are never nested this deeply.
_DEEPEST = 80
_LARGEST_KEPT = 100
_SHORT = 64
# No number below this can recur (see amd.mask.recurrence).
_LEAST_NUMBER = 10_000


@dataclass(frozen=True, slots=True)
class Mask:
    """The masking rules of one run, frozen. Made by :meth:`of`; what it masked once it leaves as it is."""

    _recurrence: Recurrence = field(default_factory=Recurrence)
    _tools: Mapping[str, ToolWords] = field(default_factory=dict)
    _names: frozenset[str] = frozenset()
    # Most texts are keys and short values, which a run repeats by the hundred.
    _known: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, run: Trajectory) -> Mask:
        """Collect what must not recur from a run's calls and from beside them, and its tools' own words."""
        tools = {tool.name: words_of(tool) for tool in run.tools or ()}
        return cls(recurrence_of(run, tools), tools, names_of(run, tools))

    def run(self, run: Trajectory) -> Trajectory:
        """A masked copy: instruction, user texts, step texts, arguments and observations.

        The task's id, family and benchmark, the tools, the outcome and the source stay.
        """
        task = replace(run.task, instruction=self.text(run.task.instruction))
        return replace(run, task=task, turns=tuple(self._turn(turn) for turn in run.turns))

    def arguments(self, tool: str, arguments: Mapping[str, JSON]) -> dict[str, JSON]:
        """The arguments of a call, masked by key and JSON type at any depth; default deny.

        Kept are ``null``, booleans, whole numbers up to 100 (positive or negative) and members of an enum in the
        tool's schema, but never under a person, contact or secret key. All else, number or string, becomes
        ``<key>``; an element of a list takes the list's key.

        >>> Mask().arguments("pay", {"amount": 1249.99, "times": 2, "cards": ["4111 1111 1111 1111"], "pin": 48})
        {'amount': '<amount>', 'times': 2, 'cards': ['<cards>'], 'pin': '<pin>'}
        """
        words = self._tools.get(tool, ToolWords())
        return self._argument_members(arguments, "", words, 0)

    def text(self, text: str) -> str:
        """A text without the values that must not recur and without anything value-shaped; idempotent."""
        if len(text) > _SHORT:
            return until_stable(self._pass, text)
        if text not in self._known:
            self._known[text] = until_stable(self._pass, text)
        return self._known[text]

    def value(self, value: JSON) -> JSON:
        """A JSON value with every string, keys too and at any depth, through :meth:`text`.

        Whole numbers that recur, or that are a payment card by their own shape, become placeholders. So does what is
        nested deeper than any tool's values.
        """
        return self._value(value, 0)

    def _value(self, value: JSON, depth: int) -> JSON:
        if isinstance(value, Mapping | list) and depth > _DEEPEST:
            return "<value>"
        if isinstance(value, Mapping):
            return _renamed(value, self.text, lambda _, item: self._value(item, depth + 1))
        if isinstance(value, list):
            return [self._value(item, depth + 1) for item in value]
        return self._leaf(value)

    def _pass(self, text: str) -> str:
        return mask_shapes(self._recurrence.replace(text), self._names)

    def _leaf(self, value: JSON) -> JSON:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _LEAST_NUMBER:
            written = str(value)
            masked = self.text(written)
            return value if masked == written else masked
        return value

    def _placeholder(self, key: str) -> str:
        name = slug(key)
        return f"<{name}>" if self.text(name) == name else "<value>"

    def _turn(self, turn: Turn) -> Turn:
        user = None if turn.user is None else self.text(turn.user)
        return Turn(user, tuple(Step(self.text(step.text), tuple(map(self._call, step.calls))) for step in turn.steps))

    def _call(self, call: ToolCall) -> ToolCall:
        arguments = self.arguments(call.name, call.arguments)
        return replace(call, arguments=arguments, observation=self._observation(call.observation))

    def _argument_members(
        self, members: Mapping[str, JSON], parent: str, words: ToolWords, depth: int, inherited: KeyClass | None = None
    ) -> dict[str, JSON]:
        def is_data(key: str) -> bool:
            if key in words.names:
                return False
            return is_data_key(key, nested=depth > 0) or self.text(key) != key

        def rename(key: str) -> str:
            return self._placeholder(parent) if is_data(key) and not is_placeholder(key) else key

        def walk(key: str, item: JSON) -> JSON:
            if is_data(key):
                return self._argument(item, parent, inherited, words, depth + 1)
            return self._argument(item, key, key_class(key, parent), words, depth + 1)

        return _renamed(members, rename, walk)

    def _argument(self, value: JSON, key: str, kind: KeyClass | None, words: ToolWords, depth: int) -> JSON:
        if depth > _DEPTH:
            return self._placeholder(key)
        if isinstance(value, Mapping):
            return self._argument_members(value, key, words, depth, kind)
        if isinstance(value, list):
            return [self._argument(item, key, kind, words, depth + 1) for item in value]
        if value is None or (kind is None and _is_kept(value, words)):
            return value
        return self._placeholder(key)

    def _observation(self, observation: str) -> str:
        """An observation keeps its shape; what stands under a person, contact or secret key goes."""
        return until_stable(lambda text: self._seen(text, "", 0), observation)

    def _seen(self, text: str, key: str, depth: int) -> str:
        """A text of a tool's, which stands under ``key``: what it says as values, and what is left as text."""
        return "".join(self._piece(piece, said, key, depth) for piece, said in pieces(text))

    def _piece(self, piece: str, said: Observed | None, key: str, depth: int) -> str:
        if said is None:
            return self.text(mask_named(piece))
        masked = self._observed(said.value, key, None, depth + 1)
        return piece if masked == said.value else Observed(masked, said.literal).text()

    def _observed(self, value: JSON, key: str, kind: KeyClass | None, depth: int) -> JSON:
        if depth > _DEPTH:
            return self._placeholder(key)
        if isinstance(value, Mapping):
            return self._observed_members(value, key, kind, depth)
        if isinstance(value, list):
            return [self._observed(item, key, kind, depth + 1) for item in value]
        if kind is None or value is None or isinstance(value, bool) or value == "":
            return self._seen(value, key, depth) if isinstance(value, str) else self._leaf(value)
        return self._placeholder(key)

    def _observed_members(
        self, members: Mapping[str, JSON], parent: str, inherited: KeyClass | None, depth: int
    ) -> dict[str, JSON]:
        ids = holds_ids(parent)

        def rename(key: str) -> str:
            masked = self.text(key)
            return self._placeholder(parent) if ids and is_data_key(key) and not is_placeholder(masked) else masked

        def walk(key: str, item: JSON) -> JSON:
            if is_data_key(key) or self.text(key) != key:
                return self._observed(item, parent, inherited, depth + 1)
            return self._observed(item, key, key_class(key, parent), depth + 1)

        return _renamed(members, rename, walk)


def _is_kept(value: JSON, words: ToolWords) -> bool:
    """Whether an argument that stands under an ordinary key tells nothing of the run's own values."""
    if isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return abs(value) <= _LARGEST_KEPT and value == int(value)
    return isinstance(value, str) and value in words.enums


def _renamed(
    members: Mapping[str, JSON], rename: Callable[[str], str], walk: Callable[[str, JSON], JSON]
) -> dict[str, JSON]:
    """Members with new keys and values. Two keys that become one placeholder are told apart by a number.

    >>> _renamed({"a1": 1, "a2": 2, "b": 3}, lambda key: "<id>" if key[0] == "a" else key, lambda _, item: item)
    {'<id>': 1, '<id_2>': 2, 'b': 3}
    """
    renamed: dict[str, JSON] = {}
    seen: dict[str, int] = {}
    for key, item in members.items():
        name = fresh = rename(key)
        while fresh in renamed:
            seen[name] = seen.get(name, 1) + 1
            fresh = f"{name[:-1]}_{seen[name]}>" if is_placeholder(name) else f"{name}_{seen[name]}"
        renamed[fresh] = walk(key, item)
    return renamed
