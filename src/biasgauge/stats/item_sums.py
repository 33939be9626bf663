"""Numbers that follow from sums over items (documents, sentences): items drawn again, and pairs of them swapped.

A bootstrap sample is the product of how often each item is drawn with the table of what each adds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.stats.bootstrap import Resampling, blocks, estimate_from_draws
from biasgauge.stats.estimate import Estimate
from biasgauge.stats.permutation import monte_carlo_p

SWAPPED = "monte-carlo, the two sides of each pair swapped"


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
    """Numbers that follow from sums, each with its interval over items.

    Args:
        sums: items × whatever each adds.
        numbers: from sums of the shape (…, whatever is summed) to numbers (last axis), not finite where undefined.
        how: level, resamples, seed and method of the interval.
        over: what the items are.
        reasons: why each of the numbers is undefined, where it is.
    """
    totals = sums.sum(axis=0)
    values, drawn, without = (numbers(table) for table in (totals, bootstrap_sums(sums, how), totals - sums))
    return [
        estimate_from_draws(float(value), own_drawn, partial(list, [own_without]), how, over)
        if np.isfinite(value)
        else Estimate(value=None, reason=reason)
        for value, own_drawn, own_without, reason in zip(values, drawn.T, without.T, reasons, strict=True)
    ]


def swapped_sums_p(sums: Floats, difference: Callable[[Floats], Floats], how: Resampling) -> Floats:
    """P of differences at least as large, in either direction, when the two sides of each pair are swapped at random.

    Args:
        sums: pairs × 2 sides × whatever is summed.
        difference: from sums of the shape (draws, 2, …) to (draws, differences); 0 is expected.
        how: how many draws, and the seed.
    """
    first = sums[:, 0].reshape(len(sums), -1)
    gain = sums[:, 1].reshape(len(sums), -1) - first
    both = first.sum(axis=0) + sums[:, 1].reshape(len(sums), -1).sum(axis=0)
    random = np.random.default_rng([how.random_state, 1])

    def draw(rows: int) -> Floats:
        left = first.sum(axis=0) + random.integers(0, 2, (rows, len(sums))) @ gain
        return difference(np.stack([left, both - left], axis=1).reshape(rows, *sums.shape[1:]))

    return monte_carlo_p(difference(sums.sum(axis=0)[None])[0], map(draw, blocks(how.resamples, len(sums))))
