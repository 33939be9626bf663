"""Cells of downstream tasks: one for each model and seed, then one that puts the seeds together."""

from __future__ import annotations

from pathlib import Path

from biasgauge import registry
from biasgauge.study.cell import address_sha256
from biasgauge.study.planning.builder import Group, Member, PlanBuilder, Settings
from biasgauge.study.planning.models import OF, seed_list
from biasgauge.study.schema import TaskTable
from biasgauge.study.settings import Setting, group_sets, parameters

SUMMARY = ("level", "resamples", "random_state")
"""Settings that only the summary over seeds depends on."""

PATHS = ("train_data", "winobias")
"""Settings of tasks that name a file or folder."""


def plan_tasks(plan: PlanBuilder) -> None:
    """Cells and results of every task: NAME/GROUP."""
    for name, table in plan.study.tasks.items():
        path = ("tasks", name)
        settings = _checked(plan, name, table)
        data = plan.located(table.data, (*path, "data"), "file or folder")
        if len(data) > 1:
            plan.problem((*path, "data"), f"{table.data!r} means several files, seen from {plan.study.folder}")
        groups: dict[str, Group] = {}
        for reference in table.of:
            groups |= {group.name: group for group in plan.named(reference, (*path, "of"), plan.groups, OF)}
        if settings is None or len(data) != 1:
            continue
        plan.tasks[name] = []
        for group in groups.values():
            cells = [_model(plan, name, table, settings, data[0], member) for member in group.members]
            plan.tasks[name].append((group, cells))
            key = plan.add(
                "gather",
                {"kind": table.task, "of": group.name, "models": [member.label for member in group.members]},
                inputs={f"model{number}": key for number, key in enumerate(cells)},
                label=f"{name}/{group.name}",
            )
            plan.result(f"{name}/{group.name}", key, part="tasks", kind=table.task, of=group.name)


def _checked(plan: PlanBuilder, name: str, table: TaskTable) -> Settings | None:
    path = ("tasks", name)
    tasks = registry.names("task")
    if table.task not in tasks:
        plan.unknown((*path, "task"), f"there is no task {table.task!r}", table.task, tasks)
        return None
    summary = {
        name: setting for name, setting in parameters("biasgauge.applications:extrinsic", 3).items() if name in SUMMARY
    }
    task_settings = {name: Setting(name, None, "object") for name in sorted(registry.get("task", table.task).settings)}
    owner = f"the task {table.task!r}"
    return plan.checked(
        path, table.settings, task_settings | summary, owner, checks={"group_words": _groups}, paths=PATHS
    )


def _groups(value: object) -> str:
    """Checksum of words of groups."""
    from biasgauge.applications.classification import group_words

    sets = group_words(group_sets(value))
    return address_sha256({"groups": [[name, sorted(words)] for name, words in sets.items()]})  # in their order


def _model(plan: PlanBuilder, name: str, table: TaskTable, settings: Settings, data: Path, model: Member) -> str:
    """The cells of one model: one for each seed, and the summary, whose key it gives."""
    seeds = seed_list(table.seeds, plan.study.about.seed)
    task_settings = {name: value for name, value in settings.stored.items() if name not in SUMMARY}
    content = {"task": table.task, **settings.cell_settings, "settings": task_settings}
    paths = {**settings.paths, "data": data}
    trained = {
        f"seed{number}": plan.add(
            "task",
            {**content, "seed": seed},
            inputs={"vectors": model.key},
            paths=paths,
            label=f"train {name}/{model.label} seed{seed}",
        )
        for number, seed in enumerate(seeds)
    }
    summary = {name: settings.stored[name] for name in SUMMARY if name in settings.stored}
    return plan.add(
        "task-summary",
        {**content, "seeds": seeds, "model": model.label, "summary": summary},
        inputs={"vectors": model.key, **trained},
        paths=paths,
        label=f"{name}/{model.label}",
    )
