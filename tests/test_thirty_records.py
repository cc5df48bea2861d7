"""The document of thirty records: what a script writes in it, from which replies, and that a person's words stay."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

from amd.errors import ConfigError
from amd.testing import Fault, LoopbackServer

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "examples" / "thirty.json"
DOCUMENT = ROOT / "docs" / "thirty-records.md"
PAIR = re.compile(r"^### (\d+)\. (workflow|subtask), ", re.MULTILINE)


@pytest.fixture
def script(monkeypatch):
    """The script, found as Python finds the modules beside a program."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return importlib.import_module("thirty_records")


@pytest.fixture
def shown(script):
    """A record as the page shows it."""
    page = importlib.import_module("thirty_page")
    return lambda record, report: "\n".join(page.shown(record, report))


def answer(body):
    """An insight; or a segment for each call, the sixth with all the rest."""
    told = body["messages"][1]["content"]
    if "Divide the calls" not in body["messages"][0]["content"]:
        tool = re.search(r"^Call 1: (\S+)", told, re.MULTILINE)
        return json.dumps({"text": f"Begin with {tool[1] if tool else 'a look'}. Check that it is there."})
    last = max(map(int, re.findall(r"^Call (\d+):", told, re.MULTILINE)))
    ends = [*range(1, min(last, 6)), last]
    steps = zip([1, *(end + 1 for end in ends)], ends, strict=False)
    return json.dumps(
        {"segments": [{"start_step": a, "end_step": b, "label": f"part {a}", "description": ""} for a, b in steps]}
    )


def asking(url, folder):
    """The words of a command that asks the model at ``url`` and writes into ``folder``."""
    words = ("--ask", "--model", "stub", "--base-url", url, "--served", "a server of this test", "--workers", "1")
    return [*words, "--replies", str(folder / "replies.json"), "--out", str(folder / "page.md")]


def test_the_document_is_what_the_script_writes(script, tmp_path):
    """Without a model: from the runs and the kept replies alone, byte by byte."""
    assert script.main(["--out", str(tmp_path / "page.md")]) == 0
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == DOCUMENT.read_text(encoding="utf-8")


def test_it_has_thirty_records_of_the_rules(script, shown, tmp_path):
    """Ten workflows and twenty segments, numbered, each as the rules write it today."""
    _, page, _ = script.parted(DOCUMENT.read_text(encoding="utf-8"))
    pairs = PAIR.findall(page)
    assert [int(number) for number, _ in pairs] == list(range(1, 31))
    assert [tier for _, tier in pairs].count("workflow") == 10
    rules = script.side(RUNS, tmp_path / "rules")
    for tier in ("workflow", "subtask"):
        for record in rules.of(tier):
            assert shown(record, rules.report) in page


def test_it_says_who_answered(script):
    """The model, what served it, and why a record has no words of the model's."""
    replies = script.Replies.read(script.REPLIES)
    _, page, _ = script.parted(DOCUMENT.read_text(encoding="utf-8"))
    assert f"| distiller | `rules` | `{replies.model}` |" in page
    assert f"| served by | | {replies.served} |" in page
    reasons = {entry.reason for entry in replies.entries.values() if entry.reason}
    assert set(re.findall(r"no reply that could be used \((\w+): ", page)) == reasons


def test_what_was_refused_is_quoted(script):
    """The last text of each refused reply is kept and stands on the page once, marked; nothing of it is a reply."""
    replies = script.Replies.read(script.REPLIES)
    refused = {key: entry for key, entry in replies.entries.items() if entry.reason}
    assert replies.texts.keys() == refused.keys() != replies.entries.keys()
    assert {entry.reply for entry in refused.values()} == {None}
    _, page, _ = script.parted(DOCUMENT.read_text(encoding="utf-8"))
    quotes = re.findall(
        r"^Refused, and in no memory: its last reply, .*\n\n(`+)text\n([\s\S]+?)\n\1$", page, re.MULTILINE
    )
    beginnings = [text[:500].split() for text in replies.texts.values()]
    assert sorted(quote.split() for _, quote in quotes) == sorted(beginnings)


HOSTILE = "```\n# Mine\n```\n~~~~\n# Yours\n~~~~\n{end}\r`````\rAsk tess.quill@example.org, she knows.\n" + "No. " * 200


def unquoted(page):
    """The lines of a page that stand in no block; a block ends where a fence as long as its own stands alone."""
    fence = ""
    for line in re.split("[\r\n]", page):
        mark = re.match("(`{3,}|~{3,})(.*)", line)
        if not fence and not mark:
            yield line
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""


def test_a_refused_reply_cannot_break_the_page(script, tmp_path):
    """Fences, headings and the script's own mark stay in their block: kept, masked, cut, once a run and purpose."""
    said = HOSTILE.format(end=script.END)
    for fence, mine in (("```", "# Mine"), ("~~~~", "# Yours")):  # the control: out of a common fence they get
        assert mine in unquoted(f"{fence}text\n{said}\n{fence}")
    with LoopbackServer(chat=lambda _: said) as server:
        assert script.main(asking(server.url, tmp_path)) == 0
    document = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert script.main([*asking(server.url, tmp_path)[-4:-1], str(tmp_path / "again.md")]) == 0
    assert (tmp_path / "again.md").read_text(encoding="utf-8") == document
    before, page, after = script.parted(document)
    assert [before, after] == [*script.parted(DOCUMENT.read_text(encoding="utf-8"))][::2]
    assert page.count("its last reply, the first 500 of 8") == page.count("# Mine\n") == 10 + 9
    assert page.count("no reply that could be used, see ") == 30 - 19
    assert page.count("````` Ask <email>, she knows.") == 19
    outside = set(unquoted(page))
    assert "### 30. subtask, calls 5-6" in outside
    assert not outside & {"# Mine", "# Yours", script.END.strip()}
    assert page.count("No.") < 19 * 500 / len("No. ")
    assert "tess.quill" not in document + (tmp_path / "replies.json").read_text(encoding="utf-8")


def test_other_runs_are_noticed(script, shown, tmp_path):
    """The control: a changed run gives another record of the rules, and the model was never asked about it."""
    other = tmp_path / "runs.json"
    other.write_text(RUNS.read_text(encoding="utf-8").replace("place_hold", "keep_copy"), encoding="utf-8")
    _, page, _ = script.parted(DOCUMENT.read_text(encoding="utf-8"))
    rules = script.side(other, tmp_path / "rules")
    texts = [shown(record, rules.report) for record in rules.of("workflow", "library-desk")]
    assert [text in page for text in texts] == [False]
    with pytest.raises(ConfigError, match=r"thirty-replies\.json has no reply to what a build asks now"):
        script.model_side(other, tmp_path / "model", script.Replies.read(script.REPLIES), script.Nobody())


def test_a_persons_words_stay(script):
    """All that stands outside the marks; without marks nothing is guessed."""
    document = f"By hand.\n{script.BEGIN}by the script\n{script.END}By hand too.\n"
    before, middle, after = script.parted(document)
    assert (middle, before + middle + after) == ("by the script\n", document)
    for mark in (script.BEGIN, script.END):
        with pytest.raises(ConfigError, match="lacks a line"):
            script.parted(document.replace(mark, ""))


def test_a_model_is_asked_once(script, tmp_path):
    """Its replies are kept, and asking again asks for nothing; the page is in its words, call by call."""
    with LoopbackServer(chat=answer) as server:
        assert script.main(asking(server.url, tmp_path)) == 0
        asked = [request for request in server.requests if request.method == "POST"]
        first = (tmp_path / "page.md").read_text(encoding="utf-8")
        assert len(asked) == 1 + 10 + 9
        assert script.main(asking(server.url, tmp_path)) == 0
        assert len([request for request in server.requests if request.method == "POST"]) == len(asked)
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == first
    assert re.search(r"By stub, calls 1-6:\n\n```text\nBegin with \w+\. Check that it is there\.\n```\n", first)
    assert "By stub, call 6:\n\n```text\npart 6\n" in first
    assert first.startswith(DOCUMENT.read_text(encoding="utf-8").partition(script.BEGIN)[0])


def test_what_was_answered_before_an_end_is_kept(script, tmp_path, capsys):
    """A server that goes away costs what was not answered yet; the next time asks for the rest."""
    gone = Fault(401, "no longer")
    with LoopbackServer(chat=answer, faults=[None, None, None, None, gone]) as server:
        assert script.main(asking(server.url, tmp_path)) == 1
    assert capsys.readouterr().err.count("\n") == 1
    kept = len(script.Replies.read(tmp_path / "replies.json").entries)
    assert kept
    with LoopbackServer(chat=answer) as server:
        assert script.main(asking(server.url, tmp_path)) == 0
        assert len([request for request in server.requests if request.method == "POST"]) == 1 + 19 - kept


def test_an_endpoint_has_a_name(script):
    """A reader must know what answered: a usage error."""
    with pytest.raises(SystemExit, match="2"):
        script.main(["--ask", "--base-url", "http://127.0.0.1:1/v1"])
