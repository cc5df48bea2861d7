"""A report on the disk: ``report.md``, ``report.html``, ``report.json`` and the pictures."""

from __future__ import annotations

import json
from pathlib import Path

from amd.arms.run_directory import replace_text
from amd.errors import ConfigError
from amd.evaluate.captions import FILES
from amd.evaluate.html import to_html
from amd.evaluate.markdown import to_markdown
from amd.evaluate.plots import draw
from amd.evaluate.report import Report
from amd.evaluate.sections import page_of

__all__ = ["write_report"]


def write_report(report: Report, out: Path) -> list[Path]:
    """Write a report into a directory; equal reports give equal bytes. The paths of its files, the page first.

    A leak does not keep it from being written: call ``report.check_leaks`` afterwards.

    Raises:
        ConfigError: ``out`` is the directory of a run that is reported; nothing was written.
    """
    _check_place(report, out)
    page, pictures = page_of(report), draw(report)
    out.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        if file in pictures:
            (out / file).write_bytes(pictures[file])
        else:
            (out / file).unlink(missing_ok=True)  # of an earlier report, and no part of this one
    texts = {
        "report.html": to_html(page, pictures),
        "report.md": to_markdown(page),
        "report.json": json.dumps(report.as_json(), ensure_ascii=False, allow_nan=False, indent=2) + "\n",
    }
    for file, text in texts.items():
        replace_text(out / file, text)
    return [out / file for file in (*texts, *pictures)]


def _check_place(report: Report, out: Path) -> None:
    """A report among a run's own files would be taken for a part of the run."""
    place = out.resolve()
    for run in (run for arm in report.arms for run in arm.runs):
        if Path(run).resolve() == place:
            raise ConfigError(
                f"the report would be written into {out}, which is the run {run}",
                next_step="name a directory of its own",
                out=str(out),
                run=run,
            )
