"""Test of a contrast, mean(X, A) − mean(X, B) − mean(Y, A) + mean(Y, B), beyond the words at hand.

WEAT's permutation asks whether other *targets* would be split so by chance, with the attributes as they are. Where A
and B mean nothing (their words relabeled by a coin toss), the words of a topic still lean alike, and that p rejects
in a third to a half of all cases. The other exchangeability shuffles A against B with the targets as they are. A
contrast counts only if both reject chance, and the interval over targets and attributes does too: the largest of three
p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import WEAT_WEIGHTS, Floats, Integers
from biasgauge.stats import Contrast, Shift, contrast_estimate, shift_between


@dataclass(frozen=True, eq=False)
class ContrastTest:
    """A contrast with three tests and their joint interval.

    Attributes:
        contrast: with the interval over targets and attributes (and replicates), in cosine units.
        targets: X against Y, by splits of the targets; None where the weights do not compare two groups of them.
        attributes: A against B, by splits of the attributes; likewise.
    """

    contrast: Contrast
    targets: Shift | None = None
    attributes: Shift | None = None

    @property
    def value(self) -> float:
        """The contrast, in cosine units."""
        return self.contrast.value or 0.0

    @property
    def p_targets(self) -> float | None:
        """Permutation p over splits of the targets."""
        return None if self.targets is None else self.targets.p

    @property
    def p_attributes(self) -> float | None:
        """Permutation p over splits of the attributes."""
        return None if self.attributes is None else self.attributes.p

    @cached_property
    def p(self) -> float | None:
        """Largest of the three p: small only where all of them are (intersection–union test)."""
        if self.contrast.p is None:
            return None
        return max(p for p in (self.contrast.p, self.p_targets, self.p_attributes) if p is not None)

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Return the contrasts that at least one test does not reject; they include 0 exactly where p > 1 − level."""
        contrast = self.contrast.at(level)
        if contrast.low is None or contrast.high is None:
            return None, None
        ends = [(contrast.low, contrast.high)]
        ends += [shift.interval(level) for shift in (self.targets, self.attributes) if shift is not None]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        return (low, high) if np.isfinite([low, high]).all() else (None, None)


def contrast_test(
    similarities: ArrayLike,
    rows: ArrayLike,
    columns: ArrayLike,
    weights: Sequence[Sequence[float]] = WEAT_WEIGHTS,
    *,
    level: float = 0.95,
    random_state: int = 0,
) -> ContrastTest:
    """Test a contrast of similarities; arguments as in `stats.contrast_estimate`.

    Where the weights set two groups of rows against each other, the rows are split again, and likewise the columns.
    """
    contrast = contrast_estimate(similarities, rows, columns, weights, level=level)
    table = np.asarray(similarities, np.float64)
    table = table.mean(axis=0) if table.ndim == 3 else table
    row_groups, column_groups = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    pattern = np.asarray(weights, np.float64)
    return ContrastTest(
        contrast,
        _shift(table, row_groups, column_groups, pattern, random_state),
        _shift(table.T, column_groups, row_groups, pattern.T, random_state + 1),
    )


def _shift(table: Floats, rows: Integers, columns: Integers, pattern: Floats, random_state: int) -> Shift | None:
    """Return the contrast as a difference between two groups of rows; None where the weights are no difference."""
    if len(pattern) != 2 or not np.array_equal(pattern[0], -pattern[1]):
        return None
    means = np.stack([table[:, columns == group].mean(axis=1) for group in range(pattern.shape[1])])
    lean = pattern[0] @ means
    return shift_between(lean[rows == 0], lean[rows == 1], random_state=random_state)
