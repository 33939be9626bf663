"""Standard errors that allow for rows of one word being alike.

The regression of the paper has no effect of words, though a word gives a row for every measure, algorithm and corpus,
and such rows are alike: its standard errors are too small. These come from the sums of each word's scores (in the sense
of likelihood) and hold whatever the dependence within a word (Liang & Zeger 1986), given the algorithms and corpora at
hand.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtr

from biasgauge.agreement.regression.model import Regression
from biasgauge.stats.mixed_models.model import MixedFit

_ROWS = 32_768


def errors_by_word(rows: Regression, fit: MixedFit) -> dict[str, tuple[float, float]]:
    """For each coefficient but the intercept, which depends on few groups: standard error and two-sided p."""
    import pandas as pd

    found = fit.solution
    words = int(rows.words.max()) + 1
    held = [rows.names.index(name) for name in found.sums.names]
    estimates = found.sums.back @ found.scaled + found.sums.offset
    levels = [pd.factorize(np.asarray(rows.groups[group.name]), sort=True)[0] for group in found.sums.groups]
    totals = np.zeros((words, len(held)))
    for start in range(0, len(rows.y), _ROWS):
        part = slice(start, start + _ROWS)
        x = rows.x[part][:, held]
        left = rows.y[part] - x @ estimates
        for group, codes in zip(found.sums.groups, levels, strict=True):
            left -= found.effects[group.columns][codes[part]]
        size = len(left)
        owner = csr_array((np.ones(size), rows.words[part], np.arange(size + 1)), shape=(size, words))
        totals += np.asarray(owner.T @ (x * left[:, None]))
    bread = fit.covariance / found.sigma2
    meat = totals.T @ totals
    spread = np.sqrt(np.diag(bread @ meat @ bread) * words / max(words - 1, 1))
    ratios = np.divide(estimates, spread, out=np.zeros(len(spread)), where=spread > 0)
    chances = 2 * stdtr(max(words - 1, 1), -np.abs(ratios))
    return {
        name: (float(spread[place]), float(chances[place]))
        for place, name in enumerate(found.sums.names)
        if place != found.sums.constant
    }
