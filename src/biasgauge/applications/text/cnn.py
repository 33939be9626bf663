"""The convolutional classifier of Kim 2014 over frozen vectors, in PyTorch.

Two things make it several times as fast as convolution layers on the same processor. A filter's answer to a window is
a sum of one product for each token, and frozen vectors let every distinct token of a batch be multiplied once, however
often it occurs. And a maximum over time hands its gradient to one window only, so the gradient of a filter is a
weighted sum of a few token vectors. Both sums are embedding bags. Nothing else is different: tests hold outputs and
gradients against plain convolution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from biasgauge.applications.text.cnn_settings import CnnSettings


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
        found = functional.embedding_bag(
            torch.cat(columns), used, mode="sum", per_sample_weights=torch.cat(amounts).contiguous()
        )
        return found, None, None, None, None


class KimCnn(nn.Module):
    """Filters over windows of tokens, their maximum over time, dropout, and one linear layer.

    Args:
        settings: of the classifier.
        vectors: rows for tokens; the first is zero, the last stands for what is beyond the end of a text.
        classes: how many.
        generator: draws the starting weights and what dropout leaves out.
    """

    def __init__(self, settings: CnnSettings, vectors: torch.Tensor, classes: int, generator: torch.Generator) -> None:
        super().__init__()
        self.settings = settings
        self.vectors = vectors
        self.generator = generator
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
