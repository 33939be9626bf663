"""Finds the tasks: every module of `tasks/` that holds `TASKS`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from biasgauge.errors import ParameterError
from biasgauge.extrinsic.tasks_task import Task
from biasgauge.lexicons.nearest import meant


@cache
def _found() -> dict[str, Task]:
    found = {}
    for module in sorted(info.name for info in iter_modules([str(Path(__file__).with_name("tasks"))])):
        for one in getattr(import_module(f"{__package__}.tasks.{module}"), "TASKS", ()):
            found[one.name] = one
    return found


def task_names() -> tuple[str, ...]:
    """Names of all downstream tasks, sorted."""
    return tuple(sorted(_found()))


def task_named(name: str | Task) -> Task:
    """The task of that name; a `Task` is handed back as it is.

    Raises:
        ParameterError: there is none.
    """
    if isinstance(name, Task):
        return name
    if name not in _found():
        near = meant(name, task_names()) if isinstance(name, str) else ""
        raise ParameterError(f"A task must be one of {', '.join(task_names())}. Got {name!r}{near or '.'}")
    return _found()[name]
