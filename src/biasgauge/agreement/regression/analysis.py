"""`factors`: which properties of words, algorithms and corpora go with reliable bias scores (multilevel regression).

Du, Fang & Nguyen 2021, section 5.5 and appendix F: reliability of a word regressed on the measure, the logarithm of its
frequency and its square, the logarithm of its number of senses, part of speech, similarity to the nearest word, length
and stability of its vector, with crossed random intercepts for algorithm and corpus, by REML.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.agreement.regression.model import INTERCEPT, Regression, errors_by_word, regression
from biasgauge.agreement.regression.result import FactorEffect, FactorsResult
from biasgauge.agreement.regression.table import FactorSource, Outcome, factor_table
from biasgauge.stats.estimate import check_level
from biasgauge.stats.mixed_models.model import MixedFit, fit_moments
from biasgauge.stats.mixed_models.moments import moments
from biasgauge.stats.mixed_models.r2 import r2
from biasgauge.stats.threads import on_one_thread

if TYPE_CHECKING:
    import pandas as pd

REMARKS = (
    "numbers are standardized over all rows, the outcome is not; log_frequency_squared is not scaled again",
    "the paper does not say if its R² drops are R²m or R²c: both are given; below 0, the paper seems to print 0",
    "leaving out log_frequency takes its square with it; leaving out log_frequency_squared does not take log_frequency",
    "p is Satterthwaite's, as published; rows of one word are alike, which p_words allows for",
)


def factors(
    sources: pd.DataFrame | Sequence[FactorSource],
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
    import pandas as pd

    check_level(level)
    if isinstance(sources, pd.DataFrame):
        table = sources
    else:
        table = factor_table(sources, outcome=outcome, standardize=standardize, n_jobs=n_jobs, progress=progress)
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
            "sources": None if isinstance(sources, pd.DataFrame) else [source.about() for source in sources],
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
