"""Test sets drawn again, and groups shuffled, as tables of counts.

A bootstrap sample of a group's items is a multinomial draw of its (label, prediction) counts. Items shuffled between
two groups are a hypergeometric draw. The rate of one class depends on successes among trials (`fraction`), so that
shuffling among the items that it is about has a known distribution and an exact p.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

from biasgauge.extrinsic.draws import SAME, blocks, monte_carlo_p
from biasgauge.extrinsic.gaps_cells import Counts, Floats, Rate, fraction, from_fraction, rate_values

if TYPE_CHECKING:
    from collections.abc import Callable

AMONG = {
    "precision": "items predicted {of}",
    "recall": "items labelled {of}",
    "false_positive_rate": "items not labelled {of}",
    "f1": "items labelled or predicted {of}",
    "accuracy": "all items",
}


def bootstrap_values(cells: Counts, statistic: Callable[[Counts], Floats], resamples: int, random_state: int) -> Floats:
    """Values of a statistic in bootstrap samples, each group drawn with its own size.

    Args:
        cells: counts of the shape (groups, …).
        statistic: from counts of the shape (resamples, groups, …) to an array whose first axis is resamples.
        resamples: how many.
        random_state: seed; each group has a stream of its own.
    """
    flat = cells.reshape(len(cells), -1)
    sizes = flat.sum(axis=1)
    streams = [np.random.default_rng([random_state, group]) for group in range(len(cells))]
    parts = []
    for rows in blocks(resamples, flat.size):
        drawn = [
            stream.multinomial(size, one / size, size=rows)
            for stream, size, one in zip(streams, sizes.tolist(), flat, strict=True)
        ]
        parts.append(statistic(np.stack(drawn, axis=1).reshape(rows, *cells.shape)))
    return np.concatenate(parts)


def left_out_values(cells: Counts, statistic: Callable[[Counts], Floats], groups: list[int]) -> list[Floats]:
    """For each of some groups, the statistic without each of its items; items of one cell share a value."""
    found = []
    for group in groups:
        own = cells[group].ravel()
        taken = np.flatnonzero(own)
        without = np.repeat(cells[None], len(taken), axis=0)
        without.reshape(len(taken), len(cells), -1)[np.arange(len(taken)), group, taken] -= 1
        found.append(np.repeat(statistic(without), own[taken]))
    return found


def exact_p(rate: Rate, a: Counts, b: Counts) -> float:
    """P of a gap at least as large, shuffling between two groups the items that the rate is about."""
    (hits_a, trials_a), (hits_b, trials_b) = fraction(rate, a), fraction(rate, b)
    hits = int(hits_a + hits_b)
    possible: Counts = np.arange(max(0, hits - int(trials_b)), min(hits, int(trials_a)) + 1)
    first, second = np.full(possible.shape, trials_a), np.full(possible.shape, trials_b)
    gaps = np.abs(from_fraction(rate.metric, possible, first) - from_fraction(rate.metric, hits - possible, second))
    log = _log_choose(first, possible) + _log_choose(second, hits - possible)
    chances = np.exp(log - log.max())
    observed = gaps[int(hits_a) - int(possible[0])]
    return float(chances[gaps >= observed - SAME].sum() / chances.sum())


def _log_choose(n: Counts, k: Counts) -> Floats:
    found: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return found


def shuffled_p(rate: Rate, a: Counts, b: Counts, draws: int, seed: list[int], *, zeros: bool) -> float:
    """P of a gap at least as large when all items of two groups are shuffled between them; Monte Carlo.

    Shuffles in which the gap is undefined are left out: given that it is defined, the one observed is still one of them
    at random if groups do not matter.
    """
    pool = (a + b).ravel()
    random = np.random.default_rng(seed)

    def draw(rows: int) -> Floats:
        first = random.multivariate_hypergeometric(pool, int(a.sum()), size=rows)
        return _gap(rate, first.reshape(rows, *a.shape), (pool - first).reshape(rows, *a.shape), zeros=zeros)[:, None]

    observed = _gap(rate, a[None], b[None], zeros=zeros)
    return float(monte_carlo_p(observed, map(draw, blocks(draws, pool.size)))[0])


def swapped_p(cells: Counts, statistic: Callable[[Counts], Floats], draws: int, random_state: int) -> Floats:
    """P-values of statistics when the two predictions of each item are swapped at random; Monte Carlo.

    Args:
        cells: counts of the shape (groups, label, first prediction, second prediction).
        statistic: from counts of the shape (draws, groups, …) to (draws, statistics); 0 is expected.
        draws: how many.
        random_state: seed.
    """
    random = np.random.default_rng(random_state)
    classes = cells.shape[-1]
    upper = np.triu_indices(classes, 1)
    both = (cells + cells.swapaxes(-1, -2))[..., upper[0], upper[1]]

    def draw(rows: int) -> Floats:
        swapped = np.repeat(cells[None], rows, axis=0)
        first = random.binomial(both, 0.5, size=(rows, *both.shape))
        swapped[..., upper[0], upper[1]] = first
        swapped[..., upper[1], upper[0]] = both - first
        return statistic(swapped)

    return monte_carlo_p(statistic(cells[None])[0], map(draw, blocks(draws, cells.size)))


def _gap(rate: Rate, a: Counts, b: Counts, *, zeros: bool) -> Floats:
    return rate_values(rate, a, zeros=zeros) - rate_values(rate, b, zeros=zeros)


def p_method(rate: Rate, *, exact: bool) -> str:
    """How a p was found, and among which items groups were shuffled."""
    where = AMONG[rate.metric].format(of=repr(rate.of)) if exact and rate.place is not None else AMONG["accuracy"]
    return f"{'exact' if exact else 'monte-carlo'}, groups shuffled among {where}"


def comparisons(groups: int) -> list[tuple[int, int | None]]:
    """Pairs of groups, then each against the rest (None) where there are more than two."""
    pairs: list[tuple[int, int | None]] = [(a, b) for a in range(groups) for b in range(a + 1, groups)]
    return [*pairs, *((a, None) for a in range(groups))] if groups > 2 else pairs  # noqa: PLR2004 - two are one pair


def sides(cells: Any, pair: tuple[int, int | None]) -> tuple[Any, Any]:  # noqa: ANN401 - arrays of counts
    """Counts of both sides of a comparison, from counts of the shape (…, groups, label, prediction)."""
    a = cells[..., pair[0], :, :]
    return a, cells.sum(axis=-3) - a if pair[1] is None else cells[..., pair[1], :, :]
