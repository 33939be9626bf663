"""How reliabilities and measures relate: correlations, and pairs in the singular against the plural.

Du, Fang & Nguyen 2021, sections 5.3 and 5.5; they released no code for these numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np
from scipy.special import stdtr

from biasgauge.analyses.reliability.rows import Rows, pair_name
from biasgauge.core import Estimate, Floats, Record
from biasgauge.stats import LEAST, SAME, fisher_interval, student_estimate, t_p


@dataclass(frozen=True, kw_only=True)
class Correlation(Estimate):
    """Pearson's r of two numbers over words or pairs, with Fisher's interval.

    Attributes:
        of: what the points are: "word" or "pair".
        a, b: what is correlated.
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
    """Pairs in the singular less the same in the plural: paired t test of their median reliabilities.

    Positive: the singular is more reliable.

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


def correlation(x: Floats, y: Floats, level: float, **about: Any) -> Correlation:  # noqa: ANN401 - labels, by name
    """Correlate two columns over the rows that have both."""
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    about |= {"level": level, "method": "Fisher z", "n": len(x)}
    if len(x) < LEAST:
        return Correlation(value=None, reason=f"fewer than {LEAST} have both numbers", **about)
    size = len(x) * float(np.abs(x).max() * np.abs(y).max())
    x, y = x - x.mean(), y - y.mean()
    lengths = float(np.sqrt((x @ x) * (y @ y)))
    if lengths <= SAME * size:
        return Correlation(value=None, reason="one of the two does not vary", **about)
    r = float(np.clip(x @ y / lengths, -1, 1))
    return Correlation.of_estimate(fisher_interval(r, len(x), level=level), **about, over="", p=t_p(r, len(x) - 2))


def spreads(averages: Floats) -> Floats:
    """Standard deviation of each measure over all its words and pairs; NaN where it has fewer than two scores."""
    known = (scores[~np.isnan(scores)] for scores in averages)
    return np.array([scores.std(ddof=1) if len(scores) > 1 else np.nan for scores in known])


def between_measures(averages: Floats, measures: Sequence[str], level: float) -> tuple[Correlation, ...]:
    """Every two measures over words, of scores averaged over models and pairs; from measures × pairs × words.

    `spread_ratio` is that of all scores of the two: what keeps raw inter-rater reliability low when r is high.
    """
    defined = ~np.isnan(averages).all(axis=(0, 2))
    by_word = averages[:, defined].sum(axis=1) / max(int(defined.sum()), 1)
    by_word[:, np.isnan(averages).all(axis=(0, 1))] = np.nan
    scale = spreads(averages)
    rows = []
    for a, b in combinations(range(len(measures)), 2):
        ratio = float(scale[b] / scale[a]) if scale[a] > 0 and scale[b] > 0 else None
        labels: dict[str, Any] = {"of": "word", "a": measures[a], "b": measures[b], "list": None, "spread_ratio": ratio}
        rows.append(correlation(by_word[a], by_word[b], level, **labels))
    return tuple(rows)


def between_reliabilities(
    test_retest: Rows, inter_rater: Rows, lists: Sequence[str], level: float
) -> tuple[Correlation, ...]:
    """Test-retest (median over measures) with inter-rater reliability, over the pairs and over the words of a list."""
    relations = []
    for within in lists:
        for of in ("pair", "word"):
            first, second = (medians(rows, of, within) for rows in (test_retest, inter_rater))
            shared = [name for name in first if name in second]
            x, y = (np.array([middle[name] for name in shared], np.float64) for middle in (first, second))
            relations.append(correlation(x, y, level, of=of, a="test_retest", b="inter_rater", list=within))
    return tuple(relations)


def medians(rows: Rows, of: str, within: str) -> dict[str, float]:
    """Median reliability of each name over measures, where all are defined."""
    part = rows.where(of=of, list=within)
    if not len(part):
        return {}
    names, which = np.unique(part.name.astype(str), return_inverse=True)
    order = np.argsort(which, kind="stable")
    groups = np.split(part.value[order], np.flatnonzero(np.diff(which[order])) + 1)
    if len({len(group) for group in groups}) == 1:
        middle = np.median(np.array(groups), axis=1)
    else:
        middle = np.array([np.median(group) for group in groups])
    return {str(name): float(value) for name, value in zip(names, middle, strict=True)}


def compare_forms(
    rows: Rows, reliability: str, pairs: Sequence[tuple[str, str]], lists: Sequence[str], level: float
) -> tuple[FormComparison, ...]:
    """Singular against plural pairs on each list; none where no pair comes in both forms."""
    matched = [(pair_name(singular), pair_name(plural)) for singular, plural in singular_plural(pairs)]
    comparisons = []
    for within in lists if matched else ():
        middle = medians(rows, "pair", within)
        both = [FormMedians(*names, *(middle.get(name, np.nan) for name in names)) for names in matched]
        kept = tuple(row for row in both if not np.isnan(row.singular_median + row.plural_median))
        comparisons.append(_compared(kept, level, reliability=reliability, list=within))
    return tuple(comparisons)


def _compared(medians: tuple[FormMedians, ...], level: float, **about: Any) -> FormComparison:  # noqa: ANN401 - labels
    gaps = np.array([row.singular_median - row.plural_median for row in medians])
    n, df = len(gaps), max(len(gaps) - 1, 0)
    about |= {"medians": medians, "level": level, "method": "paired t", "n": n, "df": df}
    if n < 2:
        reason = "fewer than two pairs have a reliability in both forms"
        return FormComparison(value=None, reason=reason, **about)
    mean, error = float(gaps.mean()), float(gaps.std(ddof=1)) / n**0.5
    if error == 0:
        return FormComparison(value=mean, reason="all differences are equal", **about)
    interval, p = student_estimate(mean, error, df, level), float(2 * stdtr(df, -abs(mean / error)))
    return FormComparison(value=mean, low=interval.low, high=interval.high, t=mean / error, p=p, **about)


def singular_plural(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[tuple[str, str], tuple[str, str]], ...]:
    """Pairs whose two ends also come in the plural, with that: ((man, woman), (men, women))."""
    known = set(pairs)
    return tuple((pair, plural) for pair in pairs for plural in product(*map(_plurals, pair)) if plural in known)


_IRREGULAR = {"child": "children", "person": "people", "wife": "wives", "wolf": "wolves", "ox": "oxen"}


def _plurals(word: str) -> tuple[str, ...]:
    """Plurals that an English noun may have."""
    lower = word.lower()
    forms = [word + "s", word + "es"]
    if lower.endswith("man"):
        forms.append(word[:-2] + "en")
    if lower.endswith("y"):
        forms.append(word[:-1] + "ies")
    if lower in _IRREGULAR:
        forms.append(_IRREGULAR[lower])
    return tuple(forms)
