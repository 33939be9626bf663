"""HateCheck (Röttger et al. 2021, 2022): written cases that a classifier should get right, by target group.

A challenge set: nothing is learned from it; a classifier that learned from another data set is judged on it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from biasgauge import registry
from biasgauge.applications.tasks.task import Task
from biasgauge.applications.text.classification import TextClassification
from biasgauge.applications.text.data import TextData, Texts
from biasgauge.applications.text.data_set import CLASSIFIER
from biasgauge.applications.text.tables import find_file, read_table
from biasgauge.core import VectorsLike, check_choice
from biasgauge.errors import ParameterError

HATEFUL, NOT_HATEFUL = "hateful", "not hateful"
NAMES = {"hateful": HATEFUL, "non-hateful": NOT_HATEFUL}
FILES = {
    "en": ("test_suite_cases.csv", "hatecheck_en_test_suite_cases.csv"),
    "es": ("hatecheck_cases_final_spanish.csv",),
}


def load_hatecheck(data: Path, language: str) -> Texts:
    """The cases of one language: columns test_case, label_gold and target_ident; cases about nobody have no group."""
    table = read_table(find_file(data, FILES[language], "HateCheck's cases"))
    groups = [group or None for group in table.cells("target_ident")]
    return Texts.of(table, table.cells("test_case"), table.coded("label_gold", NAMES), groups)


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
    check_choice(registry.names("data_set"), train_on=source)
    if train_data is None:
        raise ParameterError(
            f"Nothing is learned from {name}, a challenge set: name the data of {source} to learn from ('train_data')."
        )
    data_set = registry.get("data_set", source)
    for unused in sorted(settings.keys() - {"progress"} - CLASSIFIER - data_set.settings):
        raise ParameterError(f"The task {source!r} has no setting {unused!r}.")
    learned = data_set.read(Path(train_data), settings)
    positive = settings.pop("positive", None) or learned.positive
    check_choice(learned.classes, positive=positive)
    parts = {}
    for part in ("train", "dev"):
        texts = learned.parts[part]
        labels = tuple(HATEFUL if label == positive else NOT_HATEFUL for label in texts.labels)
        parts[part] = replace(texts, labels=labels)
    parts["test"] = load_hatecheck(data, language)
    return TextClassification(TextData(f"{name} after {source}", parts, positive=HATEFUL), vectors, **settings)


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
