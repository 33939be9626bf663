"""`fit_mixed`: a linear model with crossed random intercepts, by REML, in the time of one pass over the rows.

Made for many rows and groups of few levels. Fixed effects, variances and criterion are those of lme4; degrees of
freedom are Satterthwaite's as in lmerTest. Sources: Bates, Mächler, Bolker & Walker 2015 (lme4);
Giesbrecht & Burns 1985 and Fai & Cornelius 1996 (degrees of freedom).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.stats.estimate import Estimate
from biasgauge.stats.mixed_models.moments import Moments, moments
from biasgauge.stats.mixed_models.solve import Solution, satterthwaite, solve
from biasgauge.stats.mixed_models.variances import RandomEffect, random_effects
from biasgauge.stats.threads import on_one_thread

if TYPE_CHECKING:
    import pandas as pd


FEW_LEVELS = 5
"""Below this many levels the variance of a group is barely known, and output says so."""
_HOW = "t, Satterthwaite"


@dataclass(frozen=True)
class FixedEffect:
    """One coefficient.

    Attributes:
        estimate: change of the outcome per unit of the column; None when it is undefined.
        se: its standard error.
        df: Satterthwaite's degrees of freedom; about the number of levels minus one where groups decide it.
        t: estimate / se.
        p: two-sided, of no effect.
        interval: where the coefficient may lie.
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

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        numbers = {key: getattr(self, key) for key in ("name", "estimate", "se", "df", "t", "p")}
        return {**numbers, "interval": self.interval.interval(), "reason": self.reason}


@dataclass(frozen=True)
class MixedFit:
    """A fitted mixed model.

    Attributes:
        fixed: one coefficient for each column of X, in their order.
        random: one variance for each group, then that of the residual.
        criterion: −2 log restricted likelihood (lme4's REML criterion), or −2 log likelihood.
        reml: which of the two.
        rows: how many.
        converged: the search ended where no step lowers the criterion.
        singular: groups whose variance is estimated as 0, the boundary of what is possible.
        warnings: what to know before reading the table.
        covariance: of the coefficients that are defined, in their order.
    """

    fixed: tuple[FixedEffect, ...]
    random: tuple[RandomEffect, ...]
    criterion: float
    reml: bool
    rows: int
    converged: bool
    singular: tuple[str, ...]
    warnings: tuple[str, ...]
    covariance: Floats
    solution: Solution = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the covariance, JSON-ready."""
        return {
            "fixed": [one.to_dict() for one in self.fixed],
            "random": [one.to_dict() for one in self.random],
            "criterion": self.criterion,
            "reml": self.reml,
            "rows": self.rows,
            "converged": self.converged,
            "singular": list(self.singular),
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a coefficient: name, estimate, se, df, t, p, low, high, reason."""
        import pandas as pd

        rows = [
            {**{key: value for key, value in one.to_dict().items() if key not in {"interval", "reason"}},
             "low": one.interval.low, "high": one.interval.high, "reason": one.reason}
            for one in self.fixed
        ]  # fmt: skip
        return pd.DataFrame(rows)

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(one)}</li>" for one in self.warnings)
        variances = "".join(
            f"<li>{escape(one.name)}: variance {one.variance:.4g}, {one.levels} levels</li>" for one in self.random
        )
        return f"{self.to_frame().to_html(index=False)}<ul>{variances}{notes}</ul>"


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
    if not 0 < level < 1:
        raise ParameterError(f"The 'level' parameter of fit_mixed must lie between 0 and 1. Got {level!r}.")
    with on_one_thread():  # the last bits of a product depend on how threads share it
        return fit_moments(moments(y, x, groups, names), tuple(names), reml=reml, level=level)


def fit_moments(sums: Moments, names: tuple[str, ...], *, reml: bool = True, level: float = 0.95) -> MixedFit:
    """Fit a model whose rows have been summed; `names` orders the coefficients, those without one included."""
    found = solve(sums, reml=reml)
    covariance = found.sigma2 * sums.back @ found.inverse @ sums.back.T
    fixed = _fixed(found, covariance, names, level)
    random = random_effects(found, level)
    singular = tuple(one.name for one in random if one.variance == 0)
    return MixedFit(
        fixed=fixed,
        random=random,
        criterion=found.at.value,
        reml=reml,
        rows=sums.rows,
        converged=found.converged,
        singular=singular,
        warnings=tuple(_warnings(found, singular)),
        covariance=covariance,
        solution=found,
    )


def _fixed(found: Solution, covariance: Floats, names: tuple[str, ...], level: float) -> tuple[FixedEffect, ...]:
    estimates = found.sums.back @ found.scaled + found.sums.offset
    errors = np.sqrt(np.diag(covariance))
    freedom = satterthwaite(found, np.diag(covariance))
    ratios = estimates / errors
    p = 2 * stdtr(freedom, -np.abs(ratios))
    margin = stdtrit(freedom, (1 + level) / 2) * errors
    places = {name: place for place, name in enumerate(found.sums.names)}
    rows = []
    for name in names:
        if (place := places.get(name)) is None:
            reason = "the column is constant or a combination of the ones before it"
            empty = Estimate(value=None, level=level, method=_HOW, over="groups and rows", reason=reason)
            rows.append(FixedEffect(name, None, None, None, None, None, empty, reason))
            continue
        middle, around = float(estimates[place]), float(margin[place])
        ends = Estimate(
            value=middle, low=middle - around, high=middle + around, level=level, method=_HOW, over="groups and rows"
        )
        se, df, t, chance = (float(one[place]) for one in (errors, freedom, ratios, p))
        rows.append(FixedEffect(name, middle, se, df, t, chance, ends))
    return tuple(rows)


def _warnings(found: Solution, singular: tuple[str, ...]) -> list[str]:
    notes = []
    if not found.converged:
        notes.append("the search for the variances did not converge: do not use these numbers")
    notes.extend(
        f"{group.name} has {len(group.levels)} levels, which barely identify its variance: "
        "its interval is wide, and what rests on it (the intercept, R²) is uncertain"
        for group in found.sums.groups
        if len(group.levels) < FEW_LEVELS
    )
    notes.extend(f"the variance of {name} is estimated as 0, the boundary: the fit is singular" for name in singular)
    return notes
