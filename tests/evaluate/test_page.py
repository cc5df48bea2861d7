"""The page, without a browser: valid, nothing fetched, nothing hidden, the same bytes for the same runs."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from matplotlib.figure import Figure as Picture

from amd import __version__
from amd.evaluate import plots
from amd.evaluate.blocks import Banner, Figure, Heading, Names, Page, Paragraph, Table
from amd.evaluate.captions import captions
from amd.evaluate.comparing import comparisons_table
from amd.evaluate.costs import BuildCost, Repayment
from amd.evaluate.glyphs import in_pictures
from amd.evaluate.html import to_html
from amd.evaluate.markdown import to_markdown
from amd.evaluate.report import evaluate
from amd.evaluate.sections import arms_table, page_of
from amd.evaluate.spending import cost_section, runs_cost_table
from amd.evaluate.wording import METHODS
from amd.evaluate.writing import write_report

VOID = {"meta", "img"}
KNOWN = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "div", "table", "thead", "tbody"),
    *("tr", "th", "td", "figure", "img", "figcaption", "details", "summary", "span"),
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


def mentions(text, name):
    """How an arm is called at each place of a text, with the mark behind it if there is one; directories apart."""
    return re.findall(rf"(?<![/\w-]){name}(?![\w-])(?: \[[A-Z-]+\])?", text)


def told(report, page):
    """All that is said of a report's arms, but for the banners that are the mark themselves."""
    for block in page.blocks:
        match block:
            case Banner():
                if not block.text.startswith(("IN-SAMPLE: ", "LEAK: ")):
                    yield block.text
            case Table():
                yield from (cell for row in block.rows for cell in (*row, block.caption))
            case Figure():
                yield from (block.caption, block.alt)
            case Names():
                yield block.summary
            case Paragraph() | Heading():
                yield block.text
    for each in (*report.as_json()["comparisons"], *report.as_json()["controls"]):
        yield from (each["arm_title"], each["baseline_title"])
    yield from (arm["title"] for arm in report.as_json()["arms"])
    for draw in (plots._success, plots._differences, plots._exposures, plots._tokens):
        axes = Picture().subplots()
        draw(axes, report)
        labels = [*axes.get_yticklabels(), *(axes.get_legend().get_texts() if axes.get_legend() else ())]
        yield from (axes.get_xlabel(), axes.get_ylabel(), *(label.get_text().replace("\n", " ") for label in labels))


@pytest.mark.parametrize("baseline", ["seen", "plain"])
@pytest.mark.parametrize(
    ("mark", "arm"),
    [("[IN-SAMPLE]", {"protocol": "in-sample"}), ("[LEAKED]", {"hits": {"t1": 1}})],
    ids=["in-sample", "leaked"],
)
def test_an_arm_is_never_named_without_its_mark(made, mark, arm, baseline):
    """In captions, alternative texts, labels, notices, headlines, tables and JSON, as an arm and as the baseline."""
    right = {f"t{at}": at % 3 == 0 for at in range(33)}
    harness = {"terms": {"harness": 1}}
    runs = [
        made("plain", {**right, "t33": True}, method="workflow"),
        made("far", {"t99": True}, method="subtask"),
        made("seen", {**right, "t0": "missing", "t34": True}, method="amd", student="other", values=harness, **arm),
    ]
    report = evaluate(runs, resamples=200, baseline=baseline)
    page = page_of(report)
    found = [mention for text in told(report, page) for mention in mentions(text, "seen")]
    assert len(found) > 20
    assert {*found} == {f"seen {mark}"}
    notices = [notice for notice in report.notices if "seen" in notice]
    assert len(notices) >= 4
    assert {*(each for text in told(report, page) for each in mentions(text, "plain"))} == {"plain"}, "control"


@pytest.mark.parametrize("text", ["from seen, with", "seen n = 3", "seen: results"])
def test_a_name_without_its_mark_would_be_found(text):
    """Positive control."""
    assert mentions(text, "seen") == ["seen"]
    assert mentions(text.replace("seen", "runs/seen"), "seen") == []


def headline(made, helped, harmed, tasks, **values):
    """What is said of an arm that helps and harms so many tasks, each of a family of its own."""
    none = {f"t{6 * at}": at < harmed for at in range(tasks)}
    amd = {f"t{6 * at}": harmed <= at < harmed + helped for at in range(tasks)}
    report = evaluate([made("none", none), made("amd", amd, method="amd")], resamples=2000, **values)
    (each,) = report.comparisons
    (text,) = [
        block.text for block in page_of(report).blocks if isinstance(block, Paragraph) and "on the same" in block.text
    ]
    (row,) = comparisons_table(report).rows
    return each, text, row


def test_a_result_needs_the_interval_and_the_p(made):
    """4 of 200 helped and none harmed: the interval excludes 0, and p = 0.125. 12 of 200 are a result (the control)."""
    each, text, _ = headline(made, 4, 0, 200)
    assert each.difference.low > 0
    assert each.p_holm == pytest.approx(0.125)
    assert text.endswith(", which may be chance.")
    each, text, _ = headline(made, 12, 0, 200)
    assert (each.difference.low > 0, each.p_holm < 0.05, "chance" in text) == (True, True, False)


def test_holm_decides_what_is_a_result(made):
    """A p that is small alone and not among several arms; alone it is a result (the control)."""
    right = {f"t{6 * at}": False for at in range(60)}
    amd = {task_id: at < 6 for at, task_id in enumerate(right)}
    none, runs = made("none", right), [made("amd", amd, method="amd")]
    others = [made(name, right, method=name) for name in ("workflow", "subtask")]
    alone, among = evaluate([none, *runs], resamples=1000), evaluate([none, *runs, *others], resamples=1000)
    said = ["which may be chance" in str(page_of(report).blocks[2]) for report in (alone, among)]
    assert [report.comparisons[0].p_holm < 0.05 for report in (alone, among)] == [True, False]
    assert said == [False, True]


def test_too_few_families_are_called_so(made):
    """In the cell and in the headline, with a small p too; ten of them have an interval (the control)."""
    each, text, row = headline(made, 9, 0, 9)
    assert (each.families, each.difference.low, each.p < 0.05) == (9, None, True)
    assert row[2] == "too few families"
    assert "without an interval (too few families), which may be chance" in text
    each, text, row = headline(made, 9, 0, 10)
    assert (row[2][0], "chance" in text) == ("+", False)


def test_nothing_detectable_is_not_no_difference(made):
    """Two cells; a figure where there is one (the control)."""
    assert headline(made, 2, 1, 5)[2][9] == "nothing is detectable"
    assert headline(made, 0, 0, 5)[2][9] == "the arms never differ"
    assert float(headline(made, 9, 3, 60)[2][9]) > 0


def test_wilson_is_said_once_to_know_no_families(made):
    """Under the table of arms; an interval over families stands beside it where there are ten."""
    for tasks, cell in ((60, "to"), (9, "too few families")):
        report = evaluate([made("none", {f"t{at}": at % 2 == 0 for at in range(tasks)})], resamples=200)
        page = page_of(report)
        assert cell in arms_table(report).rows[0][3]
        said = "Wilson's interval ignores families: it takes tasks for independent"
        assert said in arms_table(report).caption
        assert (to_markdown(page).count("independent"), to_markdown(page).count("families apart")) == (1, 0)


def test_placeholders_without_a_log_are_unknown(made):
    """No count is not 0; with logs it is a count (the control)."""
    run = made("none", {"t0": True})
    bare = replace(run, tasks=tuple(replace(task, log=None) for task in run.tasks))
    assert [arms_table(evaluate([each])).rows[0][6] for each in (bare, run)] == ["unknown", "1"]


def test_what_a_run_cost_or_a_dash(made):
    """The student's tokens, steps and seconds of one run of a task, of every arm; a dash where nobody counted."""
    run = made("none", {"t0": True, "t1": False}, tokens=(12_345, 678))
    silent = replace(
        run,
        path=run.path.with_name("silent"),
        student="other",
        tasks=tuple(
            replace(task, steps=None, seconds=None, prompt_tokens=None, completion_tokens=None) for task in run.tasks
        ),
    )
    report = evaluate([run, silent])
    table = runs_cost_table(report)
    assert table.head == ("arm", "steps", "seconds", "prompt tokens", "reply tokens")
    assert table.rows == (("none", "4.0", "2.0", "12,345", "678"), ("silent", "-", "-", "-", "-"))
    assert table in page_of(report).blocks


@pytest.mark.parametrize(("read", "cells"), [(40, ("40", False)), (None, ("10 admitted only", True))])
def test_repayment_says_whom_it_counts(made, read, cells):
    """All runs that were read, or those in the memory alone, and then the page says so."""
    report = evaluate([made("amd", {"t0": True}, method="amd")])
    cost = BuildCost("rules", runs=10, read=read)
    paid = Repayment(5.0, read or 10, read is None, 0.5, 0.1, 13)
    report = replace(report, arms=(replace(report.arms[0], build=cost, repayment=paid),))
    built, repaid = [block for block in cost_section(report) if isinstance(block, Table)][1:]
    assert built.rows[0][3] == ("unknown" if read is None else "40")
    assert (repaid.rows[0][1], "only the runs that the memory is made of" in repaid.caption) == cells


def test_a_leak_is_the_first_thing_on_the_page(made, tmp_path):
    """The report is written all the same; without a leak there is no alarm (the control)."""
    none = made("none", {"t0": True, "t3": False})
    clean = evaluate([none, made("amd", {"t0": True, "t3": True}, method="amd")])
    assert not [block for block in page_of(clean).blocks if isinstance(block, Banner)]
    leaky = evaluate([none, made("amd", {"t0": True, "t3": True}, method="amd", hits={"t3": 2})])
    first = page_of(leaky).blocks[0]
    assert isinstance(first, Banner)
    assert (first.kind, first.text.split(":")[0]) == ("alarm", "LEAK")
    names = {row[0] for block in page_of(leaky).blocks if isinstance(block, Table) for row in block.rows}
    assert names == {"none", "amd [LEAKED]"}
    write_report(leaky, tmp_path)
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<div class="banner alarm" role="alert">LEAK: amd' in html
    assert '2 <span class="mark">LEAKED</span>' in html
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
        *("Arms", "What the tasks were shown", "What a run of a task cost", "Runs", "How to read this")
    ]


def test_pictures_of_an_earlier_report_go(report, made, tmp_path):
    """What lies beside the page belongs to it; other files stay."""
    write_report(report, tmp_path)
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    write_report(evaluate([made("none", {"t0": True})]), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("report.html", "report.md", "report.json", "success.png", "notes.txt")
    }


def test_arms_that_do_not_differ_have_no_interval(made):
    """A width of zero would look like certainty."""
    page = page_of(
        evaluate([made("none", {"t0": True, "t3": False}), made("amd", {"t0": True, "t3": False}, mode="dynamic")])
    )
    texts = [block.text for block in page.blocks if isinstance(block, Paragraph)]
    assert any("0.0 points on the same tasks, without an interval" in text for text in texts)


def test_a_mark_is_never_broken_over_two_lines(report):
    """Wherever it stands in the page; another name with a hyphen may be broken (the control)."""
    html = to_html(page_of(report), dict.fromkeys(plots.draw(report), b""))
    body = html.partition("<body>")[2].replace('alt="Differences of success from', "")
    assert body.count("IN-SAMPLE") == len(re.findall(r'<span class="mark">\[?IN-SAMPLE\]?</span>', body)) > 10
    assert ".mark { white-space: nowrap }" in html
    assert "mark" not in to_html(Page("self-excluded", (Paragraph("[self-excluded]"),)), {}).partition("<body>")[2]


def test_a_wide_table_scrolls_in_its_box(report):
    """Each table stands in a box that scrolls, and can be reached by the keyboard."""
    html = to_html(page_of(report), dict.fromkeys(plots.draw(report), b""))
    assert html.count("<table>") == html.count('<div class="table" tabindex="0"><table>') > 4
    assert re.search(r"^\.table \{[^}]*overflow-x: auto", html, re.MULTILINE)


@pytest.mark.parametrize("name", ["\u57fa\u7ebf", "\U0001f33c", "a\tb"])
def test_a_name_that_no_picture_can_write_stands_there_by_its_number(made, tmp_path, name):
    """Without a warning, which here is an error; page, captions and JSON have the name itself, with its mark."""
    right = {"t0": True, "t3": False}
    runs = [
        made("none", right),
        made(name, right, method="amd", protocol="in-sample"),
        made("\u03bb", right, student="t"),
    ]
    report = evaluate(runs, baseline=name)
    write_report(report, tmp_path)
    labels = drawn_labels(report)
    assert "arm 2 [IN-SAMPLE]" in labels
    assert "\u03bb" in labels, "control: the font has Greek"
    assert not [label for label in labels if name in label]
    told = captions(report)
    assert all(f"In the picture arm 2 is {name} [IN-SAMPLE]." in each.text for each in told.values())
    assert name in (tmp_path / "report.json").read_text(encoding="utf-8").replace("\\t", "\t")
    assert f'<th scope="row">{name} ' in (tmp_path / "report.html").read_text(encoding="utf-8")


def drawn_labels(report):
    """What the pictures write of arms."""
    labels = []
    for draw in (plots._success, plots._differences, plots._exposures, plots._tokens):
        axes = Picture().subplots()
        draw(axes, report)
        labels += axes.get_yticklabels() + (axes.get_legend().get_texts() if axes.get_legend() else [])
    return {label.get_text().replace("\n", " ") for label in labels}


def test_a_number_is_nobodys_name():
    """An arm that is called like a number keeps its name to itself."""
    assert in_pictures(["\u57fa", "arm 1"], "arm") == {"\u57fa": "arm 1'", "arm 1": "arm 1"}


def test_names_are_text_wherever_they_stand():
    """A task that is called like markup changes nothing of the page."""
    bad = '<script>x</script>"|*a*`b`'
    page = Page(bad, (Paragraph(bad), Names(bad, (bad,)), Table((bad, bad), ((bad, bad),), bad), Heading(bad)))
    found = checked(to_html(page, {}))
    assert (found.faults, found.open) == ([], [])
    assert "".join(found.text).count(bad) == 11
    rows = [line for line in to_markdown(page).split("\n") if line.startswith("| ")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [3, 3, 3]


def texts(page, kind):
    """What the blocks of one kind say."""
    return [block.summary if kind is Names else block.text for block in page.blocks if isinstance(block, kind)]


def test_an_open_arm_that_showed_nothing_of_its_own_is_no_upper_bound(made):
    """Counted from the logs; one that showed its own families may have been shown its answers (the control)."""
    right = {"t0": True, "t3": False}
    runs = [made("none", right)]
    runs += [made("far", right, method="amd", protocol="in-sample")]
    runs += [made("near", right, method="amd", protocol="in-sample", mode="dynamic", hits={"t3": 1})]
    far, near = sorted(texts(page_of(evaluate(runs)), Banner))
    assert far.startswith("IN-SAMPLE: far. Nothing was hidden, but no record of a task's own family was shown")
    assert "no upper bound" in far
    assert near.startswith("IN-SAMPLE: near. Tasks may have been shown what was learnt from their own answers")


def test_an_open_arm_without_logs_is_not_vouched_for(made):
    """Nobody knows what it was shown: all of its results are missing."""
    runs = [made("none", {"t0": True}), made("open", {"t0": "missing"}, method="amd", protocol="in-sample")]
    assert "Tasks may have been shown" in texts(page_of(evaluate(runs)), Banner)[-1]


def test_what_scores_hold_under_is_said_once(made):
    """What all arms share in one line, the rest by arm; digests are cut, and so nothing is where nothing is said."""
    shared = {"success_score": 0.9, "harness": ["bfcl", "2025"], "tasks_sha256": "ab" * 32, "user": None}
    runs = [made("none-0", {"t0": True}, values={"terms": {**shared, "limit": 40}, "seed": 0})]
    runs += [made("none-1", {"t0": False}, values={"terms": {**shared, "limit": 40}})]
    runs += [made("amd", {"t0": True}, method="amd", values={"terms": {**shared, "limit": 9, "extra": True}})]
    report = evaluate(runs)
    blocks = page_of(report).blocks
    at = blocks.index(Heading("Runs"))
    told, apart, listed = blocks[at + 1 : at + 4]
    assert told.text == (
        "All runs share, as the harness says it: success score: 0.9; harness: bfcl, 2025; tasks sha256: abababababab."
    )
    assert apart.head == ("arm", "limit", "extra")
    assert apart.rows == (("none", "40", "-"), ("amd", "9", "true"))
    assert [row[listed.head.index("seeds")] for row in listed.rows] == ["0, unknown", "unknown"]
    plain = page_of(evaluate([made("none", {"t0": True})])).blocks
    assert isinstance(plain[plain.index(Heading("Runs")) + 1], Table), "control: no terms"


def test_a_column_that_nobody_counted_is_left_out(made):
    """And the section with it, if none is left; steps are told only where they are."""
    run = made("none", {"t0": True})
    silent = [
        replace(run, tasks=tuple(replace(task, **dict.fromkeys(names)) for task in run.tasks))
        for names in (("seconds", "prompt_tokens", "completion_tokens"), ("steps", "prompt_tokens"))
    ]
    steps, rest = (runs_cost_table(evaluate([each])) for each in silent)
    assert (steps.head, rest.head) == (("arm", "steps"), ("arm", "seconds", "reply tokens"))
    assert [("A step is what the harness counts" in table.caption) for table in (steps, rest)] == [True, False]
    assert [("endpoint counted" in table.caption) for table in (steps, rest)] == [False, True]
    assert not [table for table in (steps, rest) if "dash" in table.caption]
    mute = replace(silent[0], tasks=tuple(replace(task, steps=None) for task in silent[0].tasks))
    assert "What a run of a task cost" not in texts(page_of(evaluate([mute])), Heading)


def test_only_those_helped_and_harmed_are_named(made):
    """One is one task; where none was, that is said once for all arms."""
    right = {"t0": True, "t3": False, "t6": False}
    runs = [made("none", right), made("amd", {**right, "t3": True}, method="amd")]
    runs.append(made("more", {"t0": False, "t3": True, "t6": True}, method="workflow"))
    page = page_of(evaluate(runs))
    assert texts(page, Names) == ["amd: 1 task helped", "more: 2 tasks helped", "more: 1 task harmed"]
    alike = page_of(evaluate([made("none", right), made("amd", right, method="amd"), made("x", right, mode="dynamic")]))
    assert texts(alike, Names) == []
    assert texts(alike, Paragraph).count("No task was helped or harmed.") == 1
    assert "No task was helped or harmed." not in texts(page, Paragraph)


def test_random_records_have_a_section_of_their_own(made):
    """A sentence and a row for each arm that has a control, the others by name; absent where none has (the control)."""
    right, more = ({f"t{at}": at % 3 < most for at in range(36)} for most in (1, 2))
    runs = [
        made("none", right),
        made("amd", more, method="amd"),
        made("random", right, method="random"),
        made("random-sasm", right, method="random-sasm"),
        made("workflow", right, method="workflow"),
        made("open", more, method="amd", protocol="in-sample"),
    ]
    page = page_of(evaluate(runs, resamples=300))
    headings = texts(page, Heading)
    assert headings[headings.index("Beside none") + 1] == "Beside random records"
    said = "amd beside random, as many records drawn at random: +33.3 points"
    assert f"{said}, without an interval (all families alike), which may be chance; p (Holm) < 0.001." in texts(
        page, Paragraph
    )
    assert "No such control is here for workflow, open [IN-SAMPLE]." in texts(page, Paragraph)
    assert texts(page, Names)[-1] == "amd beside random: 12 tasks helped"
    (table,) = [block for block in page.blocks if isinstance(block, Table) and block.head[1] == "random records"]
    cells = ("+33.3", "all families alike", "36", "12", "12", "0", "< 0.001", "< 0.001")
    assert [row[:-1] for row in table.rows] == [("amd", "random", *cells)]
    without = page_of(evaluate([runs[0], runs[1], runs[3]], resamples=300))
    assert "Beside random records" not in texts(without, Heading)
    assert "No such control" not in to_markdown(without)


@pytest.mark.parametrize("leaky", ["amd", "random"])
def test_random_records_keep_the_marks_of_arms(made, leaky):
    """A leak of either spoils it, and no name stands there without its mark."""
    right = {f"t{at}": at % 3 == 0 for at in range(33)}
    hits = {"t1": 1}
    runs = [made("none", right)]
    runs += [
        made(
            f"seen-{name}",
            {**right, f"t{33 + at}": True, "t1": bool(at)},
            method=name,
            hits=hits if name == leaky else None,
        )
        for at, name in enumerate(("amd", "random"))
    ]
    report = evaluate(runs, resamples=200)
    page = page_of(report)
    found = {mention for text in told(report, page) for mention in mentions(text, f"seen-{leaky}")}
    assert found == {f"seen-{leaky} [LEAKED]"}
    assert any("drawn at random: -3.0 points" in text and "not to be used" in text for text in texts(page, Paragraph))
    assert any("seen-random" in each and "2 that only one" in each for each in report.notices if "seen-amd" in each)


def test_one_is_singular(made):
    """Of tasks, arms and records, in headlines, captions, titles and alarms; several are plural (the control)."""
    one, two = {"t0": True}, {"t0": True, "t3": True}
    for outcomes, wrong, right in ((one, "1 tasks", "1 task"), (two, "2 task ", "2 tasks")):
        report = evaluate([made("none", outcomes), made("amd", outcomes, method="amd", hits={"t0": len(outcomes)})])
        text = to_markdown(page_of(report)).replace(".", " ")
        assert wrong not in text
        assert text.count(right) >= 3
    assert "2 of the records that it showed were of it" in text
    single = evaluate([made("amd", one, method="amd", hits={"t0": 1})])
    assert page_of(single).title == "garden: one arm"
    assert "1 of the records that it showed was of it" in texts(page_of(single), Banner)[0]


def test_a_caption_counts_once_what_is_alike(made):
    """Tasks and runs of every arm; by arm where they differ (the control)."""
    none, amd = made("none", {"t0": True, "t3": True}), made("amd", {"t0": True, "t3": True}, method="amd")
    more = made("more", {"t0": True, "t3": True, "t6": True}, method="amd", mode="dynamic")
    alike = captions(evaluate([none, amd]))["success.png"].text
    apart = captions(evaluate([none, amd, more]))["success.png"].text
    assert "Each arm has n = 2 tasks x 1 run." in alike
    assert "none n = 2 tasks x 1 run, amd n = 2 tasks x 1 run, more n = 3 tasks x 1 run." in apart


def drawn(report, draw):
    """One of the pictures, before it is one."""
    axes = Picture().subplots()
    draw(axes, report)
    return axes


def test_hits_are_told_in_the_unit_of_their_bar(made):
    """Records of one run of a task: the bar is as long as the label says, and a rare hit is not rounded away."""
    tasks = {f"t{3 * at}": True for at in range(90)}
    hits = dict.fromkeys(list(tasks)[:45], 2)
    runs = [made("none", tasks), made("near", tasks, method="amd", protocol="in-sample", hits=hits)]
    runs.append(made("leaky", tasks, method="amd", hits={"t0": 1}))
    axes = drawn(evaluate(runs), plots._exposures)
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0, 2, 91 / 90])
    assert [text.get_text() for text in axes.texts] == ["no memory", "own family: 1", "own family: 0.011 LEAKED"]


def test_marks_at_the_ends_are_whole(made):
    """All solved, and none: no mark is cut by the frame of its picture."""
    report = evaluate([made("none", {"t0": False, "t3": False}), made("amd", {"t0": True, "t3": True}, method="amd")])
    for draw in (plots._success, plots._tokens):
        marks = [line for line in drawn(report, draw).lines if line.get_marker() not in ("", "None", None)]
        assert len(marks) == 2
        assert not [mark for mark in marks if mark.get_clip_on()]


def test_the_first_lines_say_what_was_run(made):
    """Benchmark, tasks, arms, runs, seeds, students, the first and the last beginning, and who wrote it."""
    began = ("2026-05-02T09:30:00+00:00", "2026-05-01T08:00:00+02:00", None)
    runs = [
        made(f"none-{at}", {"t0": True, "t3": False}, values={"seed": at, "created_at": moment})
        for at, moment in enumerate(began)
    ]
    report = evaluate([*runs, made("amd", {"t0": True}, method="amd", student="other")])
    first = next(block for block in page_of(report).blocks if isinstance(block, Paragraph))
    assert first.text == (
        "Benchmark garden, 1 to 2 tasks an arm, 2 arms, 4 runs (seeds 0, 1, 2, others unknown). Students: s, other. "
        "The runs began between 2026-05-01 06:00 and 2026-05-02 09:30 UTC, 2 of them not known. "
        f"Written by amd {__version__}."
    )
    single = page_of(evaluate([made("none", {"t0": True}, values={"created_at": began[0], "seed": 3})])).blocks[0]
    assert single.text == (
        "Benchmark garden, 1 task, 1 arm, 1 run (seed 3). Student: s. The run began at 2026-05-02 09:30 UTC. "
        f"Written by amd {__version__}."
    )


@pytest.mark.parametrize("empty", [None, "", [], {}])
def test_a_term_that_is_empty_is_no_none(made, empty):
    """It is left out where all share it, "not set" where arms differ; what is set is told (the control)."""
    shared = page_of(evaluate([made("none", {"t0": True}, values={"terms": {"harness": empty, "limit": 0}})]))
    assert "The runs share, as the harness says it: limit: 0." in texts(shared, Paragraph)
    assert "harness:" not in to_markdown(shared)
    alone = page_of(evaluate([made("none", {"t0": True}, values={"terms": {"harness": empty}})]))
    assert not [text for text in texts(alone, Paragraph) if "share, as" in text]
    runs = [
        made(name, {"t0": True}, values={"terms": {"harness": value}}) for name, value in (("a", empty), ("b", ["x"]))
    ]
    (apart,) = [
        block for block in page_of(evaluate(runs)).blocks if isinstance(block, Table) and "harness" in block.head
    ]
    assert apart.rows == (("a", "not set"), ("b", "x"))


def test_a_memory_of_an_oracle_has_a_banner(made, tmp_path):
    """On both pages, of the arms that have it alone; a teacher's has none (the control)."""
    right = {"t0": True, "t3": False}
    teacher = made("taught", right, method="workflow")
    key = replace(made("key", right, method="amd", protocol="in-sample"), memory_from=("bfcl-oracle (oracle)",))
    mixed = replace(made("mixed", right, method="subtask"), memory_from=("gpt (teacher)", "bfcl-oracle (oracle)"))
    report = evaluate([made("none", right), teacher, key, mixed])
    told = [text for text in texts(page_of(report), Banner) if text.startswith("ORACLE")]
    assert told == [
        "ORACLE: the memory of key [IN-SAMPLE] is made of the benchmark's own answer key, not of a teacher's runs.",
        "ORACLE: the memory of mixed is made in part of the benchmark's own answer key, not of a teacher's runs alone.",
    ]
    write_report(report, tmp_path)
    assert "> **ORACLE: the memory of key" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert '<div class="banner notice">ORACLE: ' in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "ORACLE" not in to_markdown(page_of(evaluate([made("none", right), teacher])))


def test_when_to_believe_a_difference_stands_under_the_table(made):
    """Not only at the end of the page."""
    report = evaluate([made("none", {"t0": True, "t3": False}), made("amd", {"t0": True, "t3": True}, method="amd")])
    assert "Neither the interval nor p is to be believed alone" in comparisons_table(report).caption
    assert "believed alone" not in " ".join(METHODS)
