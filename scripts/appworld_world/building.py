"""Builds the invented world with AppWorld's own public interface; the only file here that imports appworld.

A process builds one world and ends: AppWorld freezes its clock.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from appworld import update_root
from appworld.apps import get_all_apps
from appworld.apps.api_lib import set_local_date_and_time
from appworld.apps.model_lib import CachedDBHandler
from appworld.collections.api_docs import ApiDocCollection
from appworld.collections.models import ModelCollection
from appworld.common.constants import DB_VERSION

from appworld_world.belongings import FILES, NOTES, PROJECTS, SONGS, library, plays
from appworld_world.people import ACCOUNTS, NOW, PEOPLE, Person, person
from appworld_world.scenarios import SCENARIOS
from appworld_world.scenarios.shapes import Scenario, Variant

__all__ = ["build", "task_ids"]

APPS = list(get_all_apps(skip_admin=False, skip_api_docs=False, skip_supervisor=False))
BALANCE = 500
"""Dollars that everybody has in Venmo."""


def build(root: Path) -> None:
    """Write ``root/data``, which must not be there: API docs, databases, tasks with their answers, datasets."""
    update_root(str(root))
    frozen = set_local_date_and_time(NOW)
    data = root / "data"
    _write_docs(data / "api_docs" / "standard")
    _write_databases(data / "base_dbs")
    for scenario in SCENARIOS:
        for task_id, variant in scenario.tasks.items():
            _write_task(data, task_id, scenario, variant)
    for dataset in ("train", "dev", "test_normal"):
        _write(data / "datasets" / f"{dataset}.txt", "".join(f"{task_id}\n" for task_id in task_ids(dataset)))
    frozen.stop()


def task_ids(dataset: str | None = None) -> tuple[str, ...]:
    """The tasks of a dataset, or of all of them, sorted."""
    return tuple(sorted(each for one in SCENARIOS if dataset in {None, one.dataset} for each in one.tasks))


def _write(path: Path, value: object) -> None:
    """A text as it is, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1), encoding="utf-8")


def _write_docs(folder: Path) -> None:
    """The documentation of every API that a task may call."""
    for app, docs in ApiDocCollection.build().remove_apps(["admin"]).items():
        # A reader of these files takes this field out and fails without it.
        _write(folder / f"{app}.json", {name: {**doc, "canary_string": "invented"} for name, doc in docs.items()})


def _row(model: Any, **values: object) -> Any:  # noqa: ANN401 - AppWorld's models are made at run time
    """A row with those of the values that its model knows."""
    return model.create_save(**{name: value for name, value in values.items() if name in model.__fields__})


def _write_databases(folder: Path) -> None:
    """The databases that every task begins with."""
    folder.mkdir(parents=True)
    models = ModelCollection.load(
        to_db_home_path=str(folder), from_db_home_path=str(folder), load_apps=APPS, create_db=True
    )
    _add_songs(models.spotify)
    for number, each in enumerate(PEOPLE, start=1):
        _add_person(models, each)
        _add_belongings(models, number, each)
    CachedDBHandler.reset()


def _add_songs(spotify: Any) -> None:  # noqa: ANN401 - a module that AppWorld unpacks
    """All songs, by one band."""
    band = _row(spotify.Artist, name="The Invented", genre="folk", created_at=NOW)
    for song_id, title in enumerate(SONGS, start=1):
        _row(
            spotify.Song,
            title=title,
            artist_ids=[band.id],
            duration=120 + song_id,
            release_date=NOW,
            genre="folk",
            play_count=plays(song_id),
        )


def _add_person(models: Any, each: Person) -> None:  # noqa: ANN401 - as above
    """Somebody's accounts; the id of a user is the same in every app."""
    name = {"first_name": each.first_name, "last_name": each.last_name}
    contact = {"email": each.email, "phone_number": each.phone_number}
    _row(models.admin.MainUser, **name, **contact, birthday=each.birthday, sex=each.sex)
    times = {"created_at": NOW, "last_logged_in": NOW}
    for app in ACCOUNTS:
        values = {"verified": True, "password": each.password(app), "venmo_balance": BALANCE}
        _row(models[app].User, **name, **contact, **times, **values)


def _add_belongings(models: Any, user_id: int, each: Person) -> None:  # noqa: ANN401 - as above
    """What one person has."""
    times = {"user_id": user_id, "created_at": NOW, "updated_at": NOW}
    for song_id in library(each) if each.contacts else ():
        _row(models.spotify.UserLibrarySong, song_id=song_id, **times)
    for title, content in NOTES.get(each.first_name, {}).items():
        _row(models.simple_note.Note, title=title, content=content, tags=[], **times)
    for path in ("/", "/home/", each.home, f"{each.home}documents/"):
        _row(models.file_system.Directory, path=path, **times)
    for name, lines in FILES.get(each.first_name, {}).items():
        path = f"{each.home}documents/{name}.txt"
        _row(models.file_system.File, path=path, content="\n".join(lines) + "\n", **times)
    for name in ("Inbox", *PROJECTS.get(each.first_name, ())):
        project = _row(models.todoist.Project, name=name, color="charcoal", is_inbox=name == "Inbox", **times)
        _row(models.todoist.ProjectCollaboratorLink, project_id=project.id, **times)
    for relationship, first_name in each.contacts.items():
        other = person(first_name)
        named = {"first_name": other.first_name, "last_name": other.last_name, "email": other.email}
        _row(models.phone.Contact, phone_number=other.phone_number, relationships=[relationship], **named, **times)


def _write_task(data: Path, task_id: str, scenario: Scenario, variant: Variant) -> None:
    """One task: its words, how its databases differ, and its answer key."""
    asking = variant.supervisor
    supervisor = {name: getattr(asking, name) for name in ("first_name", "last_name", "email", "phone_number")}
    folder = data / "tasks" / task_id
    specs = {"instruction": variant.instruction, "supervisor": supervisor, "datetime": NOW.isoformat()}
    _write(folder / "specs.json", {**specs, "db_version": DB_VERSION})
    (folder / "dbs").mkdir()
    models = ModelCollection.load(
        to_db_home_path=f":memory:build-{task_id}", from_db_home_path=str(data / "base_dbs"), load_apps=APPS
    )
    row = _row(models.supervisor.Supervisor, **supervisor, birthday=asking.birthday, sex=asking.sex)
    _row(models.supervisor.Task, supervisor_id=row.id, instruction=variant.instruction)
    for app in ACCOUNTS:
        _row(models.supervisor.AccountPassword, supervisor_id=row.id, account_name=app, password=asking.password(app))
    models.save(str(folder / "dbs"), format="changes", app_names=APPS, delete_if_exists=True, save_model_hashes=True)
    CachedDBHandler.reset()
    _write_answer_key(folder / "ground_truth", scenario, variant)


def _write_answer_key(folder: Path, scenario: Scenario, variant: Variant) -> None:
    """What the evaluation of one task is made with, and a solution."""
    solution = scenario.solution(variant)
    # AppWorld would count the lines itself with a formatter that it does not bring.
    lines = sum(bool(line.strip()) for line in solution.split("\n")) - 1
    counts = {"num_apps": len(scenario.apps), "num_apis": len(scenario.apis), "num_solution_code_lines": lines}
    _write(folder / "metadata.json", {"mode": "full", "difficulty": scenario.difficulty, **counts})
    _write(folder / "public_data.json", variant.public)
    _write(folder / "private_data.json", variant.private)
    _write(folder / "answer.json", variant.answer)
    _write(
        folder / "test_data.json", [{"requirement": each.requirement, "label": each.idle} for each in scenario.checks]
    )
    _write(folder / "required_apps.json", scenario.apps)
    _write(folder / "evaluation.py", scenario.evaluation)
    # AppWorld keeps one for people and one for machines; this one is both.
    for name in ("solution.py", "compiled_solution.py"):
        _write(folder / name, solution)
