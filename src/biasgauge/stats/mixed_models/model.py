"""`fit_mixed`: a linear model with crossed random intercepts, by REML, in the time of one pass over the rows.

Made for many rows and groups of few levels. Fixed effects, variances and criterion are those of lme4; degrees of
freedom are Satterthwaite's as in lmerTest. Sources: Bates, Mächler, Bolker & Walker 2015 (lme4);
Giesbrecht & Burns 1985 and Fai & Cornelius 1996 (degrees of freedom).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from biasgauge.core import Estimate, Fields, Floats, Record, check_level
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.stats.mixed_models.moment_sums import Moments, moments
from biasgauge.stats.mixed_models.variances import OVER, RandomEffect, Solution, random_effects, satterthwaite, solve
from biasgauge.stats.numerics import on_one_thread

FEW_LEVELS = 5
"""Below this many levels the variance of a group, or of a facet, is barely known, and output says so."""


@dataclass(frozen=True)
class FixedEffect(Record):
    """One coefficient.

    Attributes:
        estimate: change of the outcome per unit of the column; None when it is undefined.
        se: its standard error.
        df: Satterthwaite's degrees of freedom; about the number of levels minus one where groups decide it.
        t: estimate / se.
        p: two-sided, of no effect.
        interval: of the coefficient.
        reason: why it is undefined.
    """

    name: str
    estimate: float | None
    se: float | None
    df: float | None
    t: float | None
    p: float | None
    interval: Estimate
    reason: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class MixedFit(Result):
    """A fitted mixed model.

    Attributes:
        fixed: one coefficient for each column of X, in their order.
        random: one variance for each group, then that of the residual.
        criterion: −2 log restricted likelihood (lme4's REML criterion), or −2 log likelihood.
        reml: True for the restricted likelihood.
        rows: number of rows.
        converged: True if the search ended where no step lowers the criterion.
        singular: groups whose variance is estimated as 0, the boundary of the parameter space.
        warnings: limitations of the fit.
        covariance: of the coefficients that are defined, in their order.
        solution: the fit as arrays.
    """

    abridged: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("fixed",)
    hidden: ClassVar[frozenset[str]] = frozenset({"covariance", "solution"})

    fixed: tuple[FixedEffect, ...]
    random: tuple[RandomEffect, ...]
    criterion: float
    reml: bool
    rows: int
    converged: bool
    singular: tuple[str, ...]
    warnings: tuple[str, ...]
    covariance: Floats
    solution: Solution

    def summary(self) -> Summary:
        """Coefficients and variances, with their intervals."""
        heads = ["column", Column("estimate", "estimate", 4), Column("df", "number"), Column("p", "p")]
        fixed = [(effect.name, effect.interval, effect.df, effect.p) for effect in self.fixed]
        groups = [(group.name, group.interval, group.levels) for group in self.random]
        return Summary(
            title="Mixed model",
            headline=f"{counted(self.fixed, 'coefficient')} and {counted(self.random, 'variance')} of "
            f"{counted(self.rows, 'row')}",
            tables=(
                Table.of("fixed", "", heads, fixed),
                Table.of("random", "", ["group", Column("variance", "estimate", 4), Column("levels", "count")], groups),
            ),
            warnings=self.warnings,
        )


def fit_mixed(
    y: ArrayLike,
    x: ArrayLike,
    groups: Mapping[str, ArrayLike],
    names: Sequence[str],
    *,
    reml: bool = True,
    level: float = 0.95,
) -> MixedFit:
    """Fit y = Xβ + a random intercept for each group + error.

    Args:
        y: the outcome, one number a row.
        x: rows × columns; a column of ones among them is the intercept.
        groups: for each grouping factor its level in every row; factors may be crossed or nested.
        names: one for each column of `x`.
        reml: restricted maximum likelihood; False for maximum likelihood.
        level: of the intervals.

    Columns that are a combination of the ones before them get no coefficient but a reason.

    Raises:
        ParameterError: shapes differ, a number is not finite, a group has one level, or nothing is left to estimate.
    """
    check_level(level)
    with on_one_thread():  # the last bits of a product depend on how threads share it
        return fit_moments(moments(y, x, groups, names), tuple(names), reml=reml, level=level)


def fit_moments(sums: Moments, names: tuple[str, ...], *, reml: bool = True, level: float = 0.95) -> MixedFit:
    """Fit a model whose rows have been summed; `names` orders the coefficients, those without one included."""
    fit = solve(sums, reml=reml)
    covariance = fit.sigma2 * sums.back @ fit.inverse @ sums.back.T
    random = random_effects(fit, level)
    singular = tuple(group.name for group in random if group.variance == 0)
    return MixedFit(
        fixed=_fixed(fit, covariance, names, level),
        random=random,
        criterion=fit.at.value,
        reml=reml,
        rows=sums.rows,
        converged=fit.converged,
        singular=singular,
        warnings=tuple(_warnings(fit, singular)),
        covariance=covariance,
        solution=fit,
    )


def _fixed(fit: Solution, covariance: Floats, names: tuple[str, ...], level: float) -> tuple[FixedEffect, ...]:
    estimates = fit.sums.back @ fit.scaled + fit.sums.offset
    errors = np.sqrt(np.diag(covariance))
    freedom = satterthwaite(fit, np.diag(covariance))
    ratios = estimates / errors
    p = 2 * stdtr(freedom, -np.abs(ratios))
    margins = stdtrit(freedom, (1 + level) / 2) * errors
    numbers = np.stack([estimates, errors, freedom, ratios, p, margins], axis=1)
    by_name = dict(zip(fit.sums.names, numbers.tolist(), strict=True))
    fields: Fields = {"level": level, "method": "t, Satterthwaite", "over": OVER}
    rows = []
    for name in names:
        if name in by_name:
            value, se, df, t, chance, margin = by_name[name]
            interval = Estimate(value=value, low=value - margin, high=value + margin, **fields)
            rows.append(FixedEffect(name, value, se, df, t, chance, interval))
        else:
            reason = "the column is constant or a combination of the ones before it"
            interval = Estimate(value=None, reason=reason, **fields)
            rows.append(FixedEffect(name, None, None, None, None, None, interval, reason))
    return tuple(rows)


def _warnings(fit: Solution, singular: tuple[str, ...]) -> list[str]:
    notes = []
    if not fit.converged:
        notes.append("the search for the variances did not converge: do not use these numbers")
    notes.extend(
        f"{group.name} has {len(group.levels)} levels, which barely identify its variance: "
        "its interval is wide, and what rests on it (the intercept, R²) is uncertain"
        for group in fit.sums.groups
        if len(group.levels) < FEW_LEVELS
    )
    notes.extend(f"the variance of {name} is estimated as 0, the boundary: the fit is singular" for name in singular)
    return notes
