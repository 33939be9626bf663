"""The convolutional classifier of Kim 2014 over frozen vectors, in PyTorch, and its training.

Two things make it several times as fast as convolution layers on the same processor. A filter's answer to a window is
a sum of one product for each token, and frozen vectors let every distinct token of a batch be multiplied once, however
often it occurs. And a maximum over time hands its gradient to one window only, so the gradient of a filter is a
weighted sum of a few token vectors. Both sums are embedding bags. Nothing else is different: tests hold outputs and
gradients against plain convolution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from biasgauge.applications.text.batches import NumberedTexts
from biasgauge.applications.text.cnn_settings import THREADS, CnnSettings, Monitor
from biasgauge.core import Integers, Singles
from biasgauge.errors import InputError

EVALUATED = 8192
"""Tokens evaluated at once."""


class _StrongestWindow(torch.autograd.Function):
    """For each text and filter the largest sum over windows; see the module's docstring."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - PyTorch's own
        weights: torch.Tensor,
        tokens: torch.Tensor,
        vectors: torch.Tensor,
        widths: Sequence[int],
        beyond: int | None,
    ) -> torch.Tensor:
        """Weights are (tokens of all widths × filters, dimensions), tokens (texts, time); gives (texts, features)."""
        places = sum(widths)
        filters = len(weights) // places
        distinct, tokens = torch.unique(tokens, return_inverse=True)
        used = vectors[distinct]
        products = used @ weights.T
        if beyond is not None and distinct[-1] == beyond:
            products[-1] = -torch.inf
        products = products.view(-1, filters)
        strongest, where = [], []
        place = 0
        for width in widths:
            windows = tokens.unfold(1, width, 1) * places + torch.arange(place, place + width, device=tokens.device)
            sums = functional.embedding_bag(windows.reshape(-1, width), products, mode="sum")
            best = sums.view(len(tokens), -1, filters).max(dim=1)
            strongest.append(best.values)
            where.append(best.indices)
            place += width
        ctx.save_for_backward(tokens, used, torch.stack(where))
        ctx.widths = tuple(widths)
        return torch.cat(strongest, dim=1)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401 - as above
        """The gradient of a filter's weights at a place: token vectors there, weighted by the gradient of the text."""
        tokens, used, where = ctx.saved_tensors
        columns, amounts = [], []
        for start, gradient, width in zip(where, gradients[0].chunk(len(where), dim=1), ctx.widths, strict=True):
            for place in range(width):
                columns.append(tokens.gather(1, start + place).T)
                amounts.append(gradient.T)
        weighted = torch.cat(amounts).contiguous()
        of_weights = functional.embedding_bag(torch.cat(columns), used, mode="sum", per_sample_weights=weighted)
        return of_weights, None, None, None, None


class KimCnn(nn.Module):
    """Filters over windows of tokens, their maximum over time, dropout, and one linear layer.

    The first row of `vectors` is zero, the last stands for what is beyond the end of a text; `generator` draws the
    starting weights and what dropout leaves out.
    """

    def __init__(self, settings: CnnSettings, vectors: torch.Tensor, classes: int, generator: torch.Generator) -> None:
        super().__init__()
        self.settings, self.vectors, self.generator = settings, vectors, generator
        dimensions, filters = vectors.shape[1], settings.filters
        features = len(settings.widths) * filters

        def drawn(*shape: int, fan_in: int) -> torch.Tensor:
            bound = fan_in**-0.5
            return torch.empty(shape).uniform_(-bound, bound, generator=generator)

        self.weights = nn.Parameter(
            torch.cat([drawn(width * filters, dimensions, fan_in=width * dimensions) for width in settings.widths])
        )
        self.bias = nn.Parameter(torch.cat([drawn(filters, fan_in=width * dimensions) for width in settings.widths]))
        self.output = nn.Parameter(drawn(classes, features, fan_in=features))
        self.output_bias = nn.Parameter(drawn(classes, fan_in=features))

    def features(self, tokens: torch.Tensor) -> torch.Tensor:
        """The strongest answer of each filter in each text, at least 0: (texts, widths × filters)."""
        beyond = None if self.settings.padding_counts else len(self.vectors) - 1
        apply: Callable[..., torch.Tensor] = _StrongestWindow.apply
        strongest = apply(self.weights, tokens, self.vectors, self.settings.widths, beyond)
        return functional.relu(strongest + self.bias)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits: (texts, classes)."""
        features = self.features(tokens)
        if self.training and self.settings.dropout:
            kept = 1 - self.settings.dropout
            features = features * torch.empty_like(features).bernoulli_(kept, generator=self.generator) / kept
        return functional.linear(features, self.output, self.output_bias)

    @torch.no_grad()
    def limit_norms(self) -> None:
        """Scale the weight vector of each class down to the largest norm allowed; shorter ones stay."""
        if self.settings.max_norm is not None:
            self.output.copy_(torch.renorm(self.output, 2, 0, self.settings.max_norm))


class Evaluation(NamedTuple):
    """How the classifier does on some texts after so many steps: mean cross-entropy, and share of right predictions."""

    step: int
    loss: float
    accuracy: float


class Best:
    """The best evaluation so far; `exhausted` after `patience` evaluations without improvement."""

    def __init__(self, monitor: Monitor, patience: int | None) -> None:
        self.monitor, self.patience = monitor, patience
        self.evaluation: Evaluation | None = None
        self.since = 0

    def improved(self, now: Evaluation) -> bool:
        """Whether this one is better than all before; as good is not better."""
        then = self.evaluation
        better = then is None or (now.loss < then.loss if self.monitor == "loss" else now.accuracy > then.accuracy)
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
    """A classifier with the weights of its best evaluation, and how its training went; `losses` are means by epoch."""

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
    vectors: Singles,
    classes: int,
    settings: CnnSettings,
    *,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Trained:
    """Train one classifier; the same bits for the same seed on one kind of processor."""
    random = torch.Generator().manual_seed(seed)
    model = KimCnn(settings, torch.from_numpy(vectors), classes, random)
    run = _Run(train_texts, dev_texts, model, seed)
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

    def __init__(self, texts: NumberedTexts, dev_texts: NumberedTexts, model: KimCnn, seed: int) -> None:
        self.texts, self.dev_texts, self.model, self.settings = texts, dev_texts, model, model.settings
        self.labels = torch.from_numpy(texts.labels)
        self.random = np.random.default_rng(seed)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=self.settings.learning_rate)
        self.best = Best(self.settings.monitor, self.settings.patience)
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

    def _step(self, places: Integers) -> float:
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
        answers, labels = logits(self.model, self.dev_texts), torch.from_numpy(self.dev_texts.labels)
        right = float((answers.argmax(dim=1) == labels).double().mean())
        self.history.append(Evaluation(self.steps, float(functional.cross_entropy(answers, labels)), right))
        if self.best.improved(self.history[-1]):
            self.weights = {name: weights.clone() for name, weights in self.model.state_dict().items()}
        self.model.train(self.settings.dropout_after_evaluation)

    def trained(self) -> Trained:
        """The best classifier, and how training went."""
        self.model.load_state_dict(self.weights)
        self.model.eval()
        best, history, losses = cast("Evaluation", self.best.evaluation), tuple(self.history), tuple(self.losses)
        return Trained(self.model, best, history, losses, self.steps, self.best.exhausted, self.dropout_steps)


@torch.no_grad()
def logits(model: KimCnn, texts: NumberedTexts) -> torch.Tensor:
    """Logits of all texts, in their order; the model must be in evaluation mode."""
    answers = torch.empty(len(texts), len(model.output))
    for places in texts.by_length(EVALUATED):
        answers[torch.from_numpy(places)] = model(torch.from_numpy(texts.batch(places)))
    return answers
