"""Do two ways of asking give words the same direction? Another pair, form of pairs or words, the truth, a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import ClassVar, Self

import numpy as np

from biasgauge.analyses.reliability import pair_name
from biasgauge.analyses.robustness.forms import Pair
from biasgauge.analyses.robustness.plan import Plan
from biasgauge.analyses.robustness.truths import Truth
from biasgauge.core import Estimate, Estimates, Floats, JsonMapping, JsonObject, Record, Vectors
from biasgauge.scores import LIES_IN_THE_WORD, REASONS, ScoreTensor
from biasgauge.stats import cohen_kappa, mean_kappa, share_of_words

PAIRWISE, PAIR_FORMS, WORD_FORMS, CORRESPONDENCE, BETWEEN_MEASURES = (
    "pairwise", "pair_forms", "word_forms", "correspondence", "between_measures"
)  # fmt: skip
AGAINST = {
    PAIRWISE: "other",
    PAIR_FORMS: "form",
    WORD_FORMS: "form",
    CORRESPONDENCE: "truth",
    BETWEEN_MEASURES: "other",
}
"""What the two ways of each part differ in, by its name in `--json`."""
NO_FORM = "no word has this form in the vocabulary"


def directions(scores: Vectors, *, as_published: bool = False) -> Floats:
    """End that each score leans to: 1 the first, −1 the second, 0 neither; NaN where there is no score.

    A score of exactly 0, such as 50 votes to 50, has no direction. As published, it counts as the first end (male).
    """
    signs: Floats = np.sign(scores.astype(np.float64))
    if as_published:
        signs[signs == 0] = 1
    return signs


@dataclass(frozen=True)
class Row(Record):
    """Labels and estimates. In JSON each number has its interval beside it, and `reason` says why one is undefined."""

    def estimates(self) -> dict[str, Estimate]:
        """Its estimates by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, Estimate)}

    def withdrawn(self, reason: str) -> Self:
        """The same row, undefined for a reason that lies outside it."""
        return replace(self, **{name: estimate.without(reason) for name, estimate in self.estimates().items()})

    def to_dict(self) -> JsonObject:
        """As it stands in `--json`."""
        shape = super().to_dict()
        for name, estimate in self.estimates().items():
            ends = {end: getattr(estimate, end) for end in ("low", "high", "level", "method")}
            shape |= {name: estimate.value, f"{name}_interval": ends}
            if estimate.reason:
                shape.setdefault("reason", estimate.reason)
        return shape


@dataclass(frozen=True)
class Agreement(Row):
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
        """As it stands in `--json`."""
        shape = super().to_dict()
        if self.part == CORRESPONDENCE:
            shape |= {"accuracy": shape.pop("same"), "accuracy_interval": shape.pop("same_interval")}
        return shape


@dataclass(frozen=True)
class MeanKappa(Row):
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
class Comparison:
    """Directions of the same words by two ways, pairs × words; `lost` says why some pairs cannot be compared."""

    part: str
    measure: str
    against: str
    pairs: tuple[Pair, ...]
    words: tuple[str, ...]
    first: Floats
    second: Floats
    lost: Mapping[Pair, str]

    def rows(self, level: float) -> list[Agreement]:
        """One row a pair."""
        gap = np.full((len(self.pairs), 1), np.nan)  # so that there is an item also where there are no words
        kappas = cohen_kappa(np.hstack([self.first, gap]), np.hstack([self.second, gap]), level=level)
        assert isinstance(kappas, Estimates)  # noqa: S101 - a stack in, a stack out
        rows = [self._row(index, kappas[index], level) for index in range(len(self.pairs))]
        return [row.withdrawn(self.lost[row.pair]) if row.pair in self.lost else row for row in rows]

    def _row(self, index: int, kappa: Estimate, level: float) -> Agreement:
        first, second = self.first[index], self.second[index]
        product = first * second
        n, same = int(np.count_nonzero(~np.isnan(product))), int(np.count_nonzero(first == second))
        share = share_of_words(same, n, level, "share with the same direction")
        flipped, undirected = (
            tuple(self.words[word] for word in np.flatnonzero(which)) for which in (product < 0, product == 0)
        )
        return Agreement(
            self.part, self.measure, self.pairs[index], self.against, kappa, share, flipped, undirected
        )  # fmt: skip

    def mean(self, level: float, resamples: int, random_state: int) -> MeanKappa:
        """The mean over pairs."""
        kappa = mean_kappa(self.first, self.second, level, resamples, random_state)
        return MeanKappa(self.part, self.measure, self.against, kappa)


@dataclass(frozen=True)
class Signs:
    """Directions, measures × pairs × words, found by label; for each measure, why pairs have no score at all."""

    values: Floats
    measures: tuple[str, ...]
    pairs: Mapping[Pair, int]
    words: Mapping[str, int]
    lost: tuple[Mapping[Pair, str], ...]

    @classmethod
    def from_scores(cls, scores: ScoreTensor, *, as_published: bool = False) -> Signs:
        """Directions of the scores of one model."""
        return cls(
            directions(scores.values[..., 0], as_published=as_published),
            scores.measures,
            {pair: index for index, pair in enumerate(scores.pairs)},
            {word: index for index, word in enumerate(scores.words)},
            tuple(_lost(scores, measure) for measure in range(len(scores.measures))),
        )

    def select(self, pairs: Sequence[Pair], words: Sequence[str]) -> Floats:
        """Measures × pairs × words, in the order asked for."""
        rows, columns = [self.pairs[pair] for pair in pairs], [self.words[word] for word in words]
        values: Floats = self.values[:, rows][:, :, columns]
        return values

    def compare(
        self, part: str, against: str, plan: Plan, words: Sequence[str], alternatives: Floats, lost: Mapping[Pair, str]
    ) -> list[Comparison]:
        """Directions on the plan's pairs with other ones, measures × pairs × words, under each measure."""
        directions_as_given = self.select(plan.pairs, words)
        return [
            Comparison(
                part,
                name,
                against,
                plan.pairs,
                tuple(words),
                directions_as_given[index],
                alternatives[index],
                {**lost, **missing},
            )
            for index, (name, missing) in enumerate(zip(self.measures, self.lost, strict=True))
        ]


def _lost(scores: ScoreTensor, measure: int) -> dict[Pair, str]:
    """Pairs without any score for a reason that lies in the pair or its neighbors, not in the words."""
    lost = {}
    for index, pair in enumerate(scores.pairs):
        codes = np.unique(scores.undefined[measure, index, :, 0])
        reasons = [REASONS[code] for code in codes if code not in LIES_IN_THE_WORD]
        if reasons and codes.min() > 0:
            lost[pair] = reasons[0]
    return lost


def of_pairs(signs: Signs, plan: Plan) -> list[Comparison]:
    """Every pair with every earlier one."""
    comparisons = []
    for name, values, lost in zip(signs.measures, signs.select(plan.pairs, plan.words), signs.lost, strict=True):
        for index, pair in enumerate(plan.pairs[1:], 1):
            earlier = plan.pairs[:index]
            missing = dict.fromkeys(earlier, lost[pair]) if pair in lost else lost
            second = np.broadcast_to(values[index], (index, len(plan.words)))
            labels = PAIRWISE, name, pair_name(pair), earlier, plan.words
            comparisons.append(Comparison(*labels, values[:index], second, missing))
    return comparisons


def of_pair_forms(signs: Signs, plan: Plan) -> list[Comparison]:
    """Every pair with another form of it."""
    comparisons = []
    for form in plan.pair_forms:
        alternatives = np.full((len(signs.measures), len(plan.pairs), len(plan.words)), np.nan)
        indexes = [index for index, pair in enumerate(plan.pairs) if pair in form.found]
        alternatives[:, indexes] = signs.select([form.found[plan.pairs[index]] for index in indexes], plan.words)
        comparisons += signs.compare(PAIR_FORMS, form.name, plan, plan.words, alternatives, form.lost)
    return comparisons


def of_word_forms(signs: Signs, plan: Plan) -> list[Comparison]:
    """Every word with another form of it."""
    comparisons = []
    for form in plan.forms:
        alternatives = signs.select(plan.pairs, list(form.found.values()))
        without = {} if form.found else dict.fromkeys(plan.pairs, NO_FORM)
        comparisons += signs.compare(WORD_FORMS, form.name, plan, tuple(form.found), alternatives, without)
    return comparisons


def of_truths(signs: Signs, plan: Plan, truths: Sequence[Truth]) -> list[Comparison]:
    """Directions against those that are known."""
    comparisons = []
    for truth in truths:
        expected = np.broadcast_to(truth.directions, (len(signs.measures), len(plan.pairs), len(truth.words)))
        comparisons += signs.compare(CORRESPONDENCE, truth.name, plan, truth.words, expected, {})
    return comparisons


def of_measures(signs: Signs, plan: Plan) -> list[Comparison]:
    """Every two measures."""
    by_measure = zip(signs.measures, signs.select(plan.pairs, plan.words), signs.lost, strict=True)
    return [
        Comparison(BETWEEN_MEASURES, name, against, plan.pairs, plan.words, first, second, {**lost, **more})
        for (name, first, lost), (against, second, more) in combinations(by_measure, 2)
    ]
