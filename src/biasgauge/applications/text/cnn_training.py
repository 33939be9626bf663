"""Train the classifier: Adam, dropout on at every step, max-norm, the best weights by the dev texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch.nn import functional

from biasgauge.applications.text.batches import Ints, NumberedTexts
from biasgauge.applications.text.cnn import KimCnn
from biasgauge.applications.text.cnn_settings import THREADS, CnnSettings, Monitor
from biasgauge.errors import InputError

Floats = np.ndarray[Any, np.dtype[np.float32]]

EVALUATED = 8192
"""Tokens evaluated at once."""


class Evaluation(NamedTuple):
    """How the classifier does on some texts.

    Attributes:
        step: training steps before it.
        loss: mean cross-entropy; log(classes) for one that knows nothing.
        accuracy: share of right predictions.
    """

    step: int
    loss: float
    accuracy: float


class Best:
    """Keeps track of the best evaluation.

    Args:
        monitor: "loss" (smaller is better) or "accuracy".
        patience: evaluations without improvement before `exhausted`; None for never.
    """

    def __init__(self, monitor: Monitor, patience: int | None) -> None:
        self.monitor, self.patience = monitor, patience
        self.evaluation: Evaluation | None = None
        self.since = 0

    def improved(self, now: Evaluation) -> bool:
        """Whether this one is better than all before; as good is not better."""
        then = self.evaluation
        better = (
            then is None
            or (self.monitor == "loss" and now.loss < then.loss)
            or (self.monitor == "accuracy" and now.accuracy > then.accuracy)
        )
        self.since = 0 if better else self.since + 1
        if better:
            self.evaluation = now
        return better

    @property
    def exhausted(self) -> bool:
        """Whether patience is at its end."""
        return self.patience is not None and self.since >= self.patience


@dataclass(frozen=True)
class Trained:
    """A trained classifier.

    Attributes:
        model: with the weights of the best evaluation, in evaluation mode.
        best: that evaluation.
        history: all evaluations on the dev texts.
        losses: mean loss of each epoch's training steps.
        steps: training steps.
        stopped_early: whether patience ended it.
        dropout_steps: training steps that had dropout on.
    """

    model: KimCnn
    best: Evaluation
    history: tuple[Evaluation, ...]
    losses: tuple[float, ...]
    steps: int
    stopped_early: bool
    dropout_steps: int


@contextmanager
def fixed_threads(count: int = THREADS) -> Iterator[None]:
    """Run PyTorch on so many threads, then as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def train(
    train_texts: NumberedTexts,
    dev_texts: NumberedTexts,
    vectors: Floats,
    classes: int,
    settings: CnnSettings,
    *,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Trained:
    """Train one classifier; the same bits for the same seed on one kind of processor.

    Raises:
        InputError: the loss is not finite.
    """
    run = _Run(train_texts, dev_texts, vectors, classes, settings, seed)
    for epoch in range(settings.epochs):
        run.epoch()
        if progress is not None:
            progress(epoch + 1, settings.epochs)
        if run.best.exhausted:
            break
    if run.best.evaluation is None:  # fewer steps than evaluate_every
        run.evaluate()
    return run.trained()


class _Run:
    """A classifier in training."""

    def __init__(
        self,
        train_texts: NumberedTexts,
        dev_texts: NumberedTexts,
        vectors: Floats,
        classes: int,
        settings: CnnSettings,
        seed: int,
    ) -> None:
        self.texts, self.dev_texts, self.settings = train_texts, dev_texts, settings
        self.labels = torch.from_numpy(train_texts.labels)
        self.random = np.random.default_rng(seed)
        self.model = KimCnn(settings, torch.from_numpy(vectors), classes, torch.Generator().manual_seed(seed))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings.learning_rate)
        self.best = Best(settings.monitor, settings.patience)
        self.weights: dict[str, torch.Tensor] = {}
        self.history: list[Evaluation] = []
        self.losses: list[float] = []
        self.steps = self.dropout_steps = 0
        self.model.train()

    def epoch(self) -> None:
        """Go through the texts once, or until patience is at its end."""
        every = self.settings.evaluate_every
        total, seen = 0.0, 0
        for places in self.texts.shuffled(self.settings.batch, self.random):
            total += self._step(places) * len(places)
            seen += len(places)
            if every is not None and self.steps % every == 0:
                self.evaluate()
                if self.best.exhausted:
                    break
        self.losses.append(total / seen)
        if not np.isfinite(total):
            raise InputError("Training diverged: the loss is not finite; lower the learning rate or scale the vectors.")
        if every is None:
            self.evaluate()

    def _step(self, places: Ints) -> float:
        self.optimizer.zero_grad(set_to_none=True)
        answers = self.model(torch.from_numpy(self.texts.batch(places)))
        loss = functional.cross_entropy(answers, self.labels[torch.from_numpy(places)])
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.model.limit_norms()
        self.steps += 1
        self.dropout_steps += self.model.training
        return loss.item()

    def evaluate(self) -> None:
        """Judge the classifier by the dev texts, keep its weights if it is the best so far, and go on training."""
        self.model.eval()
        self.history.append(Evaluation(self.steps, *_scores(logits(self.model, self.dev_texts), self.dev_texts.labels)))
        if self.best.improved(self.history[-1]):
            self.weights = {name: one.clone() for name, one in self.model.state_dict().items()}
        self.model.train(self.settings.dropout_after_evaluation)

    def trained(self) -> Trained:
        """The best classifier, and how training went."""
        self.model.load_state_dict(self.weights)
        self.model.eval()
        best = cast("Evaluation", self.best.evaluation)
        stopped = self.best.exhausted
        return Trained(
            self.model, best, tuple(self.history), tuple(self.losses), self.steps, stopped, self.dropout_steps
        )


@torch.no_grad()
def logits(model: KimCnn, texts: NumberedTexts) -> torch.Tensor:
    """Logits of all texts, in their order; the model must be in evaluation mode."""
    found = torch.empty(len(texts), len(model.output))
    for places in texts.by_length(EVALUATED):
        found[torch.from_numpy(places)] = model(torch.from_numpy(texts.batch(places)))
    return found


def _scores(found: torch.Tensor, labels: Ints) -> tuple[float, float]:
    true = torch.from_numpy(labels)
    return float(functional.cross_entropy(found, true)), float((found.argmax(dim=1) == true).double().mean())
