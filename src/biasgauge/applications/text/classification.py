"""Text classification as a downstream task: Kim's CNN on frozen vectors, judged by group of people."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from biasgauge.applications.tasks.result import TaskSummary
from biasgauge.applications.text.batches import NumberedTexts
from biasgauge.applications.text.classification_summary import summarize
from biasgauge.applications.text.cnn_settings import THREADS, CnnSettings
from biasgauge.applications.text.data import TWITTER, Retweets, TextData, Tokenized, cleaned
from biasgauge.applications.text.groups import GroupWords, group_words, groups_by_words
from biasgauge.applications.text.vectors import TaskVectors, Unknown, task_vectors
from biasgauge.core import JsonObject, VectorsLike, check_choice
from biasgauge.errors import InputError, ParameterError
from biasgauge.stats import Resampling

TEXT_SETTINGS = frozenset({"as_published", "group_words", "order", "positive", "retweets", "tokenizer", "unknown"})


def need_torch() -> None:
    """Say how to get PyTorch where it is not installed."""
    if find_spec("torch") is None:
        raise InputError('Downstream tasks need PyTorch. Install it with: pip install "biasgauge[extrinsic]"')


class TextClassification:
    """A classification task with texts tokenized and vectors read; docs/extrinsic.md lists its settings.

    `as_published` trains (see `CnnSettings`) and averages as the released code of Goldfarb-Tarrant et al. 2021 does.
    """

    def __init__(
        self,
        data: TextData,
        vectors: VectorsLike,
        *,
        as_published: bool = False,
        group_words: GroupWords | None = None,
        order: Sequence[str] | None = None,
        positive: str | None = None,
        retweets: Retweets = "drop",
        tokenizer: str = TWITTER,
        unknown: Unknown = "zero",
        progress: Callable[[int, int], None] | None = None,
        **settings: Any,  # noqa: ANN401 - those of the classifier
    ) -> None:
        need_torch()
        self.cnn = CnnSettings.named(as_published=as_published, **settings)
        self.as_published = as_published
        self.parts, notes = cleaned(data, tokenizer, retweets)
        self.name, self.classes = data.name, data.classes
        self.positive = data.positive if positive is None else positive
        check_choice(self.classes, positive=self.positive)
        self.groups, self.order = _groups(self.parts["test"], data.order, group_words, order)
        self.vectors: TaskVectors = task_vectors(vectors, self.parts.values(), data.name, unknown, progress)
        self.vectors_name, self.vectors_checksum = self.vectors.name, self.vectors.checksum
        self.data_checksum, self.coverage = _checksum(self.parts), self.vectors.coverage
        self.warnings = (*data.warnings, *notes, *self.vectors.warnings)
        self.settings = {**self.cnn.to_dict(), "classes": list(self.classes)}
        self.recorded = {
            "data": data.name,
            "texts": {name: len(part) for name, part in self.parts.items()},
            "positive": self.positive,
            "as_published": as_published,
            "retweets": retweets,
            "tokenizer": tokenizer,
            "unknown": unknown,
            "threads": THREADS,
            "torch": version("torch"),
        }

    def train(self, seed: int, progress: Callable[[int, int], None] | None = None) -> JsonObject:
        """Train with one seed and predict the test texts."""
        from biasgauge.applications.text.cnn import fixed_threads, logits, train

        texts = {name: self._numbered(part) for name, part in self.parts.items()}
        table, classes = self.vectors.table, len(self.classes)
        with fixed_threads():
            run = train(texts["train"], texts["dev"], table, classes, self.cnn, seed=seed, progress=progress)
            predictions = logits(run.model, texts["test"]).argmax(dim=1).tolist()
        return {
            "predictions": predictions,
            "best": run.best._asdict(),
            "history": [evaluation._asdict() for evaluation in run.history],
            "training_losses": list(run.losses),
            "epochs": len(run.losses),
            "steps": run.steps,
            "dropout_steps": run.dropout_steps,
            "stopped_early": run.stopped_early,
        }

    def _numbered(self, part: Tokenized) -> NumberedTexts:
        places = {name: at for at, name in enumerate(self.classes)}
        labels = [places[label] for label in part.labels]
        return NumberedTexts.of(part.tokens, labels, self.vectors.numbers, least=max(self.cnn.widths))

    def summarize(self, outcomes: dict[int, JsonObject], how: Resampling) -> TaskSummary:
        """Metrics and gaps over seeds."""
        long = {"predictions", "history", "training_losses"}
        about = [{name: run[name] for name in run if name not in long} for run in outcomes.values()]
        return summarize(
            self.parts["test"].labels,
            [[self.classes[at] for at in run["predictions"]] for run in outcomes.values()],
            self.groups,
            list(outcomes),
            about,
            classes=self.classes,
            positive=self.positive,
            order=self.order,
            how=how,
            as_published=self.as_published,
        )


def _groups(
    test: Tokenized, known: Sequence[str] | None, words: GroupWords | None, order: Sequence[str] | None
) -> tuple[tuple[str | None, ...], Sequence[str] | None]:
    """Group of each test text, and the order of groups: that asked for, or of the words, or of the data."""
    groups = test.groups
    if words is not None:
        sets = group_words(words)
        groups, known = groups_by_words(test.tokens, sets), list(sets)
    present = {group for group in groups if group is not None}
    if order is not None and (missing := [name for name in order if name not in present]):
        raise ParameterError(
            f"No test text is about the group {missing[0]!r} of 'order'; groups are "
            f"{', '.join(sorted(present)) or 'none'}."
        )
    return groups, order if order is not None or known is None else [name for name in known if name in present]


def _checksum(parts: dict[str, Tokenized]) -> str:
    """SHA-256 of tokens and labels: whatever decides predictions. Groups do not."""
    digest = hashlib.sha256()
    for name, part in parts.items():
        digest.update(json.dumps([name, part.tokens, part.labels]).encode())
    return digest.hexdigest()
