"""A sentence-transformers model in ONNX: tokens in, one row for each text out. The only file that imports onnxruntime.

Each text is run alone, on one thread; several texts run at once, each on a thread of its own. So a row depends on its
text and on nothing else, and costs hardly more than in a batch: ``docs/design/each-text-alone.md``. Another processor
or another release of onnxruntime may still change the last bits of a row.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as faults
from tokenizers import Tokenizer

from amd.chat import Rows
from amd.errors import ConfigError, WidthDoesNotMatch
from amd.json_text import digest

__all__ = ["Engine", "Model", "OnnxEmbedder", "Pooling", "file_sha256", "fingerprint"]

Pooling: TypeAlias = Literal["mean", "cls"]
"""How the rows of a text's tokens become one: their mean, or the first one."""

_HIDDEN = ("last_hidden_state", "token_embeddings")
"""The output with a row for each token, as the two usual exporters call it."""

_SILENT = 4  # what goes wrong is raised, and onnxruntime would print it as well
_MARK = 16  # hexadecimal digits of a fingerprint: enough that no two models meet by chance
# The names that onnxruntime's own errors have; they share no class but Exception.
_FAULTS = (
    faults.EPFail,
    faults.Fail,
    faults.InvalidArgument,
    faults.InvalidGraph,
    faults.InvalidProtobuf,
    faults.NoModel,
    faults.NoSuchFile,
    faults.NotImplemented,
    faults.RuntimeException,
)


@dataclass(frozen=True, slots=True)
class Model:
    """What is run: the files, how many tokens of a text are read, how tokens become a row, and how wide it must be.

    ``width`` is ``None`` where nothing declares it.
    """

    weights: Path
    tokenizer: Path
    limit: int
    pooling: Pooling = "mean"
    width: int | None = None


def file_sha256(path: Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(weights: Sequence[str], tokenizer: str, limit: int, pooling: Pooling) -> str:
    """What an id carries of a model: all that decides about its rows, as hexadecimal digits.

    Args:
        weights: the sha256 of each file of weights, the graph first.
        tokenizer: the sha256 of the tokenizer's file.
        limit: tokens of a text that are read.
        pooling: how their rows become one.

    >>> fingerprint(["00"], "11", 256, "mean") == fingerprint(["00"], "11", 512, "mean")
    False
    """
    known = {"weights": list(weights), "tokenizer": tokenizer, "limit": limit, "pooling": pooling}
    return digest(known)[:_MARK]


class Engine:
    """A loaded :class:`Model`: it turns one text into one row. Threads and embedders may share it.

    Raises:
        ConfigError: a file cannot be read, or is no model that turns token ids into a row for each token.
        WidthDoesNotMatch: its rows have another width than ``model.width``.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._tokenizer = _tokenizer(model)
        self._session = _session(model.weights)
        self._inputs = tuple(each.name for each in self._session.get_inputs())
        self._output = self._hidden_output()
        # One short text shows whether the files fit together, before anything depends on it.
        self.width = len(self.row("width")[0])
        if model.width not in (None, self.width):
            raise WidthDoesNotMatch(
                f"{model.weights} gives rows of width {self.width}, its configuration says {model.width}",
                next_step="put the model's own files together in one folder",
                expected=model.width,
                found=self.width,
            )

    def row(self, text: str) -> tuple[Rows, bool]:
        """The row of a text, of unit length, and whether the text was longer than the model reads.

        Alone a text has no padding: each of its tokens counts, as the attention mask says.

        Raises:
            ConfigError: the model gives no direction for the text: no token, not finite, or all zeros.
        """
        # Some versions refuse what UTF-8 cannot hold.
        encoding = self._tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8"))
        if not encoding.ids:
            raise self._error("was given a text without a token")
        known = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask}
        values: Mapping[str, Sequence[int]] = {**known, "token_type_ids": encoding.type_ids}
        try:
            feed = {name: np.array([values[name]], np.int64) for name in self._inputs}
            (hidden,) = self._session.run([self._output], feed)
        except _FAULTS as fault:
            raise self._error(f"cannot be run: {_line(fault)}") from fault
        tokens: npt.NDArray[np.float64] = hidden[0].astype(np.float64)
        with np.errstate(all="ignore"):  # overflow and NaN are what is looked for
            row = tokens[0] if self._model.pooling == "cls" else tokens.mean(axis=0)
            length = np.sqrt((row * row).sum())
        if not np.isfinite(length) or not length:
            raise self._error("gives a row that has no direction: all zeros, or not finite")
        unit: Rows = (row / length).astype(np.float32)
        return unit, bool(encoding.overflowing)

    def _hidden_output(self) -> str:
        """The name of the output with a row for each token; what is asked for must be what can be given."""
        names = [each.name for each in self._session.get_outputs()]
        strange = sorted({*self._inputs} - {"input_ids", "attention_mask", "token_type_ids"})
        if strange:
            raise self._error(f"asks for {', '.join(strange)}, which no tokenizer gives")
        found = next((name for name in _HIDDEN if name in names), None)
        if found is None:
            raise self._error(f"gives {', '.join(names)}, and none of {' or '.join(_HIDDEN)}")
        return found

    def _error(self, what: str) -> ConfigError:
        path = self._model.weights
        return ConfigError(
            f"the model {path} {what}",
            next_step="give a folder with a sentence-transformers model, exported to ONNX",
            path=str(path),
        )


class OnnxEmbedder:
    """Embeds with a loaded model. Threads may share it.

    ``cut`` counts the texts that were longer than the model reads: their rows are those of their beginning.

    Args:
        engine: the loaded model.
        id: the name of the vector space.
        floor: the least cosine that counts where a memory is too small to measure its own.
        threads: how many texts are run at once; by default one for each processor that this process may use.
    """

    def __init__(self, engine: Engine, *, id: str, floor: float, threads: int | None = None) -> None:  # noqa: A002 - the protocol's word
        self.id = id
        self.floor = floor
        self.cut = 0
        self._engine = engine
        self._threads = threads or _processors()
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> Rows:
        """One row of unit length for each text.

        Raises:
            ConfigError: the model gives no direction for a text.
        """
        if len(texts) < 2 or self._threads < 2:
            found = [self._engine.row(text) for text in texts]
        else:
            with ThreadPoolExecutor(min(self._threads, len(texts))) as pool:
                found = list(pool.map(self._engine.row, texts))
        with self._lock:
            self.cut += sum(cut for _, cut in found)
        return np.array([row for row, _ in found], np.float32).reshape(len(texts), self._engine.width)


def _session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = _SILENT
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except _FAULTS as fault:
        raise ConfigError(
            f"{path} is no ONNX model that can be run: {_line(fault)}",
            next_step="export or install it again",
            path=str(path),
        ) from fault


def _tokenizer(model: Model) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_buffer(model.tokenizer.read_bytes())
    except (OSError, ValueError) as fault:
        raise ConfigError(
            f"{model.tokenizer} is no tokenizer file: {fault}",
            next_step="give the tokenizer.json that belongs to the model",
            path=str(model.tokenizer),
        ) from fault
    # The file may carry the lengths of its training, and pad to them.
    tokenizer.no_padding()
    tokenizer.enable_truncation(model.limit)
    return tokenizer


def _line(fault: Exception) -> str:
    return " ".join(str(fault).split())


def _processors() -> int:
    """How many processors this process may use; not every system tells."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
