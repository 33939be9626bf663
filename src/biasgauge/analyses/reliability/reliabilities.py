"""The three reliabilities of Du, Fang & Nguyen 2021, section 4, from scores of replicates.

Test-retest: ICC(2,1) over replicates, a sample of all that could be trained, of which users mostly train one; nothing
is averaged before. Inter-rater: ICC(3,1) over measures, the only ones of interest, of scores averaged over replicates;
raw, as published, a measure whose scores spread wider disagrees by that alone. Internal consistency: Cronbach's alpha
of the words of a query, observed on every pair, and of the pairs, observed on every word of a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge.analyses.reliability.distributions import Blame, Spreads
from biasgauge.analyses.reliability.lists import WordList, judged
from biasgauge.analyses.reliability.relations import spreads
from biasgauge.analyses.reliability.rows import PAIR, PAIRS, QUERY, RULE, WORD, Rows, pair_name
from biasgauge.core import Estimates, Floats, Places, Singles
from biasgauge.errors import ParameterError
from biasgauge.scores import REASONS, ScoreStore, ScoreTensor
from biasgauge.stats import Form, Iccs, cronbach_alpha, icc_stack, omega

OVER_REPLICATES: Form = "2,1"
OVER_MEASURES: Form = "3,1"
Scores = ScoreTensor | ScoreStore


@dataclass(frozen=True, eq=False)
class MeasureScores:
    """Scores of one measure: pairs × words × models, NaN where undefined, with the places of the reasons."""

    measure: str
    values: Singles
    undefined: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]

    def mean_over_models(self) -> Floats:
        """Pairs × words: mean over the models in which the score is defined; NaN where there is none."""
        means = np.empty(self.values.shape[:2])
        for pair, scores in enumerate(self.values):
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
        """The most frequent reason why scores of each of these words are undefined."""
        return [
            REASONS[int(np.bincount(codes[codes > 0], minlength=1).argmax())] if (codes > 0).any() else ""
            for codes in (self.undefined[:, word].ravel() for word in words)
        ]

    def reliability_of_words(self, level: float = 0.95) -> Iccs:
        """Test-retest reliability of every word: pairs × models."""
        stack = self.values.transpose(1, 0, 2)
        return icc_stack(stack, OVER_REPLICATES, level=level, subjects="pairs", raters="models")


def by_measure(scores: Scores) -> Iterator[MeasureScores]:
    """One measure after the other; of a store, nothing else is in memory.

    Raises:
        ParameterError: these are no scores.
    """
    if not isinstance(scores, ScoreTensor | ScoreStore):
        raise ParameterError(
            f"reliability needs a ScoreTensor or a ScoreStore, as bg.score makes them. Got {type(scores).__name__}."
        )
    for name in scores.measures:
        part = scores.read(measure=[name]) if isinstance(scores, ScoreStore) else scores
        index = part.measures.index(name)
        yield MeasureScores(name, part.values[index], part.undefined[index])


def over_replicates(
    scores: MeasureScores, of: Scores, lists: Sequence[WordList], rest: Places, level: float
) -> tuple[list[Rows], Blame]:
    """Rows of words (also the `rest` that is in no list), pairs and the measure itself; and why some are low.

    A word without a score has the reason of its scores.
    """
    estimates = scores.reliability_of_words(level)
    every = Rows.of_estimates(estimates, WORD, of.words, measure=scores.measure)
    bare = np.flatnonzero((estimates.n == 0) | (estimates.k == 0))
    every.reason[bare] = scores.why_undefined(bare)
    rows = _by_list(every, lists, rest)
    of_words = Spreads(estimates, of.words)
    blame: Blame = {(WORD, scores.measure, name): of_words for name in (None, *(words.name for words in lists))}
    names, averaged = [pair_name(pair) for pair in of.pairs], scores.mean_over_pairs()
    everything = np.arange(scores.values.shape[1])
    for words in lists:
        whole = np.array_equal(words.places, everything)
        stacks = scores.values if whole else scores.values[:, words.places], averaged[None, words.places]
        for kind, stack, labels in zip((PAIR, RULE), stacks, (names, [scores.measure]), strict=True):
            estimates = icc_stack(stack, OVER_REPLICATES, level=level, subjects="words", raters="models")
            table = Rows.of_estimates(estimates, kind, labels, measure=scores.measure, within=words.name)
            rows.append(judged(table, words))
            blame[kind, scores.measure, words.name] = Spreads(estimates, labels)
    return rows, blame


def standardized(averages: Floats) -> Floats:
    """Scores by the standard deviation of their measure; a measure without any is left as it is."""
    scale = spreads(averages)
    scaled: Floats = averages / np.where(scale > 0, scale, 1)[:, None, None]
    return scaled


def over_measures(averages: Floats, of: Scores, lists: Sequence[WordList], rest: Places, level: float) -> Rows:
    """Every word (pairs × measures) and every pair on every list (words × measures), from measures × pairs × words.

    `rest` are words that are in no list.
    """
    rows = _by_list(Rows.of_estimates(agreement_on_words(averages, level), WORD, of.words), lists, rest)
    names = [pair_name(pair) for pair in of.pairs]
    for words in lists:
        stack = averages[:, :, words.places].transpose(1, 2, 0)
        estimates = icc_stack(stack, OVER_MEASURES, level=level, subjects="words", raters="measures")
        rows.append(judged(Rows.of_estimates(estimates, PAIR, names, within=words.name), words))
    return Rows.joined(rows)


def agreement_on_words(averages: Floats, level: float = 0.95) -> Iccs:
    """Inter-rater reliability of every word: pairs × measures, from measures × pairs × words."""
    return icc_stack(averages.transpose(2, 1, 0), OVER_MEASURES, level=level, subjects="pairs", raters="measures")


def _by_list(every: Rows, lists: Sequence[WordList], rest: Places) -> list[Rows]:
    """Rows of all words, under each list that has them, then those of the rest."""
    return [*(every.take(words.places).within(words.name) for words in lists), every.take(rest)]


def within_scales(
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
    for words in (*queries, *lists):
        of, rows, columns = (QUERY, "pairs", "words") if words in queries else (PAIRS, "words", "pairs")
        stack = averages[:, :, words.places] if of == QUERY else averages[:, :, words.places].transpose(0, 2, 1)
        alpha = cronbach_alpha(stack, level=level, observations=rows, items=columns)
        other = omega(stack, level=level, random_state=random_state, observations=rows, items=columns)
        name, within = (words.name, words.source) if of == QUERY else (ensemble, words.name)
        for estimates, tables in ((alpha, alphas), (other, omegas)):
            assert isinstance(estimates, Estimates)  # noqa: S101 - a stack in, a stack out
            table = Rows.of_estimates(estimates, of, [name] * len(measures), measure=measures, within=within)
            tables.append(judged(table, words))
    return Rows.joined(alphas), Rows.joined(omegas)
