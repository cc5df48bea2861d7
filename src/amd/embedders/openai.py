"""An embedding model behind any OpenAI-compatible endpoint. The only file that imports the ``openai`` client for this.

How the service is reached, and what is worth asking again, is told by ``amd.service``.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Sequence

import numpy as np
import openai

from amd.chat import Rows
from amd.errors import ClientError, ConfigError
from amd.service import OF_THE_REQUEST, OPENAI, retrying, server_words
from amd.transport import open_client

__all__ = ["OpenAIEmbedder"]

_SHORTEST_CUT = 256  # characters: a model that takes no more than this is none
_QUOTED = 60  # characters of a bad text that an error shows

_LOG = logging.getLogger(__name__)


class OpenAIEmbedder:
    """Embeds with ``model`` at ``base_url``, in batches, with retries, one request at a time.

    Timeouts, 408, 409, 429 and 5xx are tried again, after as many seconds as ``Retry-After`` says, or else after
    ``first_wait`` seconds, doubled each time. Any other refusal is final. A batch that is refused as a bad request is
    halved until the one bad text stands alone. If the service takes its beginning, the text was too long: it gets that
    row, is counted in ``cut``, and the log has the server's words. If not, the error names the text. The width is what
    the server sends.

    Args:
        model: the name that the endpoint knows the model by.
        base_url: up to and with ``/v1``; OpenAI's own if left out.
        api_key: may be left out for an endpoint of one's own.
        batch: texts in one request.
        attempts: how often one request is made before it counts as failed.
        first_wait: seconds.
        timeout: seconds that one request may take.

    Raises:
        ConfigError: no endpoint and no key, an address that is none, or a key that cannot be sent.
    """

    floor = 0.4
    """A guess, for memories with too few records to measure their own: models differ."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        batch: int = 128,
        attempts: int = 5,
        first_wait: float = 0.5,
        timeout: float = 60.0,
    ) -> None:
        if base_url is None and api_key is None:
            raise ConfigError(
                f"the embedder 'openai:{model}' has neither an endpoint nor a key",
                next_step="give --base-url or OPENAI_BASE_URL (base_url), or OPENAI_API_KEY (api_key)",
                embedder=f"openai:{model}",
            )
        self.id = f"openai:{model}"
        self.cut = 0
        self._model = model
        self._batch = batch
        self._url = base_url or OPENAI
        self._client = open_client(self._url, api_key, timeout=timeout)
        weakref.finalize(self, self._client.close)  # nobody has to remember it
        self._retrying = retrying(attempts, first_wait)

    def embed(self, texts: Sequence[str]) -> Rows:
        """One row of unit length for each text.

        Raises:
            ClientError: the server's own words; where one text is at fault, its beginning and its ``index`` as well.
        """
        parts: list[Rows] = []
        sendable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]  # a request is UTF-8
        for start in range(0, len(sendable), self._batch):
            parts += self._rows(sendable[start : start + self._batch], start)
        if not parts:
            return np.empty((0, 0), dtype=np.float32)
        widths = sorted({part.shape[1] for part in parts})
        if len(widths) > 1:
            raise self._error(f"sent rows of {widths[0]} and of {widths[-1]} numbers", widths=widths)
        return np.concatenate(parts)

    def _rows(self, texts: Sequence[str], first: int) -> list[Rows]:
        """The rows of one batch, whose first text has the index ``first`` among all, in one part or in several."""
        try:
            return [self._asked(texts)]
        except openai.APIStatusError as refusal:
            if refusal.status_code not in OF_THE_REQUEST:
                raise self._refused(refusal) from refusal
            if len(texts) == 1:
                return [self._beginning(texts[0], first, refusal)]
            half = len(texts) // 2
            return self._rows(texts[:half], first) + self._rows(texts[half:], first + half)

    def _beginning(self, text: str, index: int, refusal: openai.APIStatusError) -> Rows:
        """The row of as much of a refused text as the service takes: its half, half of that, and so on."""
        size = len(text) // 2
        while size >= _SHORTEST_CUT:
            try:
                row = self._asked([text[:size]])
            except openai.APIStatusError as again:
                if again.status_code not in OF_THE_REQUEST:
                    raise self._refused(again) from again
                size //= 2
            else:
                self.cut += 1
                why = self._refused(refusal, index=index, text=text).message
                _LOG.warning("%s; its first %d characters were embedded", why, size)
                return row
        raise self._refused(refusal, index=index, text=text) from refusal

    def _asked(self, texts: Sequence[str]) -> Rows:
        """The rows of one request that was answered; ``APIStatusError`` if the answer is a refusal."""
        try:
            reply = self._retrying(
                self._client.embeddings.create, model=self._model, input=list(texts), encoding_format="float"
            )
        except openai.APIConnectionError as failure:
            raise self._error(f"cannot be reached: {failure.__cause__ or failure}") from failure
        except (ValueError, RecursionError) as failure:  # the client reads the body itself
            raise self._error(f"sent an answer that cannot be read: {failure}") from failure
        return self._checked(getattr(reply, "data", None), len(texts))

    def _checked(self, items: object, count: int) -> Rows:
        """The server's embeddings in the order of the texts, as rows of unit length."""
        if not isinstance(items, list) or len(items) != count:
            found = len(items) if isinstance(items, list) else "no list of"
            raise self._error(f"sent {found} embeddings for {count} texts", expected=count, found=found)
        try:
            ordered = sorted(items, key=lambda item: int(item.index))
            rows = np.array([item.embedding for item in ordered], dtype=np.float64)
        except (AttributeError, TypeError, ValueError, OverflowError) as fault:
            raise self._error(f"sent embeddings that are no rows of numbers: {fault}") from fault
        if rows.ndim != 2 or not rows.shape[1] or [item.index for item in ordered] != list(range(count)):
            raise self._error(f"sent embeddings of the shape {rows.shape} for {count} texts")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise self._error("sent a row that has no direction: all zeros, or not finite")
        unit: Rows = (rows / lengths).astype(np.float32)
        return unit

    def _refused(self, refusal: openai.APIStatusError, *, index: int = 0, text: str | None = None) -> ClientError:
        """What the server said; if it is about one text, which one."""
        what, fields = "", {}
        if text is not None:
            more = "..." if len(text) > _QUOTED else ""
            what = f" for the text {text[:_QUOTED]!r}{more} of {len(text)} characters"
            fields = {"index": index, "text": text}
        return self._error(
            f"answered {refusal.status_code}{what}: {server_words(refusal)}", status=refusal.status_code, **fields
        )

    def _error(self, what: str, **fields: object) -> ClientError:
        return ClientError(
            f"the embedder {self.id!r} at {self._url} {what}",
            next_step="check the endpoint, the model's name and the key, then run the same command again",
            embedder=self.id,
            url=self._url,
            **fields,
        )
