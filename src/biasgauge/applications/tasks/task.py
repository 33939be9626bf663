"""What a downstream task is: something to prepare once, train with a seed, and summarize over seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from biasgauge.applications.tasks.result import TaskSummary
from biasgauge.core import JsonObject
from biasgauge.stats import Resampling


class Prepared(Protocol):
    """A task with its data and vectors read.

    Attributes:
        vectors_name: what tables call the vectors.
        vectors_checksum: of the vectors that the task uses.
        data_checksum: of the data, cleaned.
        settings: everything else that decides the outcome of a cell, JSON-ready.
        recorded: what else to tell about settings.
        coverage: which share of the task's words has vectors.
        warnings: what to know before reading results.
    """

    vectors_name: str
    vectors_checksum: str
    data_checksum: str
    settings: JsonObject
    recorded: JsonObject
    coverage: JsonObject
    warnings: tuple[str, ...]

    def train(self, seed: int, progress: Callable[[int, int], None] | None) -> JsonObject:
        """Train and predict with one seed: a JSON-ready outcome, the same for the same seed."""

    def summarize(self, outcomes: dict[int, JsonObject], how: Resampling) -> TaskSummary:
        """Metrics and gaps from the outcomes of all seeds."""


@dataclass(frozen=True)
class Task:
    """One task by name.

    Attributes:
        name: as in `biasgauge extrinsic NAME`.
        about: what it is, in one sentence.
        settings: names of the settings that `prepare` takes.
        prepare: called with the name, the vectors, the path of the data, and the settings as keywords.
        tells_reading: whether `prepare` takes the keyword `progress` too, called with (done, total) while it reads.
    """

    name: str
    about: str
    settings: frozenset[str]
    prepare: Callable[..., Prepared]
    tells_reading: bool = False
