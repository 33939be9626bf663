"""Intraclass correlations: agreement of raters on the scores of the same subjects.

The six forms of Shrout & Fleiss, "Intraclass correlations: uses in assessing rater reliability", Psychological Bulletin
86 (1979); intervals as there and in McGraw & Wong, Psychological Methods 1 (1996). The first number of a form is the
model: 1, every subject has raters of its own; 2, raters are a sample of many; 3, these raters are all there are. The
second says whether one rater's score is used or the mean of all k.

Bootstrap intervals hold up better with heavy tails and few raters. Subjects are drawn again; log F = log(MS_R / MS_E)
is studentized by its own standard error in each draw (bootstrap-t: Efron & Tibshirani 1993, section 12.5; Ukoumunne et
al., *Statistics in Medicine* 22 (2003), for intraclass correlations), which covers better than BCa and percentiles.
Coverage of all intervals: docs/reliability/reliability_intervals.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike
from scipy.special import fdtrc, fdtri

from biasgauge.core import (
    Doubt,
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
    check_whole,
    flat,
)
from biasgauge.errors import ParameterError
from biasgauge.stats.anova import MeanSquares, mean_squares
from biasgauge.stats.bootstrap import blocks, draw_counts, percentile_ends

if TYPE_CHECKING:
    import pandas as pd

Interval = Literal["f", "bootstrap", "auto"]
Several = TypeVar("Several", bound=Estimates)
Form = Literal["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"]
FORMS: tuple[Form, ...] = get_args(Form)

_METHODS = {"1": "F", "2": "F, Satterthwaite degrees of freedom", "3": "F"}
_FEW = 512  # as many quantiles of F as SciPy may compute one by one
_BLOCK = 2**14  # quantiles computed at a time, in the processor's cache
FEWEST = 20
"""Subjects below which tails cannot be judged (Anscombe & Glynn 1983)."""
SIGNIFICANT = 0.05
"""One-sided p of the excess kurtosis of the subjects' means from which tails count as heavy."""
FEW_RATERS = 5
"""Raters below which Satterthwaite's F is too narrow for ICC(2,…) of many subjects."""


@dataclass(frozen=True)
class Icc(Estimate):
    """An intraclass correlation and the F test that it is 0.

    Attributes:
        f: mean square of subjects over that of error (one-way: within subjects); None when undefined.
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
    ends = {"value": value, "low": low, "high": high, "level": level}
    return {**ends, "n": squares.n, "k": squares.k, "undefined": undefined}


def _by_size(squares: MeanSquares, wanted: Flags) -> Iterator[tuple[int, int, Places]]:
    """Yield n, k and the indexes of the wanted matrices of that size."""
    index = np.flatnonzero(wanted)
    sizes = squares.n[index] * 2**32 + squares.k[index]  # one number per pair of sizes
    for size in np.unique(sizes).tolist():
        yield size >> 32, size % 2**32, index[sizes == size]


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
        freedom[np.isnan(freedom)] = k - 1  # neither raters nor error vary: the ends do not depend on df
        freedom = np.maximum(freedom, 1.0)  # below 1 for negative estimates alone
        low_quantile = upper_quantiles(self.level, n - 1, freedom)
        high_quantile = upper_quantiles(self.level, freedom, n - 1)
        disagreement = k * columns + (k * n - k - n) * error
        low, high = n * rows / low_quantile, n * rows * high_quantile
        return [value, (low - n * error) / (disagreement + low), (high - n * error) / (disagreement + high)]


def upper_quantiles(
    level: float,
    numerator: Floats | float,
    denominator: Floats | float,
    *,
    degrees: tuple[int, ...] = (16, 32, 64),
    accuracy: float = 1e-11,
) -> Floats:
    """Quantiles of F at (1 + level) / 2; one of the degrees of freedom is one number, the other may be many, all ≥ 1.

    SciPy takes about a microsecond each. The logarithm of a quantile is a smooth function of the logarithm of one of
    its degrees of freedom, so a Chebyshev series through a few dozen of SciPy's values gives all others; it is used
    only where it agrees with SciPy at points between them: the first series of these `degrees` whose relative error
    there is below `accuracy`.
    """
    first, second = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    many = first if first.ndim else second

    def exact(freedom: Floats) -> Floats:
        ends = (freedom if first.ndim else first, second if first.ndim else freedom)
        with np.errstate(over="ignore"):
            return np.asarray(fdtri(ends[0], ends[1], (1 + level) / 2), np.float64)

    if many.size > _FEW and (quantiles := _series(exact, np.log(many), degrees, accuracy)) is not None:
        return quantiles
    return exact(many)


def _series(
    exact: Callable[[Floats], Floats], logs: Floats, degrees: tuple[int, ...], accuracy: float
) -> Floats | None:
    """Quantiles at the exponentials of `logs`, by a series in the logarithm; None where no series is accurate."""
    low, high = float(logs.min()), float(logs.max())
    middle, half = (low + high) / 2, max((high - low) / 2, 1e-9)

    def log_exact(points: Floats) -> Floats:
        return np.log(exact(np.exp(middle + half * points)))

    for degree in degrees:
        nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
        terms = chebyshev.chebfit(nodes, log_exact(nodes), degree)
        between = np.cos(np.pi * np.arange(degree + 2) / (degree + 1))
        if np.abs(chebyshev.chebval(between, terms) - log_exact(between)).max() < accuracy:
            points = (logs - middle) / half
            parts = [chebyshev.chebval(points[at : at + _BLOCK], terms) for at in range(0, len(points), _BLOCK)]
            return np.asarray(np.exp(np.concatenate(parts)), np.float64)
    return None


def add_bootstrap_intervals(
    estimates: Several, stack: Vectors, form: str, interval: Interval, resamples: int, random_state: int
) -> Several:
    """Add to the estimates doubts about the F interval, and bootstrap intervals as `interval` requests.

    A doubt is heavy tails, by the kurtosis of the subjects' means (`SIGNIFICANT`, with at least `FEWEST` subjects), and
    for ICC(2,…) fewer than `FEW_RATERS` raters. One matrix is always checked, a stack only with "auto".
    """
    check_choice(get_args(Interval), interval=interval)
    check_whole(1, resamples=resamples)
    check_whole(0, random_state=random_state)
    if interval == "f" and stack.ndim > 2:
        return estimates
    matrices = [without_gaps(matrix) for matrix in flat(stack)]
    doubts = np.array([_doubt(matrix, form) for matrix in matrices], np.uint8)
    chosen = doubts != Doubt.NONE if interval == "auto" else np.full(len(doubts), interval == "bootstrap")
    chosen &= estimates.value.ravel() < 1  # defined, with an error above 0
    flat_estimates = estimates.reshape((len(doubts),))
    low, high, undefined = (getattr(flat_estimates, name).copy() for name in ("low", "high", "undefined"))
    for index in np.flatnonzero(chosen):
        ends = bootstrap_ends(matrices[index], form, estimates.level, resamples, random_state)
        low[index], high[index] = ends or (np.nan, np.nan)
        undefined[index] = Reason.TOO_FEW_DRAWS if ends is None else Reason.DEFINED
    fields: Fields = {"doubts": doubts, "resampled": chosen, "resamples": resamples}
    return replace(flat_estimates, low=low, high=high, undefined=undefined, **fields).reshape(estimates.shape)


def without_gaps(scores: Vectors) -> Floats:
    """Return a matrix without the columns that have no score, then without the rows that lack one."""
    matrix = np.asarray(scores, np.float64)
    matrix = matrix[:, ~np.isnan(matrix).all(axis=0)]
    return matrix[~np.isnan(matrix).any(axis=1)]


def _doubt(matrix: Floats, form: str) -> int:
    if heavy_tails(matrix):
        return Doubt.HEAVY_TAILS
    return Doubt.FEW_RATERS if form[0] == "2" and matrix.shape[1] < FEW_RATERS else Doubt.NONE


def heavy_tails(matrix: Floats) -> bool:
    """True if the excess kurtosis of the means of rows is significantly above 0."""
    from scipy.stats import kurtosistest

    means = matrix.mean(axis=1) if matrix.size else np.zeros(0)
    if len(means) < FEWEST or np.ptp(means) <= 1e-12 * np.abs(means).max():
        return False
    return bool(kurtosistest(means, alternative="greater").pvalue < SIGNIFICANT)


def bootstrap_ends(
    matrix: Floats, form: str, level: float, resamples: int, random_state: int
) -> tuple[float, float] | None:
    """Ends of the interval of an ICC; None where too few draws have a value, or the error is 0.

    The pivot (log F* − log F) / se* of each draw * gives a draw of the true log F, log F − se · pivot, and so an ICC.
    Resampling subjects does not resample raters ("2,…"): the raters' mean square is drawn from its own pivot, χ² with
    k − 1 degrees of freedom, which assumes normal rater effects.
    """
    n, k = matrix.shape
    scaled = matrix / (np.abs(matrix).max() or 1.0)
    means = scaled.mean(axis=1)
    within, means = scaled - means[:, None], means - means.mean()
    random = np.random.default_rng(random_state)
    one_way = form[0] == "1"
    (log_ratio,), (error,) = _log_ratios(means, within, np.ones((1, n)), one_way=one_way)
    draws = [_log_ratios(means, within, draw_counts(random, n, rows), one_way=one_way) for rows in blocks(resamples, n)]
    ratios, errors = np.concatenate(draws, axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        drawn = log_ratio - error * (ratios - log_ratio) / errors
        # From a ratio of variances per subject to F = MS_R / MS_E: degrees of freedom, and k scores per mean.
        freedom_ratio = n * (k - 1) / (n - 1) if one_way else k - 1
        f = k * freedom_ratio * np.exp(np.where(np.isfinite(drawn), drawn, np.nan))
        rater_term = np.zeros(resamples)  # k/n (MS_C / MS_E − 1) of ICC(2,1)
        if form[0] == "2":
            rater_means = within.mean(axis=0)
            ms_error = ((within - rater_means) ** 2).sum() / ((n - 1) * (k - 1))
            ss_raters = n * (rater_means**2).sum()
            rater_term = k / n * (ss_raters / ms_error / random.chisquare(k - 1, resamples) - 1)
        values = (f - 1) / (f + k - 1 + rater_term)
        if form[2] == "k":
            values = k * values / (1 + (k - 1) * values)  # Spearman & Brown
    return percentile_ends(values, level)


def _log_ratios(means: Floats, within: Floats, counts: Floats, *, one_way: bool) -> tuple[Floats, Floats]:
    """Log of (variance of the means / mean square within), and its standard error, for each row of counts.

    The standard error is that of the influence of each subject on the logarithm, b_i / b̄ − w_i / w̄.
    """
    n = len(means)
    between = (means - (counts @ means)[:, None] / n) ** 2
    columns = np.zeros((len(counts), within.shape[1])) if one_way else counts @ within / n
    # Σ over raters of (within − column mean)², expanded so that no draws × subjects × raters array is needed.
    error = (within**2).sum(axis=1) - 2 * columns @ within.T + (columns**2).sum(axis=1, keepdims=True)
    mean_between, mean_error = (counts * between).sum(axis=1) / n, (counts * error).sum(axis=1) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        influence = between / mean_between[:, None] - error / mean_error[:, None]
        return np.log(mean_between / mean_error), np.sqrt((counts * influence**2).sum(axis=1)) / n
