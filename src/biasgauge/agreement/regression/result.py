"""What the regression of reliability on factors says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.results import Column, Result, Summary, Table
from biasgauge.stats.mixed_models.model import FixedEffect
from biasgauge.stats.mixed_models.r2 import R2, Drop
from biasgauge.stats.mixed_models.variances import RandomEffect

if TYPE_CHECKING:
    import pandas as pd

_DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class FactorEffect(FixedEffect):
    """One coefficient of the regression, as published; its column may be "log_frequency" or "pos[NOUN]".

    The estimate is the change of the reliability per standard deviation of a number, or against the reference of a
    category.

    Attributes:
        factor: which factor the column belongs to.
        se_words: standard error that allows for the rows of one word being alike; None for the intercept.
        p_words: two-sided p with it.
    """

    factor: str
    se_words: float | None
    p_words: float | None


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

    tables: ClassVar[tuple[str, ...]] = ("fixed",)
    hidden: ClassVar[frozenset[str]] = frozenset({"r2_intercept_only", "drops"})

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
        frame = super().to_frame()
        drops = [self.drops.get(effect.factor) for effect in self.fixed]
        frame["r2_drop_fixed"] = [None if drop is None else drop.fixed.value for drop in drops]
        frame["r2_drop_total"] = [None if drop is None else drop.total.value for drop in drops]
        return frame

    def as_published(self) -> pd.DataFrame:
        """The table in the manner of the paper: estimate, p, R² drop with four decimals and negative drops as 0.

        The drop is that of the fixed effects (R²m); the paper does not say which it prints.
        """
        frame = self.to_frame()
        frame["drop"] = frame["r2_drop_fixed"].clip(lower=0).round(_DIGITS)
        frame["estimate"] = frame["estimate"].astype(float).round(_DIGITS)
        return frame[["name", "factor", "estimate", "p", "drop"]]

    def derived(self) -> Mapping[str, Any]:
        """R² with what is compared with it, and scales by name."""
        return {
            "r2": {**self.r2.to_dict(), "drops": self.drops, "intercept_only": self.r2_intercept_only},
            "scales": {name: {"mean": mean, "sd": spread} for name, (mean, spread) in self.scales.items()},
        }

    def summary(self) -> Summary:
        """Coefficients, shares of variance, and what R² loses without each factor."""
        level = f"[{self.settings['level']:.0%}]"
        levels = {effect.name: effect.levels for effect in self.random}
        shares = {"fixed": self.r2.fixed, **self.r2.groups, "total": self.r2.total}
        p = Column("p", "p"), Column("p by words", "p", about="allows for the rows of one word being alike")
        factors = ["factor", Column(f"estimate {level}", "estimate", 4), *p]
        r2 = ["R²", Column(f"share {level}", "estimate", 4), Column("levels", "count")]
        drops = ["R² lost without", Column(f"of fixed {level}", "estimate", 4), Column("of total", "number", 4)]
        return Summary(
            title=f"What goes with {self.outcome.replace('_', '-')} reliability",
            headline=f"{self.rows:,} rows of {self.words:,} words; {sum(self.lost.values()):,} left out",
            sentences=tuple(f"Left out: {count:,} rows: {reason}." for reason, count in self.lost.items()),
            warnings=self.warnings,
            tables=(
                Table.of("factors", "", factors, [(row.name, row.interval, row.p, row.p_words) for row in self.fixed]),
                Table.of("r2", "", r2, [(name, share.interval, levels.get(name)) for name, share in shares.items()]),
                Table.of(
                    "drops",
                    "",
                    drops,
                    [(name, drop.fixed.interval, drop.total.value) for name, drop in self.drops.items()],
                ),
            ),
        )
