"""Correlations between measures and between reliabilities, and pairs in the singular against the plural.

Du, Fang & Nguyen 2021, sections 5.3 and 5.5; they released no code for these numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np
from scipy.special import stdtr

from biasgauge.analyses.reliability.reliability_table import ReliabilityTable, pair_name
from biasgauge.core import Estimate, Floats, Record
from biasgauge.stats import LEAST, SAME, fisher_interval, student_estimate, t_p


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

    `spread_ratio` is that of all scores of the two: it keeps raw inter-rater reliability low when r is high.

    Args:
        averages: measures × pairs × words.
        measures: their names.
        level: of the intervals.
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
    if len({len(group) for group in groups}) == 1:
        values = np.median(np.array(groups), axis=1)
    else:
        values = np.array([np.median(group) for group in groups])
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


def _plurals(word: str) -> tuple[str, ...]:
    """Candidate plurals of an English noun."""
    lower = word.lower()
    forms = [word + "s", word + "es"]
    if lower.endswith("man"):
        forms.append(word[:-2] + "en")
    if lower.endswith("y"):
        forms.append(word[:-1] + "ies")
    if lower in _IRREGULAR:
        forms.append(_IRREGULAR[lower])
    return tuple(forms)
