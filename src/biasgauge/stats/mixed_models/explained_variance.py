"""Explained variance of a mixed model after Nakagawa & Schielzeth (2013), by group and by factor.

Intervals come from draws of the parameters: each variance from the pivot of its own interval (`model`), coefficients
from their normal distribution. With two or three levels this matters: the parametric bootstrap (new data drawn from the
fitted model and fitted again) covers a variance of two levels in 66 % of cases, not 95 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from biasgauge.core import Estimate, Floats, Record
from biasgauge.errors import ParameterError
from biasgauge.stats.bootstrap import percentile_estimate
from biasgauge.stats.mixed_models.model import NOT_SEPARATED, OVER, MixedFit, confounded_groups, pivots
from biasgauge.stats.mixed_models.moment_sums import Moments
from biasgauge.stats.mixed_models.reml import Solution, solve
from biasgauge.stats.numerics import on_one_thread

_SIDES = [0, -1]
"""Places of the shares of the fixed effects and of all."""


@dataclass(frozen=True)
class Share(Record):
    """A share of variance, or a difference of shares, with its interval; None where it is not identified."""

    value: float | None
    interval: Estimate


@dataclass(frozen=True)
class R2(Record):
    """Shares of the variance of the outcome.

    Attributes:
        fixed: by the columns of X: R²m, var(Xβ) over the sum of var(Xβ), the groups' and the residual variance.
        groups: by each group.
        total: by all of them: R²c.
    """

    fixed: Share
    groups: Mapping[str, Share]
    total: Share


@dataclass(frozen=True)
class Drop(Record):
    """Loss of R² when a factor is left out: R²m and R²c of the full model minus those without it.

    Either can be negative: the groups or the residual take up what the factor explained.
    """

    fixed: Share
    total: Share


def r2(
    fit: MixedFit,
    factors: Mapping[str, Sequence[str]] | None = None,
    *,
    level: float = 0.95,
    draws: int = 2_000,
    refits: int = 300,
    random_state: int = 0,
) -> tuple[R2, dict[str, Drop]]:
    """Explained variance of a fitted model (Nakagawa & Schielzeth 2013), and the share of each factor.

    R²m = var(Xβ) / (var(Xβ) + Σ group variances + residual variance); R²c adds the group variances to the numerator.
    Both between 0 (nothing explained) and 1.

    Where a group has no interval of its variance (its levels cannot be told apart from those of other groups), no share
    has one: all are over a sum with that variance in it. Shares of groups that are confounded are undefined themselves.

    Args:
        fit: the model; it must have a constant column.
        factors: names of factors, each with the columns that leave the model together.
        level: of the intervals.
        draws: parameters drawn for the intervals of R².
        refits: draws on which the models are fitted again for the intervals of the drops.
        random_state: seed.

    Raises:
        ParameterError: the model has no constant column.
    """
    solution = fit.solution
    if solution.sums.constant is None:
        raise ParameterError("R² needs a model with an intercept: a column of ones in X.")
    unidentified = [
        group.name for group, pivot in zip(solution.sums.groups, pivots(solution).groups, strict=True) if pivot is None
    ]
    if unidentified:
        return _without_intervals(solution, factors, unidentified, level)
    random = np.random.default_rng(random_state)
    with on_one_thread():  # matrices of a few rows: threads would wait for each other, and change the last bits
        drawn = _draw(solution, max(draws, refits), random)
        spread = _shares(_explained(solution.sums, drawn.scaled), drawn.variances, drawn.sigma2)[:draws].T
        shares = [_share(value, column, level) for value, column in zip(_own_shares(solution), spread, strict=True)]
        groups = dict(zip((group.name for group in solution.sums.groups), shares[1:-1], strict=True))
        drops = _drops(solution, factors, drawn, level, refits, random) if factors else {}
    return R2(shares[0], groups, shares[-1]), drops


def _without_intervals(
    solution: Solution, factors: Mapping[str, Sequence[str]] | None, groups: Sequence[str], level: float
) -> tuple[R2, dict[str, Drop]]:
    """Shares where some groups cannot be told apart: point values, and the reason in place of every interval."""
    reason = f"it rests on the variance of {' and of '.join(groups)}, of which {NOT_SEPARATED}"
    confounded = confounded_groups(solution)

    def share(value: float | None) -> Share:
        return Share(value, Estimate(value=value, level=level, method="draws from pivots", over=OVER, reason=reason))

    with on_one_thread():
        fixed, *shares, total = _own_shares(solution).tolist()
        names = [group.name for group in solution.sums.groups]
        by_group = {
            name: share(None if name in confounded else value) for name, value in zip(names, shares, strict=True)
        }
        drops = {
            name: Drop(*(share(value) for value in losses.tolist()))
            for name, losses in _losses(solution, factors or {}).items()
        }
    return R2(share(fixed), by_group, share(total)), drops


class _Draws(NamedTuple):
    """Draws of the parameters from their pivots, one row per draw."""

    scaled: Floats
    variances: Floats
    sigma2: Floats


def _draw(fit: Solution, draws: int, random: np.random.Generator) -> _Draws:
    pivot = pivots(fit)
    if pivot.freedom < 1:
        raise ParameterError("Groups and columns leave no residual: R² has no interval.")
    # σ² = mean square / (χ² / df); a group's variance ratio solves its pivot at a draw of F = mean square / error.
    error = random.chisquare(pivot.freedom, draws) / pivot.freedom
    sigma2 = pivot.mean_square / error
    columns = []
    for group in pivot.groups:
        assert group is not None  # noqa: S101 - for type checkers: without a pivot nothing is drawn
        mean_square = random.chisquare(len(group.sizes), draws) / len(group.sizes)
        columns.append(group.solve(mean_square / error) * sigma2)
    noise = random.standard_normal((draws, len(fit.inverse))) @ np.linalg.cholesky(fit.inverse).T
    return _Draws(fit.scaled + noise * np.sqrt(sigma2)[:, None], np.stack(columns, axis=1), sigma2)


def _explained(sums: Moments, scaled: Floats) -> Floats:
    """Variance b'X'Xb / (n − 1) of the fitted values, intercept left out, for each row b of coefficients."""
    slopes = scaled.copy()
    slopes[:, sums.constant] = 0.0
    explained: Floats = np.einsum("ij,jk,ik->i", slopes, sums.xx, slopes) / (sums.rows - 1)
    return explained


def _shares(explained: Floats, variances: Floats, sigma2: Floats) -> Floats:
    """Divide each variance by the sum of all and the residual; columns: fixed, each group, total."""
    parts = np.column_stack([explained, variances])
    parts /= (parts.sum(axis=1) + sigma2)[:, None]
    return np.column_stack([parts, parts.sum(axis=1)])


def _own_shares(fit: Solution) -> Floats:
    """Shares of a fit itself."""
    shares: Floats = _shares(_explained(fit.sums, fit.scaled[None]), fit.variances[None], np.array([fit.sigma2]))[0]
    return shares


def _share(value: float, drawn: Floats, level: float) -> Share:
    return Share(float(value), percentile_estimate(float(value), drawn, level, method="draws from pivots", over=OVER))


def _drops(
    fit: Solution,
    factors: Mapping[str, Sequence[str]],
    drawn: _Draws,
    level: float,
    refits: int,
    random: np.random.Generator,
) -> dict[str, Drop]:
    """Fit the model without each factor, to the rows and to rows simulated from each draw of the parameters."""
    values = _losses(fit, factors)
    lost: dict[str, list[Floats]] = {name: [] for name in factors}
    sizes = [columns_of_group.stop - columns_of_group.start for columns_of_group in fit.problem.parts]
    residual_df = pivots(fit).freedom
    for scaled, variances, sigma2 in zip(*(column[:refits] for column in drawn), strict=True):
        spreads = zip(np.sqrt(variances), sizes, strict=True)
        effects = np.concatenate([spread * _contrast(size, random) for spread, size in spreads])
        sums = fit.sums.with_outcome(scaled, effects, float(sigma2) * residual_df)
        ratios = variances / sigma2
        full = _own_shares(solve(sums, start=ratios))[_SIDES]
        for name, columns in factors.items():
            lost[name].append(full - _own_shares(solve(sums.without(columns), start=ratios))[_SIDES])
    drops = {}
    for name, value in values.items():
        fixed, total = (_share(*side, level) for side in zip(value, np.array(lost[name]).T, strict=True))
        drops[name] = Drop(fixed, total)
    return drops


def _losses(fit: Solution, factors: Mapping[str, Sequence[str]]) -> dict[str, Floats]:
    """Loss of the shares of the fixed effects and of all, without each factor."""
    full = _own_shares(fit)[_SIDES]
    return {
        name: full - _own_shares(solve(fit.sums.without(columns), start=fit.ratios))[_SIDES]
        for name, columns in factors.items()
    }


def _contrast(levels: int, random: np.random.Generator) -> Floats:
    """Effects of levels with mean 0 and variance 1, in a random direction."""
    effects: Floats = random.standard_normal(levels)
    effects -= effects.mean()
    effects /= effects.std(ddof=1)
    return effects
