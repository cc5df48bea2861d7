"""Families that overlays know."""

from __future__ import annotations

import json
import sys

import pytest

from amd.errors import ConfigError
from amd.traces import load_reader, reader_options
from amd.traces.families import families_of, family_of


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Install a package that offers the families of benchmark ``garden``."""

    def install(source):
        (tmp_path / "overlay_garden.py").write_text(source, encoding="utf-8")
        folder = tmp_path / "overlay_garden-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: overlay_garden\nVersion: 1.0\n", encoding="utf-8"
        )
        (folder / "entry_points.txt").write_text("[amd.families]\ngarden = overlay_garden:family\n", encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "overlay_garden", raising=False)
        families_of.cache_clear()

    yield install
    families_of.cache_clear()


def test_an_overlay_tells_a_family(offer):
    """By the benchmark's name; an id that is not of that benchmark has none, and another benchmark has none."""
    offer("def family(task_id):\n    return task_id[:3] if task_id.startswith('bed') else None\n")
    assert family_of("garden", "bed-7") == "bed"
    assert family_of("garden", "7") is None
    assert family_of("pond", "bed-7") is None


def test_a_family_is_never_made_up_where_an_overlay_knows_them(offer, tmp_path):
    """A slip in an id would make the run a family of its own, which excludes nothing; a mapped key still counts."""
    offer("def family(task_id):\n    return task_id[:3] if task_id.startswith('bed') else None\n")
    path, reader = tmp_path / "runs.jsonl", load_reader("openai-chat")
    messages = [{"role": "user", "content": "Water it."}]
    lines = ({"id": task_id, "messages": messages, "group": "plants"} for task_id in ("bed-7", "bde-7"))
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")

    def read(**options):
        return list(reader.read([path], reader_options(reader, options)))

    known, slip = read(benchmark="garden")
    assert known.task.family == "bed"
    assert (slip.reason, slip.task_id) == ("unreadable", "bde-7")
    assert "'bde-7' is no task of 'garden' that the installed overlay knows" in slip.detail
    assert "--map family=KEY" in slip.detail
    assert [run.task.family for run in read(benchmark="garden", map="family=group")] == ["plants", "plants"]
    assert [run.task.family for run in read(benchmark="pond")] == ["bed-7", "bde-7"]


def test_a_broken_overlay_is_named(offer):
    """Never a traceback, never a guess."""
    offer("import a_package_that_is_not_here")
    with pytest.raises(ConfigError, match=r"overlay_garden:family, offered as 'garden'"):
        family_of("garden", "bed-7")
