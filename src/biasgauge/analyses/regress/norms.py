"""The table of norms: how much each term moves the embedding of the targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge.analyses.regress.rows import TermNorm
from biasgauge.core import Floats
from biasgauge.stats import (
    ClusteredRegression,
    corrected_norms,
    flipped_norms,
    jackknife_errors,
    monte_carlo_p,
    observation_bias,
    permuted_norms,
    squared_norms,
)


@dataclass(frozen=True)
class NormSettings:
    """Settings of the table of norms.

    Attributes:
        level: nominal coverage of the intervals.
        permutations: draws of the test.
        random_state: seed of the draws.
        named_clusters: whether the user named a cluster column, so that the printed bias is clustered as well.
    """

    level: float
    permutations: int
    random_state: int
    named_clusters: bool


def norm_table(
    fits: Sequence[ClusteredRegression], squares: Floats, columns: Sequence[str], skip: int, settings: NormSettings
) -> tuple[TermNorm, ...]:
    """Rows of the table of norms.

    Args:
        fits: the same fit over every way in which occurrences cluster: documents or authors, and of a list of targets
            its words; of several, the most careful bias, error and p are taken.
        squares: sums of squared lengths of the embeddings, in the order of rows as they were given.
        columns: names of the columns of the design.
        skip: columns at the start that are no terms: the intercept.
        settings: of the table.
    """
    norms, observed = squared_norms(fits[0]), observation_bias(fits[0], squares[fits[0].order])
    estimates = corrected_norms(fits, settings.level)
    errors = np.max([jackknife_errors(fit) for fit in fits], axis=0)
    permuted = permuted_norms(fits[0], settings.permutations, settings.random_state) if len(fits) == 1 else None
    if permuted is not None:
        method, draws = "permutation of covariates over clusters", [permuted]
    else:
        method = "random signs of clusters"
        draws = [flipped_norms(fit, settings.permutations, settings.random_state) for fit in fits]
    p_values = np.max([monte_carlo_p(norms, [values]) for values in draws], axis=0)
    rows = []
    for column, term in list(enumerate(columns))[skip:]:
        estimate, norm2 = estimates[column], float(norms[column])
        clustered = None if estimate.value is None else norm2 - estimate.value
        bias = clustered if settings.named_clusters or len(fits) > 1 else _defined(observed[column])
        rows.append(TermNorm(
            term=term, norm2=norm2, norm2_bias=bias, norm2_corrected=None if bias is None else norm2 - bias,
            low=estimate.low, high=estimate.high, p=float(p_values[column]) if estimate.bounded else None,
            n=estimate.n, se=float(errors[column]) if estimate.bounded else None, clustered_bias=clustered,
            p_method=method, level=settings.level, method=estimate.method, reason=estimate.reason,
        ))  # fmt: skip
    return tuple(rows)


def _defined(value: float) -> float | None:
    """Return the value; None where it is NaN."""
    return None if np.isnan(value) else float(value)
