"""A report on the disk: ``report.md``, ``report.html``, ``report.json`` and the pictures."""

from __future__ import annotations

import json
from pathlib import Path

from amd.arms.run_directory import replace_text
from amd.evaluate.html import to_html
from amd.evaluate.markdown import to_markdown
from amd.evaluate.plots import draw
from amd.evaluate.report import Report
from amd.evaluate.sections import page_of

__all__ = ["write_report"]


def write_report(report: Report, out: Path) -> list[Path]:
    """Write a report into a directory; equal reports give equal bytes. The paths of its files, the page first.

    A leak does not keep it from being written: call ``report.check_leaks`` afterwards.
    """
    page, pictures = page_of(report), draw(report)
    out.mkdir(parents=True, exist_ok=True)
    for file, picture in pictures.items():
        (out / file).write_bytes(picture)
    texts = {
        "report.html": to_html(page, pictures),
        "report.md": to_markdown(page),
        "report.json": json.dumps(report.as_json(), ensure_ascii=False, allow_nan=False, indent=2) + "\n",
    }
    for file, text in texts.items():
        replace_text(out / file, text)
    return [out / file for file in (*texts, *pictures)]
