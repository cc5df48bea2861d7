"""Thirty records side by side, written by the rules and by a model, from the made-up runs in examples/thirty.json.

    python scripts/thirty_records.py           write docs/thirty-records.md from the replies that are kept; no model
    python scripts/thirty_records.py --ask     ask the local model (scripts/setup_local_llm.sh) for what is not kept
    python scripts/thirty_records.py --ask --model qwen3-4b --base-url http://127.0.0.1:8000/v1 --served "vLLM 0.33.0"

Only what stands between the two marks of the document is written. What to think of the records is for a person to say,
and stands outside. To ask for everything anew, remove tests/fixtures/thirty-replies.json; what was answered before an
interruption stays in it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from amd.build import Options, build_memory
from amd.build.journal import Entry, Journal
from amd.build.model_writer import Chat, ModelWriter
from amd.config import chat_model_named
from amd.embedders import load_embedder
from amd.errors import AmdError, ConfigError
from amd.lint import lint
from amd.store import read_memory
from amd.tier import RULES, Writer
from amd.traces import load_reader
from thirty_page import TIERS, Side, page
from thirty_refused import QuotingWriter

ROOT = Path(__file__).parent.parent
RUNS = ROOT / "examples" / "thirty.json"
REPLIES = ROOT / "tests" / "fixtures" / "thirty-replies.json"
DOCUMENT = ROOT / "docs" / "thirty-records.md"
LOCAL = ROOT / ".venvs" / "local-llm"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
BEGIN = "<!-- From here on written by scripts/thirty_records.py -->\n"
END = "<!-- up to here. -->\n"

_PENALTY = ("--repeat-penalty", "1.15")  # without one, this model says the same sentence again until it is cut
_TIMEOUT = 3600.0  # seconds: a small model, a busy machine


@dataclass(slots=True)
class Replies:
    """Which model answered, what served it, its replies as a build's journal keeps them, texts of refused ones."""

    model: str
    served: str
    entries: dict[str, Entry] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Replies:
        """Those of a file.

        Raises:
            ConfigError: it is not there.
        """
        if not path.is_file():
            raise ConfigError(f"{path} is not there", next_step="ask a model: python scripts/thirty_records.py --ask")
        value = json.loads(path.read_text(encoding="utf-8"))
        texts = {line["key"]: line.pop("refused") for line in value["replies"] if "refused" in line}
        entries = [Entry(**line) for line in value["replies"]]
        return cls(value["model"], value["served"], {entry.key: entry for entry in entries}, texts)

    def write(self, path: Path) -> None:
        """One reply a line, a refused one with its text."""
        head = json.dumps({"model": self.model, "served": self.served}, ensure_ascii=False)
        refused = {key: {"refused": text} for key, text in self.texts.items()}
        kept = [asdict(entry) | refused.get(key, {}) for key, entry in self.entries.items()]
        lines = ",\n".join(json.dumps(line, ensure_ascii=False) for line in kept)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'{head[:-1]}, "replies": [\n{lines}\n]}}\n', encoding="utf-8", newline="\n")


class Kept(Journal):
    """The journal of a build that begins with kept replies; ``used`` is what the build asked for, new ones included."""

    def __init__(self, place: Path, replies: Replies) -> None:
        place.mkdir()
        before = Journal(place)
        for entry in replies.entries.values():
            before.add(entry)
        super().__init__(place)
        self.used: dict[str, Entry] = {}

    def get(self, key: str) -> Entry | None:
        """As any journal."""
        entry = super().get(key)
        if entry is not None:
            self.used[key] = entry
        return entry

    def add(self, entry: Entry) -> None:
        """As any journal."""
        super().add(entry)
        self.used[entry.key] = entry


class Nobody:
    """Stands where a model is asked: all that it was asked for is kept."""

    notices: Sequence[str] = ()

    def complete(self, *_: object, **__: object) -> NoReturn:
        """There is nobody."""
        self.probe()

    def probe(self) -> NoReturn:
        """There is nobody."""
        raise ConfigError(
            f"{REPLIES.name} has no reply to what a build asks now: a prompt or {RUNS.name} has changed since",
            next_step="ask for it: python scripts/thirty_records.py --ask",
        )


def side(runs: Path, place: Path, writer: Writer = RULES, workers: int = 1) -> Side:
    """A memory of the runs, built and read."""
    reader, embedder, options = load_reader("openai-chat"), load_embedder("hash"), Options(workers=workers)
    build_memory(reader.read([runs], reader.options()), place, embedder=embedder, writer=writer, options=options)
    remarks = writer.remarks if isinstance(writer, ModelWriter) else ()
    said = [(remark, remark.what.partition("written by rules: ")[2]) for remark in remarks]
    why = {(remark.task_id, remark.purpose): reason for remark, reason in said if reason}
    with read_memory(place) as memory:
        records = tuple(record for shelf in memory.shelves.values() for record in shelf.records())
        refused = writer.refused if isinstance(writer, QuotingWriter) else {}
        return Side(memory.manifest, lint(memory), records, why, refused)


def model_side(runs: Path, place: Path, replies: Replies, chat: Chat, workers: int = 1) -> Side:
    """The memory in the model's words; ``chat`` is asked for what is not kept, and the replies become those in use."""
    journal = Kept(place, replies)
    prompts = [prompt for tier in TIERS.values() for prompt in tier.prompts]
    try:
        made = side(runs, place, QuotingWriter(replies.model, chat, prompts, journal, replies.texts), workers)
    except BaseException:
        replies.entries |= journal.used
        raise
    replies.entries = journal.used
    return made


def parted(document: str) -> tuple[str, str, str]:
    """The document up to and with the first mark, what is written by this script, and the second mark and the rest.

    Raises:
        ConfigError: a mark is missing.
    """
    before, begin, rest = document.partition(BEGIN)
    middle, end, after = rest.rpartition(END)  # a record may quote the mark, and stands before it
    if not begin or not end:
        raise ConfigError(
            f"{DOCUMENT.name} lacks a line that says what is written by a script",
            next_step=f"put {BEGIN.strip()} and {END.strip()} where the records belong",
        )
    return before + begin, middle, end + after


@contextmanager
def local_model() -> Iterator[str]:
    """The endpoint of the local model, served in a process of its own.

    Raises:
        ConfigError: it does not start.
    """
    program = (str(LOCAL / "bin" / "python"), str(ROOT / "scripts" / "local_llm.py"))
    command = [*program, "--until-stdin-closes", *_PENALTY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        said = process.stdout.readline().split()
        try:
            if not said:
                raise ConfigError("the local model did not start", next_step="run scripts/setup_local_llm.sh")
            yield said[-1]
        finally:
            process.stdin.close()


def local_versions() -> str:
    """What the local model is, as scripts/setup_local_llm.sh installed it."""
    stamp = LOCAL / ".ready"
    if not stamp.is_file():
        raise ConfigError("the local model is not installed", next_step="run scripts/setup_local_llm.sh")
    server, weights = stamp.read_text(encoding="utf-8").split()
    return f"{WEIGHTS} of {weights}, by llama.cpp of {server} with {' '.join(_PENALTY)}"


def ask(options: Namespace, place: Path) -> Replies:
    """The model's replies, asked for where none is kept; the file of the replies is written, whatever happens."""
    served = options.served or local_versions()
    kept = Replies.read(options.replies) if options.replies.exists() else None
    same = kept is not None and (kept.model, kept.served) == (options.model, served)
    replies = kept if kept and same else Replies(options.model, served)
    with ExitStack() as stack:
        url = options.base_url or stack.enter_context(local_model())
        chat = stack.enter_context(chat_model_named(replies.model, url, timeout=_TIMEOUT, connections=options.workers))
        try:
            model_side(RUNS, place, replies, chat, options.workers)
        finally:
            replies.write(options.replies)
    return replies


def main(arguments: Sequence[str]) -> int:
    """Ask if that is wanted, and write the document."""
    options = _options(arguments)
    try:
        with TemporaryDirectory() as folder:
            rules, place = side(RUNS, Path(folder) / "rules"), Path(folder) / "model"
            replies = ask(options, Path(folder) / "asked") if options.ask else Replies.read(options.replies)
            model = model_side(RUNS, place, replies, Nobody())
        before, _, after = parted(DOCUMENT.read_text(encoding="utf-8"))
    except AmdError as error:
        print(f"{error.message}; {error.next_step}", file=sys.stderr)
        return 1
    options.out.write_text(before + page(rules, model, replies.served) + after, encoding="utf-8", newline="\n")
    return 0


def _options(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--ask", action="store_true", help="ask a model for what is not kept")
    parser.add_argument("--model", default="SmolLM2-135M", help="the name that the endpoint knows it by")
    parser.add_argument("--base-url", help="its endpoint, up to and with /v1; without it the local model is started")
    parser.add_argument("--served", help="what answers there, with its version, for the document")
    parser.add_argument("--workers", type=int, default=2, help="runs that it is asked about at the same time")
    parser.add_argument("--replies", type=Path, default=REPLIES, help="where its replies are kept")
    parser.add_argument("--out", type=Path, default=DOCUMENT, help="write the whole document into another file")
    options = parser.parse_args(arguments)
    if options.ask and options.base_url and not options.served:
        parser.error("--base-url needs --served: a reader must know what answered")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
