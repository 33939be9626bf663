"""Text classification on published data sets, and on one's own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge.errors import ParameterError
from biasgauge.extrinsic.classification import TEXT_SETTINGS, TextClassification
from biasgauge.extrinsic.cnn_settings import CnnSettings
from biasgauge.extrinsic.loaders.davidson import load_davidson
from biasgauge.extrinsic.loaders.edos import load_edos
from biasgauge.extrinsic.loaders.founta import load_founta
from biasgauge.extrinsic.loaders.hatecheck import load_hatecheck
from biasgauge.extrinsic.loaders.hateval import load_hateval
from biasgauge.extrinsic.loaders.mlma import load_mlma
from biasgauge.extrinsic.loaders.own_csv import load_csv
from biasgauge.extrinsic.tasks_task import Task
from biasgauge.extrinsic.text_data import TextData, Texts

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

HATEFUL, NOT_HATEFUL = "hateful", "not hateful"

LOADERS: dict[str, Callable[..., TextData]] = {
    "hateval-en": partial(load_hateval, language="en"),
    "hateval-es": partial(load_hateval, language="es"),
    "davidson": load_davidson,
    "edos": load_edos,
    "mlma": load_mlma,
    "founta": load_founta,
    "csv": load_csv,
}
"""What gives texts to learn from, by task."""
OPTIONS: dict[str, frozenset[str]] = {
    "davidson": frozenset({"split_seed"}),
    "mlma": frozenset({"split_seed"}),
    "founta": frozenset({"split_seed"}),
    "csv": frozenset({"split_seed", "text_column", "label_column", "group_column"}),
}
"""Settings of the loaders."""


def _prepare(name: str, vectors: object, data: Path, **settings: Any) -> TextClassification:  # noqa: ANN401 - the task's
    return TextClassification(_load(name, data, settings), vectors, **settings)


def _load(name: str, data: Path, settings: dict[str, Any]) -> TextData:
    """Read a data set, with its own settings taken out of `settings`."""
    own = {key: settings.pop(key) for key in OPTIONS.get(name, ()) if key in settings}
    if name in {"csv", "founta"}:
        own["positive"] = settings.get("positive")
    return LOADERS[name](data, **own)


def _prepare_challenge(
    name: str,
    vectors: object,
    data: Path,
    *,
    language: str,
    train_on: str | None = None,
    train_data: str | os.PathLike[str] | None = None,
    **settings: Any,  # noqa: ANN401 - as in _prepare
) -> TextClassification:
    """Learn from one data set whether a text is hateful, and be judged on HateCheck."""
    source = f"hateval-{language}" if train_on is None else train_on
    if source not in LOADERS:
        raise ParameterError(f"The 'train_on' setting must be one of {', '.join(LOADERS)}. Got {train_on!r}.")
    if train_data is None:
        raise ParameterError(
            f"Nothing is learnt from {name}, a challenge set: name the data of {source} to learn from ('train_data')."
        )
    for unused in sorted(settings.keys() - {"progress"} - _CLASSIFIER - OPTIONS.get(source, frozenset())):
        raise ParameterError(f"The task {source!r} has no setting {unused!r}.")
    learnt = _load(source, Path(train_data), settings)
    positive = settings.pop("positive", None) or learnt.positive
    if positive not in learnt.classes:
        raise ParameterError(
            f"The 'positive' setting must be one of the labels {', '.join(learnt.classes)}. Got {positive!r}."
        )
    challenge = TextData(
        f"{name} after {source}",
        {
            "train": _two_classes(learnt.parts["train"], positive),
            "dev": _two_classes(learnt.parts["dev"], positive),
            "test": load_hatecheck(data, language),
        },
        positive=HATEFUL,
    )
    return TextClassification(challenge, vectors, **settings)


def _two_classes(texts: Texts, positive: str) -> Texts:
    """The same texts, hateful where they carry the positive label."""
    return texts.relabelled([HATEFUL if label == positive else NOT_HATEFUL for label in texts.labels])


_ABOUT = {
    "hateval-en": "hate speech about women or migrants, English tweets (HatEval); gap: women − migrants",
    "hateval-es": "hate speech about women or migrants, Spanish tweets (HatEval); gap: women − migrants",
    "davidson": "hate speech, offensive language or neither, English tweets (Davidson); groups by words",
    "edos": "sexism, English posts (EDOS); groups by words",
    "mlma": "hate speech, English tweets (MLMA); gaps between 14 target groups",
    "founta": "abusive, hateful, normal or spam, English tweets (Founta), for those who hold it; gap: male − female",
    "csv": "your own table with text, label and group",
}
_CLASSIFIER = TEXT_SETTINGS | CnnSettings.names()
TASKS = (
    *(
        Task(name, about, _CLASSIFIER | OPTIONS.get(name, frozenset()), _prepare, tells_reading=True)
        for name, about in _ABOUT.items()
    ),
    *(
        Task(
            f"hatecheck-{language}",
            f"written cases by target group (HateCheck, {tongue}), for a classifier that learnt from other data",
            _CLASSIFIER | {"train_on", "train_data"} | frozenset().union(*OPTIONS.values()),
            partial(_prepare_challenge, language=language),
            tells_reading=True,
        )
        for language, tongue in (("en", "English"), ("es", "Spanish"))
    ),
)
