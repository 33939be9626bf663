"""Internal consistency: do the words of a query, and the pairs of an ensemble, measure one thing?

Du, Fang & Nguyen 2021, section 4.3: Cronbach's alpha of scores averaged over replicates, one measure at a time. A
query's items are its words, observed on every pair; the ensemble's items are the pairs, observed on every word of a
list (they report Google10K alone).
"""

from __future__ import annotations

from collections.abc import Sequence

from biasgauge.agreement.lists import WordList, judged
from biasgauge.agreement.rows import PAIRS, QUERY, Rows
from biasgauge.arrays import Floats
from biasgauge.stats.estimate import Estimates
from biasgauge.stats.scale_consistency import cronbach_alpha, omega


def rows(
    averages: Floats,
    measures: Sequence[str],
    ensemble: str,
    lists: Sequence[WordList],
    queries: Sequence[WordList],
    *,
    level: float,
    random_state: int,
) -> tuple[Rows, Rows]:
    """Alpha and omega of every query and of the ensemble of pairs on every list, from measures × pairs × words."""
    alphas: list[Rows] = []
    omegas: list[Rows] = []
    for of, scales in ((QUERY, queries), (PAIRS, lists)):
        rows_are, columns_are = ("pairs", "words") if of == QUERY else ("words", "pairs")
        for one in scales:
            scores = averages[:, :, one.places]
            stack = scores if of == QUERY else scores.transpose(0, 2, 1)
            alpha = cronbach_alpha(stack, level=level, observations=rows_are, items=columns_are)
            other = omega(stack, level=level, random_state=random_state, observations=rows_are, items=columns_are)
            name, within = (one.name, one.source) if of == QUERY else (ensemble, one.name)
            for estimates, found in ((alpha, alphas), (other, omegas)):
                assert isinstance(estimates, Estimates)  # noqa: S101 - a stack in, a stack out
                table = Rows.of_estimates(estimates, of, [name] * len(measures), measure=measures, within=within)
                found.append(judged(table, one))
    return Rows.joined(alphas), Rows.joined(omegas)
