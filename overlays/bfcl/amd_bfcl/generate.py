"""Runs a student on tasks in the real harness, and redoes what its service spoilt."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from types import FrameType
from typing import NamedTuple

from amd.arms import CallFormat, OpenArm, replace_text
from amd.clients import check_endpoint
from amd.errors import ConfigError
from amd_bfcl.families import INDEXES, Category, category, family
from amd_bfcl.harness import Harness
from amd_bfcl.journal import Journal
from amd_bfcl.lines import is_error_line, read_lines, replace_lines
from amd_bfcl.names import check_name, registry_name
from amd_bfcl.package import Package, find_package
from amd_bfcl.plan import Plan
from amd_bfcl.run import JOURNAL, Run, Settings
from amd_bfcl.service import Service
from amd_bfcl.standing import Standing, standing
from amd_bfcl.tasks import entry, tasks
from amd_bfcl.trial import Trial

__all__ = ["Attempt", "Endpoint", "generate", "retry"]

_IDS = "test_case_ids_to_generate.json"
_OPENAI = "https://api.openai.com/v1"  # where the client itself asks if it is given no address
_PROBE = 10.0  # seconds: a server that lists its models later than that is no server to wait 200 tasks for


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how the student is asked: ``timeout`` in seconds for one request, ``threads`` tasks at once."""

    base_url: str | None = None
    timeout: float = 600.0
    threads: int = 1


class Attempt(NamedTuple):
    """A run, how it stands now, and whether any task was run for it; ``False`` where nothing was left to do."""

    run: Run
    stands: Standing
    ran: bool


def generate(
    out: Path,
    plan: Plan,
    endpoint: Endpoint,
    *,
    seed: int | None = None,
    draw_only: bool = False,
    name: str | None = None,
    any_version: bool = False,
) -> Attempt:
    """Run the student on the tasks that have no result yet, and say how the run stands.

    Args:
        out: the run directory, new, or that of the same run begun before.
        plan: what is asked for.
        endpoint: where and how the student is asked.
        seed: sent with each request, and what random records follow from.
        draw_only: do not send it.
        name: what the harness calls it; made of model and arm if left out.
        any_version: allow a bfcl-eval whose families nobody checked.

    Raises:
        ConfigError: the request contradicts itself, the memory, the harness or what the directory holds.
        ClientError: the endpoint cannot be reached or does not serve the model, at the start or half-way.
        LeakageError, StoreError: the memory is not fit to be shown.
    """
    package, run = find_package(any_version=any_version), Run(out)
    with plan.arm.absolute().open(seed) as opened:
        settings = Settings(
            name=check_name(name, plan.calling) if name else registry_name(plan.model, plan.arm, plan.calling),
            model=plan.model,
            calling=plan.calling,
            base_url=plan.base_url,
            categories=plan.categories,
            ids=_chosen(plan, opened, package),
            harness=plan.harness,
            bfcl_eval=package.version,
            tasks_sha256=package.sha256(f"BFCL_v4_{name}.json" for name in plan.categories),
            draw_only=draw_only,
            **opened.facts(),
        )
        with run.locked():
            run.begin(settings)
            return _run_student(run, opened, package, endpoint)


def retry(out: Path, endpoint: Endpoint, *, memory: Path | None = None, any_version: bool = False) -> Attempt:
    """Redo the tasks of a run whose line is an inference error; the old lines are kept beside the results.

    Raises:
        ConfigError: the directory is no run, or ``memory`` is another than the run began with.
        ClientError: as in :func:`generate`.
    """
    package, run = find_package(any_version=any_version), Run(out)
    settings = run.settings
    arm = settings.arm if memory is None else settings.arm.model_copy(update={"memory": memory}).absolute()
    kept = settings.split.split if settings.split else None
    with arm.open(settings.seed, split=kept) as opened, run.locked():
        run.begin(settings.model_copy(update=opened.facts()))
        return _run_student(run, opened, package, endpoint, again=True)


def _run_student(run: Run, opened: OpenArm, package: Package, endpoint: Endpoint, *, again: bool = False) -> Attempt:
    """Run what has no result yet; ``again``: what has an inference error too."""
    settings = run.settings
    journal = Journal(run)
    restored = journal.restore()
    if restored:
        sys.stderr.write(f"{restored} finished lines were put back from {JOURNAL}\n")
    before = standing(run)
    if not before.missing and not (again and before.errors):
        journal.close()
        return Attempt(run, before, ran=False)
    harness = Harness(run.path, package.version)
    base_url, key = harness.endpoint(endpoint.base_url or settings.base_url)
    if base_url is None and key is None:
        raise ConfigError(
            f"the student {settings.model!r} has neither an endpoint nor a key",
            next_step="give --base-url (OPENAI_BASE_URL), or OPENAI_API_KEY",
        )

    def probe() -> None:
        check_endpoint(settings.model, base_url=base_url or _OPENAI, api_key=key, timeout=min(endpoint.timeout, _PROBE))

    probe()
    for name in settings.categories:
        run.score_file(name).unlink(missing_ok=True)  # it is about other lines than there will be
        if again:  # only now, that a server is there to answer them
            _take_errors_out(run, name)
    call_format: CallFormat = "json" if settings.calling == "fc" else "python"
    service = Service(
        client={"base_url": base_url, "api_key": key or "none", "timeout": endpoint.timeout},
        sampling={} if settings.sent_seed is None else {"seed": settings.sent_seed},
        trial=lambda task_id: Trial(entry(task_id, package), opened, call_format),
        keep=journal.add,
        probe=probe,
    )
    harness.register(settings, service)
    options = {"--model": settings.name, "--num-threads": str(endpoint.threads)}
    if settings.ids is None:
        options["--test-category"] = ",".join(settings.categories)
    else:
        _write_ids(run.path / _IDS, settings.ids)
        options["--run-ids"] = ""
    with _interruptible(service.stopping):
        harness.call("generate", options, settings.harness)
    journal.close()
    return Attempt(run, standing(run), ran=True)


@contextmanager
def _interruptible(stopping: Event) -> Iterator[None]:
    """Ctrl-C ends the run after the requests that are under way, a second one at once.

    The harness waits for all tasks that have begun, however long their services make them wait.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        if stopping.is_set():
            os._exit(128 + number)  # finished lines are in the journal
        stopping.set()
        sys.stderr.write("stopping after the requests that are under way; press Ctrl-C again to stop at once\n")
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _chosen(plan: Plan, opened: OpenArm, package: Package) -> tuple[str, ...] | None:
    """The ids that are wanted, in the benchmark's order; ``None`` for all tasks of the categories.

    With a split, those of its test families, whatever the protocol: arms that are to be compared run the same tasks.
    """
    if opened.split is not None:
        _check_families(opened.split.train | opened.split.test)
    known: list[str] = []
    chosen: list[str] = []
    for name in plan.categories:
        ids = [task.task_id for task in tasks(name, package)]
        known += ids
        wanted = [task_id for task_id in ids if plan.ids is None or task_id in plan.ids]
        if opened.split is not None:
            wanted = [task_id for task_id in wanted if family(task_id) in opened.split.test]
        chosen += wanted[: plan.limit]
    if plan.ids is not None and set(plan.ids) - set(known):
        raise ConfigError(
            f"{', '.join(plan.categories)} has no task {min(set(plan.ids) - set(known))!r}",
            next_step="check --ids and --category",
        )
    if not chosen:
        raise ConfigError("no task is left to run", next_step="check --ids, --category and the split's test families")
    return None if len(chosen) == len(known) else tuple(chosen)


def _check_families(names: frozenset[str]) -> None:
    """Refuse a split with names that are no families: they would hold out nothing."""
    families = {family(f"{Category.BASE}_{index}") for index in range(INDEXES)}
    strange = sorted(names - families)
    if strange:
        own = family(strange[0]) or family(strange[0].replace("multi_turn_", f"{Category.BASE}_"))
        raise ConfigError(
            f"the split has {len(strange)} names that are no families of BFCL, the first is {strange[0]!r}",
            next_step=f"write {own!r}" if own else "a family is such as 'multi_turn_12'",
            names=strange,
        )


def _write_ids(path: Path, ids: Iterable[str]) -> None:
    by_category: dict[str, list[str]] = {}
    for task_id in ids:
        by_category.setdefault(str(category(task_id)), []).append(task_id)
    replace_text(path, json.dumps(by_category) + "\n")


def _take_errors_out(run: Run, name: Category) -> None:
    """Move a category's error lines aside: first they are safe there, then they go."""
    path = run.result_file(name)
    lines = read_lines(path)[0]
    errors = [line for line in lines if is_error_line(line)]
    if not errors:
        return
    with (run.path / "inference-errors.jsonl").open("a", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(line) + "\n" for line in errors)
        file.flush()
        os.fsync(file.fileno())
    replace_lines(path, [line for line in lines if not is_error_line(line)])
