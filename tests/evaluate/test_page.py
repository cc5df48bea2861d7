"""The page, without a browser: valid, nothing fetched, nothing hidden, the same bytes for the same runs."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser

import pytest

from amd.evaluate.blocks import Banner, Figure, Heading, Names, Page, Paragraph, Table
from amd.evaluate.html import to_html
from amd.evaluate.markdown import to_markdown
from amd.evaluate.report import evaluate
from amd.evaluate.sections import page_of
from amd.evaluate.writing import write_report

VOID = {"meta", "img"}
KNOWN = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "div", "table", "thead", "tbody"),
    *("tr", "th", "td", "figure", "img", "figcaption", "details", "summary"),
}


class Checker(HTMLParser):
    """Every tag is known and closed in order; every address is inside the page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.pictures: list[bytes] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        """A tag, where it may stand, and what it points at."""
        if tag not in KNOWN:
            self.faults.append(f"<{tag}>")
        if tag == "tr" and self.open[-1] not in ("thead", "tbody"):
            self.faults.append("a row outside of a table's parts")
        for name, value in attrs:
            if name in ("href", "srcset", "action", "data", "background") or name.startswith("on"):
                self.faults.append(f"{name}={value}")
            if name == "src":
                head, _, body = value.partition(",")
                if head != "data:image/png;base64":
                    self.faults.append(f"src={value[:40]}")
                self.pictures.append(base64.b64decode(body, validate=True))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """It closes what was opened last."""
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, data):
        """Text, and styles that would fetch."""
        self.text.append(data)
        if self.open[-1:] == ["style"] and re.search(r"url\(|@import|https?:", data):
            self.faults.append("a style that fetches")


def checked(text):
    """The page parsed to its end."""
    checker = Checker()
    checker.feed(text)
    checker.close()
    return checker


@pytest.fixture
def report(made):
    """Three arms with two seeds, one of which hides nothing."""
    right = {f"t{at}": at % 3 == 0 for at in range(9)}
    more = {f"t{at}": at % 3 != 2 for at in range(9)}
    runs = [made(f"none-{seed}", right) for seed in (1, 2)]
    runs += [made(f"amd-{seed}", more, method="amd") for seed in (1, 2)]
    runs += [made(f"open-{seed}", more, method="amd", protocol="in-sample", hits={"t1": 3}) for seed in (1, 2)]
    return evaluate(runs, resamples=300)


def test_the_page_is_whole(report, tmp_path):
    """Every tag known, nested and closed; all four pictures inside; no script, no address outside of the page."""
    write_report(report, tmp_path)
    found = checked((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert (found.faults, found.open) == ([], [])
    assert found.pictures == [
        (tmp_path / name).read_bytes() for name in ("success.png", "differences.png", "exposures.png", "tokens.png")
    ]
    assert "http" not in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "<p>one<div></p></div>",
        "<script>1</script>",
        '<img src="https://example.org/a.png">',
        '<p onclick="x">',
        "<p>",
        "<style>a { background: url(x) }</style>",
        "<tr></tr>",
    ],
)
def test_a_page_that_is_not_would_be_found(text):
    """Positive control: each fault is seen."""
    found = checked(f"<html>{text}</html>")
    assert found.faults or found.open


def test_equal_runs_give_equal_bytes(report, tmp_path):
    """No date, no version, no order of a dict; the pictures have no text of their maker."""
    one, other = (write_report(report, tmp_path / name) for name in ("one", "other"))
    assert [path.name for path in one] == [path.name for path in other]
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(one, other, strict=True))
    pictures = [path.read_bytes() for path in one if path.suffix == ".png"]
    assert pictures
    assert not [picture for picture in pictures if b"tEXt" in picture or b"tIME" in picture]


def test_in_sample_is_said_wherever_it_applies(report, tmp_path):
    """In the banner, in every table that names the arm, and in what a student's figure is captioned with."""
    write_report(report, tmp_path)
    for block in page_of(report).blocks:
        if isinstance(block, Table):
            rows = {row[0] for row in block.rows}
            assert "open" not in rows
            assert not [name for name in rows if name.startswith("open") and "IN-SAMPLE" not in name]
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "**IN-SAMPLE: open." in text
    assert "own-family hits" in text
    assert "6 (IN-SAMPLE)" in text
    assert "0, as it must be" in text


def test_a_leak_is_the_first_thing_on_the_page(made, tmp_path):
    """The report is written all the same; without a leak there is no alarm (the control)."""
    none = made("none", {"t0": True, "t3": False})
    clean = evaluate([none, made("amd", {"t0": True, "t3": True}, method="amd")])
    assert not [block for block in page_of(clean).blocks if isinstance(block, Banner)]
    leaky = evaluate([none, made("amd", {"t0": True, "t3": True}, method="amd", hits={"t3": 2})])
    first = page_of(leaky).blocks[0]
    assert isinstance(first, Banner)
    assert (first.kind, first.text.split(":")[0]) == ("alarm", "LEAK")
    write_report(leaky, tmp_path)
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<div class="banner alarm" role="alert">LEAK: amd' in html
    assert "2 LEAKED" in html
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["leaks"] == {"amd": 2}


def test_made_up_results_are_never_shown_as_measured(made, tmp_path):
    """In the title, in a banner and under every picture; a measured report says nothing of the kind (the control)."""
    for invented in (True, False):
        values = {"made_up": invented}
        runs = [made("none", {"t0": True, "t3": False}, values=values)]
        runs += [made("amd", {"t0": True, "t3": True}, values=values, method="amd")]
        page = page_of(evaluate(runs))
        texts = [page.title, *(block.caption for block in page.blocks if isinstance(block, Figure))]
        assert len(texts) == 5
        assert [text.startswith("MADE UP") for text in texts] == [invented] * 5
        assert ("MADE UP" in to_markdown(page)) is invented


def test_a_report_of_one_arm_without_memory(made, tmp_path):
    """No comparison, no exposures: one picture, and no empty section."""
    report = evaluate([made("none", {"t0": True})])
    assert [path.name for path in write_report(report, tmp_path) if path.suffix == ".png"] == ["success.png"]
    page = page_of(report)
    assert [block.text for block in page.blocks if isinstance(block, Heading)] == [
        *("Arms", "What the tasks were shown", "Runs", "How to read this")
    ]


def test_names_are_text_wherever_they_stand():
    """A task that is called like markup changes nothing of the page."""
    bad = '<script>x</script>"|*a*`b`'
    page = Page(bad, (Paragraph(bad), Names(bad, (bad,)), Table((bad, bad), ((bad, bad),), bad), Heading(bad)))
    found = checked(to_html(page, {}))
    assert (found.faults, found.open) == ([], [])
    assert "".join(found.text).count(bad) == 11
    rows = [line for line in to_markdown(page).split("\n") if line.startswith("| ")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [3, 3, 3]
