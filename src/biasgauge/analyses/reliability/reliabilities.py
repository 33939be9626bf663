"""The three reliabilities of Du, Fang & Nguyen 2021, section 4, from scores of replicates.

Test-retest: ICC(2,1) over replicates, a random sample of the models that could be trained; nothing is averaged before.
Inter-rater: ICC(3,1) over measures, the only ones of interest, of scores averaged over replicates; on raw scores, as
published, a measure whose scores spread wider disagrees by that alone. Internal consistency: Cronbach's alpha and
McDonald's omega with the words of a query as items, observed on every pair, or the pairs as items, observed on every
word of a list.

Also correlations between measures and between reliabilities, and pairs in the singular against the plural (sections
5.3 and 5.5); they released no code for these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import stdtr

from biasgauge.analyses.reliability.reliability_table import (
    Causes,
    LowReliabilityCauses,
    ReliabilityTable,
    pair_name,
)
from biasgauge.core import Estimate, Estimates, Floats, Places, Record, Singles
from biasgauge.errors import ParameterError
from biasgauge.scores import REASONS, ScoreStore, ScoreTensor
from biasgauge.stats import (
    LEAST,
    SAME,
    Form,
    Iccs,
    cronbach_alpha,
    fisher_interval,
    icc_stack,
    omega,
    student_estimate,
    t_p,
)

if TYPE_CHECKING:
    from biasgauge.analyses.reliability.analysis import WordList

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
    """Test-retest reliability of words, of pairs on each list, and of one measure itself (means over pairs).

    Also returns what can explain a low reliability, by object, measure and list. A word without a score has the reason
    of its scores; `labels` are all scores, with the names of words and pairs.
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

    `averages` are measures × pairs × words, averaged over models.
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


@dataclass(frozen=True, kw_only=True)
class Correlation(Estimate):
    """Pearson's r of two numbers over words or pairs, with Fisher's interval.

    Attributes:
        of: what the points are: "word" or "pair".
        a, b: the variables correlated.
        list: the word list; None where there is none.
        p: two-sided p of r = 0 (Student's t).
        spread_ratio: standard deviation of b by that of a, where both are measures.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "r"}

    of: str
    a: str
    b: str
    list: str | None
    p: float | None = None
    spread_ratio: float | None = None


@dataclass(frozen=True)
class FormMedians(Record):
    """A pair in both forms, and the median reliability of each."""

    singular: str
    plural: str
    singular_median: float
    plural_median: float


@dataclass(frozen=True, kw_only=True)
class FormComparison(Estimate):
    """Paired t test of the median reliabilities of pairs in the singular and in the plural.

    The value is the mean difference; positive: the singular is more reliable.

    Attributes:
        reliability: "test_retest" or "inter_rater".
        list: the word list.
        t, df, p: the test, two-sided.
        medians: every pair that has a reliability in both forms.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "difference"}

    reliability: str
    list: str
    df: int
    t: float | None = None
    p: float | None = None
    medians: tuple[FormMedians, ...]


def correlation(x: Floats, y: Floats, level: float, **labels: Any) -> Correlation:  # noqa: ANN401 - by name
    """Pearson's r of two columns, Σ(x − x̄)(y − ȳ) / √(Σ(x − x̄)² Σ(y − ȳ)²), over the rows that have both.

    Range [−1, 1]; 0: no linear relation. Undefined for fewer than three rows, or where a column does not vary.
    """
    complete = ~(np.isnan(x) | np.isnan(y))
    x, y = x[complete], y[complete]
    labels |= {"level": level, "method": "Fisher z", "n": len(x)}
    if len(x) < LEAST:
        return Correlation(value=None, reason=f"fewer than {LEAST} have both numbers", **labels)
    magnitude = len(x) * float(np.abs(x).max() * np.abs(y).max())
    x, y = x - x.mean(), y - y.mean()
    denominator = float(np.sqrt((x @ x) * (y @ y)))
    if denominator <= SAME * magnitude:  # what is left after centering is rounding error
        return Correlation(value=None, reason="one of the two does not vary", **labels)
    r = float(np.clip(x @ y / denominator, -1, 1))
    return Correlation.of_estimate(fisher_interval(r, len(x), level=level), **labels, over="", p=t_p(r, len(x) - 2))


def standard_deviations(averages: Floats) -> Floats:
    """Standard deviation of each measure over all its words and pairs; NaN where it has fewer than two scores."""
    defined = (scores[~np.isnan(scores)] for scores in averages)
    return np.array([scores.std(ddof=1) if len(scores) > 1 else np.nan for scores in defined])


def between_measures(averages: Floats, measures: Sequence[str], level: float) -> tuple[Correlation, ...]:
    """Correlation of every two measures over words, of scores averaged over models and pairs.

    `averages` are measures × pairs × words; `spread_ratio` is that of all scores of the two: it keeps raw inter-rater
    reliability low when r is high.
    """
    # Mean over the pairs that have any score; a word that lacks one of them stays NaN.
    scored_pairs = ~np.isnan(averages).all(axis=(0, 2))
    by_word = averages[:, scored_pairs].sum(axis=1) / max(int(scored_pairs.sum()), 1)
    by_word[:, np.isnan(averages).all(axis=(0, 1))] = np.nan
    sd = standard_deviations(averages)
    rows = []
    for a, b in combinations(range(len(measures)), 2):
        ratio = float(sd[b] / sd[a]) if sd[a] > 0 and sd[b] > 0 else None
        labels: dict[str, Any] = {"of": "word", "a": measures[a], "b": measures[b], "list": None, "spread_ratio": ratio}
        rows.append(correlation(by_word[a], by_word[b], level, **labels))
    return tuple(rows)


def between_reliabilities(
    test_retest: ReliabilityTable, inter_rater: ReliabilityTable, lists: Sequence[str], level: float
) -> tuple[Correlation, ...]:
    """Correlation of test-retest (median over measures) with inter-rater reliability, over pairs and over words."""
    relations = []
    for word_list in lists:
        for kind in ("pair", "word"):
            retest, agreement = (medians(table, kind, word_list) for table in (test_retest, inter_rater))
            shared = [name for name in retest if name in agreement]
            x, y = (np.array([values[name] for name in shared], np.float64) for values in (retest, agreement))
            relations.append(correlation(x, y, level, of=kind, a="test_retest", b="inter_rater", list=word_list))
    return tuple(relations)


def medians(table: ReliabilityTable, kind: str, word_list: str) -> dict[str, float]:
    """Median reliability of each name over measures, where all are defined."""
    rows = table.where(of=kind, list=word_list)
    if not len(rows):
        return {}
    names, codes = np.unique(rows.name.astype(str), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    groups = np.split(rows.value[order], np.flatnonzero(np.diff(codes[order])) + 1)
    equal = len({len(group) for group in groups}) == 1  # of many words, one median of a matrix takes less time
    values = np.median(np.array(groups), axis=1) if equal else [np.median(group) for group in groups]
    return {str(name): float(value) for name, value in zip(names, values, strict=True)}


def compare_forms(
    table: ReliabilityTable, reliability: str, pairs: Sequence[tuple[str, str]], lists: Sequence[str], level: float
) -> tuple[FormComparison, ...]:
    """Singular against plural pairs on each list; none where no pair comes in both forms."""
    matched = [(pair_name(singular), pair_name(plural)) for singular, plural in singular_plural(pairs)]
    comparisons = []
    for word_list in lists if matched else ():
        by_pair = medians(table, "pair", word_list)
        rows = [FormMedians(*names, *(by_pair.get(name, np.nan) for name in names)) for names in matched]
        complete = tuple(row for row in rows if not np.isnan(row.singular_median + row.plural_median))
        comparisons.append(_paired_t_test(complete, level, reliability=reliability, list=word_list))
    return tuple(comparisons)


def _paired_t_test(medians: tuple[FormMedians, ...], level: float, **labels: Any) -> FormComparison:  # noqa: ANN401
    differences = np.array([row.singular_median - row.plural_median for row in medians])
    n, df = len(differences), max(len(differences) - 1, 0)
    labels |= {"medians": medians, "level": level, "method": "paired t", "n": n, "df": df}
    if n < 2:
        reason = "fewer than two pairs have a reliability in both forms"
        return FormComparison(value=None, reason=reason, **labels)
    mean, se = float(differences.mean()), float(differences.std(ddof=1)) / n**0.5
    if se == 0:
        return FormComparison(value=mean, reason="all differences are equal", **labels)
    interval, p = student_estimate(mean, se, df, level), float(2 * stdtr(df, -abs(mean / se)))
    return FormComparison(value=mean, low=interval.low, high=interval.high, t=mean / se, p=p, **labels)


def singular_plural(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[tuple[str, str], tuple[str, str]], ...]:
    """Pairs whose two ends also come in the plural, with their plural: ((man, woman), (men, women))."""
    listed = set(pairs)
    return tuple((pair, plural) for pair in pairs for plural in product(*map(_plurals, pair)) if plural in listed)


_IRREGULAR = {"child": "children", "person": "people", "wife": "wives", "wolf": "wolves", "ox": "oxen"}


def _plurals(word: str) -> Iterator[str]:
    """Candidate plurals of an English noun."""
    lower = word.lower()
    yield from (word + "s", word + "es")
    if lower.endswith("man"):
        yield word[:-2] + "en"
    if lower.endswith("y"):
        yield word[:-1] + "ies"
    if lower in _IRREGULAR:
        yield _IRREGULAR[lower]
