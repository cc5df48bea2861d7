"""C18: everything works offline but for the one endpoint that the request names."""

from __future__ import annotations

from amd.testing import Fault, LoopbackServer

TASK = ("--benchmark", "made-up", "--task-id", "multi_turn_base_0")
ASKED = "Turn 0 of task 0: move report_0.txt into folder_0 and count word_0"


def test_a_memory_behind_an_endpoint(amd, runs, fields, tmp_path, monkeypatch):
    """Built and asked through a server on this machine, named by an option or by the environment."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    build = ("build", "openai-chat", runs, *fields, "--out", tmp_path / "m", "--embedder", "openai:stub")
    unknown = amd(*build)
    assert (unknown.code, unknown.out) == (2, "")
    assert not (tmp_path / "m").exists()
    with LoopbackServer() as server:
        assert amd(*build, "--base-url", server.url).code == 0
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        found = amd("ask", tmp_path / "m", "--instruction", ASKED, *TASK, "--json")
        assert found.json["exposures"]
        assert amd("reindex", tmp_path / "m", "--embedder", "hash").code == 0
        before = len(server.requests)
        assert amd("ask", tmp_path / "m", "--instruction", ASKED, *TASK).code == 0
        assert len(server.requests) == before


def test_a_service_that_refuses_is_exit_3(amd, runs, fields, tmp_path):
    """401 is not tried again, the server's own words are shown, and nothing is published."""
    with LoopbackServer(faults=[Fault(401, "wrong key")]) as server:
        found = amd(
            "build", "openai-chat", runs, *fields, "--out", tmp_path / "m",
            "--embedder", "openai:stub", "--base-url", server.url,
        )  # fmt: skip
        assert len(server.requests) == 1
    assert (found.code, found.out) == (3, "")
    assert "wrong key" in found.err
    assert not (tmp_path / "m").exists()
