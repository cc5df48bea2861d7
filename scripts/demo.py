"""The whole way on real input: record, build, ask, hint, count. No key, no server, no GPU; half a minute on two cores.

Run it as ``make demo``. It needs ``amd-bfcl`` and the installed benchmark, writes only below ``demo/``, and starts from
nothing each time.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.rule import Rule
from rich.table import Table

import amd
from amd.build import BuildReport
from amd.cli.console import StageProgress, counts
from amd.errors import AmdError, LeakageError
from amd.exclusion import Viewer
from amd.records import Exposure
from amd.traces import Note, Refusal, load_reader
from amd_bfcl.backends import Backend
from amd_bfcl.commands.record import ORACLE, record_to
from amd_bfcl.families import Category
from amd_bfcl.package import find_package
from amd_bfcl.tasks import Entry, entries

FOLDER = Path(__file__).resolve().parents[1] / "demo"
SHOWN = ("multi_turn_base_0", "multi_turn_base_107", "multi_turn_base_160")
"""A file system, a trading task with a twin under another index, and a journey."""

console = Console(highlight=False, markup=False)
seconds: dict[str, float] = {}


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Time a stage for the last table."""
    start = perf_counter()
    yield
    seconds[name] = perf_counter() - start


def exact(text: str) -> None:
    """Print a text as it is: nothing wrapped, nothing read as markup."""
    console.print(text, soft_wrap=True)


def record_runs() -> Path:
    """Replay the benchmark's call sequences on its own backends; every run is marked as an oracle's."""
    out = FOLDER / "oracle.jsonl"
    recording = record_to(out, [Category.BASE], find_package())
    exact(
        f"{recording.total('tasks')} runs, {recording.total('calls')} calls, {recording.total('errors')} errors: {out}"
    )
    exact(ORACLE)
    return out


def read_runs(path: Path) -> list[amd.Trajectory | Refusal | Note]:
    """The recording, read back as any run file is."""
    reader = load_reader("amd")
    return list(reader.read([path], reader.options()))


def build(runs: list[amd.Trajectory | Refusal | Note]) -> BuildReport:
    """The teacher's side: gate, rules, embeddings, one publish."""
    with StageProgress() as progress:
        return amd.build_memory(
            runs,
            FOLDER / "memory",
            embedder=amd.load_embedder("minilm"),
            progress=progress,
        )


def source_of(exposure: Exposure) -> str:
    """Which families an answer came from."""
    families = ", ".join(
        f"{family} ({score:.2f})" for family, score in zip(exposure.families, exposure.scores, strict=True)
    )
    hidden = f"; hidden: {counts(exposure.excluded)}" if exposure.excluded else ""
    return f"{exposure.tier}: {families or 'nothing'}{hidden}"


def show_task(memory: amd.Memory, entry: Entry) -> None:
    """The exact text of one task's prompt, self-excluded, and the families that it came from."""
    session = amd.Session(memory, viewer=amd.self_excluded(entry.task), tools=entry.tools)
    messages = [{"role": "user", "content": entry.task.instruction}]
    console.print(Rule(f"{entry.task.task_id}, family {entry.task.family}, self-excluded"))
    for message in amd.prepend_memory(messages, session.before_task(entry.task.instruction)):
        exact(f"[{message['role']}]\n{message['content']}\n")
    for exposure in session.exposures:
        exact(f"  from {source_of(exposure)}")


def show_failure(memory: amd.Memory, entry: Entry) -> None:
    """A wrong call on the real backend, and its error with the hint attached."""
    arguments = {"folder": "no_such"}
    with Backend(entry) as backend:
        error = backend.execute(("cd", arguments))
    session = amd.Session(memory, viewer=amd.self_excluded(entry.task), tools=entry.tools)
    block = session.after_error(
        amd.FailedCall("cd", arguments, error, turn_text=entry.task.instruction, place="the demo's wrong call")
    )
    console.print(Rule("a wrong call on the real backend: cd(folder='no_such')"))
    exact(f"[tool]\n{amd.append_hint(error, block)}\n")
    for exposure in session.exposures:
        exact(f"  from {source_of(exposure)}")


def tools_of(run: amd.Trajectory) -> list[str]:
    """The tools that a run calls, each once."""
    return list(dict.fromkeys(call.name for call in run.calls))


def own_family(memory: amd.Memory, entry: Entry, viewer: Viewer, tools: list[str]) -> int:
    """How many records of its own family a task is shown: before it starts, and after a real error of each tool.

    ``tools`` are those that its own recorded run calls: for them the memory does hold records of its family.
    """
    session = amd.Session(memory, viewer=viewer, tools=entry.tools)
    session.before_task(entry.task.instruction)
    with Backend(entry) as backend:
        for tool in tools:
            arguments = {"no_such_argument": 1}
            error = backend.execute((tool, arguments))
            session.after_error(amd.FailedCall(tool, arguments, error, place=tool))
    return sum(exposure.own_family for exposure in session.exposures)


def count_leaks(memory: amd.Memory, found: list[Entry], runs: list[amd.Trajectory | Refusal | Note]) -> tuple[int, int]:
    """Own-family exposures over all tasks: self-excluded, which must be 0, and in-sample, which shows they count."""
    tools = {run.task.task_id: tools_of(run) for run in runs if isinstance(run, amd.Trajectory)}
    excluded = seen = 0
    with StageProgress() as progress:
        for done, entry in enumerate(found, 1):
            called = tools[entry.task.task_id]
            excluded += own_family(memory, entry, amd.self_excluded(entry.task), called)
            seen += own_family(memory, entry, amd.in_sample(entry.task), called)
            progress("own-family exposures", done, len(found))
    if excluded or not seen:
        raise LeakageError(
            f"own-family exposures: {excluded} self-excluded (0 expected), {seen} in-sample (some expected)",
            next_step="report it: self-exclusion or its control is broken",
            excluded=excluded,
            in_sample=seen,
        )
    return excluded, seen


def print_totals(report: BuildReport, tasks: int, excluded: int, seen: int) -> None:
    """The last table."""
    table = Table(title="What happened", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("trajectories read (ORACLE: the answer key)", str(report.read))
    table.add_row("admitted", str(report.admitted))
    table.add_row("refused", counts(report.refused))
    for tier, number in report.records.items():
        table.add_row(f"records, {tier}", str(number))
    table.add_section()
    table.add_row(f"own-family records shown, {tasks} tasks, self-excluded", str(excluded))
    table.add_row("the same, IN-SAMPLE: nothing is hidden", str(seen))
    table.add_section()
    for name, spent in seconds.items():
        table.add_row(f"seconds, {name}", f"{spent:.2f}")
    console.print(table)


def run() -> None:
    """The demo, from nothing."""
    FOLDER.mkdir(exist_ok=True)
    if (FOLDER / "memory").exists():
        shutil.rmtree(FOLDER / "memory")
    with stage("record"):
        path = record_runs()
    with stage("read"):
        runs = read_runs(path)
    with stage("build"):
        report = build(runs)
    with stage("open"):
        memory = amd.open_memory(FOLDER / "memory")
    found = list(entries(Category.BASE))
    with stage("three tasks and a hint"):
        for entry in found:
            if entry.task.task_id in SHOWN:
                show_task(memory, entry)
        show_failure(memory, found[0])
    exact(
        f"Now each of the {len(found)} tasks asks, and asks again after a real error of each of its tools: how many "
        "records of its own family is it shown? In-sample, where nothing is hidden, is the control."
    )
    with stage("own-family count"):
        excluded, seen = count_leaks(memory, found, runs)
    print_totals(report, len(found), excluded, seen)


def main() -> int:
    """The exit code; an error is one line."""
    try:
        run()
    except AmdError as error:
        print(f"demo: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("demo: interrupted; run it again, it starts from nothing", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
