"""A downstream task: of two words the one that is nearer to a third; lines "word,one,other,which is right"."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.applications import SeedRun, Task, TaskMetric, TaskSummary
from biasgauge.vectors import load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.core.inputs import VectorsLike
    from biasgauge.stats import Resampling
    from biasgauge.vectors import Embedding


class WordChoice:
    """The task with its data and vectors read; the attributes say what its outcomes depend on."""

    def __init__(self, vectors: Embedding, data: Path) -> None:
        self.questions = [line.split(",") for line in data.read_text(encoding="utf-8").splitlines()]
        self.vectors = vectors
        self.vectors_name = vectors.name
        self.vectors_checksum = vectors.checksum
        self.data_checksum = sha256(data.read_bytes()).hexdigest()
        self.settings: dict[str, Any] = {}
        self.recorded: dict[str, Any] = {}
        self.coverage = vectors.coverage({"words": [word for row in self.questions for word in row]}).to_dict()
        self.warnings: tuple[str, ...] = ()

    def train(self, seed: int, progress: Callable[[int, int], None] | None) -> dict[str, Any]:  # noqa: ARG002 - nothing is random here
        """One outcome, which must be JSON."""
        return {"right": [self._nearer(*row[:3]) == row[3] for row in self.questions]}

    def _nearer(self, word: str, one: str, other: str) -> str:
        unit = {name: self.vectors[name] / np.linalg.norm(self.vectors[name]) for name in (word, one, other)}
        return one if unit[word] @ unit[one] >= unit[word] @ unit[other] else other

    def summarize(self, outcomes: dict[int, dict[str, Any]], resampling: Resampling) -> TaskSummary:  # noqa: ARG002 - no interval
        """Metrics and gaps of all seeds."""
        shares = tuple(float(np.mean(outcome["right"])) for outcome in outcomes.values())
        accuracy = TaskMetric(
            metric="accuracy",
            positive_class=None,
            group=None,
            value=float(np.mean(shares)),
            values=shares,
            n=len(self.questions),
        )
        seeds = tuple(SeedRun(seed, {}, ()) for seed in outcomes)
        return TaskSummary((accuracy,), (), seeds, {}, (), no_gaps="words are nobody's group")


def prepare(_name: str, vectors: VectorsLike, data: Path) -> WordChoice:
    """Read the data and the vectors; further keywords would be settings."""
    return WordChoice(load(vectors), data)


TASK = Task("word-choice", "which of two words is nearer to a third", frozenset(), prepare)
