"""The protocol of an embedder, the shape of a chat message, and how long a text is for a model that cannot be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:  # a session handles no row itself, and numpy takes longer to load than all of it
    import numpy as np
    import numpy.typing as npt

__all__ = ["LONGEST_WORDS", "CallFormat", "Embedder", "Message", "Rows", "estimated_tokens"]

_BYTES_PER_TOKEN = 3

LONGEST_WORDS = 500
"""Characters of a server's own words that an error shows."""

CallFormat = Literal["json", "python"]
"""How a student writes a call: ``json`` for function calling, ``python`` for prompting and code agents."""

Message: TypeAlias = Mapping[str, Any]
"""One message of an OpenAI chat: ``role``, ``content``, and what else the endpoint knows."""

Rows: TypeAlias = "npt.NDArray[np.float32]"
"""Embedding rows: float32, shape (texts, width), each of unit length."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into rows of unit length. Equal texts give equal rows, in any process.

    ``id`` names the vector space (``hash``, ``minilm``, ``openai:MODEL``): a memory is opened only with the
    embedder that it was built with. ``floor`` is the cosine below which two texts are about different things,
    used where a memory is too small to measure its own. One that reads only the beginning of a long text counts such
    texts in an attribute ``cut``, so that a build can tell.
    """

    @property
    def id(self) -> str:
        """The name of the vector space."""
        ...

    @property
    def floor(self) -> float:
        """The least cosine that counts where nothing better is known."""
        ...

    def embed(self, texts: Sequence[str]) -> Rows:
        """One row of unit length for each text; ``ClientError`` if a service fails."""
        ...


def estimated_tokens(text: str) -> int:
    """UTF-8 bytes divided by three, rounded up.

    >>> estimated_tokens("abcd"), estimated_tokens("")
    (2, 0)
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)
