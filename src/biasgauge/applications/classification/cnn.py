"""The convolutional classifier of Kim 2014 over frozen vectors, in PyTorch, and its training.

Two things make it several times as fast as convolution layers on the same processor. A filter's answer to a window is
a sum of one product for each token, and frozen vectors let every distinct token of a batch be multiplied once, however
often it occurs. And a maximum over time hands its gradient to one window only, so the gradient of a filter is a
weighted sum of a few token vectors. Both sums are embedding bags. Nothing else is different: tests hold outputs and
gradients against plain convolution. Tokens of all texts lie in one array; a batch is cut out of it in one step, without
a loop over texts or tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from biasgauge.applications.classification.settings import THREADS, CnnSettings
from biasgauge.core import Integers, Singles
from biasgauge.errors import InputError

TOKENS_AT_ONCE = 8192
"""Tokens evaluated at once."""
POOL_BATCHES = 50
"""Batches whose texts are sorted by length together: little padding, and every epoch mixes texts anew."""
UNKNOWN = 0
"""The number of words without a vector, and of what fills a short text up."""


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
        offsets = sum(widths)
        filters = len(weights) // offsets
        distinct, tokens = torch.unique(tokens, return_inverse=True)
        used = vectors[distinct]
        products = used @ weights.T
        # windows that reach beyond the end of a text can never be the largest
        if beyond is not None and distinct[-1] == beyond:
            products[-1] = -torch.inf
        products = products.view(-1, filters)
        strongest, windows_won = [], []
        offset = 0
        for width in widths:
            # row of `products` for each token of a window: (token, offset within the filter)
            windows = tokens.unfold(1, width, 1) * offsets + torch.arange(offset, offset + width, device=tokens.device)
            sums = functional.embedding_bag(windows.reshape(-1, width), products, mode="sum")
            best = sums.view(len(tokens), -1, filters).max(dim=1)
            strongest.append(best.values)
            windows_won.append(best.indices)
            offset += width
        ctx.save_for_backward(tokens, used, torch.stack(windows_won))
        ctx.widths = tuple(widths)
        return torch.cat(strongest, dim=1)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401 - as above
        """The gradient of a filter's weights at a place: token vectors there, weighted by the gradient of the text."""
        tokens, used, windows_won = ctx.saved_tensors
        columns, amounts = [], []
        chunks = gradients[0].chunk(len(windows_won), dim=1)
        for start, gradient, width in zip(windows_won, chunks, ctx.widths, strict=True):
            for offset in range(width):
                columns.append(tokens.gather(1, start + offset).T)
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

        def draw(*shape: int, fan_in: int) -> torch.Tensor:
            bound = fan_in**-0.5
            return torch.empty(shape).uniform_(-bound, bound, generator=generator)

        self.weights = nn.Parameter(
            torch.cat([draw(width * filters, dimensions, fan_in=width * dimensions) for width in settings.widths])
        )
        self.bias = nn.Parameter(torch.cat([draw(filters, fan_in=width * dimensions) for width in settings.widths]))
        self.output = nn.Parameter(draw(classes, features, fan_in=features))
        self.output_bias = nn.Parameter(draw(classes, fan_in=features))

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
            keep_share = 1 - self.settings.dropout
            mask = torch.empty_like(features).bernoulli_(keep_share, generator=self.generator)
            features = features * mask / keep_share
        return functional.linear(features, self.output, self.output_bias)

    @torch.no_grad()
    def limit_norms(self) -> None:
        """Scale the weight vector of each class down to the largest norm allowed; shorter ones stay."""
        if self.settings.max_norm is not None:
            self.output.copy_(torch.renorm(self.output, 2, 0, self.settings.max_norm))


class Evaluation(NamedTuple):
    """Mean cross-entropy and accuracy of the classifier on some texts after so many steps."""

    step: int
    loss: float
    accuracy: float


def best_evaluation(history: Sequence[Evaluation], settings: CnnSettings) -> tuple[Evaluation, bool]:
    """The first of the best evaluations, and whether patience is at its end: so many since without improvement."""
    by_loss = settings.monitor == "loss"
    best = min(history, key=lambda evaluation: evaluation.loss if by_loss else -evaluation.accuracy)
    since = len(history) - 1 - history.index(best)
    return best, settings.patience is not None and since >= settings.patience


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
    model = KimCnn(settings, torch.from_numpy(vectors), classes, torch.Generator().manual_seed(seed))
    random, optimizer = np.random.default_rng(seed), torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
    labels, dev_labels = torch.from_numpy(train_texts.labels), torch.from_numpy(dev_texts.labels)
    history: list[Evaluation] = []
    losses: list[float] = []
    weights: dict[str, torch.Tensor] = {}
    steps = dropout_steps = 0
    stopped, report = False, progress or (lambda _done, _total: None)
    model.train()

    def evaluate() -> bool:
        """Judge by the dev texts and remember the weights if they are the best so far; return whether to stop."""
        nonlocal weights
        model.eval()
        predicted = logits(model, dev_texts)
        accuracy = float((predicted.argmax(dim=1) == dev_labels).double().mean())
        history.append(Evaluation(steps, float(functional.cross_entropy(predicted, dev_labels)), accuracy))
        best, exhausted = best_evaluation(history, settings)
        if best is history[-1]:
            weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        model.train(settings.dropout_after_evaluation)
        return exhausted

    for epoch in range(settings.epochs):
        total, seen = 0.0, 0
        for rows in train_texts.shuffled(settings.batch, random):
            optimizer.zero_grad(set_to_none=True)
            predicted = model(torch.from_numpy(train_texts.batch(rows)))
            loss = functional.cross_entropy(predicted, labels[torch.from_numpy(rows)])
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            model.limit_norms()
            steps += 1
            dropout_steps += model.training
            total, seen = total + loss.item() * len(rows), seen + len(rows)
            if settings.evaluate_every is not None and steps % settings.evaluate_every == 0 and (stopped := evaluate()):
                break
        losses.append(total / seen)
        if not np.isfinite(total):
            raise InputError("Training diverged: the loss is not finite; lower the learning rate or scale the vectors.")
        if settings.evaluate_every is None:
            stopped = evaluate()
        report(epoch + 1, settings.epochs)
        if stopped:
            break
    if not history:  # fewer steps than evaluate_every
        evaluate()
    model.load_state_dict(weights)
    model.eval()
    best, _ = best_evaluation(history, settings)
    return Trained(model, best, tuple(history), tuple(losses), steps, stopped, dropout_steps)


@torch.no_grad()
def logits(model: KimCnn, texts: NumberedTexts) -> torch.Tensor:
    """Logits of all texts, in their order; the model must be in evaluation mode."""
    predicted = torch.empty(len(texts), len(model.output))
    for rows in texts.by_length(TOKENS_AT_ONCE):
        predicted[torch.from_numpy(rows)] = model(torch.from_numpy(texts.batch(rows)))
    return predicted


@dataclass(frozen=True)
class NumberedTexts:
    """Texts as numbers of tokens, one text after the other; `beyond` stands for what is beyond the end of a text.

    Behind all texts `tokens` has `beyond` as many times as the longest text has tokens.
    """

    tokens: Integers
    starts: Integers
    lengths: Integers
    labels: Integers
    beyond: int

    def __len__(self) -> int:
        return len(self.lengths)

    @classmethod
    def of(
        cls, texts: Sequence[Sequence[str]], labels: Sequence[int], numbers: Mapping[str, int], *, least: int
    ) -> NumberedTexts:
        """Number the tokens: those that `numbers` lacks are 0, and texts shorter than `least` are filled up with 0."""
        beyond = max(numbers.values(), default=UNKNOWN) + 1
        flat: list[int] = []
        for text in texts:
            flat += [numbers.get(token, UNKNOWN) for token in text]
            flat += [UNKNOWN] * (least - len(text))
        lengths: Integers = np.array([max(least, len(text)) for text in texts], np.int64)
        longest = int(lengths.max(initial=0))
        tokens: Integers = np.array(flat + [beyond] * longest, np.int64)
        starts: Integers = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)[: len(texts)]
        return cls(tokens, starts, lengths, np.asarray(labels, np.int64), beyond)

    def batch(self, rows: Integers) -> Integers:
        """Tokens of some texts: (texts, time), up to the longest of them."""
        lengths = self.lengths[rows]
        time: Integers = np.arange(lengths.max())
        tokens: Integers = self.tokens[self.starts[rows][:, None] + time]
        tokens[time >= lengths[:, None]] = self.beyond
        return tokens

    def shuffled(self, size: int, random: np.random.Generator) -> Iterator[Integers]:
        """Places of the texts of each batch of an epoch: at random, but of like length within a batch."""
        order = random.permutation(len(self))
        batches: list[Integers] = []
        for start in range(0, len(order), POOL_BATCHES * size):
            pool = order[start : start + POOL_BATCHES * size]
            pool = pool[np.argsort(self.lengths[pool], kind="stable")]
            batches += [pool[first : first + size] for first in range(0, len(pool), size)]
        for index in random.permutation(len(batches)):
            yield batches[index]

    def by_length(self, most_tokens: int) -> Iterator[Integers]:
        """Places of the texts of each batch, the shortest first; a batch has so many tokens, or one text."""
        order = np.argsort(self.lengths, kind="stable")
        start = 0
        while start < len(order):
            sizes = self.lengths[order[start : start + most_tokens]]
            count = max(1, int((sizes * np.arange(1, len(sizes) + 1) <= most_tokens).sum()))
            yield order[start : start + count]
            start += count
