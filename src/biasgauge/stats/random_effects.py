"""Effects of several studies, pooled as a sample of effects: DerSimonian & Laird, *Control. Clin. Trials* 7, 1986."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Floats
from biasgauge.errors import ParameterError


@dataclass(frozen=True)
class PooledEffect:
    """A weighted mean of effects.

    Attributes:
        value: the mean.
        se: its standard error, if the studies are independent.
        between: variance of the true effects between studies; 0 where the effects differ no more than their errors.
        q: Cochran's Q.
        n: number of studies.
    """

    value: float
    se: float
    between: float
    q: float
    n: int


def pooled_effect(effects: ArrayLike, variances: ArrayLike) -> PooledEffect:
    """Pool effects of independent studies, each with the variance of its error.

    Raises:
        ParameterError: there are fewer than two, or a variance is not above 0.
    """
    effect: Floats = np.asarray(effects, np.float64)
    variance: Floats = np.asarray(variances, np.float64)
    if effect.ndim != 1 or len(effect) < 2 or effect.shape != variance.shape:
        raise ParameterError(f"At least two effects are needed, each with a variance. Got shapes {effect.shape}.")
    if not (np.isfinite(effect).all() and np.isfinite(variance).all() and (variance > 0).all()):
        raise ParameterError("Effects must be finite, and their variances above 0.")
    weights = 1 / variance
    total = float(weights.sum())
    fixed = float(weights @ effect) / total
    q = float(weights @ (effect - fixed) ** 2)
    freedom = len(effect) - 1
    between = max((q - freedom) / (total - float(weights @ weights) / total), 0.0)
    weights = 1 / (variance + between)
    return PooledEffect(
        float(weights @ effect) / float(weights.sum()), float(weights.sum()) ** -0.5, between, q, len(effect)
    )
