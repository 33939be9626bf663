"""Coreference, judged on held-out documents and by the gap of WinoBias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.extrinsic.coref.task import TASK_SETTINGS, CorefTask
from biasgauge.extrinsic.tasks_task import Task

if TYPE_CHECKING:
    from pathlib import Path


def _prepare(_: str, vectors: object, data: Path, **settings: Any) -> CorefTask:  # noqa: ANN401 - the task's
    return CorefTask(data, vectors, **settings)


TASKS = (
    Task(
        "coref",
        "coreference (Lee et al. 2017) on CoNLL files; gap: WinoBias pro − anti, types 1 and 2",
        TASK_SETTINGS,
        _prepare,
    ),
)
