"""Attract-Repel on arrays: steps of stochastic descent that touch no word outside the constraints.

Source: Mrkšić et al., "Semantic Specialization of Distributional Word Vector Spaces using Monolingual and
Cross-Lingual Constraints", TACL 5 (2017), §3. For a pair (l, r) with negative examples t, all scaled to length 1, the
cost of attracting is relu(margin + l·t_l − l·r) + relu(margin + r·t_r − l·r), and of repelling the same with both
products negated. The gradient with respect to the scaled vectors is a sum of other scaled vectors, so a batch's
gradient is one product of a small matrix of coefficients with the batch's vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from biasgauge.core import Floats, Places, row_lengths, unit_rows

_START = 0.1
"""What the sums of squared gradients of Adagrad begin with, as TensorFlow has it."""


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Settings of the descent.

    Attributes:
        attract_margin, repel_margin: by how much a pair must be closer (farther apart) than its negative examples.
        regularization: pull back to the original vectors.
        batch_size: pairs in a step.
        learning_rate: of Adagrad.
        clip: gradients are cut at so much either way.
        as_published: the pull is multiplied by the batch size and goes to the original vectors at their own length;
            the pairs beyond the last whole batch are left out; a negative example may be the same word from another
            pair; descent starts from vectors at their own length. By default none of that holds: batches are of even
            size, and vectors start at length 1.
    """

    attract_margin: float = 0.6
    repel_margin: float = 0.0
    regularization: float = 1e-9
    batch_size: int = 50
    learning_rate: float = 0.05
    clip: float = 2.0
    as_published: bool = False


class Batch(NamedTuple):
    """One step: pairs of places among the words of the batch (pairs × 2), with a negative example for either end.

    A negative is −1 where there is none; the sign is 1 to attract, −1 to repel; the margin is that of the cost.
    """

    pairs: Places
    negatives: Places
    sign: float
    margin: float


def descend(
    vectors: Floats, attract: Places, repel: Places, settings: Descent, random: np.random.Generator
) -> Iterator[Floats]:
    """Vectors after each epoch, without end. `attract` and `repel` hold pairs of places among the vectors."""
    original = np.array(vectors) if settings.as_published else unit_rows(np.asarray(vectors, np.float64), rescale=True)
    current = original.copy()
    kinds = (attract, 1.0, settings.attract_margin), (repel, -1.0, settings.repel_margin)
    squares = [np.full_like(current, _START) for _ in kinds]
    while True:
        batches = [_batches(len(pairs), settings, random) for pairs, _, _ in kinds]
        order = random.permutation([0] * len(batches[0]) + [1] * len(batches[1]))
        coming = [iter(batch) for batch in batches]
        for kind in order.tolist():
            pairs, sign, margin = kinds[kind]
            words, places = np.unique(pairs[next(coming[kind])], return_inverse=True)
            places = places.reshape(-1, 2)
            units = unit_rows(current[words], rescale=True)
            negatives = negative_examples(units, places, sign, random, by_place=settings.as_published)
            batch = Batch(places, negatives, sign, margin)
            slope = gradient(current[words], original[words], batch, settings)
            step(current, squares[kind], words, np.clip(slope, -settings.clip, settings.clip), settings.learning_rate)
        yield current.copy()


def _batches(pairs: int, settings: Descent, random: np.random.Generator) -> list[Places]:
    """Places of the pairs of each batch of an epoch."""
    order = random.permutation(pairs)
    size = settings.batch_size
    if settings.as_published:
        return [order[start : start + size] for start in range(0, pairs - size + 1, size)]
    return np.array_split(order, -(-pairs // size)) if pairs else []


def negative_examples(
    units: Floats, pairs: Places, sign: float, random: np.random.Generator, *, by_place: bool
) -> Places:
    """For each end of each pair, the most similar other word of the batch to attract, the least similar to repel.

    With probability ½ a random other word stands in for it. The word itself and its partner are none, wherever in the
    batch they stand; `by_place` leaves out only the pair itself, as published, so that a word may be its own negative.
    −1 where there is no other word.
    """
    similar = sign * (units @ units.T)
    if by_place:
        return _by_place(similar, pairs, random)
    ends, partners = pairs.ravel(), pairs[:, ::-1].ravel()
    allowed = np.ones((len(ends), len(units)), bool)
    allowed[np.arange(len(ends)), ends] = allowed[np.arange(len(ends)), partners] = False
    best = np.where(allowed, similar[ends], -np.inf).argmax(axis=1)
    coins = random.random(len(ends)) < 0.5
    chance = np.where(allowed, random.random(allowed.shape), -1).argmax(axis=1)
    chosen = np.where(coins, chance, best)
    return np.where(allowed.any(axis=1), chosen, -1).reshape(-1, 2)


def _by_place(similar: Floats, pairs: Places, random: np.random.Generator) -> Places:
    """As published: over places in the batch, so that words of several pairs stand there several times."""
    ends, count = pairs.ravel(), len(pairs)
    table = similar[np.ix_(ends, ends)]
    own = np.arange(len(ends))
    table[own, own] = table[own, own ^ 1] = -np.inf
    chosen = ends[table.argmax(axis=1)].reshape(-1, 2)
    coins = random.random((count, 2)) < 0.5
    other = random.integers(0, count - 1, (count, 2))
    other += other >= np.arange(count)[:, None]
    side = random.integers(0, 2, (count, 2))
    return np.where(coins, pairs[other, side], chosen)


def gradient(current: Floats, original: Floats, batch: Batch, settings: Descent) -> Floats:
    """Gradient of the batch's cost with respect to the vectors of its words, one row a word."""
    lengths = row_lengths(current)[:, None]
    units = current / lengths
    similar = units @ units.T
    pull = np.zeros((len(units), len(units)))
    left, right = batch.pairs.T
    for end, negative in ((left, batch.negatives[:, 0]), (right, batch.negatives[:, 1])):
        cost = batch.margin + batch.sign * (similar[end, negative] - similar[left, right])
        live = (cost > 0) & (negative >= 0)
        for word, other, amount in ((end, negative, batch.sign), (left, right, -batch.sign)):
            np.add.at(pull, (word[live], other[live]), amount)
            np.add.at(pull, (other[live], word[live]), amount)
    slope = pull @ units
    times = np.bincount(batch.pairs.ravel(), minlength=len(units))[:, None]
    weight = settings.regularization * (len(batch.pairs) if settings.as_published else 1)
    slope += weight * times * (units - original)
    tangent: Floats = (slope - np.einsum("ij,ij->i", slope, units)[:, None] * units) / lengths
    return tangent


def step(current: Floats, squares: Floats, words: Places, slope: Floats, rate: float) -> None:
    """One step of Adagrad on the rows of some words, in place."""
    squares[words] += slope**2
    current[words] -= rate * slope / np.sqrt(squares[words])
