"""Power: how often a correlation, or a contrast of similarities, would be detected, and how many points that takes.

Correlations are exact for pairs drawn from a bivariate normal distribution: the two-sided t test of r against its
critical value, with the distribution of r of Hotelling (1953, *Journal of the Royal Statistical Society B* 15,
equation 25). Contrasts use the noncentral t with the variances of a contrast that was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import chdtri, gammaln, hyp2f1, nctdtr, nctdtrinc, stdtrit

from biasgauge.core import check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.results import share_text
from biasgauge.stats.contrasts import ALL, BOTH, CROSSED, REPLICATES, SIDES, Contrast
from biasgauge.stats.numerics import satterthwaite

FEWEST = 3
"""Points below which a correlation is ±1 or undefined."""
MAX_POINTS = 10_000_000
MAX_WORDS = 1_000_000
"""Points and words beyond which no number is enough."""

_IN_FULL = 0.995
"""Share of effective words from which words count in full, for a reader."""
_quadrature = cache(np.polynomial.legendre.leggauss)
"""Nodes and weights of Gauss and Legendre, computed at first use: eigenvalues of a large matrix."""


def smallest_sufficient(power_at: Callable[[int], float], power: float, start: int, limit: int) -> int | None:
    """Smallest number above `start` with enough power, by doubling and bisection; None beyond `limit`."""
    low, high = start, start + 1
    while power_at(high) < power:
        low, high = high, 2 * high
        if high > limit:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return high


def critical_r(n: int, alpha: float = 0.05) -> float:
    """Smallest |r| of n points with a two-sided p of at most alpha: t / √(n − 2 + t²), t the critical value of t."""
    t = float(stdtrit(n - 2, 1 - alpha / 2))
    return float(t / (n - 2 + t**2) ** 0.5)


def correlation_power(n: int, r: float = 0.5, *, alpha: float = 0.05) -> float:
    """Chance that n points whose true correlation is `r` give p ≤ alpha, two-sided.

    From alpha (at r = 0) to 1 (at r = ±1).

    Raises:
        ParameterError: fewer than 3 points, a correlation beyond ±1, or an impossible alpha.
    """
    check_whole(FEWEST, n=n)
    check_number(-1, 1, r=r)
    check_number(0, 1, ends=False, alpha=alpha)
    if abs(r) == 1:
        return 1.0
    return 1 - _chance_within(n, r, float(np.arcsin(critical_r(n, alpha))))


def _chance_within(n: int, rho: float, limit: float) -> float:
    """Chance that |asin(r)| is at most `limit`: Hotelling's density, integrated by Gauss–Legendre quadrature.

    The substitution r = sin(angle) keeps the integrand finite at r = ±1; its factor cos(angle) is in the exponent
    n − 3 = (n − 4) + 1.
    """
    nodes, weights = _quadrature(400)
    angle = limit * nodes
    r = np.sin(angle)
    log_density = (
        np.log(n - 2)
        + gammaln(n - 1)
        - gammaln(n - 0.5)
        - 0.5 * np.log(2 * np.pi)
        + (n - 1) / 2 * np.log1p(-(rho**2))
        + (n - 3) * np.log(np.cos(angle))
        - (n - 1.5) * np.log1p(-rho * r)
    )
    density = np.exp(log_density) * hyp2f1(0.5, 0.5, n - 0.5, (rho * r + 1) / 2)
    return float(limit * (weights @ density))


def detectable_r(n: int, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """Smallest true |r| that n points would show, p ≤ alpha, with a chance of `power`.

    Raises:
        ParameterError: as in `correlation_power`, or a power that is not between alpha and 1.
    """
    from scipy.optimize import brentq

    check_number(alpha, 1, ends=False, power=power)
    return float(brentq(lambda r: correlation_power(n, r, alpha=alpha) - power, 0.0, 1.0, xtol=1e-6))


def points_needed(r: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """Fewest points that show a true correlation of `r`, p ≤ alpha, with a chance of at least `power`.

    Raises:
        ParameterError: as in `detectable_r`, or r is 0 or so small that more than 10 million points would be needed.
    """
    check_number(alpha, 1, ends=False, power=power)
    points = smallest_sufficient(lambda n: correlation_power(n, r, alpha=alpha), power, FEWEST - 1, MAX_POINTS)
    if points is None:
        raise ParameterError(f"The 'r' parameter of points_needed must differ from 0 by more. Got {r!r}.")
    return points


@dataclass(frozen=True)
class WordPlan:
    """Numbers of words per list with which a contrast would be detected; None: more than a million, or never.

    Attributes:
        contrast: the contrast to be detected, in the units of the similarities.
        power: how often it would be.
        alpha: two-sided error of the test.
        assurance: probability that the variances behind the plan are large enough.
        targets: words in each target list, with the attributes at hand.
        attributes: words in each attribute list, with the targets at hand.
        both: words in each of all lists.
        now: power with the words at hand.
        effective_targets: effective number of words of the target lists at hand, as a share of their words: below 1
            where some are near each other. Lists of other sizes are taken to have the same share.
        effective_attributes: the same of the attribute lists.
    """

    contrast: float
    power: float
    alpha: float
    assurance: float
    targets: int | None
    attributes: int | None
    both: int | None
    now: float
    effective_targets: float = 1.0
    effective_attributes: float = 1.0

    @property
    def remark(self) -> str:
        """Clause on words that count for fewer than they are; empty where all count in full."""
        return remark_on_effective_words(vars(self))


def plan_words(
    contrast: Contrast, size: float | None = None, *, power: float = 0.8, alpha: float = 0.05, assurance: float = 0.8
) -> WordPlan:
    """Words per list that a contrast of some size takes, by the variances of one that was measured.

    Power is that of a two-sided noncentral t test with noncentrality size / √variance. Variances are estimates too:
    they are multiplied by df / χ²_df(1 − assurance), as large as they may be with the probability `assurance`. The
    `size` to be detected is by default the one measured. Words near each other count for fewer than they are: lists of
    other sizes are taken to have the same share of effective words, which sets their degrees of freedom. Words of the
    plan are those to be collected.

    Raises:
        ParameterError: an argument cannot be used, or the contrast has no standard error.
    """
    check_number(0, 1, ends=False, power=power, alpha=alpha, assurance=assurance)
    size = contrast.value if size is None else size
    check_number(size=size)
    if contrast.se is None or contrast.df is None or not size:
        raise ParameterError(f"A plan needs a contrast other than 0 with a standard error. Got {size!r}.")
    model = _ContrastPower(contrast, abs(size), alpha, assurance)
    rows, columns = round(model.rows), round(model.columns)
    fixed = {side for side in SIDES if side not in contrast.over}

    def fewest(lists: Callable[[int], tuple[int, int]]) -> int | None:
        return smallest_sufficient(lambda words: model.at(*lists(words)), power, 1, MAX_WORDS)

    targets = None if "targets" in fixed else fewest(lambda words: (words, columns))
    attributes = None if "attributes" in fixed else fewest(lambda words: (rows, words))
    both = None if fixed else fewest(lambda words: (words, words))
    now = model.at(rows, columns, assured=False)
    return WordPlan(size, power, alpha, assurance, targets, attributes, both, now, *model.shares)


def detectable_contrast(contrast: Contrast, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """Smallest contrast that the words at hand detect with a chance of `power`, by the standard error of one measured.

    δ · se, with δ the noncentrality at which |t| exceeds its critical value with that chance, on one side. The contrast
    that was measured does not enter, only its standard error and degrees of freedom.

    Raises:
        ParameterError: an argument cannot be used, or the contrast has no standard error.
    """
    check_number(0, 1, ends=False, power=power, alpha=alpha)
    if contrast.se is None or contrast.df is None:
        raise ParameterError(f"A plan needs a contrast with a standard error. Got {contrast.reason or contrast.se!r}.")
    return float(nctdtrinc(contrast.df, 1 - power, stdtrit(contrast.df, 1 - alpha / 2)) * contrast.se)


def contrast_power(contrast: Contrast, size: float, *, alpha: float = 0.05) -> float:
    """Chance that the words at hand detect a contrast of `size`; at `detectable_contrast` it is the power wanted there.

    Raises:
        ParameterError: an argument cannot be used, or the contrast has no standard error.
    """
    check_number(0, size=size)
    check_number(0, 1, ends=False, alpha=alpha)
    if contrast.se is None or contrast.df is None:
        raise ParameterError(f"A plan needs a contrast with a standard error. Got {contrast.reason or contrast.se!r}.")
    return float(1 - nctdtr(contrast.df, size / contrast.se, stdtrit(contrast.df, 1 - alpha / 2)))


class _ContrastPower:
    """Power of a contrast by the numbers of words."""

    def __init__(self, contrast: Contrast, size: float, alpha: float, assurance: float) -> None:
        self.size, self.alpha = size, alpha
        # Harmonic mean length of the target lists and of the attribute lists: variances of means go with 1 / length.
        self.rows, self.columns = map(_harmonic_mean, contrast.words)
        effective = map(_harmonic_mean, contrast.effective or contrast.words)
        self.shares = [few / words for few, words in zip(effective, (self.rows, self.columns), strict=True)]
        self.groups = [len(counts) for counts in contrast.words]
        self.variances = contrast.variances
        crossed = sum(self.variances.get(name, 0.0) for name in CROSSED.values())
        # Variance of the models alone, which more words do not reduce.
        self.models = max(self.variances.get(REPLICATES, 0.0) - crossed + self.variances.get(ALL, 0.0), 0.0)
        df = contrast.df or 1.0
        self.inflation = df / float(chdtri(df, assurance))

    def at(self, rows: float, columns: float, *, assured: bool = True) -> float:
        """Power with this number of words in each list."""
        both = self.variances.get(BOTH, 0.0)
        # Each component scales with its own number of words; that of target × attribute with both.
        targets = max(self.variances.get("targets", 0.0) - both, 0.0) * self.rows / rows
        attributes = max(self.variances.get("attributes", 0.0) - both, 0.0) * self.columns / columns
        shared = both * self.rows * self.columns / (rows * columns)
        variance = (targets + attributes + shared + self.models) * (self.inflation if assured else 1.0)
        # Degrees of freedom are those of effective words; the variance of a mean goes with 1 / effective words, and so
        # with 1 / words where their share stays.
        effective = rows * self.shares[0], columns * self.shares[1]
        terms = [(targets + shared, self.groups[0] * (effective[0] - 1)),
                 (attributes + shared, self.groups[1] * (effective[1] - 1))]  # fmt: skip
        terms = [(term, df) for term, df in terms if term > 0]
        if not terms or min(df for _, df in terms) <= 0:
            return 0.0
        df = min(satterthwaite(terms), 1e6)
        return float(1 - nctdtr(df, self.size / variance**0.5, stdtrit(df, 1 - self.alpha / 2)))


def _harmonic_mean(counts: Sequence[float]) -> float:
    return len(counts) / sum(1 / count for count in counts)


def remark_on_effective_words(plan: Mapping[str, Any]) -> str:
    """Clause on words near each other, which count for fewer than they are in a plan; empty where all count in full."""
    shares = {side: plan.get(f"effective_{side}") or 1.0 for side in SIDES}
    fewer = [f"{share_text(share)} of the {side}" for side, share in shares.items() if share < _IN_FULL]
    return f"if the share of effective words stays at {' and '.join(fewer)}" if fewer else ""
