"""HateCheck: a classifier that learned from another data set is judged on written cases."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

from biasgauge import registry
from biasgauge.applications.loaders.hatecheck import load_hatecheck
from biasgauge.applications.tasks.task import Task
from biasgauge.applications.text.classification import TextClassification
from biasgauge.applications.text.data import TextData, Texts
from biasgauge.applications.text.data_set import CLASSIFIER
from biasgauge.errors import ParameterError
from biasgauge.inputs import VectorsLike

HATEFUL, NOT_HATEFUL = "hateful", "not hateful"


def _prepare(
    name: str,
    vectors: VectorsLike,
    data: Path,
    *,
    language: str,
    train_on: str | None = None,
    train_data: str | os.PathLike[str] | None = None,
    **settings: Any,  # noqa: ANN401 - the task's
) -> TextClassification:
    """Learn from one data set whether a text is hateful, and be judged on HateCheck."""
    source = f"hateval-{language}" if train_on is None else train_on
    known = registry.names("data_set")
    if source not in known:
        raise ParameterError(f"The 'train_on' setting must be one of {', '.join(known)}. Got {train_on!r}.")
    if train_data is None:
        raise ParameterError(
            f"Nothing is learned from {name}, a challenge set: name the data of {source} to learn from ('train_data')."
        )
    data_set = registry.get("data_set", source)
    for unused in sorted(settings.keys() - {"progress"} - CLASSIFIER - data_set.settings):
        raise ParameterError(f"The task {source!r} has no setting {unused!r}.")
    learned = data_set.read(Path(train_data), settings)
    positive = settings.pop("positive", None) or learned.positive
    if positive not in learned.classes:
        raise ParameterError(
            f"The 'positive' setting must be one of the labels {', '.join(learned.classes)}. Got {positive!r}."
        )
    challenge = TextData(
        f"{name} after {source}",
        {
            "train": _two_classes(learned.parts["train"], positive),
            "dev": _two_classes(learned.parts["dev"], positive),
            "test": load_hatecheck(data, language),
        },
        positive=HATEFUL,
    )
    return TextClassification(challenge, vectors, **settings)


def _two_classes(texts: Texts, positive: str) -> Texts:
    """The same texts, hateful where they carry the positive label."""
    return texts.relabeled([HATEFUL if label == positive else NOT_HATEFUL for label in texts.labels])


_SETTINGS = CLASSIFIER.union(
    {"train_on", "train_data"}, *(data_set.settings for data_set in registry.everything("data_set").values())
)
TASK = tuple(
    Task(
        f"hatecheck-{language}",
        f"written cases by target group (HateCheck, {tongue}), for a classifier that learned from other data",
        _SETTINGS,
        partial(_prepare, language=language),
        tells_reading=True,
    )
    for language, tongue in (("en", "English"), ("es", "Spanish"))
)
