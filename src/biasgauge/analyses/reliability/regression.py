"""`factors`: multilevel regression of the reliability of words on properties of words, algorithms and corpora.

Du, Fang & Nguyen 2021, section 5.5, appendix F and their R script: reliability of a word regressed on the measure, the
logarithm of its frequency and its square, the logarithm of its number of senses, part of speech, similarity to the
nearest word, length and stability of its vector, with crossed random intercepts for algorithm and corpus, by REML.
Numbers are standardized over all rows (standard deviation with n − 1), the square is that of the standardized logarithm
of frequency and not scaled again, categories are compared with the first in the alphabet, the outcome is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtr

from biasgauge.analyses.reliability.regression_columns import INTERCEPT, RegressionData, build_regression
from biasgauge.analyses.reliability.regression_table import FactorSource, Outcome, factor_table
from biasgauge.core import FrameLike, JsonMapping, as_pandas, check_level
from biasgauge.results import Column, Result, Summary, Table, level_text
from biasgauge.stats import MixedFit, on_one_thread
from biasgauge.stats.mixed_models import R2, Drop, FixedEffect, RandomEffect, fit_moments, moments, r2

if TYPE_CHECKING:
    import pandas as pd

_ROWS = 32_768
"""Rows whose residuals are in memory at a time."""
REMARKS = (
    "numbers are standardized over all rows, the outcome is not; log_frequency_squared is not scaled again",
    "the paper does not say if its R² drops are R²m or R²c: both are given; below 0, the paper seems to print 0",
    "leaving out log_frequency takes its square with it; leaving out log_frequency_squared does not take log_frequency",
    "leaving out a factor takes its interactions with it; the paper explored interactions and kept none",
    "p is Satterthwaite's, as published; rows of one word are alike, which p_words allows for",
)


@dataclass(frozen=True, kw_only=True)
class FactorEffect(FixedEffect):
    """One coefficient of the regression, as published; its column may be "log_frequency" or "pos[NOUN]".

    The estimate is the change of the reliability per standard deviation of a number, or against the reference of a
    category.

    Attributes:
        factor: the factor that the column belongs to.
        se_words, p_words: standard error clustered by word, and two-sided p with it; None for the intercept.
    """

    factor: str
    se_words: float | None
    p_words: float | None


@dataclass(frozen=True, eq=False, repr=False)
class FactorsResult(Result):
    """Coefficients of the factors of reliability, and the share of its variance that they account for.

    Attributes:
        outcome: "test_retest" or "inter_rater".
        fixed: one coefficient for each column.
        random: variances of algorithm, corpus and residual.
        r2: shares of variance by fixed effects, by each random effect, and by all.
        r2_intercept_only: the same without any factor.
        random_intercept_only: variances without any factor.
        drops: loss of R² without each factor.
        criterion: REML criterion.
        rows, words: numbers of rows and words in the fit.
        converged: whether the fit can be used.
        lost: rows that were left out, by reason.
        absent: factors and random effects that were left out, with the reason.
        scales: mean and standard deviation with which each number was standardized.
        references: level of each category that the others are compared with.
        warnings: limitations of the fit.
        remarks: relation to the published regression.
        settings: everything that decides the result.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"scales": Mapping[str, Mapping[str, float]]}
    tables: ClassVar[tuple[str, ...]] = ("fixed",)
    hidden: ClassVar[frozenset[str]] = frozenset({"r2_intercept_only", "random_intercept_only", "drops"})

    outcome: str
    fixed: tuple[FactorEffect, ...]
    random: tuple[RandomEffect, ...]
    r2: R2
    r2_intercept_only: R2
    random_intercept_only: tuple[RandomEffect, ...]
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
        """One row per coefficient, with the R² drop of its factor."""
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
        """Add R² of the model without factors, drops of R², and scales by name."""
        return {
            "r2": {**self.r2.to_dict(), "drops": self.drops, "intercept_only": self.r2_intercept_only},
            "scales": {name: {"mean": mean, "sd": spread} for name, (mean, spread) in self.scales.items()},
        }

    def summary(self) -> Summary:
        """Coefficients, shares of variance, and drops of R²."""
        level = f"[{level_text(self.settings['level'])}]"
        levels = {effect.name: effect.levels for effect in self.random}
        shares = {"fixed": self.r2.fixed, **self.r2.groups, "total": self.r2.total}
        p = Column("p", "p"), Column("p by words", "p", about="allows for the rows of one word being alike")
        factors = ["factor", Column(f"estimate {level}", "estimate", 4), *p]
        r2 = ["R²", Column(f"share {level}", "estimate", 4), Column("levels", "count")]
        drops = ["R² lost without", Column(f"of fixed {level}", "estimate", 4), Column("of total", "number", 4)]
        drop_rows = [(name, drop.fixed.interval, drop.total.value) for name, drop in self.drops.items()]
        return Summary(
            title=f"What goes with {self.outcome.replace('_', '-')} reliability",
            headline=f"{self.rows:,} rows of {self.words:,} words; {sum(self.lost.values()):,} left out",
            sentences=tuple(f"Left out: {count:,} rows: {reason}." for reason, count in self.lost.items()),
            warnings=self.warnings,
            tables=(
                Table.of("factors", "", factors, [(row.name, row.interval, row.p, row.p_words) for row in self.fixed]),
                Table.of("r2", "", r2, [(name, share.interval, levels.get(name)) for name, share in shares.items()]),
                Table.of("drops", "", drops, drop_rows),
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
    interactions: Sequence[str] | str = (),
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FactorsResult:
    """Regress the reliability of words on their properties.

    reliability = Xβ + u_algorithm + u_corpus + e, with random intercepts u and residuals e normal, by REML. A
    coefficient is the change per standard deviation of a number, or against the reference of a category; 0: unrelated.

    Args:
        sources: replicates with their scores, one `FactorSource` for each algorithm and corpus; or a table as
            `factor_table` makes it (columns score, word, algorithm, corpus, and any of measure, log_frequency,
            log_senses, pos, nn_similarity, norm, stability).
        outcome: "test_retest", ICC(2,1) over replicates for each measure; or "inter_rater", ICC(3,1) over measures.
        standardize: for "inter_rater", bring measures to one standard deviation first; as published, they are not.
        level: of the intervals.
        draws: parameters drawn for the intervals of R².
        refits: draws on which models are fitted again, for the intervals of the R² drops.
        interactions: pairs of factors such as "measure:log_frequency" whose products are columns, too; "all": every
            pair that the table has.
        random_state: seed of the draws.
        n_jobs: threads of the alignment behind stability.
        progress: called with (done, total) sources.

    Raises:
        ParameterError: an argument cannot be used, or too little is defined.
        InputError: a model that the scores were made from is gone or has changed.
    """
    check_level(level)
    source_list = sources if isinstance(sources, Sequence) else ()
    table = None if source_list else as_pandas(sources)
    if table is None:
        table = factor_table(source_list, outcome=outcome, standardize=standardize, n_jobs=n_jobs, progress=progress)
    if outcome == "inter_rater" and "measure" in table:
        table = table.drop(columns="measure")
    data = build_regression(table, interactions)
    with on_one_thread():  # the last bits of a product depend on how threads share it
        sums = moments(data.y, data.x, data.groups, data.names)
        fit = fit_moments(sums, data.names, level=level)
        empty = fit_moments(sums.without([name for name in sums.names if name != INTERCEPT]), (INTERCEPT,), level=level)
        clustered = errors_by_word(data, fit)
    factor_of = {column: factor for factor, columns in data.factors.items() for column in columns}
    effects = []
    for effect in fit.fixed:
        se, p = clustered.get(effect.name, (None, None))
        factor = factor_of.get(effect.name, INTERCEPT)
        effects.append(FactorEffect(**vars(effect), factor=factor, se_words=se, p_words=p))
    lost, total = sum(data.lost.values()), sum(data.lost.values()) + len(data.y)
    shares, drops = r2(fit, data.factors, level=level, draws=draws, refits=refits, random_state=random_state)
    intercept_only, _ = r2(empty, level=level, draws=draws, random_state=random_state)
    return FactorsResult(
        outcome=outcome,
        fixed=tuple(effects),
        random=fit.random,
        r2=shares,
        r2_intercept_only=intercept_only,
        random_intercept_only=empty.random,
        drops=drops,
        criterion=fit.criterion,
        rows=len(data.y),
        words=len(np.unique(data.words)),
        converged=fit.converged,
        lost=data.lost,
        absent=data.absent,
        scales=data.scales,
        references=data.references,
        warnings=(
            *fit.warnings,
            *(f"{name} was left out: {reason}" for name, reason in data.absent.items()),
            *(f"{effect.name} has no coefficient: {effect.reason}" for effect in fit.fixed if effect.reason),
            *([f"{lost:,} of {total:,} rows were left out: something about them is undefined"] if lost else []),
        ),
        remarks=REMARKS,
        settings={
            "outcome": outcome,
            "standardize": standardize,
            "interactions": interactions if isinstance(interactions, str) else list(interactions),
            "level": level,
            "random_state": random_state,
            "sources": [source.describe() for source in source_list] or None,
        },
    )


def errors_by_word(data: RegressionData, fit: MixedFit) -> dict[str, tuple[float, float]]:
    """Standard error clustered by word, and two-sided p, of each coefficient but the intercept.

    The regression of the paper has no effect of words, though rows of one word are alike: its standard errors are too
    small. The sandwich B M B, with B = (XᵀV⁻¹X)⁻¹ and M = Σ_w s_w s_wᵀ over the score sums s_w = Σ_{i∈w} x_i e_i of
    words, holds whatever the dependence within a word (Liang & Zeger 1986), given the algorithms and corpora.
    """
    import pandas as pd

    solution, sums = fit.solution, fit.solution.sums
    words = int(data.words.max()) + 1
    columns = [data.names.index(name) for name in sums.names]
    estimates = sums.back @ solution.scaled + sums.offset
    levels = [pd.factorize(np.asarray(data.groups[group.name]), sort=True)[0] for group in sums.groups]
    score_sums = np.zeros((words, len(columns)))
    for start in range(0, len(data.y), _ROWS):
        block = slice(start, start + _ROWS)
        x = data.x[block][:, columns]
        residuals = data.y[block] - x @ estimates  # less the predicted effects of algorithm and corpus
        for group, codes in zip(sums.groups, levels, strict=True):
            residuals -= solution.effects[group.columns][codes[block]]
        size = len(residuals)
        word_of_row = csr_array((np.ones(size), data.words[block], np.arange(size + 1)), shape=(size, words))
        score_sums += np.asarray(word_of_row.T @ (x * residuals[:, None]))
    bread = fit.covariance / solution.sigma2
    meat = score_sums.T @ score_sums
    se = np.sqrt(np.diag(bread @ meat @ bread) * words / max(words - 1, 1))
    t = np.divide(estimates, se, out=np.zeros(len(se)), where=se > 0)
    p = 2 * stdtr(max(words - 1, 1), -np.abs(t))
    coefficients = (column for column in range(len(se)) if column != sums.constant)
    return {sums.names[column]: (float(se[column]), float(p[column])) for column in coefficients}
