"""What the regression of reliability on factors says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgauge.results import Column, Result, Summary, Table
from biasgauge.stats.estimate import Estimate
from biasgauge.stats.mixed_models.model import FixedEffect
from biasgauge.stats.mixed_models.r2 import R2, Drop
from biasgauge.stats.mixed_models.variances import RandomEffect

if TYPE_CHECKING:
    import pandas as pd

_DIGITS = 4


@dataclass(frozen=True)
class FactorEffect:
    """One coefficient of the regression.

    Attributes:
        effect: estimate, standard error, Satterthwaite's degrees of freedom, t, p and interval, as published.
        factor: which factor the column belongs to.
        se_words: standard error that allows for the rows of one word being alike; None for the intercept.
        p_words: two-sided p with it.
    """

    effect: FixedEffect
    factor: str
    se_words: float | None
    p_words: float | None

    @property
    def name(self) -> str:
        """Of the column: "log_frequency", "pos[NOUN]"."""
        return self.effect.name

    @property
    def estimate(self) -> float | None:
        """Change of the reliability per standard deviation of a number, or against the reference of a category."""
        return self.effect.estimate

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        about = self.effect.to_dict()
        return {"name": about.pop("name"), "factor": self.factor, **about,
                "se_words": self.se_words, "p_words": self.p_words}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class FactorsResult(Result):
    """Which factors go with reliability, and how much of its variance they account for.

    Attributes:
        outcome: "test_retest" or "inter_rater".
        fixed: one coefficient for each column.
        random: variances of algorithm, corpus and residual.
        r2: shares of variance by fixed effects, by each random effect, and by all.
        r2_intercept_only: the same without any factor.
        drops: what R² loses without each factor.
        criterion: REML criterion.
        rows, words: how many were used.
        converged: whether the fit can be used.
        lost: rows that were left out, by reason.
        absent: factors and random effects that were left out, with the reason.
        scales: mean and standard deviation with which each number was standardized.
        references: level of each category that the others are compared with.
        warnings: what to know before reading the table.
        remarks: how this relates to what was published.
        settings: everything that decides the result.
    """

    outcome: str
    fixed: tuple[FactorEffect, ...]
    random: tuple[RandomEffect, ...]
    r2: R2
    r2_intercept_only: R2
    drops: Mapping[str, Drop]
    criterion: float
    rows: int
    words: int
    converged: bool
    lost: Mapping[str, int]
    absent: Mapping[str, str]
    scales: Mapping[str, tuple[float, float]]
    references: Mapping[str, str]
    warnings: tuple[str, ...]
    remarks: tuple[str, ...]
    settings: Mapping[str, Any]

    def to_frame(self) -> pd.DataFrame:
        """One row a coefficient, with the R² drop of its factor."""
        import pandas as pd

        rows = []
        for one in self.fixed:
            about = one.to_dict()
            ends = about.pop("interval")
            drop = self.drops.get(one.factor)
            about |= {"low": ends["low"], "high": ends["high"]}
            about["r2_drop_fixed"] = None if drop is None else drop.fixed.value
            about["r2_drop_total"] = None if drop is None else drop.total.value
            rows.append(about)
        return pd.DataFrame(rows)

    def as_published(self) -> pd.DataFrame:
        """The table in the manner of the paper: estimate, p, R² drop with four decimals and negative drops as 0.

        The drop is that of the fixed effects (R²m); the paper does not say which it prints.
        """
        frame = self.to_frame()
        frame["drop"] = frame["r2_drop_fixed"].clip(lower=0).round(_DIGITS)
        frame["estimate"] = frame["estimate"].astype(float).round(_DIGITS)
        return frame[["name", "factor", "estimate", "p", "drop"]]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "outcome": self.outcome,
            "fixed": [one.to_dict() for one in self.fixed],
            "random": [one.to_dict() for one in self.random],
            "r2": {
                **self.r2.to_dict(),
                "drops": {name: one.to_dict() for name, one in self.drops.items()},
                "intercept_only": self.r2_intercept_only.to_dict(),
            },
            "criterion": self.criterion,
            "rows": self.rows,
            "words": self.words,
            "converged": self.converged,
            "lost": dict(self.lost),
            "absent": dict(self.absent),
            "scales": {name: {"mean": mean, "sd": spread} for name, (mean, spread) in self.scales.items()},
            "references": dict(self.references),
            "warnings": list(self.warnings),
            "remarks": list(self.remarks),
            "settings": dict(self.settings),
        }

    def summary(self) -> Summary:
        """Coefficients, shares of variance, and what R² loses without each factor."""
        level = f"[{self.settings['level']:.0%}]"
        levels = {one.name: one.levels for one in self.random}
        shares = {"fixed": self.r2.fixed, **self.r2.groups, "total": self.r2.total}
        told = [f"Left out: {count:,} rows: {reason}." for reason, count in self.lost.items()]
        p = Column("p", "p"), Column("p by words", "p", about="allows for the rows of one word being alike")
        return Summary(
            title=f"What goes with {self.outcome.replace('_', '-')} reliability",
            headline=f"{self.rows:,} rows of {self.words:,} words; {sum(self.lost.values()):,} left out",
            sentences=tuple(told),
            warnings=self.warnings,
            tables=(
                Table.of(
                    "factors",
                    "",
                    ["factor", Column(f"estimate {level}", "estimate", 4), *p],
                    [(one.name, _coefficient(one), one.effect.p, one.p_words) for one in self.fixed],
                ),
                Table.of(
                    "r2",
                    "",
                    ["R²", Column(f"share {level}", "estimate", 4), Column("levels", "count")],
                    [(name, _share(one), levels.get(name)) for name, one in shares.items()],
                ),
                Table.of(
                    "drops",
                    "",
                    ["R² lost without", Column(f"of fixed {level}", "estimate", 4), Column("of total", "number", 4)],
                    [(name, _share(one.fixed), one.total.value) for name, one in self.drops.items()],
                ),
            ),
        )


def _coefficient(one: FactorEffect) -> Estimate:
    ends = one.effect.interval
    return Estimate(value=one.estimate, low=ends.low, high=ends.high, reason=one.effect.reason)


def _share(one: Any) -> Estimate:  # noqa: ANN401 - a share of variance with its interval
    return Estimate(value=one.value, low=one.interval.low, high=one.interval.high)
