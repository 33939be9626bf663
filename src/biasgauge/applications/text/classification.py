"""Text classification as a downstream task: Kim's CNN on frozen vectors, judged by group of people."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from biasgauge.applications.tasks.result import TaskSummary
from biasgauge.applications.text.batches import NumberedTexts
from biasgauge.applications.text.classification_summary import summarize
from biasgauge.applications.text.clean import TWITTER, Retweets, Tokenized, cleaned
from biasgauge.applications.text.cnn_settings import THREADS, CnnSettings
from biasgauge.applications.text.groups import GroupWords, group_words, groups_by_words
from biasgauge.applications.text.vectors import TaskVectors, Unknown, task_vectors
from biasgauge.errors import InputError, ParameterError
from biasgauge.inputs import VectorsLike
from biasgauge.stats.bootstrap import Resampling

if TYPE_CHECKING:
    from biasgauge.applications.text.data import TextData

TEXT_SETTINGS = frozenset({"as_published", "group_words", "order", "positive", "retweets", "tokenizer", "unknown"})


def need_torch() -> None:
    """Say how to get PyTorch where it is not installed.

    Raises:
        InputError: it is not.
    """
    if find_spec("torch") is None:
        raise InputError('Downstream tasks need PyTorch. Install it with: pip install "biasgauge[extrinsic]"')


class TextClassification:
    """A classification task with texts tokenized and vectors read.

    Args:
        data: the texts.
        vectors: a path, or anything `load` takes.
        as_published: as the released code of Goldfarb-Tarrant et al. 2021 trains (see `CnnSettings`) and averages.
        group_words: words of groups, for data that names none; see `text_groups.group_words`.
        order: groups in the order in which they are subtracted.
        positive: the class that counts as positive.
        retweets: drop or keep.
        tokenizer: "twitter" are the paper's rules.
        unknown: zero or subwords for words without a vector.
        progress: called with (done, total) as the vectors are read.
        settings: of the classifier.
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
        if self.positive not in self.classes:
            raise ParameterError(
                f"The 'positive' setting must be one of the labels {', '.join(self.classes)}. Got {positive!r}."
            )
        self.groups, self.order = _groups(self.parts["test"], data.order, group_words, order)
        found = task_vectors(vectors, self.parts.values(), data.name, unknown, progress)
        self.vectors: TaskVectors = found
        self.vectors_name = found.name
        self.vectors_checksum = found.checksum
        self.data_checksum = _checksum(self.parts)
        self.coverage = found.coverage
        self.warnings = (*data.warnings, *notes, *found.warnings)
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

    def train(self, seed: int, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
        """Train with one seed and predict the test texts."""
        from biasgauge.applications.text.cnn_training import fixed_threads, logits, train

        numbered = {name: self._numbered(part) for name, part in self.parts.items()}
        with fixed_threads():
            found = train(
                numbered["train"],
                numbered["dev"],
                self.vectors.table,
                len(self.classes),
                self.cnn,
                seed=seed,
                progress=progress,
            )
            predictions = logits(found.model, numbered["test"]).argmax(dim=1).tolist()
        return {
            "predictions": predictions,
            "best": found.best._asdict(),
            "history": [one._asdict() for one in found.history],
            "training_losses": list(found.losses),
            "epochs": len(found.losses),
            "steps": found.steps,
            "dropout_steps": found.dropout_steps,
            "stopped_early": found.stopped_early,
        }

    def _numbered(self, part: Tokenized) -> NumberedTexts:
        places = {name: at for at, name in enumerate(self.classes)}
        labels = [places[label] for label in part.labels]
        return NumberedTexts.of(part.tokens, labels, self.vectors.numbers, least=max(self.cnn.widths))

    def summarize(self, outcomes: dict[int, dict[str, Any]], how: Resampling) -> TaskSummary:
        """Metrics and gaps over seeds."""
        about = [
            {name: value for name, value in one.items() if name not in {"predictions", "history", "training_losses"}}
            for one in outcomes.values()
        ]
        return summarize(
            self.parts["test"].labels,
            [[self.classes[at] for at in one["predictions"]] for one in outcomes.values()],
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
