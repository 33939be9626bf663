"""Cells of downstream tasks: one for each model and seed, then one that puts the seeds together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.lexicons import Lexicon
from biasgauge.lexicons.nearest import meant
from biasgauge.study.cell import address_sha256
from biasgauge.study.costs import text_size
from biasgauge.study.files import bytes_of
from biasgauge.study.parameters import Known, parameters
from biasgauge.study.plan_models import OF, seed_list

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.study.book import Book, Group, Settings
    from biasgauge.study.schema import TaskTable

SUMMARY = ("level", "resamples", "random_state")
"""Settings that only the summary over seeds depends on."""

PATHS = ("train_data", "winobias")
"""Settings of tasks that name a file or folder."""


def plan_tasks(book: Book) -> None:
    """Cells and results of every task: NAME/GROUP."""
    for name, table in book.study.tasks.items():
        path = ("tasks", name)
        found = _checked(book, name, table)
        data = book.located(table.data, (*path, "data"), "file or folder")
        if len(data) > 1:
            book.problem((*path, "data"), f"{table.data!r} means several files, seen from {book.study.folder}")
        groups: dict[str, Group] = {}
        for reference in table.of:
            groups |= {one.name: one for one in book.named(reference, (*path, "of"), book.groups, OF)}
        if found is None or len(data) != 1:
            continue
        book.tasks[name] = []
        for group in groups.values():
            cells = [_model(book, name, table, found, data[0], one.label, one.key) for one in group.members]
            book.tasks[name].append((group, cells))
            key = book.add(
                "gather",
                {"kind": table.task, "of": group.name, "models": [one.label for one in group.members]},
                inputs={f"model{number}": key for number, key in enumerate(cells)},
                label=f"{name}/{group.name}",
            )
            book.result(f"{name}/{group.name}", key, part="tasks", kind=table.task, of=group.name)


def _checked(book: Book, name: str, table: TaskTable) -> Settings | None:
    from biasgauge.extrinsic.tasks_registry import task_named, task_names  # noqa: PLC0415 - only studies with tasks
    from biasgauge.extrinsic.tasks_run import extrinsic  # noqa: PLC0415 - as above

    path = ("tasks", name)
    if table.task not in task_names():
        near = meant(table.task, task_names()) or f"; there are {', '.join(task_names())}"
        book.problem((*path, "task"), f"there is no task {table.task!r}{near}")
        return None
    summary = {one: about for one, about in parameters(extrinsic, 3).items() if one in SUMMARY}
    own = {one: Known(None, "object") for one in sorted(task_named(table.task).settings)}
    what = f"the task {table.task!r}"
    return book.checked(path, table.settings, own | summary, what, checks={"group_words": _groups}, paths=PATHS)


def _groups(value: object) -> str:
    """Checksum of words of groups."""
    from biasgauge.extrinsic.text_groups import group_words  # noqa: PLC0415 - as above

    sets = group_words(groups_given(value))
    return address_sha256({"groups": [[name, sorted(words)] for name, words in sets.items()]})  # in their order


def groups_given(value: Any) -> Any:  # noqa: ANN401 - what a user wrote, and what tasks check
    """Words of groups as tasks take them: of a lexicon that was a file, its sets."""
    return value.sets if isinstance(value, Lexicon) else value


def _model(book: Book, name: str, table: TaskTable, found: Settings, data: Path, label: str, model: str) -> str:
    """The cells of one model: one for each seed, and the summary, whose key it gives."""
    seeds = seed_list(table.seeds, book.study.about.seed)
    own = {one: value for one, value in found.kept.items() if one not in SUMMARY}
    told = {"task": table.task, **found.told, "settings": own}
    places = {**found.places, "data": data}
    trained = {
        f"seed{number}": book.add(
            "task",
            {**told, "seed": seed},
            inputs={"vectors": model},
            places=places,
            label=f"train {name}/{label} seed{seed}",
            size=text_size(bytes_of(data)),
        )
        for number, seed in enumerate(seeds)
    }
    summary = {one: found.kept[one] for one in SUMMARY if one in found.kept}
    return book.add(
        "task-summary",
        {**told, "seeds": seeds, "model": label, "summary": summary},
        inputs={"vectors": model, **trained},
        places=places,
        label=f"{name}/{label}",
    )
