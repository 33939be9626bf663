"""Test of a contrast, mean(X, A) − mean(X, B) − mean(Y, A) + mean(Y, B), beyond the words at hand.

WEAT's permutation asks whether other *targets* would be split so by chance, with the attributes as they are. Where A
and B mean nothing (their words relabeled by a coin toss), the words of a topic still lean alike, and that p rejects
in a third to a half of all cases. The other exchangeability shuffles A against B with the targets as they are. A
contrast counts only if both reject chance, and the interval over targets and attributes does too: the largest of three
p.

Cosines follow the frequencies of both words. Lists of random words, frequent ones against rare ones, have a contrast
that is far from 0 and means nothing, the more surely the longer they are. `contrast_of` therefore tests the contrast at
equal frequency too: of vectors less the mean vector of words of their frequency (`core.frequency`), with log frequency
and its square as covariates of targets and of attributes. The first takes out what frequency does to any words, also
where frequencies of two lists do not overlap; the second what it does within these topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import (
    WEAT_WEIGHTS,
    Floats,
    FrequencyEffect,
    Integers,
    SimilarityTable,
    TableWords,
    frequency_effect,
)
from biasgauge.stats import (
    Contrast,
    Shift,
    SideLike,
    TableSide,
    contrast_estimate,
    effective_words,
    shift_between,
    table_side,
)

METHOD_ADJUSTED = "two-way clustered t at equal word frequency"
_SAME_FREQUENCY = 1e-6
"""Spread of the square of log frequency beyond log frequency, below which all words have one of two frequencies."""
NO_FREQUENCIES = "the vectors come without counts or ranks of words, and their language has no reference list"
_EFFECTIVE: WeakKeyDictionary[TableWords, Floats] = WeakKeyDictionary()
"""Effective numbers of words of sides of tables that are in use."""


@dataclass(frozen=True, eq=False)
class ContrastTest:
    """A contrast with three tests and their joint interval.

    Attributes:
        contrast: with the interval over targets and attributes (and replicates), in cosine units.
        targets: X against Y, by splits of the targets; None where the weights do not compare two groups of them.
        attributes: A against B, by splits of the attributes; likewise.
        adjusted: the same at equal word frequency; None where frequencies are not known, or nothing was adjusted.
    """

    contrast: Contrast
    targets: Shift | None = None
    attributes: Shift | None = None
    adjusted: ContrastTest | None = None

    @property
    def decisive(self) -> ContrastTest:
        """The test that a decision rests on: that at equal word frequency, where there is one."""
        return self if self.adjusted is None else self.adjusted

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

    def with_variance(self, name: str, variance: float) -> ContrastTest:
        """Return the same test with a further component of variance, of the contrast and of that at equal frequency."""
        adjusted = None if self.adjusted is None else self.adjusted.with_variance(name, variance)
        contrast = self.contrast.with_variance(name, variance)
        if adjusted is not None:
            contrast = replace(contrast, adjusted=adjusted.contrast)
        return replace(self, contrast=contrast, adjusted=adjusted)

    def frequency_effect(self, alpha: float) -> FrequencyEffect | None:
        """Return what word frequency does to a finding at alpha; None where it is not known or nothing is left."""
        equal = None if self.adjusted is None else self.adjusted.p
        return frequency_effect(
            as_it_is=None if self.p is None else self.p <= alpha,
            at_equal_frequency=None if equal is None else equal <= alpha,
        )

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Return the contrasts that at least one test does not reject; they include 0 exactly where p > 1 − level."""
        contrast = self.contrast.at(level)
        if contrast.low is None or contrast.high is None:
            return None, None
        ends = [(contrast.low, contrast.high)]
        ends += [shift.interval(level) for shift in (self.targets, self.attributes) if shift is not None]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        return (low, high) if np.isfinite([low, high]).all() else (None, None)


def contrast_of(table: SimilarityTable, *, level: float = 0.95, random_state: int = 0) -> ContrastTest:
    """Test the contrast that answers a query, as it is and at equal word frequency.

    Words near each other count less than in full (`stats.effective_words`), in both.
    """
    return contrast_of_similarities(table, table.values, table.centered, level=level, random_state=random_state)


def contrast_of_similarities(
    table: SimilarityTable, values: Floats, centered: Floats | None, *, level: float = 0.95, random_state: int = 0
) -> ContrastTest:
    """`contrast_of` for other similarities of the same words, such as those counted from a baseline."""
    weights = table.weights
    options = {"level": level, "random_state": random_state}
    test = contrast_test(values, *table_sides(table, powers=0), weights, **options)  # type: ignore[arg-type]
    if centered is None:
        unknown = Contrast(value=None, reason=NO_FREQUENCIES, method=METHOD_ADJUSTED, level=level)
        return replace(test, contrast=replace(test.contrast, adjusted=unknown))
    adjusted = contrast_test(centered, *table_sides(table), weights, **options)  # type: ignore[arg-type]
    contrast = replace(adjusted.contrast, method=METHOD_ADJUSTED)
    return replace(
        test, contrast=replace(test.contrast, adjusted=contrast), adjusted=replace(adjusted, contrast=contrast)
    )


def table_sides(table: SimilarityTable, *, powers: int = 2) -> tuple[TableSide, TableSide]:
    """Return the words of both sides with their effective numbers, and powers of log frequency as covariates.

    There are covariates on a side whose lists are set against each other; one list of words has nothing to adjust to.
    """
    pattern = np.asarray(table.weights, np.float64)
    opposed = bool(np.allclose(pattern.sum(axis=0), 0)), bool(np.allclose(pattern.sum(axis=1), 0))
    rows, columns = (
        TableSide(
            words.groups,
            frequency_powers(words.groups, words.frequencies if against else None, powers),
            _effective_numbers(words),
        )
        for words, against in zip((table.targets, table.attributes), opposed, strict=True)
    )
    return rows, columns


def side_of_words(groups: Integers, cosines: Floats, frequencies: Floats | None, powers: int = 2) -> TableSide:
    """Build one side of a table from the list of each word, the cosines between words, and their log frequencies."""
    return TableSide(groups, frequency_powers(groups, frequencies, powers), _effective_by_list(groups, cosines))


def _effective_by_list(groups: Integers, cosines: Floats) -> Floats:
    """Effective number of words of each list."""
    lists = [groups == group for group in range(int(groups.max()) + 1)]
    return np.array([effective_words(cosines[np.ix_(members, members)]) for members in lists])


def _effective_numbers(words: TableWords) -> Floats:
    """Effective numbers of one side of a table, computed once for as long as there is this table."""
    if words not in _EFFECTIVE:
        _EFFECTIVE[words] = _effective_by_list(words.groups, words.cosines)
    return _EFFECTIVE[words]


def frequency_powers(groups: Integers, frequencies: Floats | None, powers: int = 2) -> Floats | None:
    """Return log frequency and its square, words × powers; None where there is nothing to hold constant.

    Each is standardized, and the square is less what it has in common with log frequency: of lists with a few much more
    frequent words the two correlate by up to −1, which says nothing about whether frequency tells the lists apart.
    """
    # Three words beyond the lists for each power: otherwise nothing is left to estimate the variance from.
    powers = min(powers, (len(groups) - int(groups.max()) - 1) // 3)
    if frequencies is None:
        return None
    # Powers of n different values have rank n - 1; the standard deviation of equal values need not round to 0.
    powers = min(powers, len(np.unique(frequencies)) - 1)
    if powers < 1:
        return None
    standard = _standardized(frequencies)
    if powers == 1:
        return standard[:, None]
    square = standard**2 - 1.0  # of mean 0
    square -= standard * float((square * standard).mean())
    if float(square.std()) < _SAME_FREQUENCY:
        return standard[:, None]
    return np.stack([standard, _standardized(square)], axis=1)


def _standardized(values: Floats) -> Floats:
    centered: Floats = values - values.mean()
    return centered / float(values.std())


def contrast_test(
    similarities: ArrayLike,
    rows: SideLike,
    columns: SideLike,
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
    pattern = np.asarray(weights, np.float64)
    sides = table_side(rows), table_side(columns)
    return ContrastTest(
        contrast,
        _shift(table, *sides, pattern, random_state),
        _shift(table.T, *sides[::-1], pattern.T, random_state + 1),
    )


def row_scores(table: Floats, rows: TableSide, columns: TableSide, pattern: Floats) -> Floats:
    """Association of each row with the first list of columns rather than the second, tables × rows.

    Rows are compared less what the covariates predict of them (Freedman & Lane 1983): without covariates, as they are.
    """
    scores = table @ columns.inverse[: pattern.shape[1]].T @ pattern[0]
    lists = len(rows.sizes)
    predicted = scores @ rows.inverse[lists:].T @ rows.design[:, lists:].T
    return np.asarray(scores - predicted)


def _shift(table: Floats, rows: TableSide, columns: TableSide, pattern: Floats, random_state: int) -> Shift | None:
    """Return the contrast as a difference between two lists of rows; None where the weights are no difference."""
    if len(pattern) != 2 or not np.array_equal(pattern[0], -pattern[1]) or rows.collinear or columns.collinear:
        return None
    scores = row_scores(table, rows, columns, pattern)
    return shift_between(scores[rows.groups == 0], scores[rows.groups == 1], random_state=random_state)
