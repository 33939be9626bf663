"""Quantiles of the F distribution for many degrees of freedom at once.

SciPy takes about a microsecond each. The logarithm of a quantile is a smooth function of the logarithm of one of its
degrees of freedom, so a Chebyshev series through a few dozen of SciPy's values gives all others; it is used only where
it agrees with SciPy at points between them.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import fdtri

from biasgauge.arrays import Floats

_FEW = 512
"""As many quantiles as SciPy may compute one by one."""
_BLOCK = 2**14
"""Quantiles computed at a time, in the processor's cache."""
_DEGREES = (16, 32, 64)
_ACCURACY = 1e-11
"""Largest relative error of a quantile from the series, at the points where it is checked."""


def upper_quantiles(level: float, numerator: Floats | float, denominator: Floats | float) -> Floats:
    """Quantiles at (1 + level) / 2; one of the degrees of freedom is one number, the other may be many, all ≥ 1."""
    first, second = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    many = first if first.ndim else second
    if many.size <= _FEW:
        return _exact(level, first, second)
    return _series(level, first, second)


def _exact(level: float, numerator: Floats, denominator: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(fdtri(numerator, denominator, (1 + level) / 2), np.float64)


def _series(level: float, numerator: Floats, denominator: Floats) -> Floats:
    many = np.log(numerator if numerator.ndim else denominator)
    low, high = float(many.min()), float(many.max())
    middle, half = (low + high) / 2, max((high - low) / 2, 1e-9)

    def exact(points: Floats) -> Floats:
        freedom = np.exp(middle + half * points)
        return np.log(_exact(level, *((freedom, denominator) if numerator.ndim else (numerator, freedom))))

    for degree in _DEGREES:
        nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
        terms = chebyshev.chebfit(nodes, exact(nodes), degree)
        between = np.cos(np.pi * np.arange(degree + 2) / (degree + 1))
        if np.abs(chebyshev.chebval(between, terms) - exact(between)).max() < _ACCURACY:
            places = (many - middle) / half
            parts = [chebyshev.chebval(places[at : at + _BLOCK], terms) for at in range(0, len(places), _BLOCK)]
            return np.asarray(np.exp(np.concatenate(parts)), np.float64)
    return _exact(level, numerator, denominator)
