"""Shares of independent units, and differences of two shares, with their intervals."""

from __future__ import annotations

from scipy.special import betaincinv, ndtri

from biasgauge.core import Estimate, Fields

NO_WORDS = "no word has a direction from both"


def wilson(share: float, size: float, level: float, method: str = "Wilson", over: str = "words") -> Estimate:
    """A share of `size` independent units with Wilson's interval; `method` and `over` are what it says of itself."""
    z = float(ndtri((1 + level) / 2))
    center = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    margin = z / (1 + z**2 / size) * (share * (1 - share) / size + z**2 / (4 * size**2)) ** 0.5
    low, high = 0.0 if share == 0 else max(center - margin, 0.0), 1.0 if share == 1 else min(center + margin, 1.0)
    return Estimate(value=share, low=low, high=high, level=level, method=method, over=over, n=round(size))


def share_of_words(count: int, n: int, level: float, statistic: str, k: int = 2) -> Estimate:
    """A share of words, with Wilson's interval; undefined without words."""
    about: Fields = {"statistic": statistic, "level": level, "method": "Wilson", "n": n, "k": k}
    if n == 0:
        return Estimate(value=None, reason=NO_WORDS, **about)
    around = wilson(count / n, n, level)
    return Estimate(value=count / n, low=around.low, high=around.high, **about)


def clopper_pearson(
    hits: int, trials: int, least: float = 0.0, *, level: float = 0.95, over: str = "splits"
) -> Estimate:
    """The share of `hits` in `trials` with its exact interval; `least` is the smallest share that is possible."""
    tail = (1 - level) / 2
    low = float(betaincinv(hits, trials - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, trials - hits, 1 - tail)) if hits < trials else 1.0
    return Estimate(
        value=hits / trials, low=max(low, least), high=high, level=level, method="clopper-pearson", over=over,
        n=trials, resamples=trials,
    )  # fmt: skip


def agresti_min(gained: int, lost: int, pairs: int, *, level: float = 0.95, over: str = "words") -> Estimate:
    """Difference of two shares of the same units: how many gained less how many lost, by how many there are.

    Agresti & Min, *Statistics in Medicine* 24 (2005): half a unit is added to each of the four cells, for the value
    and for the interval.
    """
    size = pairs + 2.0
    value = (gained - lost) / size
    margin = float(ndtri((1 + level) / 2)) * ((gained + lost + 1) / size - value**2) ** 0.5 / size**0.5
    return Estimate(
        value=value, low=max(value - margin, -1.0), high=min(value + margin, 1.0), level=level, method="agresti-min",
        over=over, n=pairs,
    )  # fmt: skip
