"""Du et al. 2021: are measurements of gender bias in word embeddings reliable?

Here: numbers that need no data: lengths of lists, estimators on a textbook table, its own sums.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from biasgauge.core import Estimate
from biasgauge.lexicons import lexicon, pairs_of
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed, printed_numbers
from biasgauge.stats import cronbach_alpha, icc, mean_squares, t_p

SHROUT_FLEISS = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))
"""Six subjects, four raters: Shrout & Fleiss 1979, table 2."""
FORMS = 8
"""Pairs that come in the singular and in the plural: seven degrees of freedom."""
INTER_RATER_ROWS = {"complete": 154_696, "missing": 400_194}
"""Rows of the inter-rater regression, with all features and without, in the comments of the released script."""


def lists(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Lengths of the word lists that ship with biasgauge."""
    queries = lexicon("du2021_queries").sets
    sizes = {
        "pairs": len(pairs_of("du2021").pairs),
        **{name: len(lexicon(name).words) for name in ("occ16", "occ18", "adj", "google10k")},
        "queries": len(queries),
        **{f"queries.{name}": len(words) for name, words in queries.items()},
    }
    return {f"lists.{name}": Recomputed.both(size) for name, size in sizes.items()}


def estimators(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Mean squares, ICC and alpha of the textbook's table."""
    table = np.array(SHROUT_FLEISS, float)
    squares = mean_squares(table[None])
    estimates = {
        f"estimators.{name}": Recomputed.both(float(getattr(squares, name)[0]))
        for name in ("ms_rows", "ms_columns", "ms_error")
    }
    for name, fit in (("icc21", icc(table, "2,1")), ("icc31", icc(table, "3,1")), ("alpha", cronbach_alpha(table))):
        assert isinstance(fit, Estimate)  # noqa: S101 - for type checkers: one matrix, one estimate
        estimates[f"estimators.{name}"] = Recomputed.of(fit, fit)
    return estimates


def arithmetic(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """P-values of printed statistics, and sums that printed parts must have."""
    printed = printed_numbers(__name__)
    sums = {
        f"p.forms.{kind}": float(2 * stdtr(FORMS - 1, -abs(printed[f"forms.{kind}.t"])))
        for kind in ("test_retest", "inter_rater")
    }
    sums["p.forms.r"] = t_p(printed["forms.r"], len(pairs_of("du2021").pairs) - 2)
    for kind in ("test_retest", "inter_rater"):
        parts = [printed[f"regression.{kind}.r2.{component}"] for component in ("fixed", "corpus", "algorithm")]
        sums[f"r2.{kind}"] = sum(parts)
    sums |= {f"rows.{name}": 3 * count for name, count in INTER_RATER_ROWS.items()}  # three measures
    return {f"arithmetic.{name}": Recomputed.both(value) for name, value in sums.items()}
