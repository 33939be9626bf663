"""A data set of labeled texts, and the task of classifying them that every one of them makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge.applications.tasks.task import Task
from biasgauge.applications.text.classification import TEXT_SETTINGS, TextClassification
from biasgauge.applications.text.cnn_settings import CnnSettings
from biasgauge.core import JsonObject, VectorsLike

if TYPE_CHECKING:
    from biasgauge.applications.text.data import TextData

CLASSIFIER = TEXT_SETTINGS | CnnSettings.names()
"""Settings of every task that classifies texts."""


@dataclass(frozen=True)
class DataSet:
    """Labeled texts that a classifier can learn from; `biasgauge extrinsic NAME` trains one on them.

    Attributes:
        name: of the data set, and of its task.
        about: what it is, in one sentence.
        load: called with the path of the data, and its settings as keywords.
        settings: names of those settings.
        asks_positive: `load` also takes `positive`, the class that the user counts as positive, or None.
    """

    name: str
    about: str
    load: Callable[..., TextData]
    settings: frozenset[str] = frozenset()
    asks_positive: bool = False

    def read(self, data: Path, settings: JsonObject) -> TextData:
        """Load the texts, with the data set's own settings taken out of `settings`."""
        own = {name: settings.pop(name) for name in self.settings if name in settings}
        if self.asks_positive:
            own["positive"] = settings.get("positive")
        return self.load(data, **own)

    def prepare(self, _name: str, vectors: VectorsLike, data: Path, **settings: Any) -> TextClassification:  # noqa: ANN401 - the task's
        """The task of classifying the texts, with texts and vectors read."""
        return TextClassification(self.read(data, settings), vectors, **settings)


@cache
def classification_task(data_set: DataSet) -> Task:
    """The task of classifying the texts of a data set."""
    settings = CLASSIFIER | data_set.settings
    return Task(data_set.name, data_set.about, settings, data_set.prepare, tells_reading=True)
