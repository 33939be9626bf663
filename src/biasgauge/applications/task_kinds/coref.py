"""Coreference, judged on held-out documents and by the gap of WinoBias."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasgauge.applications.coref.task import TASK_SETTINGS, CorefTask
from biasgauge.applications.tasks.task import Task
from biasgauge.core import VectorsLike


def _prepare(_: str, vectors: VectorsLike, data: Path, **settings: Any) -> CorefTask:  # noqa: ANN401 - the task's
    return CorefTask(data, vectors, **settings)


TASK = Task(
    "coref",
    "coreference (Lee et al. 2017) on CoNLL files; gap: WinoBias pro − anti, types 1 and 2",
    TASK_SETTINGS,
    _prepare,
)
