"""The three reliabilities of Du, Fang & Nguyen 2021, section 4, from scores of replicates.

Test-retest: ICC(2,1) over replicates, a random sample of the models that could be trained; nothing is averaged before.
Inter-rater: ICC(3,1) over measures, the only ones of interest, of scores averaged over replicates; on raw scores, as
published, a measure whose scores spread wider disagrees by that alone. Internal consistency: Cronbach's alpha and
McDonald's omega with the words of a query as items, observed on every pair, or the pairs as items, observed on every
word of a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge.analyses.reliability.distributions import Causes, LowReliabilityCauses
from biasgauge.analyses.reliability.relations import standard_deviations
from biasgauge.analyses.reliability.reliability_table import ReliabilityTable, pair_name
from biasgauge.analyses.reliability.word_lists import WordList
from biasgauge.core import Estimates, Floats, Places, Singles
from biasgauge.errors import ParameterError
from biasgauge.scores import REASONS, ScoreStore, ScoreTensor
from biasgauge.stats import Form, Iccs, cronbach_alpha, icc_stack, omega

OVER_REPLICATES: Form = "2,1"
OVER_MEASURES: Form = "3,1"
Scores = ScoreTensor | ScoreStore


@dataclass(frozen=True, eq=False)
class MeasureScores:
    """Scores of one measure: pairs × words × models, NaN where undefined, with the codes of the reasons."""

    measure: str
    values: Singles
    undefined: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]

    def mean_over_models(self) -> Floats:
        """Pairs × words: mean over the models in which the score is defined; NaN where there is none."""
        means = np.empty(self.values.shape[:2])
        for pair, scores in enumerate(self.values):  # one pair at a time, so that no float64 copy of all is made
            defined = ~np.isnan(scores)
            counts = defined.sum(axis=1)
            sums = np.add.reduce(scores, axis=1, dtype=np.float64, where=defined)
            means[pair] = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
        return means

    def mean_over_pairs(self) -> Floats:
        """Words × models: mean over the pairs that have scores in every model that has any; NaN where one lacks."""
        scored = np.array([(~np.isnan(scores)).any(axis=0) for scores in self.values])  # pairs × models
        models = scored.any(axis=0)
        pairs = np.flatnonzero(scored[:, models].all(axis=1))
        total = np.zeros(self.values.shape[1:])
        for pair in pairs:
            total += self.values[pair]
        return total / len(pairs) if len(pairs) else np.full(total.shape, np.nan)

    def why_undefined(self, words: Places) -> list[str]:
        """Most frequent reason why scores of each of these words are undefined."""
        return [
            REASONS[int(np.bincount(codes[codes > 0], minlength=1).argmax())] if (codes > 0).any() else ""
            for codes in (self.undefined[:, word].ravel() for word in words)
        ]

    def reliability_of_words(self, level: float = 0.95) -> Iccs:
        """Test-retest reliability of every word: pairs × models."""
        stack = self.values.transpose(1, 0, 2)
        return icc_stack(stack, OVER_REPLICATES, level=level, subjects="pairs", raters="models")


def by_measure(scores: Scores) -> Iterator[MeasureScores]:
    """Yield the scores of one measure after the other; of a store, nothing else is in memory.

    Raises:
        ParameterError: these are no scores.
    """
    if not isinstance(scores, ScoreTensor | ScoreStore):
        raise ParameterError(
            f"reliability needs a ScoreTensor or a ScoreStore, as bg.score makes them. Got {type(scores).__name__}."
        )
    for name in scores.measures:
        tensor = scores.read(measure=[name]) if isinstance(scores, ScoreStore) else scores
        index = tensor.measures.index(name)
        yield MeasureScores(name, tensor.values[index], tensor.undefined[index])


def over_replicates(
    scores: MeasureScores, labels: Scores, lists: Sequence[WordList], unlisted: Places, level: float
) -> tuple[list[ReliabilityTable], Causes]:
    """Test-retest reliability of words, of pairs on each list, and of the measure itself (means over pairs).

    A word without a score has the reason of its scores.

    Args:
        scores: of one measure.
        labels: the scores that it is part of, for the names of words and pairs.
        lists: word lists on which pairs and the measure are judged.
        unlisted: rows of words that are in no list.
        level: of the intervals.

    Returns:
        The tables, and what can explain a low reliability, by object, measure and list.
    """
    measure = scores.measure
    estimates = scores.reliability_of_words(level)
    table = ReliabilityTable.from_estimates(estimates, "word", labels.words, measure=measure)
    unscored = np.flatnonzero((estimates.n == 0) | (estimates.k == 0))
    table.reason[unscored] = scores.why_undefined(unscored)
    tables = _split_by_list(table, lists, unlisted)
    word_causes = LowReliabilityCauses(estimates, labels.words)
    causes: Causes = {("word", measure, name): word_causes for name in (None, *(words.name for words in lists))}
    pair_names, averaged = [pair_name(pair) for pair in labels.pairs], scores.mean_over_pairs()
    every_row = np.arange(scores.values.shape[1])
    for words in lists:
        # Fancy indexing copies; a list of all words, in order, is the tensor itself.
        values = scores.values if np.array_equal(words.rows, every_row) else scores.values[:, words.rows]
        for kind, stack, names in (("pair", values, pair_names), ("rule", averaged[None, words.rows], [measure])):
            estimates = icc_stack(stack, OVER_REPLICATES, level=level, subjects="words", raters="models")
            table = ReliabilityTable.from_estimates(estimates, kind, names, measure=measure, word_list=words.name)
            tables.append(table.mask_undercovered(words.shortfall))
            causes[kind, measure, words.name] = LowReliabilityCauses(estimates, names)
    return tables, causes


def standardized(averages: Floats) -> Floats:
    """Scores divided by the standard deviation of their measure; a measure without any is left as it is."""
    spread = standard_deviations(averages)
    scaled: Floats = averages / np.where(spread > 0, spread, 1)[:, None, None]
    return scaled


def over_measures(
    averages: Floats, labels: Scores, lists: Sequence[WordList], unlisted: Places, level: float
) -> ReliabilityTable:
    """Inter-rater reliability of words (pairs × measures) and of pairs on each list (words × measures).

    Arguments as in `over_replicates`; `averages` are measures × pairs × words, averaged over models.
    """
    of_words = ReliabilityTable.from_estimates(agreement_on_words(averages, level), "word", labels.words)
    tables = _split_by_list(of_words, lists, unlisted)
    names = [pair_name(pair) for pair in labels.pairs]
    for words in lists:
        stack = averages[:, :, words.rows].transpose(1, 2, 0)
        estimates = icc_stack(stack, OVER_MEASURES, level=level, subjects="words", raters="measures")
        table = ReliabilityTable.from_estimates(estimates, "pair", names, word_list=words.name)
        tables.append(table.mask_undercovered(words.shortfall))
    return ReliabilityTable.concatenate(tables)


def agreement_on_words(averages: Floats, level: float = 0.95) -> Iccs:
    """Inter-rater reliability of every word: pairs × measures, from measures × pairs × words."""
    return icc_stack(averages.transpose(2, 1, 0), OVER_MEASURES, level=level, subjects="pairs", raters="measures")


def _split_by_list(table: ReliabilityTable, lists: Sequence[WordList], unlisted: Places) -> list[ReliabilityTable]:
    """Rows of words under each list that has them, then those in no list."""
    return [*(table.take(words.rows).with_list(words.name) for words in lists), table.take(unlisted)]


def within_scales(
    averages: Floats,
    measures: Sequence[str],
    pairs_name: str,
    lists: Sequence[WordList],
    queries: Sequence[WordList],
    *,
    level: float,
    random_state: int,
) -> tuple[ReliabilityTable, ReliabilityTable]:
    """Alpha and omega of each query and of the pairs on each list, from measures × pairs × words."""
    alphas: list[ReliabilityTable] = []
    omegas: list[ReliabilityTable] = []
    for words in (*queries, *lists):
        stack = averages[:, :, words.rows]  # observations (pairs) × items (words) for a query
        kind, name, word_list, observations, items = "query", words.name, words.source, "pairs", "words"
        if words not in queries:
            stack = stack.transpose(0, 2, 1)
            kind, name, word_list, observations, items = "pairs", pairs_name, words.name, "words", "pairs"
        alpha = cronbach_alpha(stack, level=level, observations=observations, items=items)
        total = omega(stack, level=level, random_state=random_state, observations=observations, items=items)
        for estimates, tables in ((alpha, alphas), (total, omegas)):
            assert isinstance(estimates, Estimates)  # noqa: S101 - a stack in, a stack out
            names = [name] * len(measures)
            table = ReliabilityTable.from_estimates(estimates, kind, names, measure=measures, word_list=word_list)
            tables.append(table.mask_undercovered(words.shortfall))
    return ReliabilityTable.concatenate(alphas), ReliabilityTable.concatenate(omegas)
