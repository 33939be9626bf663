"""Test-retest: do scores hold when the model is trained again? ICC(2,1) over replicates.

Du, Fang & Nguyen 2021, section 4.1, as their code computes it: nothing is averaged before the ICC of a word or a pair.
Replicates are a sample of all that could be trained, and users mostly train one: model 2, a single rater.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from biasgauge.agreement.lists import WordList, judged
from biasgauge.agreement.rows import PAIR, RULE, WORD, Rows, pair_name
from biasgauge.agreement.scores_by_measure import MeasureScores
from biasgauge.agreement.untrusted import Blame, Spreads
from biasgauge.stats.intraclass import Form, icc_stack

FORM: Form = "2,1"


def assess(
    scores: MeasureScores,
    words: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    lists: Sequence[WordList],
    rest: NDArray[np.intp],
    level: float,
) -> tuple[list[Rows], Blame]:
    """Rows of words (also the `rest` that is in no list), pairs and the measure itself; and why some are low."""
    found, blame = _words(scores, words, lists, rest, level)
    names = [pair_name(pair) for pair in pairs]
    averaged = scores.mean_over_pairs()
    for one in lists:
        stack = scores.values if _is_everything(one, scores) else scores.values[:, one.places]
        of_pairs = icc_stack(stack, FORM, level=level, subjects="words", raters="models")
        found.append(judged(Rows.of_estimates(of_pairs, PAIR, names, measure=scores.measure, within=one.name), one))
        blame[PAIR, scores.measure, one.name] = Spreads(of_pairs, names)
        of_rule = icc_stack(averaged[None, one.places], FORM, level=level, subjects="words", raters="models")
        rows = Rows.of_estimates(of_rule, RULE, [scores.measure], measure=scores.measure, within=one.name)
        found.append(judged(rows, one))
        blame[RULE, scores.measure, one.name] = Spreads(of_rule, [scores.measure])
    return found, blame


def _words(
    scores: MeasureScores, words: Sequence[str], lists: Sequence[WordList], rest: NDArray[np.intp], level: float
) -> tuple[list[Rows], Blame]:
    """Every word of every list: pairs × models. A word without a score has the reason of its scores."""
    estimates = icc_stack(scores.values.transpose(1, 0, 2), FORM, level=level, subjects="pairs", raters="models")
    every = Rows.of_estimates(estimates, WORD, words, measure=scores.measure)
    bare = np.flatnonzero((estimates.n == 0) | (estimates.k == 0))
    every.reason[bare] = scores.why_undefined(bare)
    spreads = Spreads(estimates, words)
    found = [*(every.take(one.places).within(one.name) for one in lists), every.take(rest)]
    return found, {(WORD, scores.measure, name): spreads for name in (None, *(one.name for one in lists))}


def _is_everything(words: WordList, scores: MeasureScores) -> bool:
    size = scores.values.shape[1]
    return len(words.places) == size and bool((words.places == np.arange(size)).all())
