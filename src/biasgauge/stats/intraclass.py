"""Intraclass correlations: agreement of raters on the scores of the same subjects.

The six forms of Shrout & Fleiss, "Intraclass correlations: uses in assessing rater reliability", Psychological Bulletin
86 (1979); intervals as there and in McGraw & Wong, Psychological Methods 1 (1996). The first number of a form is the
model: 1, every subject has raters of its own; 2, raters are a sample of many; 3, these raters are all there are. The
second says whether one rater's score is used or the mean of all k. Coverage of all intervals:
docs/reliability_intervals.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike
from scipy.special import fdtrc, fdtri

from biasgauge.core import (
    Estimate,
    Estimates,
    Fields,
    Flags,
    Floats,
    Places,
    Reason,
    Vectors,
    as_stack,
    check_choice,
    check_level,
    flat,
)
from biasgauge.errors import ParameterError
from biasgauge.stats.anova import MeanSquares, mean_squares
from biasgauge.stats.subject_bootstrap import Interval, add_bootstrap_intervals

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"]
FORMS: tuple[Form, ...] = get_args(Form)

_METHODS = {"1": "F", "2": "F, Satterthwaite degrees of freedom", "3": "F"}
_FEW = 512
"""As many quantiles of F as SciPy may compute one by one."""
_BLOCK = 2**14
"""Quantiles computed at a time, in the processor's cache."""
_DEGREES = (16, 32, 64)
_ACCURACY = 1e-11
"""Largest relative error of a quantile from a series, at the points where it is checked."""


@dataclass(frozen=True)
class Icc(Estimate):
    """An intraclass correlation and the F test that it is 0.

    Attributes:
        f: mean square of subjects by that of what is left; None when undefined.
        df1, df2: its degrees of freedom.
        p_value: chance of an F at least as large if the true correlation were 0.
    """

    f: float | None = None
    df1: int = 0
    df2: int = 0
    p_value: float | None = None


@dataclass(frozen=True, eq=False)
class Iccs(Estimates):
    """Intraclass correlations of a stack, with the mean squares that they come from."""

    form: Form = "2,1"
    squares: MeanSquares | None = None

    def __getitem__(self, position: int | tuple[int, ...]) -> Icc:
        """Return one of them with its F test."""
        estimate = super().__getitem__(position)
        assert self.squares is not None  # noqa: S101 - always there, `None` only keeps the order of fields
        index = int(np.ravel_multi_index(position if isinstance(position, tuple) else (position,), self.shape))
        n, k, one_way = estimate.n, estimate.k, self.form[0] == "1"
        df2 = n * (k - 1) if one_way else (n - 1) * (k - 1)
        error = (self.squares.ms_within if one_way else self.squares.ms_error)[index]
        f = float(self.squares.ms_rows[index] / error) if error > 0 else None
        p = None if f is None else float(fdtrc(n - 1, df2, f))
        return Icc(**vars(estimate), f=f, df1=max(n - 1, 0), df2=max(df2, 0), p_value=p)


def icc(
    scores: ArrayLike,
    form: Form = "2,1",
    *,
    level: float = 0.95,
    interval: Interval = "f",
    resamples: int = 1_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Icc | Iccs:
    """Intraclass correlation of a matrix with subjects in rows and raters in columns, or of a stack of matrices.

    With mean squares of subjects R, raters C, error E and within subjects W of n subjects and k raters:
    ICC(1,1) = (R − W) / (R + (k−1) W), ICC(2,1) = (R − E) / (R + (k−1) E + k (C − E) / n),
    ICC(3,1) = (R − E) / (R + (k−1) E), and ICC(·,k) = k ICC / (1 + (k−1) ICC) of the one for a single rater.

    At most 1: raters give the same scores ("2,…": the very same; "3,…": up to a constant for each rater). About 0:
    subjects differ no more than by chance. Negative estimates are reported as they are. NaN marks an undefined score:
    raters without any score are left out, then subjects that lack one; `n` and `k` count those that remain.
    Undefined, with a reason, when fewer than two subjects or raters are left or all scores are equal; "…,k" also when
    subjects do not differ on average.

    Args:
        scores: (subjects, raters), or (…, subjects, raters) for a stack.
        form: "1,1", "2,1", "3,1", "1,k", "2,k" or "3,k".
        level: nominal coverage of the interval.
        interval: "f": that of Shrout & Fleiss, for normal effects; too narrow where tails are heavy and, for "2,…",
            with fewer than five raters, of which the `warning` of a single matrix tells. "bootstrap": draws subjects
            again (studentized, on the scale of log F). "auto": the bootstrap where there would be such a warning, F
            elsewhere; `method` says which.
        resamples: draws of the bootstrap.
        random_state: seed of the bootstrap.
        n_jobs: threads; all cores when None.

    Raises:
        ParameterError: the scores are no matrix of numbers, or `form` or `level` cannot be used.
    """
    array = as_stack(scores, "icc")
    iccs = icc_stack(array, form, level=level, n_jobs=n_jobs)
    iccs = add_bootstrap_intervals(iccs, array, form, interval, resamples, random_state)
    return iccs[0] if array.ndim == 2 else iccs


def icc_stack(
    stack: Vectors,
    form: Form = "2,1",
    *,
    level: float = 0.95,
    n_jobs: int | None = None,
    subjects: str = "subjects",
    raters: str = "raters",
) -> Iccs:
    """Return `icc` of an array (…, subjects, raters), always as a stack; `subjects` and `raters` name its axes."""
    check_choice(FORMS, form=form)
    squares = mean_squares(flat(stack), n_jobs)
    fields: Fields = {"subjects": subjects, "raters": raters, "form": form, "squares": squares}
    estimates = Iccs(
        statistic=f"ICC({form})", method=_METHODS[form[0]], **from_mean_squares(squares, form, level), **fields
    )
    return estimates.reshape(stack.shape[:-2] or (1,))


def icc_table(scores: ArrayLike, *, level: float = 0.95) -> pd.DataFrame:
    """Return all six forms of one matrix, with intervals and F tests, one row per form."""
    import pandas as pd

    array = as_stack(scores, "icc_table")
    if array.ndim != 2:
        raise ParameterError(f"icc_table needs one matrix. Got the shape {array.shape}.")
    return pd.DataFrame([icc_stack(array, form, level=level)[0].to_dict() for form in FORMS])


def from_mean_squares(squares: MeanSquares, form: Form, level: float) -> dict[str, Any]:
    """Return the fields of `Estimates` that follow from mean squares."""
    check_level(level)
    undefined = np.full(squares.rows.shape, Reason.DEFINED, np.uint8)
    undefined[squares.equal] = Reason.ALL_SCORES_EQUAL
    undefined[squares.n < 2] = Reason.TOO_FEW_SUBJECTS
    undefined[squares.k < 2] = Reason.TOO_FEW_RATERS
    value, low, high = (np.full(squares.rows.shape, np.nan) for _ in range(3))
    for n, k, index in _by_size(squares, undefined == Reason.DEFINED):
        matrices = _MeanSquareShares(n, k, level, squares, index)
        with np.errstate(divide="ignore", invalid="ignore"):
            numbers = matrices.sampled_raters() if form[0] == "2" else matrices.ratio(form[0])
            if form[2] == "k":
                numbers = [_spearman_brown(single, k) for single in numbers]
        value[index], low[index], high[index] = numbers
    at_pole = (undefined == Reason.DEFINED) & ~np.isfinite(value)
    undefined[at_pole] = Reason.NO_SUBJECT_VARIANCE
    for column in (value, low, high):
        column[at_pole] = np.nan
    undefined[(undefined == Reason.DEFINED) & np.isnan(low)] = Reason.NO_LOWER_END
    return {"value": value, "low": low, "high": high, "level": level, "n": squares.n, "k": squares.k,
            "undefined": undefined}  # fmt: skip


def _by_size(squares: MeanSquares, wanted: Flags) -> Iterator[tuple[int, int, Places]]:
    """Yield n, k and the indexes of the wanted matrices of that size."""
    index = np.flatnonzero(wanted)
    n, k = squares.n[index], squares.k[index]
    if len(index) and (n == n[0]).all() and (k == k[0]).all():
        yield int(n[0]), int(k[0]), index
        return
    for size in sorted(set(zip(n.tolist(), k.tolist(), strict=True))):
        yield *size, index[(n == size[0]) & (k == size[1])]


def _spearman_brown(single: Floats, k: int) -> Floats:
    """Reliability of the mean of k raters from that of one, k r / (1 + (k − 1) r); NaN at and below its pole."""
    denominator = 1 + (k - 1) * single
    return np.where(denominator > 1e-12, k * single / denominator, np.nan)


class _MeanSquareShares:
    """Mean squares of matrices of one size, as shares of the total sum of squares, and single-rater ICCs from them."""

    def __init__(self, n: int, k: int, level: float, squares: MeanSquares, index: Places) -> None:
        self.n, self.k, self.level = n, k, level
        # ICCs are ratios of mean squares: shares of the total keep them within the range of numbers.
        sums = [column[index] for column in (squares.rows, squares.columns, squares.error)]
        rows, columns, error = (column / (sums[0] + sums[1] + sums[2]) for column in sums)
        self.rows = rows / (n - 1)
        self.columns = columns / (k - 1)
        self.error = error / ((n - 1) * (k - 1))
        self.within = (columns + error) / (n * (k - 1))

    def ratio(self, model: str) -> list[Floats]:
        """ICC(1,1) or ICC(3,1) with its ends: functions of one F ratio."""
        n, k = self.n, self.k
        error, freedom = (self.within, n * (k - 1)) if model == "1" else (self.error, (n - 1) * (k - 1))
        low_quantile = float(upper_quantiles(self.level, n - 1, freedom))
        high_quantile = float(upper_quantiles(self.level, freedom, n - 1))
        return [self._single(error, quantile) for quantile in (1, low_quantile, 1 / high_quantile)]

    def _single(self, error: Floats, quantile: float) -> Floats:
        """(F/q − 1) / (F/q + k − 1) with F = MS_R / MS_E, multiplied out so that MS_E may be 0."""
        single: Floats = (self.rows - quantile * error) / (self.rows + (self.k - 1) * quantile * error)
        return single

    def sampled_raters(self) -> list[Floats]:
        """ICC(2,1) with its ends: differences between raters in level count as disagreement."""
        n, k, rows, columns, error = self.n, self.k, self.rows, self.columns, self.error
        value = (rows - error) / (rows + (k - 1) * error + k / n * (columns - error))
        # Satterthwaite's degrees of freedom of a · MS_C + b · MS_E (Shrout & Fleiss 1979).
        rater_term = k * value * columns
        error_term = (n * (1 + (k - 1) * value) - k * value) * error
        freedom = (k - 1) * (n - 1) * (rater_term + error_term) ** 2 / ((n - 1) * rater_term**2 + error_term**2)
        freedom[np.isnan(freedom)] = k - 1  # neither raters nor error vary: the ends do not depend on it
        freedom = np.maximum(freedom, 1.0)  # less than that says nothing; happens below 0 alone
        low_quantile = upper_quantiles(self.level, n - 1, freedom)
        high_quantile = upper_quantiles(self.level, freedom, n - 1)
        disagreement = k * columns + (k * n - k - n) * error
        low, high = n * rows / low_quantile, n * rows * high_quantile
        return [value, (low - n * error) / (disagreement + low), (high - n * error) / (disagreement + high)]


def upper_quantiles(level: float, numerator: Floats | float, denominator: Floats | float) -> Floats:
    """Quantiles of F at (1 + level) / 2; one of the degrees of freedom is one number, the other may be many, all ≥ 1.

    SciPy takes about a microsecond each. The logarithm of a quantile is a smooth function of the logarithm of one of
    its degrees of freedom, so a Chebyshev series through a few dozen of SciPy's values gives all others; it is used
    only where it agrees with SciPy at points between them.
    """
    first, second = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    many = first if first.ndim else second
    if many.size > _FEW and (quantiles := _series(level, first, second)) is not None:
        return quantiles
    return _exact(level, first, second)


def _exact(level: float, numerator: Floats, denominator: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(fdtri(numerator, denominator, (1 + level) / 2), np.float64)


def _series(level: float, numerator: Floats, denominator: Floats) -> Floats | None:
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
            points = (many - middle) / half
            logs = [chebyshev.chebval(points[at : at + _BLOCK], terms) for at in range(0, len(points), _BLOCK)]
            return np.asarray(np.exp(np.concatenate(logs)), np.float64)
    return None
