"""Variance components of a small layout by restricted maximum likelihood: every main effect and interaction a group."""

from __future__ import annotations

import numpy as np

from biasgauge.agreement.components.layout import Layout
from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.stats.crossed.sums import EffectSquares
from biasgauge.stats.mixed_models.moments import MOST_LEVELS, moments
from biasgauge.stats.mixed_models.solve import solve

_LEAST = 1e-3


def reml_components(layout: Layout, squares: EffectSquares, start: Floats) -> Floats:
    """Components in the order of `squares.subsets`, each at least 0; the search starts at `start`.

    Raises:
        ParameterError: the layout has too many cells, or the search fails.
    """
    shape = layout.scores.shape
    held = np.ones(shape, bool) if layout.defined is None else layout.defined
    places = np.argwhere(held)
    groups = {
        ":".join(map(str, one)): np.ravel_multi_index(
            tuple(places[:, axis] for axis in one), tuple(shape[axis] for axis in one)
        )
        for one in squares.subsets[:-1]
    }
    levels = sum(len(np.unique(codes)) for codes in groups.values())
    if levels > MOST_LEVELS:
        raise ParameterError(
            f"method='reml' takes layouts whose main effects and interactions have {MOST_LEVELS:,} levels together. "
            f"This one has {levels:,}; use method='anova'."
        )
    divisor = layout.scale.reshape(-1, *(1,) * (len(shape) - 1))
    y = (layout.scores.astype(np.float64) / divisor)[held]
    sums = moments(y, np.ones((len(y), 1)), groups, ["mean"])
    residual = max(float(start[-1]), 1e-12 * float(y.var()))
    found = solve(sums, start=np.maximum(start[:-1], _LEAST * residual) / residual)
    if not found.converged:
        raise ParameterError("The search for the REML components did not converge; use method='anova'.")
    components: Floats = np.append(found.variances, found.sigma2)
    return components
