"""Do two ways of asking give words the same direction? Another pair, form of pairs or words, the truth, a measure.

Also whether pairs whose difference vectors are alike agree more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np

from biasgauge.analyses.reliability import correlation, pair_name
from biasgauge.analyses.robustness.forms import Pair
from biasgauge.analyses.robustness.plan import RobustnessPlan, Truth
from biasgauge.core import Estimate, Estimates, Fields, Floats, JsonMapping, JsonObject, Record, Vectors, unit_rows
from biasgauge.scores import LIES_IN_THE_WORD, REASONS, ScoreTensor
from biasgauge.stats import cohen_kappa, jackknife_r, mean_kappa, share_of_words
from biasgauge.vectors import Embedding

AGAINST = {
    "pairwise": "other", "pair_forms": "form", "word_forms": "form", "correspondence": "truth",
    "between_measures": "other",
}  # fmt: skip
"""What the two ways of each part differ in, by its name in `--json`."""
NO_FORM = "no word has this form in the vocabulary"
_LEAST = 4
"""Pairs that a jackknife of correlations takes."""


def directions(scores: Vectors, *, as_published: bool = False) -> Floats:
    """End that each score leans to: 1 the first, −1 the second, 0 neither; NaN where there is no score.

    A score of exactly 0, such as 50 votes to 50, has no direction. As published, it counts as the first end (male).
    """
    signs: Floats = np.sign(scores.astype(np.float64))
    if as_published:
        signs[signs == 0] = 1
    return signs


@dataclass(frozen=True)
class EstimateRow(Record):
    """Labels and estimates. In JSON each number has its interval beside it, and `reason` says why one is undefined."""

    def __init_subclass__(cls) -> None:
        estimates = {name: float | None for name, kind in cls.__annotations__.items() if kind == "Estimate"}
        cls.json_types = {**estimates, **cls.json_types}

    def estimates(self) -> dict[str, Estimate]:
        """Its estimates by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, Estimate)}

    def withdrawn(self, reason: str) -> Self:
        """The same row, undefined for a reason that lies outside it."""
        return replace(self, **{name: estimate.without(reason) for name, estimate in self.estimates().items()})

    def to_dict(self) -> JsonObject:
        """Return the JSON object of `--json`."""
        shape = super().to_dict()
        for name, estimate in self.estimates().items():
            ends = {end: getattr(estimate, end) for end in ("low", "high", "level", "method")}
            shape |= {name: estimate.value, f"{name}_interval": ends}
            if estimate.reason:
                shape.setdefault("reason", estimate.reason)
        return shape


@dataclass(frozen=True)
class Agreement(EstimateRow):
    """Agreement of two ways of asking on the direction of words.

    Attributes:
        part: what differs: "pairwise" (the pair), "pair_forms" (the form of the pair), "word_forms" (the form of the
            words), "correspondence" (the measure against the truth), "between_measures".
        measure: the measure; the first of the two where they differ.
        pair: the pair; the first of the two where they differ.
        against: the other pair, the form, the truth or the other measure.
        kappa: Cohen's kappa over words; "no direction" is a category of its own.
        same: share of words with the same direction; of a truth, the accuracy.
        flipped: words that lean to opposite ends.
        undirected: words that have no direction by one of the two ways: a score of exactly 0.
    """

    json_types: ClassVar[Mapping[str, Any]] = {"pair": str}

    hidden: ClassVar[frozenset[str]] = frozenset({"part", "against"})

    part: str
    measure: str
    pair: Pair
    against: str
    kappa: Estimate
    same: Estimate
    flipped: tuple[str, ...]
    undirected: tuple[str, ...]

    def derived(self) -> JsonMapping:
        """The other way of asking under its name, and the number of words."""
        return {AGAINST[self.part]: self.against, "pair": pair_name(self.pair), "n": self.kappa.n}

    def to_dict(self) -> JsonObject:
        """Return the JSON object of `--json`."""
        shape = super().to_dict()
        if self.part == "correspondence":
            shape |= {"accuracy": shape.pop("same"), "accuracy_interval": shape.pop("same_interval")}
        return shape


@dataclass(frozen=True)
class MeanKappa(EstimateRow):
    """The mean of one part's kappas over pairs, under one measure.

    Attributes:
        part, measure, against: as of `Agreement`.
        kappa: the mean, with an interval over words that minds that all pairs see the same words.
    """

    renamed: ClassVar[Mapping[str, str]] = {"part": "of"}
    hidden: ClassVar[frozenset[str]] = frozenset({"against"})

    part: str
    measure: str
    against: str
    kappa: Estimate

    def derived(self) -> JsonMapping:
        """The other way of asking under its name, and the numbers of words and pairs."""
        return {AGAINST[self.part]: self.against, "n": self.kappa.n, "pairs": self.kappa.k}


@dataclass(frozen=True)
class DirectionComparison:
    """Directions of the same words by two ways, pairs × words; `lost` says why some pairs cannot be compared."""

    part: str
    measure: str
    against: str
    pairs: tuple[Pair, ...]
    words: tuple[str, ...]
    first: Floats
    second: Floats
    lost: Mapping[Pair, str]

    def rows(self, level: float) -> Iterator[Agreement]:
        """One row per pair."""
        gap = np.full((len(self.pairs), 1), np.nan)  # so that there is an item also where there are no words
        kappas = cohen_kappa(np.hstack([self.first, gap]), np.hstack([self.second, gap]), level=level)
        assert isinstance(kappas, Estimates)  # noqa: S101 - a stack in, a stack out
        for index, (pair, first, second) in enumerate(zip(self.pairs, self.first, self.second, strict=True)):
            product = first * second
            n, same = int(np.count_nonzero(~np.isnan(product))), int(np.count_nonzero(first == second))
            share = share_of_words(same, n, level, "share with the same direction")
            flipped, undirected = (
                tuple(self.words[word] for word in np.flatnonzero(mask)) for mask in (product < 0, product == 0)
            )
            labels = self.part, self.measure, pair, self.against
            row = Agreement(*labels, kappas[index], share, flipped, undirected)
            yield row.withdrawn(self.lost[pair]) if pair in self.lost else row

    def mean(self, level: float, resamples: int, random_state: int) -> MeanKappa:
        """The mean over pairs."""
        kappa = mean_kappa(self.first, self.second, level, resamples, random_state)
        return MeanKappa(self.part, self.measure, self.against, kappa)


def lost_pairs(scores: ScoreTensor) -> tuple[dict[Pair, str], ...]:
    """For each measure, pairs without any score for a reason that lies in the pair or its neighbors, not in words."""
    lost: tuple[dict[Pair, str], ...] = tuple({} for _ in scores.measures)
    for measure, undefined in enumerate(scores.undefined[..., 0]):
        for pair, codes in zip(scores.pairs, map(np.unique, undefined), strict=True):
            reasons = [REASONS[code] for code in codes if code not in LIES_IN_THE_WORD]
            if reasons and codes.min() > 0:
                lost[measure][pair] = reasons[0]
    return lost


def compare_directions(
    scores: ScoreTensor, plan: RobustnessPlan, truths: Sequence[Truth], *, as_published: bool
) -> Iterator[DirectionComparison]:
    """Compare directions of the scores of one model by every two ways of asking, part by part."""
    signs, pairs, words = directions(scores.values[..., 0], as_published=as_published), plan.pairs, plan.words
    pair_rows = {pair: row for row, pair in enumerate(scores.pairs)}
    word_rows = {word: row for row, word in enumerate(scores.words)}
    lost = lost_pairs(scores)

    def select(some_pairs: Sequence[Pair], some_words: Sequence[str]) -> Floats:
        values: Floats = signs[:, [pair_rows[pair] for pair in some_pairs]]
        return values[:, :, [word_rows[word] for word in some_words]]

    def compare(
        part: str, against: str, some_words: Sequence[str], alternatives: Floats, missing: Mapping[Pair, str]
    ) -> Iterator[DirectionComparison]:
        """Compare directions as given with alternatives, measures × pairs × words, under each measure."""
        given = select(pairs, some_words)
        for index, measure in enumerate(scores.measures):
            labels = part, measure, against, pairs, tuple(some_words)
            yield DirectionComparison(*labels, given[index], alternatives[index], {**missing, **lost[index]})

    base = select(pairs, words)
    for measure, values, missing in zip(scores.measures, base, lost, strict=True):
        for index, pair in enumerate(pairs[1:], 1):  # every pair with every earlier one
            reasons = dict.fromkeys(pairs[:index], missing[pair]) if pair in missing else missing
            second = np.broadcast_to(values[index], (index, len(words)))
            labels = "pairwise", measure, pair_name(pair), pairs[:index], words
            yield DirectionComparison(*labels, values[:index], second, reasons)
    for pair_form in plan.pair_forms:
        alternatives = np.full(base.shape, np.nan)
        rows = [row for row, pair in enumerate(pairs) if pair in pair_form.found]
        alternatives[:, rows] = select([pair_form.found[pairs[row]] for row in rows], words)
        yield from compare("pair_forms", pair_form.name, words, alternatives, pair_form.lost)
    for form in plan.forms:
        without = {} if form.found else dict.fromkeys(pairs, NO_FORM)
        formed = select(pairs, list(form.found.values()))
        yield from compare("word_forms", form.name, tuple(form.found), formed, without)
    for truth in truths:
        expected = np.broadcast_to(truth.directions, (len(signs), len(pairs), len(truth.words)))
        yield from compare("correspondence", truth.name, truth.words, expected, {})
    by_measure = zip(scores.measures, base, lost, strict=True)
    for (measure, first, missing), (against, second, more) in combinations(by_measure, 2):
        labels = "between_measures", measure, against, pairs, words
        yield DirectionComparison(*labels, first, second, {**missing, **more})


@dataclass(frozen=True)
class SimilarityAgreement(EstimateRow):
    """Pearson's r between the likeness of two pairs' difference vectors and the kappa of their directions.

    Attributes:
        measure: the measure that gives the directions.
        pair: the pair that is held against all others; None for every two pairs together.
        r: the correlation. Near 1: the more alike two pairs' vectors, the more they agree. As published, each pair is
            held against itself too (likeness 1, kappa 1), which pushes r up.
        p: two-sided p of r = 0 (Student's t); None for all pairs together, whose points are not independent.
        with_itself: the pair itself is one of the points, as published.
    """

    json_types: ClassVar[Mapping[str, Any]] = {"pair": str | None}

    measure: str
    pair: Pair | None
    r: Estimate
    p: float | None
    with_itself: bool

    def derived(self) -> JsonMapping:
        """The name of the pair, and the number of points."""
        return {"pair": None if self.pair is None else pair_name(self.pair), "n": self.r.n}


def difference_cosines(model: Embedding, pairs: Sequence[Pair]) -> Floats:
    """Cosines between the pairs' difference vectors, pairs × pairs; ends of length 1. NaN where a pair has none."""
    differences = np.full((len(pairs), model.dim), np.nan)
    for index, ends in enumerate(pairs):
        if all(end in model for end in ends):
            first, second = unit_rows(np.stack([model[end].astype(np.float64) for end in ends]))
            differences[index] = first - second
    unit = unit_rows(differences)
    cosines: Floats = unit @ unit.T
    return cosines


def mean_cosine(cosines: Floats, *, with_itself: bool) -> float | None:
    """Mean likeness of two pairs; None with fewer than two pairs. As published each pair is compared with itself too.

    Between −1 and 1; about 0 for unrelated pairs.
    """
    defined = cosines[np.ix_(*2 * [~np.isnan(np.diag(cosines))])]
    if len(defined) < 2:
        return None
    return float(defined.mean() if with_itself else defined[~np.eye(len(defined), dtype=bool)].mean())


def likeness_and_agreement(
    cosines: Floats, rows: Sequence[Agreement], pairs: Sequence[Pair], level: float, *, with_itself: bool
) -> tuple[SimilarityAgreement, ...]:
    """For each measure: each pair against the others, then every two pairs together.

    `cosines` and `pairs` are in the same order; `rows` hold the agreement of every two pairs.
    """
    index = {pair_name(pair): number for number, pair in enumerate(pairs)}
    correlations: list[SimilarityAgreement] = []
    for measure in dict.fromkeys(row.measure for row in rows):
        kappas = np.full(cosines.shape, np.nan)
        for row in rows:
            if row.measure == measure and row.kappa.value is not None:
                first, second = index[pair_name(row.pair)], index[row.against]
                kappas[first, second] = kappas[second, first] = row.kappa.value
        if with_itself:
            np.fill_diagonal(kappas, np.where(np.isnan(np.diag(cosines)), np.nan, 1))
        for number, pair in enumerate(pairs):
            fit = correlation(cosines[number], kappas[number], level, of="pair", a="cosine", b="kappa", list=None)
            r = Estimate(
                statistic="Pearson's r", value=fit.value, low=fit.low, high=fit.high, level=level, method=fit.method,
                n=fit.n, k=2, reason=fit.reason,
            )  # fmt: skip
            correlations.append(SimilarityAgreement(measure, pair, r, fit.p, with_itself))
        correlations.append(SimilarityAgreement(measure, None, _all_pairs(cosines, kappas, level), None, with_itself))
    return tuple(correlations)


def _all_pairs(cosines: Floats, kappas: Floats, level: float) -> Estimate:
    """Every two pairs together; the interval leaves out one pair at a time, since two points may share one."""
    defined = np.triu(~(np.isnan(kappas) | np.isnan(cosines)), 1)
    usable = np.flatnonzero((defined | defined.T).any(axis=1))
    units = len(usable)
    method = "jackknife over pairs (Fisher's z, Student's t)"
    labels: Fields = {"statistic": "Pearson's r", "method": method, "n": int(defined.sum()), "k": units}
    value = _pearson(cosines[defined], kappas[defined])
    if value is None:
        reason = "fewer than three pairs, or one of the two does not vary"
        return Estimate(value=None, level=level, reason=reason, **labels)
    if units < _LEAST:
        return Estimate(value=value, level=level, reason=f"an interval takes at least {_LEAST} pairs", **labels)
    left_out = []
    for unit in usable:
        remaining = defined.copy()
        remaining[unit], remaining[:, unit] = False, False
        left_out.append(_pearson(cosines[remaining], kappas[remaining]))
    return jackknife_r(value, np.array(left_out, np.float64), level, "pair", **labels)  # None becomes NaN


def _pearson(x: Floats, y: Floats) -> float | None:
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
