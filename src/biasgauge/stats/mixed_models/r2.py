"""Explained variance of a mixed model after Nakagawa & Schielzeth (2013), split by group, and what each factor adds.

Intervals come from draws of the parameters: each variance from the pivot that its own interval inverts
(`mixed_model_variances`), the coefficients from their normal distribution. With two or three levels this matters:
drawing new data from the fitted model and fitting again (the parametric bootstrap) would cover a variance of two levels
in 66 % of cases, not 95 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.errors import ParameterError
from biasgauge.stats.estimate import Estimate
from biasgauge.stats.mixed_models.solve import Solution, solve
from biasgauge.stats.mixed_models.variances import OVER, Pivot, pivots
from biasgauge.stats.threads import on_one_thread

if TYPE_CHECKING:
    from biasgauge.arrays import Floats
    from biasgauge.stats.mixed_models.model import MixedFit
    from biasgauge.stats.mixed_models.moments import Moments

_HOW = "draws from pivots"
_NEWTON_STEPS = 200


@dataclass(frozen=True)
class Share:
    """A share of variance, or a difference of shares, and where it may lie."""

    value: float
    interval: Estimate

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {"value": self.value, "interval": self.interval.interval()}


@dataclass(frozen=True)
class R2:
    """Shares of the variance of the outcome.

    Attributes:
        fixed: by the columns of X: R²m, var(Xβ) over the sum of var(Xβ), the groups' and the residual variance.
        groups: by each group.
        total: by all of them: R²c.
    """

    fixed: Share
    groups: Mapping[str, Share]
    total: Share

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        groups = {name: one.to_dict() for name, one in self.groups.items()}
        return {"fixed": self.fixed.to_dict(), "groups": groups, "total": self.total.to_dict()}


@dataclass(frozen=True)
class Drop:
    """What R² loses when a factor is left out: R²m and R²c of the whole model minus those without it.

    Either can be negative: the groups or the residual take up what the factor explained.
    """

    fixed: Share
    total: Share

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {"fixed": self.fixed.to_dict(), "total": self.total.to_dict()}


def r2(
    fit: MixedFit,
    factors: Mapping[str, Sequence[str]] | None = None,
    *,
    level: float = 0.95,
    draws: int = 2_000,
    refits: int = 300,
    random_state: int = 0,
) -> tuple[R2, dict[str, Drop]]:
    """Explained variance of a fitted model, and how much of it each factor accounts for.

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
    found = fit.solution
    if found.sums.constant is None:
        raise ParameterError("R² needs a model with an intercept: a column of ones in X.")
    with on_one_thread():  # matrices of a few rows: threads would wait for each other, and change the last bits
        return _r2(found, factors or {}, level, draws, refits, np.random.default_rng(random_state))


def _r2(
    found: Solution,
    factors: Mapping[str, Sequence[str]],
    level: float,
    draws: int,
    refits: int,
    random: np.random.Generator,
) -> tuple[R2, dict[str, Drop]]:
    names = [group.name for group in found.sums.groups]
    drawn = _draw(found, max(draws, refits), random)
    values = _shares(_explained(found.sums, found.scaled[None]), found.variances[None], np.array([found.sigma2]))[0]
    spread = _shares(_explained(found.sums, drawn.scaled), drawn.variances, drawn.sigma2)
    shares = [_share(value, spread[:draws, place], level) for place, value in enumerate(values)]
    whole = R2(shares[0], dict(zip(names, shares[1:-1], strict=True)), shares[-1])
    return whole, _drops(found, factors, drawn, level, refits, random)


@dataclass(frozen=True)
class _Draws:
    """Parameters that could have given these data: one row a draw."""

    scaled: Floats
    variances: Floats
    sigma2: Floats


def _draw(found: Solution, draws: int, random: np.random.Generator) -> _Draws:
    pivot = pivots(found)
    if pivot.freedom < 1:
        raise ParameterError("Groups and columns leave no residual: R² has no interval.")
    error = random.chisquare(pivot.freedom, draws) / pivot.freedom
    sigma2 = pivot.mean_square / error
    columns = []
    for one, variance in zip(pivot.groups, found.variances, strict=True):
        if one is None:  # nothing tells how far this variance could be off: kept as it is
            columns.append(np.full(draws, variance))
        else:
            mean_square = random.chisquare(len(one.sizes), draws) / len(one.sizes)
            columns.append(solve_many(one, mean_square / error) * sigma2)
    noise = random.standard_normal((draws, len(found.inverse))) @ np.linalg.cholesky(found.inverse).T
    return _Draws(found.scaled + noise * np.sqrt(sigma2)[:, None], np.stack(columns, axis=1), sigma2)


def solve_many(pivot: Pivot, targets: Floats) -> Floats:
    """As `Pivot.solve`, for many targets: Newton from below, which a falling convex function never oversteps."""
    at_zero = pivot.at(0.0)
    ratios: Floats = np.maximum(at_zero / targets - 1, 0.0) / pivot.sizes.max()
    for _ in range(_NEWTON_STEPS):
        terms = pivot.squares / (1 + ratios[:, None] * pivot.sizes)
        slope = (terms * pivot.sizes / (1 + ratios[:, None] * pivot.sizes)).mean(axis=1)
        step = np.maximum(terms.mean(axis=1) - targets, 0.0) / slope
        ratios = ratios + np.where(at_zero > targets, step, 0.0)
        if (step <= 1e-10 * ratios).all():
            break
    return ratios


def _explained(sums: Moments, scaled: Floats) -> Floats:
    """Variance (by n − 1) of Xβ over the rows, for each row of coefficients."""
    slopes = scaled.copy()
    slopes[:, sums.constant] = 0.0
    found: Floats = np.einsum("ij,jk,ik->i", slopes, sums.xx, slopes) / (sums.rows - 1)
    return found


def _shares(explained: Floats, variances: Floats, sigma2: Floats) -> Floats:
    """Columns: fixed, each group, total."""
    parts = np.column_stack([explained, variances])
    parts /= (parts.sum(axis=1) + sigma2)[:, None]
    return np.column_stack([parts, parts.sum(axis=1)])


def _share(value: float, drawn: Floats, level: float) -> Share:
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Share(
        float(value),
        Estimate(value=float(value), low=low, high=high, level=level, method=_HOW, over=OVER, resamples=len(drawn)),
    )


def _drops(
    found: Solution,
    factors: Mapping[str, Sequence[str]],
    drawn: _Draws,
    level: float,
    refits: int,
    random: np.random.Generator,
) -> dict[str, Drop]:
    """Fit the model without each factor, on the rows and on what the rows would be under each draw."""
    if not factors:
        return {}
    spare = {name: set(columns) for name, columns in factors.items()}
    values = {name: _fixed_and_total(solve(found.sums.without(list(out)), start=found.ratios))
              for name, out in spare.items()}  # fmt: skip
    here = _fixed_and_total(found)
    lost: dict[str, list[Floats]] = {name: [] for name in factors}
    sizes = [part.stop - part.start for part in found.problem.parts]
    left = pivots(found).freedom
    for place in range(refits):
        spreads = np.sqrt(drawn.variances[place])
        effects = np.concatenate([one * _contrast(size, random) for one, size in zip(spreads, sizes, strict=True)])
        sums = found.sums.with_outcome(drawn.scaled[place], effects, float(drawn.sigma2[place]) * left)
        ratios = drawn.variances[place] / drawn.sigma2[place]
        whole = _fixed_and_total(solve(sums, start=ratios))
        for name, out in spare.items():
            lost[name].append(whole - _fixed_and_total(solve(sums.without(list(out)), start=ratios)))
    drops = {}
    for name, value in values.items():
        table = np.array(lost[name])
        fixed, total = (_share(float((here - value)[side]), table[:, side], level) for side in (0, 1))
        drops[name] = Drop(fixed, total)
    return drops


def _contrast(levels: int, random: np.random.Generator) -> Floats:
    """Effects of levels with mean 0 and variance 1, in a random direction."""
    effects: Floats = random.standard_normal(levels)
    effects -= effects.mean()
    effects /= effects.std(ddof=1)
    return effects


def _fixed_and_total(one: Solution) -> Floats:
    found: Floats = _shares(_explained(one.sums, one.scaled[None]), one.variances[None], np.array([one.sigma2]))
    return found[0, [0, -1]]
