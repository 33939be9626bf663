"""Inter-rater: do measures agree? ICC(3,1) over measures, of scores averaged over replicates.

Du, Fang & Nguyen 2021, section 4.2. As published, the scores enter as they are, and a measure whose scores spread
wider than those of another disagrees with it by that alone. `standardized` brings all measures to one standard
deviation first. These measures are the only ones of interest and users mostly take one: model 3, a single rater.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from biasgauge.agreement.lists import WordList, judged
from biasgauge.agreement.rows import PAIR, WORD, Rows, pair_name
from biasgauge.arrays import Floats
from biasgauge.stats.intraclass import Form, icc_stack

FORM: Form = "3,1"


def spreads(averages: Floats) -> Floats:
    """Standard deviation of each measure over all its words and pairs; NaN where it has fewer than two scores."""
    found = np.full(len(averages), np.nan)
    for place, scores in enumerate(averages):
        defined = scores[~np.isnan(scores)]
        if len(defined) > 1:
            found[place] = defined.std(ddof=1)
    return found


def standardized(averages: Floats) -> Floats:
    """Scores by the standard deviation of their measure; a measure without any is left as it is."""
    scale = spreads(averages)
    scaled: Floats = averages / np.where(scale > 0, scale, 1)[:, None, None]
    return scaled


def rows(
    averages: Floats,
    words: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    lists: Sequence[WordList],
    rest: NDArray[np.intp],
    level: float,
) -> Rows:
    """Every word (pairs × measures) and every pair on every list (words × measures), from measures × pairs × words.

    `rest` are words that are in no list.
    """
    of_words = icc_stack(averages.transpose(2, 1, 0), FORM, level=level, subjects="pairs", raters="measures")
    every = Rows.of_estimates(of_words, WORD, words)
    found = [*(every.take(one.places).within(one.name) for one in lists), every.take(rest)]
    names = [pair_name(pair) for pair in pairs]
    for one in lists:
        stack = averages[:, :, one.places].transpose(1, 2, 0)
        estimates = icc_stack(stack, FORM, level=level, subjects="words", raters="measures")
        found.append(judged(Rows.of_estimates(estimates, PAIR, names, within=one.name), one))
    return Rows.joined(found)
