"""Repulsion, attraction, neutralization on arrays: each word finds its own new vector, many words at a time.

Source: Kumar, Bhotia & Chakraborty, "Nurse is Closer to Woman than Surgeon? Mitigating Gender-Biased Proximities in
Word Embeddings", TACL 8 (2020), §3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Single = np.ndarray[Any, np.dtype[np.float32]]

_NOTHING = 1e-6
_DECAYS = (0.9, 0.999)
_EPSILON = 1e-8


class Weights(NamedTuple):
    """How much each aim counts."""

    repulsion: float
    attraction: float
    neutralization: float


def indirect_bias(words: Single, neighbors: Single, direction: Single) -> Single:
    """Share of the similarity of each word with each of its neighbors that lies along the direction.

    All of length 1; `neighbors` is words × neighbors × dimensions. 0 where two are not similar, or one of them has
    nothing across the direction. Source: Bolukbasi et al. 2016, §5.3, β.
    """
    similar = np.einsum("wd,wnd->wn", words, neighbors)
    along_words, along_neighbors = words @ direction, neighbors @ direction
    across = similar - along_words[:, None] * along_neighbors
    lengths = np.sqrt(np.maximum(1 - along_words**2, 0))[:, None] * np.sqrt(np.maximum(1 - along_neighbors**2, 0))
    sound = (np.abs(similar) > _NOTHING) & (lengths > _NOTHING)
    share: Single = np.where(sound, 1 - across / np.where(sound, lengths * similar, 1), 0)
    return share


def slopes(
    current: Single, words: Single, neighbors: Single, repelled: Single, direction: Single, weights: Weights
) -> Single:
    """Gradient of each word's cost, where `repelled` holds 1 / (number of repelled neighbors) or 0.

    The cost is weights · (mean |cos| with repelled neighbors, (1 − cos with the original) / 2, |cos| with the
    direction).
    """
    lengths = np.sqrt(np.einsum("wd,wd->w", current, current))[:, None]
    units = current / lengths
    signs = np.sign(np.matmul(neighbors, units[:, :, None])[:, :, 0]) * repelled
    slope = weights.repulsion * np.matmul(signs[:, None, :], neighbors)[:, 0]
    slope -= weights.attraction / 2 * words
    slope += weights.neutralization * np.sign(units @ direction)[:, None] * direction
    found: Single = (slope - np.einsum("wd,wd->w", slope, units)[:, None] * units) / lengths
    return found


def repulsed(
    words: Single,
    neighbors: Single,
    direction: Single,
    weights: Weights,
    *,
    threshold: float,
    epochs: int,
    learning_rate: float,
) -> Single:
    """New directions for a block of words, by Adam from the old ones.

    A neighbor is repelled where more than `threshold` of its similarity with the word lies along the direction.
    """
    chosen = indirect_bias(words, neighbors, direction) > threshold
    order = np.argsort(~chosen, axis=1, kind="stable")[:, : max(int(chosen.sum(axis=1).max(initial=0)), 1)]
    near = np.ascontiguousarray(np.take_along_axis(neighbors, order[:, :, None], axis=1))
    kept = np.take_along_axis(chosen, order, axis=1)
    repelled = (kept / np.maximum(kept.sum(axis=1, keepdims=True), 1)).astype(np.float32)
    current, first, second = words.copy(), np.zeros_like(words), np.zeros_like(words)
    for epoch in range(1, epochs + 1):
        slope = slopes(current, words, near, repelled, direction, weights)
        first += (1 - _DECAYS[0]) * (slope - first)
        second += (1 - _DECAYS[1]) * (slope**2 - second)
        corrected = first / (1 - _DECAYS[0] ** epoch)
        current -= learning_rate * corrected / (np.sqrt(second / (1 - _DECAYS[1] ** epoch)) + _EPSILON)
    found: Single = current / np.sqrt(np.einsum("wd,wd->w", current, current))[:, None]
    return found
