"""Numerical conventions: what counts as equal, quantiles of two-sided intervals, degrees of freedom, BLAS threads."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri, stdtrit

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

SAME = 1e-12
"""Numbers closer than this, as a share of the size of what they were computed from, differ by rounding alone."""


def slack(*numbers: float) -> float:
    """Largest distance at which numbers of this size are equal but for rounding."""
    return SAME * max(1.0, *(abs(number) for number in numbers))


def normal_quantile(level: float) -> float:
    """Quantile z of the normal distribution at (1 + level) / 2: an interval of that level is value ± z · error."""
    return float(ndtri((1 + level) / 2))


def student_quantile(df: float, level: float) -> float:
    """Quantile of Student's t at (1 + level) / 2."""
    return float(stdtrit(df, (1 + level) / 2))


def satterthwaite(terms: Sequence[tuple[Any, Any]]) -> Any:  # noqa: ANN401 - a number, or an array where terms are
    """Degrees of freedom of a sum of independent variances, (Σ v)² / Σ (v² / df), of pairs (v, df)."""
    total = np.sum([variance for variance, _ in terms], axis=0)
    return total**2 / np.sum([variance**2 / df for variance, df in terms], axis=0)


def on_one_thread() -> AbstractContextManager[Any]:
    """Keep matrix products on one thread: their last bits depend on how threads share them."""
    limits: AbstractContextManager[Any] = thread_pools().limit(limits=1, user_api="blas")
    return limits


def thread_pools() -> ThreadpoolController:
    """Return the controller of loaded BLAS libraries, searched again when more modules are loaded (milliseconds)."""
    return _search_thread_pools(len(sys.modules))


@lru_cache(maxsize=1)
def _search_thread_pools(_modules: int) -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
