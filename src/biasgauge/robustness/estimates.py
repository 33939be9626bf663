"""Numbers with intervals over words: shares, means, means of kappas; undefined ones with their reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from biasgauge.embeddings.analogy_accuracy import wilson
from biasgauge.reliability import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats = np.ndarray[Any, np.dtype[np.float64]]

NO_WORDS = "no word has a direction from both"
FEW_WORDS = "fewer than two words have scores"
NO_DRAWS = "too few draws of the words have a value for an interval"
_CATEGORIES = 3
_CERTAIN = 1e-12
_TOLERATED = 0.05
"""Largest share of draws without a value; beyond it the rest would be a selection."""
_BLOCK = 200
"""Draws computed at a time."""
_TWO = 2


def share(count: int, n: int, level: float, statistic: str, k: int = 2) -> Estimate:
    """A share of words, with Wilson's interval; undefined without words."""
    about: dict[str, Any] = {"statistic": statistic, "level": level, "method": "Wilson", "n": n, "k": k}
    if n == 0:
        return Estimate(value=None, low=None, high=None, reason=NO_WORDS, **about)
    around = wilson(count / n, n, level)
    return Estimate(value=count / n, low=around.low, high=around.high, **about)


def mean_share(each: Floats, level: float, statistic: str, k: int) -> Estimate:
    """Mean over words of a number between 0 and 1, with Student's interval cut at 0 and 1."""
    n = len(each)
    about: dict[str, Any] = {"statistic": statistic, "level": level, "method": "Student's t over words", "n": n, "k": k}
    if n < _TWO:
        return Estimate(value=None, low=None, high=None, reason=FEW_WORDS, **about)
    value = float(each.mean())
    margin = float(stdtrit(n - 1, (1 + level) / 2)) * float(each.std(ddof=1)) / n**0.5
    return Estimate(value=value, low=max(value - margin, 0.0), high=min(value + margin, 1.0), **about)


def withdrawn(estimate: Estimate, reason: str) -> Estimate:
    """The same estimate, undefined for a reason that lies outside it."""
    return replace(estimate, value=None, low=None, high=None, reason=reason)


def mean_kappa(first: Floats, second: Floats, level: float, resamples: int, random_state: int) -> Estimate:
    """Mean of Cohen's kappas over pairs, with a percentile bootstrap interval over words.

    All pairs see the same words, so that their kappas are not independent: each draw takes words again for all of them
    together. Pairs without a kappa are left out, here and in each draw; `k` says how many are not.

    Args:
        first: directions by one way, pairs × words: −1, 0, 1; NaN where undefined.
        second: by the other.
        level: nominal coverage of the interval.
        resamples: draws.
        random_state: seed of the draws.
    """
    cells = _cells(first, second)
    rated = cells.any(axis=(1, 2))
    cells = cells[rated]
    n = len(cells)
    each = kappas(cells.sum(axis=0))
    used = ~np.isnan(each)
    found = Estimate(
        statistic=f"mean of {int(used.sum())} kappas",
        value=float(each[used].mean()) if used.any() else None,
        low=None,
        high=None,
        level=level,
        method="bootstrap over words (percentile)",
        n=n,
        k=int(used.sum()),
        reason=None if used.any() else "no pair has a kappa",
    )
    if not used.any():
        return found
    cells = cells[:, used].reshape(n, -1)
    random = np.random.default_rng(random_state)
    drawn = np.concatenate(
        [
            _mean_of_defined(kappas((_weights(random, n, size) @ cells).reshape(size, -1, _CATEGORIES**2)))
            for size in _sizes(resamples)
        ]
    )
    sound = drawn[~np.isnan(drawn)]
    if len(sound) < (1 - _TOLERATED) * resamples:
        return replace(found, reason=NO_DRAWS)
    low, high = np.quantile(sound, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return replace(found, low=low, high=high)


def _sizes(resamples: int) -> list[int]:
    return [min(_BLOCK, resamples - start) for start in range(0, resamples, _BLOCK)]


def _mean_of_defined(each: Floats) -> Floats:
    """Mean of each row over what is defined, as the estimate itself is taken; NaN where nothing is."""
    defined = ~np.isnan(each)
    counts = defined.sum(axis=1)
    found: Floats = np.where(counts > 0, np.where(defined, each, 0).sum(axis=1) / np.maximum(counts, 1), np.nan)
    return found


def _weights(random: np.random.Generator, n: int, draws: int) -> Floats:
    return random.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64)


def _cells(first: Floats, second: Floats) -> Floats:
    """Which cell of the table of the two ways each word falls into: words × pairs × 9, all 0 where undefined."""
    both = ~(np.isnan(first) | np.isnan(second))
    codes = np.where(both, _CATEGORIES * (first + 1) + second + 1, -1).astype(np.int64)
    found: Floats = (codes.T[:, :, None] == np.arange(_CATEGORIES**2)).astype(np.float64)
    return found


def kappas(cells: NDArray[np.floating[Any]]) -> Floats:
    """Cohen's kappa from counts (…, 9) of the cells of 3 × 3 tables; NaN where it is undefined."""
    tables = cells.reshape(*cells.shape[:-1], _CATEGORIES, _CATEGORIES)
    total = tables.sum(axis=(-1, -2))
    shares = tables / np.maximum(total, 1)[..., None, None]
    observed = np.trace(shares, axis1=-2, axis2=-1)
    chance = (shares.sum(axis=-1) * shares.sum(axis=-2)).sum(axis=-1)
    certain = (chance > 1 - _CERTAIN) | (total < _TWO)
    found: Floats = np.where(certain, np.nan, (observed - chance) / np.where(certain, 1, 1 - chance))
    return found
