"""Tasks that are more than the classification of a data set: coreference and HateCheck.

HateCheck (Röttger et al. 2021, 2022) is a challenge set of written cases by target group: nothing is learned from it;
a classifier that learned from another data set is evaluated on it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from biasgauge import registry
from biasgauge.applications.classification.data_sets import find_file, read_table
from biasgauge.applications.classification.task import CLASSIFIER, TextClassification
from biasgauge.applications.classification.texts import TextData, Texts
from biasgauge.applications.coref.task import TASK_SETTINGS, CorefTask
from biasgauge.applications.task import Task
from biasgauge.core import VectorsLike, check_choice
from biasgauge.errors import ParameterError

HATEFUL, NOT_HATEFUL = "hateful", "not hateful"
FILES = {
    "en": ("test_suite_cases.csv", "hatecheck_en_test_suite_cases.csv"),
    "es": ("hatecheck_cases_final_spanish.csv",),
}


def load_hatecheck(data: Path, language: str) -> Texts:
    """Cases of one language: columns test_case, label_gold and target_ident; cases without a target have no group."""
    table = read_table(find_file(data, FILES[language], "HateCheck's cases"))
    groups = [group or None for group in table.cells("target_ident")]
    return Texts.of(
        table.path,
        table.cells("test_case"),
        table.coded("label_gold", {"hateful": HATEFUL, "non-hateful": NOT_HATEFUL}),
        groups,
    )


def _prepare_hatecheck(
    name: str,
    vectors: VectorsLike,
    data: Path,
    *,
    language: str,
    train_on: str | None = None,
    train_data: str | os.PathLike[str] | None = None,
    **settings: Any,  # noqa: ANN401 - the task's
) -> TextClassification:
    """Learn from one data set whether a text is hateful; the test texts are the cases of HateCheck."""
    source = f"hateval-{language}" if train_on is None else train_on
    check_choice(registry.names("data_set"), train_on=source)
    if train_data is None:
        raise ParameterError(
            f"Nothing is learned from {name}, a challenge set: name the data of {source} to learn from ('train_data')."
        )
    data_set = registry.get("data_set", source)
    for unused in sorted(settings.keys() - {"progress"} - CLASSIFIER - data_set.settings):
        raise ParameterError(f"The task {source!r} has no setting {unused!r}.")
    training_data = data_set.read(Path(train_data), settings)
    positive = settings.pop("positive", None) or training_data.positive
    check_choice(training_data.classes, positive=positive)
    parts = {}
    for split in ("train", "dev"):
        texts = training_data.parts[split]
        labels = tuple(HATEFUL if label == positive else NOT_HATEFUL for label in texts.labels)
        parts[split] = replace(texts, labels=labels)
    parts["test"] = load_hatecheck(data, language)
    return TextClassification(TextData(f"{name} after {source}", parts, positive=HATEFUL), vectors, **settings)


_HATECHECK_SETTINGS = CLASSIFIER.union(
    {"train_on", "train_data"}, *(data_set.settings for data_set in registry.everything("data_set").values())
)
TASK = (
    Task(
        "coref",
        "coreference (Lee et al. 2017) on CoNLL files; gap: WinoBias pro − anti, types 1 and 2",
        TASK_SETTINGS,
        lambda _, vectors, data, **settings: CorefTask(data, vectors, **settings),
    ),
    *(
        Task(
            f"hatecheck-{code}",
            f"written cases by target group (HateCheck, {language}), for a classifier that learned from other data",
            _HATECHECK_SETTINGS,
            partial(_prepare_hatecheck, language=code),
            tells_reading=True,
        )
        for code, language in (("en", "English"), ("es", "Spanish"))
    ),
)
