"""How often a correlation would be seen if it were there.

Exact for pairs drawn from a bivariate normal distribution: the two-sided t test of r against its critical value, with
the distribution of r of Hotelling (1953, *Journal of the Royal Statistical Society B* 15, equation 25).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import gammaln, hyp2f1, stdtrit

from biasgauge.core import check_number, check_whole
from biasgauge.errors import ParameterError

FEWEST = 3
"""Points below which a correlation is ±1 or undefined."""


_quadrature = cache(np.polynomial.legendre.leggauss)
"""Nodes and weights of Gauss and Legendre: eigenvalues of a large matrix, so only where somebody asks."""


def critical_r(n: int, alpha: float = 0.05) -> float:
    """Smallest |r| of n points with a two-sided p of at most alpha."""
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


def _chance_within(n: int, rho: float, widest: float) -> float:
    """Chance that |asin(r)| is at most `widest`; the angle keeps the density finite at r = ±1."""
    nodes, weights = _quadrature(400)
    angle = widest * nodes
    r = np.sin(angle)
    log = (
        np.log(n - 2)
        + gammaln(n - 1)
        - gammaln(n - 0.5)
        - 0.5 * np.log(2 * np.pi)
        + (n - 1) / 2 * np.log1p(-(rho**2))
        + (n - 3) * np.log(np.cos(angle))
        - (n - 1.5) * np.log1p(-rho * r)
    )
    density = np.exp(log) * hyp2f1(0.5, 0.5, n - 0.5, (rho * r + 1) / 2)
    return float(widest * (weights @ density))


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
    few, many = FEWEST - 1, FEWEST
    while correlation_power(many, r, alpha=alpha) < power:
        few, many = many, 2 * many
        if many > 10_000_000:
            raise ParameterError(f"The 'r' parameter of points_needed must differ from 0 by more. Got {r!r}.")
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if correlation_power(middle, r, alpha=alpha) >= power else (middle, many)
    return many
