"""How reliabilities and measures relate: correlations, and pairs in the singular against the plural.

Du, Fang & Nguyen 2021, sections 5.3 and 5.5; they released no code for these numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from biasgauge.agreement.over_measures import spreads
from biasgauge.agreement.rows import Rows, pair_name
from biasgauge.arrays import Floats
from biasgauge.stats.correlations import t_p
from biasgauge.stats.fisher import fisher_interval
from biasgauge.stats.rounding import SAME

_LEAST = 4
"""Points that a correlation with an interval takes."""
_TWO = 2


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """Pearson's r of two numbers over words or pairs, with Fisher's interval; None and a reason where undefined.

    Attributes:
        of: what the points are: "word" or "pair".
        a, b: what is correlated.
        list: the word list; None where there is none.
        p: two-sided p of r = 0 (Student's t).
        spread_ratio: standard deviation of b by that of a, where both are measures.
    """

    of: str
    a: str
    b: str
    list: str | None
    r: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    p: float | None
    method: str = "Fisher z"
    spread_ratio: float | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class FormComparison:
    """Pairs in the singular against the same in the plural: paired t test of their median reliabilities.

    Attributes:
        reliability: "test_retest" or "inter_rater".
        list: the word list.
        difference: mean of singular less plural; positive: the singular is more reliable.
        low, high: its interval (Student's t).
        t, df, p: the test, two-sided.
        medians: singular pair, plural pair, and the median of each.
        reason: why there is no test; None when there is one.
    """

    reliability: str
    list: str
    difference: float | None
    low: float | None
    high: float | None
    level: float
    t: float | None
    df: int
    p: float | None
    medians: tuple[tuple[str, str, float, float], ...]
    method: str = "paired t"
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        shape = asdict(self)
        columns = ("singular", "plural", "singular_median", "plural_median")
        shape["medians"] = [dict(zip(columns, row, strict=True)) for row in self.medians]
        return shape


def correlation(x: Floats, y: Floats, level: float, **about: Any) -> Correlation:  # noqa: ANN401 - labels, by name
    """Correlate two columns over the rows that have both."""
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    n = len(x)
    if n < _LEAST:
        return _no_correlation(level, n, f"fewer than {_LEAST} have both numbers", about)
    size = n * float(np.abs(x).max() * np.abs(y).max())
    x, y = x - x.mean(), y - y.mean()
    lengths = float(np.sqrt((x @ x) * (y @ y)))
    if lengths <= SAME * size:
        return _no_correlation(level, n, "one of the two does not vary", about)
    r = float(np.clip(x @ y / lengths, -1, 1))
    around = fisher_interval(r, n, level=level)
    return Correlation(
        r=r, low=around.low, high=around.high, level=level, n=n, p=t_p(r, n - 2), reason=around.reason, **about
    )


def _no_correlation(level: float, n: int, reason: str, about: Mapping[str, Any]) -> Correlation:
    return Correlation(r=None, low=None, high=None, level=level, n=n, p=None, reason=reason, **about)


def between_measures(averages: Floats, measures: Sequence[str], level: float) -> tuple[Correlation, ...]:
    """Every two measures over words, of scores averaged over models and pairs; from measures × pairs × words.

    `spread_ratio` is that of all scores of the two: what keeps raw inter-rater reliability low when r is high.
    """
    defined = ~np.isnan(averages).all(axis=(0, 2))
    by_word = averages[:, defined].sum(axis=1) / max(int(defined.sum()), 1)
    by_word[:, np.isnan(averages).all(axis=(0, 1))] = np.nan
    scale = spreads(averages)
    found = []
    for a, b in combinations(range(len(measures)), 2):
        ratio = float(scale[b] / scale[a]) if scale[a] > 0 and scale[b] > 0 else None
        labels: dict[str, Any] = {"of": "word", "a": measures[a], "b": measures[b], "list": None, "spread_ratio": ratio}
        found.append(correlation(by_word[a], by_word[b], level, **labels))
    return tuple(found)


def between_reliabilities(
    test_retest: Rows, inter_rater: Rows, lists: Sequence[str], level: float
) -> tuple[Correlation, ...]:
    """Test-retest (median over measures) with inter-rater reliability, over the pairs and over the words of a list."""
    found = []
    for within in lists:
        for of in ("pair", "word"):
            first, second = (medians(rows, of, within) for rows in (test_retest, inter_rater))
            shared = [name for name in first if name in second]
            x, y = (np.array([one[name] for name in shared], np.float64) for one in (first, second))
            labels = {"of": of, "a": "test_retest", "b": "inter_rater", "list": within}
            found.append(correlation(x, y, level, **labels))
    return tuple(found)


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
    matched = singular_plural(pairs)
    if not matched:
        return ()
    return tuple(_compared(medians(rows, "pair", within), reliability, matched, within, level) for within in lists)


def _compared(
    middle: Mapping[str, float],
    reliability: str,
    matched: Sequence[tuple[tuple[str, str], tuple[str, str]]],
    within: str,
    level: float,
) -> FormComparison:
    rows = [(pair_name(one), pair_name(many)) for one, many in matched]
    kept = tuple(
        (one, many, middle[one], middle[many])
        for one, many in rows
        if not np.isnan(middle.get(one, np.nan)) and not np.isnan(middle.get(many, np.nan))
    )
    gaps = np.array([one - many for _, _, one, many in kept])
    labels: dict[str, Any] = {"reliability": reliability, "list": within, "level": level, "medians": kept}
    few = len(gaps) < _TWO
    deviation = 0.0 if few else float(gaps.std(ddof=1)) / len(gaps) ** 0.5
    if deviation == 0:
        reason = "fewer than two pairs have a reliability in both forms" if few else "all differences are equal"
        labels |= {"low": None, "high": None, "t": None, "p": None}
        mean = None if few else float(gaps.mean())
        return FormComparison(**labels, difference=mean, df=max(len(gaps) - 1, 0), reason=reason)
    mean, df = float(gaps.mean()), len(gaps) - 1
    t = mean / deviation
    margin = float(stdtrit(df, (1 + level) / 2)) * deviation
    p = float(2 * stdtr(df, -abs(t)))
    return FormComparison(**labels, difference=mean, low=mean - margin, high=mean + margin, t=t, df=df, p=p)


def singular_plural(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[tuple[str, str], tuple[str, str]], ...]:
    """Pairs whose two ends also come in the plural, with that: ((man, woman), (men, women))."""
    known = set(pairs)
    found = []
    for first, second in pairs:
        plurals = [(a, b) for a in _plurals(first) for b in _plurals(second)]
        found += [((first, second), plural) for plural in plurals if plural in known]
    return tuple(found)


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
