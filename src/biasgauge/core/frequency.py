"""Word frequency in cosines: mean vectors of words of one frequency, and vectors less that mean.

Words of one frequency point in one direction more than others do, so that the cosine of two words depends on how
frequent both are. With μ(f) the mean unit vector of words of log frequency f, the cosine that a word u has with words
of the frequency of v, whatever they mean, is u · μ(f_v). The product (u − μ(f_u)) · (v − μ(f_v)) is the cosine of both
less what either has with any word of the other's frequency; it is 0 on average between words without a common meaning,
whatever their frequencies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from biasgauge.core.geometry import unit_rows

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats, Places, Vectors

FrequencySource = Literal["counts", "ranks", "order", "reference"]

WORDS_PER_KNOT = 200
"""Words of the vocabulary around each knot, at least: no word then has more than a hundredth of a mean."""
KNOT_DISTANCE = 0.2
"""Smallest distance of two knots, in powers of ten."""
_SAMPLED = 1_000
"""Words around a knot that are read, at most."""


class LogFrequencies(NamedTuple):
    """Log10 frequency of each word of a model, up to a constant.

    Attributes:
        values: larger for more frequent words.
        source: "counts" or "ranks" that the model has, "order" of its words, or a "reference" list of its language.
    """

    values: Floats
    source: FrequencySource


class FrequencyMeans(NamedTuple):
    """Mean unit vector of words as a function of log frequency, linear between knots and constant beyond them."""

    knots: Floats
    means: Floats

    def at(self, frequencies: Floats) -> Floats:
        """Return the mean unit vector of words of each of these log frequencies."""
        return _hat_functions(frequencies, self.knots) @ self.means


def frequency_means(vectors: Vectors, frequencies: Floats) -> FrequencyMeans | None:
    """Estimate mean unit vectors by frequency, from at most 1,000 words around each knot; None with too few words.

    Least squares on hat functions of log frequency. Zero vectors do not count.
    """
    order = np.argsort(-frequencies, kind="stable")
    descending = frequencies[order]
    starts = [0]
    while True:
        nearest = int(np.searchsorted(-descending, KNOT_DISTANCE - descending[starts[-1]]))
        start = max(starts[-1] + WORDS_PER_KNOT, nearest)
        if len(order) - start < WORDS_PER_KNOT:
            break
        starts.append(start)
    spans = list(zip(starts, [*starts[1:], len(order)], strict=True))
    knots = np.unique([descending[(low + high) // 2] for low, high in spans])
    if len(knots) < 2:
        return None
    sampled = [order[np.linspace(low, high - 1, min(high - low, _SAMPLED)).astype(np.intp)] for low, high in spans]
    rows: Places = np.sort(np.concatenate(sampled))
    units = np.asarray(vectors[rows], np.float64)
    directed = units.any(axis=1)
    rows, units = rows[directed], unit_rows(units[directed])
    hats = _hat_functions(frequencies[rows], knots)
    # A knot that no word is near to keeps a mean of 0.
    normal = hats.T @ hats + 1e-9 * len(rows) * np.eye(len(knots))
    return FrequencyMeans(knots, np.asarray(np.linalg.solve(normal, hats.T @ units), np.float64))


def _hat_functions(values: Floats, knots: Floats) -> Floats:
    """Weights of linear interpolation between knots: values × knots, rows of sum 1."""
    left = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, len(knots) - 2)
    share = np.clip((values - knots[left]) / (knots[left + 1] - knots[left]), 0.0, 1.0)
    weights = np.zeros((len(values), len(knots)))
    rows = np.arange(len(values))
    weights[rows, left], weights[rows, left + 1] = 1 - share, share
    return weights
