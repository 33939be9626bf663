"""Bootstrap and permutation tests of statistics of count tables.

Where a number follows from how many items of each kind there are, a bootstrap sample of the items is a multinomial draw
of the table, and items shuffled between two tables are a hypergeometric draw: ten thousand samples are ten thousand
small tables. Where it follows from sums over items, a bootstrap sample is the product of how often each item is drawn
with the table of what each adds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.special import gammaln

from biasgauge.core import Estimate, Floats, Integers
from biasgauge.stats.bootstrap import Resampling, blocks, estimate_from_draws
from biasgauge.stats.numerics import SAME
from biasgauge.stats.permutation import monte_carlo_p

SWAPPED = "monte-carlo, the two sides of each pair swapped"


def bootstrap_values(
    cells: Integers, statistic: Callable[[Integers], Floats], resamples: int, random_state: int
) -> Floats:
    """Values of a statistic in bootstrap samples of counts (groups, …), each group drawn with its own size.

    `statistic` goes from counts of the shape (resamples, groups, …) to an array whose first axis is resamples; each
    group has a stream of random numbers of its own.
    """
    flat = cells.reshape(len(cells), -1)
    sizes = flat.sum(axis=1)
    streams = [np.random.default_rng([random_state, group]) for group in range(len(cells))]
    parts = []
    for rows in blocks(resamples, flat.size):
        drawn = [
            stream.multinomial(size, counts / size, size=rows)
            for stream, size, counts in zip(streams, sizes.tolist(), flat, strict=True)
        ]
        parts.append(statistic(np.stack(drawn, axis=1).reshape(rows, *cells.shape)))
    return np.concatenate(parts)


def left_out_values(cells: Integers, statistic: Callable[[Integers], Floats], groups: list[int]) -> list[Floats]:
    """Return, for each of some groups, the statistic without each of its items; items of one cell share a value."""
    values = []
    for group in groups:
        counts = cells[group].ravel()
        occupied = np.flatnonzero(counts)
        without = np.repeat(cells[None], len(occupied), axis=0)
        without.reshape(len(occupied), len(cells), -1)[np.arange(len(occupied)), group, occupied] -= 1
        values.append(np.repeat(statistic(without), counts[occupied]))
    return values


def exact_p(
    first: tuple[Integers, Integers], second: tuple[Integers, Integers], rate: Callable[[Integers, Integers], Floats]
) -> float:
    """P of a difference of rates at least as large, in either direction, when trials are shuffled between two groups.

    `first` and `second` are successes and trials of the groups; their split given the sum is hypergeometric.
    """
    (hits_a, trials_a), (hits_b, trials_b) = first, second
    hits = int(hits_a + hits_b)
    possible: Integers = np.arange(max(0, hits - int(trials_b)), min(hits, int(trials_a)) + 1)
    of_first, of_second = np.full(possible.shape, trials_a), np.full(possible.shape, trials_b)
    gaps = np.abs(rate(possible, of_first) - rate(hits - possible, of_second))
    pairs = ((of_first, possible), (of_second, hits - possible))
    log = np.sum([gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) for n, k in pairs], axis=0)  # log (n choose k)
    chances = np.exp(log - log.max())
    observed = gaps[int(hits_a) - int(possible[0])]
    return float(chances[gaps >= observed - SAME].sum() / chances.sum())


def shuffled_p(
    first: Integers, second: Integers, rate: Callable[[Integers], Floats], draws: int, seed: list[int]
) -> float:
    """P of a difference of rates at least as large when all items of two tables are shuffled; Monte Carlo.

    Shuffles in which the difference is undefined are left out: given that it is defined, the one observed is still one
    of them at random if it does not matter which table an item is in.
    """
    pool = (first + second).ravel()
    random = np.random.default_rng(seed)

    def draw(rows: int) -> Floats:
        drawn = random.multivariate_hypergeometric(pool, int(first.sum()), size=rows)
        shape = (rows, *first.shape)
        return (rate(drawn.reshape(shape)) - rate((pool - drawn).reshape(shape)))[:, None]

    observed = rate(first[None]) - rate(second[None])
    return float(monte_carlo_p(observed, map(draw, blocks(draws, pool.size)))[0])


def swapped_p(cells: Integers, statistic: Callable[[Integers], Floats], draws: int, random_state: int) -> Floats:
    """P-values of statistics when the last two marks of each item are swapped at random; Monte Carlo.

    `cells` are counts of the shape (…, first mark, second mark); `statistic` goes from (draws, …) to
    (draws, statistics), of which 0 is expected.
    """
    random = np.random.default_rng(random_state)
    upper = np.triu_indices(cells.shape[-1], 1)
    both = (cells + cells.swapaxes(-1, -2))[..., upper[0], upper[1]]

    def draw(rows: int) -> Floats:
        swapped = np.repeat(cells[None], rows, axis=0)
        first = random.binomial(both, 0.5, size=(rows, *both.shape))
        swapped[..., upper[0], upper[1]] = first
        swapped[..., upper[1], upper[0]] = both - first
        return statistic(swapped)

    return monte_carlo_p(statistic(cells[None])[0], map(draw, blocks(draws, cells.size)))


def bootstrap_sums(sums: Floats, how: Resampling) -> Floats:
    """Sums over bootstrap samples of the first axis: (resamples, …)."""
    items = len(sums)
    random = np.random.default_rng(how.random_state)
    flat = sums.reshape(items, -1)
    alike = np.full(items, 1 / items)
    parts = [random.multinomial(items, alike, size=rows) @ flat for rows in blocks(how.resamples, items)]
    return np.concatenate(parts).reshape(how.resamples, *sums.shape[1:])


def estimates_of_sums(
    sums: Floats, numbers: Callable[[Floats], Floats], how: Resampling, over: str, reasons: Sequence[str]
) -> list[Estimate]:
    """Numbers that follow from sums over items × quantities, each with its interval over items.

    `numbers` goes from sums of the shape (…, quantities) to numbers (last axis), not finite where undefined, with the
    `reasons` for each; `over` names the items.
    """
    totals = sums.sum(axis=0)
    values, drawn, without = (numbers(table) for table in (totals, bootstrap_sums(sums, how), totals - sums))
    return [
        estimate_from_draws(float(value), resampled, partial(list, [left_out]), how, over)
        if np.isfinite(value)
        else Estimate(value=None, reason=reason)
        for value, resampled, left_out, reason in zip(values, drawn.T, without.T, reasons, strict=True)
    ]


def swapped_sums_p(sums: Floats, difference: Callable[[Floats], Floats], how: Resampling) -> Floats:
    """P of differences at least as large, in either direction, when the two sides of each pair are swapped at random.

    `sums` are pairs × 2 sides × quantities; `difference` goes from (draws, 2, …) to (draws, differences), of which 0 is
    expected; `how` has the number of draws, and the seed.
    """
    first = sums[:, 0].reshape(len(sums), -1)
    gain = sums[:, 1].reshape(len(sums), -1) - first
    both = first.sum(axis=0) + sums[:, 1].reshape(len(sums), -1).sum(axis=0)
    random = np.random.default_rng([how.random_state, 1])

    def draw(rows: int) -> Floats:
        left = first.sum(axis=0) + random.integers(0, 2, (rows, len(sums))) @ gain
        return difference(np.stack([left, both - left], axis=1).reshape(rows, *sums.shape[1:]))

    return monte_carlo_p(difference(sums.sum(axis=0)[None])[0], map(draw, blocks(how.resamples, len(sums))))
