"""Sums of squares of a crossed layout with at most one score in a cell, complete or not, in blocks of words.

For every set S of facets, T_S is the sum over the cells of S of (sum of scores)² / (number of scores). Signed sums of
the T_S are the sums of squares of the analysis of variance; where scores are undefined, the analogous ones of
Henderson's method I (Henderson 1953; Searle, Casella & McCulloch 1992, section 5.3; Brennan 2001, section 7.1), whose
expectations are known combinations of the variance components, for any pattern of gaps that does not depend on the
scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from biasgauge.core import Flags, Floats, Vectors

Subset = tuple[int, ...]

_BLOCK = 2**21  # scores worked on at a time: bounds the memory
_CELLS = 60_000
"""Largest number of cells of a simulated layout; beyond it words are subsampled and degrees of freedom scaled up."""


@dataclass(frozen=True)
class EffectSquares:
    """Mean squares of every main effect and interaction; where cells are missing, they may be below 0.

    The matrix `expected` turns components into expected mean squares; `mean_error` has for each component its weight
    in the variance of the mean.
    """

    subsets: tuple[Subset, ...]
    mean_squares: Floats
    freedom: Floats
    expected: Floats
    mean: float
    mean_error: Floats
    scores: int

    @property
    def solvable(self) -> bool:
        """True if all components are identified: each has degrees of freedom, and the equations are regular."""
        if (self.freedom < 1).any():
            return False
        scaled = self.expected / np.abs(self.expected).max(axis=1, keepdims=True)
        return bool(np.linalg.cond(scaled) < 1e9)

    def components(self, values: Floats | None = None) -> Floats:
        """Solve expected mean squares = mean squares for the components: unbiased, and possibly below 0.

        Args:
            values: mean squares of other layouts in rows; those of this one by default.
        """
        squares = self.mean_squares if values is None else values
        components: Floats = np.asarray(np.linalg.solve(self.expected, squares.T).T, np.float64)
        return components


def subsets_of(size: int) -> tuple[Subset, ...]:
    """Return every set of axes but the empty one, smaller ones first."""
    return tuple(chain.from_iterable(combinations(range(size), length) for length in range(1, size + 1)))


def effect_squares(
    scores: Vectors, defined: Flags | None, *, shift: float, scale: Floats, block_size: int = _BLOCK
) -> EffectSquares:
    """Mean squares of an array with one axis per facet, of which the last is cut into blocks.

    Args:
        scores: one score per cell; values of undefined cells are ignored.
        defined: True for cells with a score; None when all have one.
        shift: about the mean of the scores; subtracted before squares are summed, so that they keep their digits.
        scale: divisor of the scores: one number, or one for each index of the first axis.
        block_size: about as many scores are worked on at a time.
    """
    totals = _Totals(scores.shape, complete=defined is None)
    step = max(block_size // max(int(np.prod(scores.shape[:-1])), 1), 1)
    divisor = scale.reshape(-1, *(1,) * (scores.ndim - 1))
    for start in range(0, scores.shape[-1], step):
        block = scores[..., start : start + step].astype(np.float64)
        block /= divisor
        block -= shift
        mask = None if defined is None else defined[..., start : start + step]
        if mask is not None:
            block[~mask] = 0.0
        totals.add(block, mask)
    return totals.finish(shift)


def effective_freedom(
    squares: EffectSquares, defined: Flags, components: Floats, random: np.random.Generator, layouts: int = 100
) -> Floats:
    """Degrees of freedom of each mean square, between 1 and the nominal ones, where cells are missing.

    Mean squares are then neither independent nor scaled chi-squared. So many `layouts` with the same gaps and the
    estimated components are simulated, and df = 2 E(MS)² / Var(MS) (Satterthwaite). With a tenth and a quarter of the
    words missing from each model, intervals with nominal degrees of freedom covered as little as 83 %, with these 92 to
    98 %.
    """
    words = defined.shape[-1]
    fewer = min(words, max(_CELLS // int(np.prod(defined.shape[:-1])), 2))
    mask = defined[..., np.sort(random.choice(words, fewer, replace=False))]
    mask = mask[..., mask.any(axis=tuple(range(mask.ndim - 1)))]  # drop words without any score
    simulated = [
        effect_squares(simulate(mask.shape, squares.subsets, components, random), mask, shift=0.0, scale=np.ones(1))
        for _ in range(layouts)
    ]
    variance = np.var(np.array([layout.mean_squares for layout in simulated]), axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = 2 * (simulated[-1].expected @ components) ** 2 / variance
    # Degrees of freedom of effects that involve words grow with the number of words.
    growth = np.array([words / mask.shape[-1] if mask.ndim - 1 in subset else 1.0 for subset in squares.subsets])
    limited: Floats = np.clip(np.nan_to_num(freedom * growth, nan=1.0), 1.0, squares.freedom)
    return limited


def simulate(
    shape: tuple[int, ...], subsets: tuple[Subset, ...], components: Floats, random: np.random.Generator
) -> Floats:
    """Draw one crossed layout with normal effects of these variance components and mean 0."""
    layout: Floats = np.zeros(shape)
    for subset, variance in zip(subsets, components, strict=True):
        size = tuple(length if axis in subset else 1 for axis, length in enumerate(shape))
        layout += random.standard_normal(size) * float(variance) ** 0.5
    return layout


class _Totals:
    """Accumulates T_S of all sets S of axes, block by block along the last axis, and the weights of their expectations.

    Notation: for a set S of axes, n_S(c) is the number of scores in cell c of S and y_S(c) their sum, so that
    T_S = Σ_c y_S(c)² / n_S(c). The expectation of T_A holds the variance component of B with the weight

        k(A, B) = Σ_c Σ_d n_{AB}(c, d)² / n_A(c),     c a cell of A, d a cell of B within it,

    with AB the union of A and B: the scores of one cell of A share an effect of B exactly where they share a cell of
    AB. A cell of a set with the last axis lies within one block and is finished there; all others are summed over the
    blocks first.
    """

    def __init__(self, shape: tuple[int, ...], *, complete: bool) -> None:
        self.shape = shape
        self.complete = complete
        self.size = len(shape)
        self.last = self.size - 1
        self.subsets: tuple[Subset, ...] = ((), *subsets_of(self.size))
        across_blocks = [subset for subset in self.subsets if self.last not in subset]
        self.t = dict.fromkeys(self.subsets, 0.0)
        self.cells = dict.fromkeys(self.subsets, 0)
        self.sums = {subset: np.zeros(self._margin_shape(subset)) for subset in across_blocks}
        self.counts = {subset: np.zeros(self._margin_shape(subset)) for subset in across_blocks}
        # k(A, B) where A has the last axis; Σ_d n² by cell of A, still to be divided by n_A, where only B has it.
        self.weights = {(a, b): 0.0 for a in self.subsets for b in self.subsets}
        self.squared_counts = {
            (a, b): np.zeros(self._margin_shape(a)) for a in across_blocks for b in self.subsets if self.last in b
        }

    def _margin_shape(self, subset: Subset) -> tuple[int, ...]:
        return tuple(self.shape[axis] if axis in subset else 1 for axis in range(self.size))

    def add(self, scores: Floats, defined: Flags | None) -> None:
        """Add a block."""
        sums = _margins(scores, self.subsets)
        if defined is not None:
            counts = _margins(defined.astype(np.float64), self.subsets)
        else:  # every cell of a margin sums the same number of scores
            cells = {subset: np.prod([scores.shape[axis] for axis in subset]) for subset in self.subsets}
            counts = {subset: np.full((1,) * self.size, scores.size / number) for subset, number in cells.items()}
        for subset in self.subsets:
            if self.last in subset:
                self._add_squares(subset, scores if len(subset) == self.size else sums[subset], counts[subset])
            else:
                self.sums[subset] += sums[subset]
                self.counts[subset] += counts[subset]
        if self.complete:
            return  # the weights are known from the shape alone
        for a in self.subsets:
            for b in self.subsets:
                union = tuple(sorted({*a, *b}))
                if self.last not in union or len(union) == self.size:
                    continue  # from the summed counts, or the number of cells: see `_weight`
                if self.last in a:
                    self.weights[a, b] += _sum_of_ratios(counts[union] ** 2, counts[a])
                else:
                    outside = tuple(axis for axis in range(self.size) if axis not in a)
                    self.squared_counts[a, b] += (counts[union] ** 2).sum(axis=outside, keepdims=True)

    def _add_squares(self, subset: Subset, sums: Floats, counts: Floats) -> None:
        self.t[subset] += _sum_of_ratios(sums**2, counts)
        self.cells[subset] += sums.size if self.complete else int(np.count_nonzero(counts))

    def finish(self, shift: float) -> EffectSquares:
        """Turn totals into mean squares and their expectations."""
        for subset, sums in self.sums.items():
            self._add_squares(subset, sums, self.counts[subset])
        scores = float(self.counts[()].sum())
        # Rows: T_A for all A, the empty set first; columns: components of all B but the empty set.
        table = np.array([[self._weight(a, b, scores) for b in self.subsets[1:]] for a in self.subsets])
        # The sum of squares of A is Σ over S ⊆ A of (−1)^(|A| − |S|) T_S; so are its expectation and, with the number
        # of cells in the place of T, its degrees of freedom.
        signs = np.array([[_sign(a, s) for s in self.subsets] for a in self.subsets[1:]])
        freedom = signs @ np.array([self.cells[subset] for subset in self.subsets], np.float64)
        squares = signs @ np.array([self.t[subset] for subset in self.subsets])
        with np.errstate(divide="ignore", invalid="ignore"):
            mean_squares, expected = squares / freedom, (signs @ table) / freedom[:, None]
        return EffectSquares(
            subsets=self.subsets[1:],
            mean_squares=mean_squares,
            freedom=freedom,
            expected=expected,
            mean=float(self.sums[()].sum()) / scores + shift,
            mean_error=table[0] / scores,
            scores=int(scores),
        )

    def _weight(self, a: Subset, b: Subset, scores: float) -> float:
        """Weight k(A, B) of the component of B in the expectation of T_A."""
        union = tuple(sorted({*a, *b}))
        if self.complete:  # every n_{AB} / n_A is 1 / (levels of the axes of B that are not in A)
            return scores / float(np.prod([self.shape[axis] for axis in union if axis not in a]))
        if len(union) == self.size:  # at most one score in a cell of all axes: Σ n² = Σ n = n_A
            return float(self.cells[a])
        if self.last not in union:
            return _sum_of_ratios(self.counts[union] ** 2, self.counts[a])
        return self.weights[a, b] if self.last in a else _sum_of_ratios(self.squared_counts[a, b], self.counts[a])


def _margins(block: Floats, subsets: tuple[Subset, ...]) -> dict[Subset, Floats]:
    """Sums over all axes that are not in a set, for every set; each from a larger set by summing one more axis."""
    size = block.ndim
    sums: dict[Subset, Floats] = {tuple(range(size)): block}
    for subset in sorted(subsets, key=len, reverse=True):
        if len(subset) < size:
            shortest = min((axis for axis in range(size) if axis not in subset), key=lambda axis: block.shape[axis])
            sums[subset] = sums[tuple(sorted({*subset, shortest}))].sum(axis=shortest, keepdims=True)
    return sums


def _sum_of_ratios(numerator: Floats, denominator: Floats) -> float:
    """Sum of ratios; cells without a score contribute 0."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    return float(np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0).sum())


def _sign(effect: Subset, subset: Subset) -> float:
    """Sign of T of `subset` in the sum of squares of `effect`; 0 where it is not inside."""
    return 0.0 if not set(subset) <= set(effect) else (-1.0) ** (len(effect) - len(subset))
