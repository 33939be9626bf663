"""`factors`: which properties of words, algorithms and corpora go with reliable bias scores (multilevel regression).

Du, Fang & Nguyen 2021, section 5.5 and appendix F: reliability of a word regressed on the measure, the logarithm of its
frequency and its square, the logarithm of its number of senses, part of speech, similarity to the nearest word, length
and stability of its vector, with crossed random intercepts for algorithm and corpus, by REML.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasgauge.analyses.reliability.regression.model import INTERCEPT, Regression, errors_by_word, regression
from biasgauge.analyses.reliability.regression.table import FactorSource, Outcome, factor_table
from biasgauge.core import FrameLike, JsonMapping, as_pandas, check_level
from biasgauge.results import Column, Result, Summary, Table, level_text
from biasgauge.stats import on_one_thread
from biasgauge.stats.mixed_models import R2, Drop, FixedEffect, MixedFit, RandomEffect, fit_moments, moments, r2

if TYPE_CHECKING:
    import pandas as pd

REMARKS = (
    "numbers are standardized over all rows, the outcome is not; log_frequency_squared is not scaled again",
    "the paper does not say if its R² drops are R²m or R²c: both are given; below 0, the paper seems to print 0",
    "leaving out log_frequency takes its square with it; leaving out log_frequency_squared does not take log_frequency",
    "p is Satterthwaite's, as published; rows of one word are alike, which p_words allows for",
)


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

    abridged: ClassVar[bool] = True
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
    settings: JsonMapping

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
        frame["drop"] = frame["r2_drop_fixed"].clip(lower=0).round(4)
        frame["estimate"] = frame["estimate"].astype(float).round(4)
        return frame[["name", "factor", "estimate", "p", "drop"]]

    def derived(self) -> JsonMapping:
        """R² with what is compared with it, and scales by name."""
        return {
            "r2": {**self.r2.to_dict(), "drops": self.drops, "intercept_only": self.r2_intercept_only},
            "scales": {name: {"mean": mean, "sd": spread} for name, (mean, spread) in self.scales.items()},
        }

    def summary(self) -> Summary:
        """Coefficients, shares of variance, and what R² loses without each factor."""
        level = f"[{level_text(self.settings['level'])}]"
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


def factors(
    sources: FrameLike | Sequence[FactorSource],
    *,
    outcome: Outcome = "test_retest",
    standardize: bool = False,
    level: float = 0.95,
    draws: int = 2_000,
    refits: int = 200,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FactorsResult:
    """Regress the reliability of words on their properties.

    Args:
        sources: replicates with their scores, one `FactorSource` for each algorithm and corpus; or a table as
            `factor_table` makes it (columns score, word, algorithm, corpus, and any of measure, log_frequency,
            log_senses, pos, nn_similarity, norm, stability).
        outcome: "test_retest", ICC(2,1) over replicates for each measure; or "inter_rater", ICC(3,1) over measures.
        standardize: for "inter_rater", bring measures to one standard deviation first; as published, they are not.
        level: of the intervals.
        draws: parameters drawn for the intervals of R².
        refits: draws on which models are fitted again, for the intervals of the R² drops.
        random_state: seed of the draws.
        n_jobs: threads of the alignment behind stability.
        progress: called with (done, total) sources.

    Raises:
        ParameterError: an argument cannot be used, or too little is defined.
        InputError: a model that the scores were made from is gone or has changed.
    """
    check_level(level)
    listed = sources if isinstance(sources, Sequence) else ()
    table = None if listed else as_pandas(sources)
    if table is None:
        table = factor_table(listed, outcome=outcome, standardize=standardize, n_jobs=n_jobs, progress=progress)
    if outcome == "inter_rater" and "measure" in table:
        table = table.drop(columns="measure")
    rows = regression(table)
    with on_one_thread():  # the last bits of a product depend on how threads share it
        sums = moments(rows.y, rows.x, rows.groups, rows.names)
        fit = fit_moments(sums, rows.names, level=level)
        empty = fit_moments(sums.without([name for name in sums.names if name != INTERCEPT]), (INTERCEPT,), level=level)
        effects = _effects(rows, fit)
    shares, drops = r2(fit, rows.factors, level=level, draws=draws, refits=refits, random_state=random_state)
    alone, _ = r2(empty, level=level, draws=draws, random_state=random_state)
    return FactorsResult(
        outcome=outcome,
        fixed=effects,
        random=fit.random,
        r2=shares,
        r2_intercept_only=alone,
        drops=drops,
        criterion=fit.criterion,
        rows=len(rows.y),
        words=len(np.unique(rows.words)),
        converged=fit.converged,
        lost=rows.lost,
        absent=rows.absent,
        scales=rows.scales,
        references=rows.references,
        warnings=tuple(_warnings(rows, fit)),
        remarks=REMARKS,
        settings={
            "outcome": outcome,
            "standardize": standardize,
            "level": level,
            "random_state": random_state,
            "sources": [source.about() for source in listed] or None,
        },
    )


def _effects(rows: Regression, fit: MixedFit) -> tuple[FactorEffect, ...]:
    owners = {column: factor for factor, columns in rows.factors.items() for column in columns}
    clustered = errors_by_word(rows, fit)
    effects = []
    for effect in fit.fixed:
        se, p = clustered.get(effect.name, (None, None))
        factor = owners.get(effect.name, INTERCEPT)
        effects.append(FactorEffect(**vars(effect), factor=factor, se_words=se, p_words=p))
    return tuple(effects)


def _warnings(rows: Regression, fit: MixedFit) -> list[str]:
    notes = list(fit.warnings)
    notes.extend(f"{name} was left out: {reason}" for name, reason in rows.absent.items())
    notes.extend(f"{effect.name} has no coefficient: {effect.reason}" for effect in fit.fixed if effect.reason)
    if rows.lost:
        total = sum(rows.lost.values())
        notes.append(f"{total:,} of {total + len(rows.y):,} rows were left out: something about them is undefined")
    return notes
