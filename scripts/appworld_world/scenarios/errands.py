"""A scenario over two apps: the lines of a file become tasks of a project."""

from __future__ import annotations

from appworld_world.belongings import FILES
from appworld_world.people import person
from appworld_world.scenarios.shapes import ANSWERS, Check, Scenario, Variant

__all__ = ["ERRANDS"]

CELLS = (
    """
file_token = apis.file_system.login(username=profile["email"], password=passwords["file_system"])["access_token"]
content = apis.file_system.show_file(access_token=file_token, file_path=$path)["content"]
print(content)
""",
    """
todo_token = apis.todoist.login(username=profile["email"], password=passwords["todoist"])["access_token"]
projects = apis.todoist.show_projects(access_token=todo_token)
project = next(project for project in projects if project["name"] == $project)
print(project["project_id"])
""",
    """
for title in content.strip().split("\\n"):
    apis.todoist.create_task(access_token=todo_token, project_id=project["project_id"], title=title)
print(len(apis.todoist.show_tasks(access_token=todo_token, project_id=project["project_id"])))
""",
    "apis.supervisor.complete_task()",
)
CHECKS = (
    ANSWERS,
    Check("assert only tasks of Todoist changed.", 'test.case(models.changed_model_names(), "==", {"todoist.Task"})'),
    Check(
        "assert each line became a task, in the order of the file.",
        'test.case([task.title for task in sorted(added, key=lambda task: task.id)], "==", list(private_data.lines))',
    ),
    Check(
        "assert they are all in the right project.",
        'test.case({(task.project.user.email, task.project.name) for task in added}, "==", '
        "{(main_user.email, public_data.project)})",
    ),
)


def _variant(first_name: str, name: str, project: str) -> Variant:
    """One task of a person who has this file and this project."""
    path = f"~/documents/{name}.txt"
    return Variant(
        person(first_name),
        f"Make every line of the file {path} a task of its own in my Todoist project '{project}', in the same order.",
        {"path": path, "project": project},
        {"lines": list(FILES[first_name][name])},
    )


ERRANDS = Scenario(
    "0f11e06",
    "test_normal",
    3,
    (
        _variant("Ada", "errands", "Household"),
        _variant("Bo", "garden", "Allotment"),
        _variant("Cleo", "move", "New flat"),
    ),
    CELLS,
    CHECKS,
    'added, updated, removed = models.changed_records("todoist.Task")',
)
