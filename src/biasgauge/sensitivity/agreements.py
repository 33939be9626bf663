"""Do two ways of asking give words the same direction? One row for each comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.agreement import Estimate, Estimates, cohen_kappa
from biasgauge.agreement.rows import pair_name
from biasgauge.arrays import Floats
from biasgauge.stats.kappas import mean_kappa
from biasgauge.stats.shares import share_of_words

Pair = tuple[str, str]

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


def directions(scores: NDArray[np.floating[Any]], *, as_published: bool = False) -> Floats:
    """Which end each score leans to: 1 the first, −1 the second, 0 neither; NaN where there is no score.

    A score of exactly 0, such as 50 votes to 50, has no direction. As published, it counts as the first end (male).
    """
    found: Floats = np.sign(scores.astype(np.float64))
    if as_published:
        found[found == 0] = 1
    return found


@dataclass(frozen=True)
class Agreement:
    """How far two ways of asking give words the same direction.

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

    part: str
    measure: str
    pair: Pair
    against: str
    kappa: Estimate
    same: Estimate
    flipped: tuple[str, ...]
    undirected: tuple[str, ...]

    def withdrawn(self, reason: str) -> Agreement:
        """The same row, undefined for a reason that lies outside it."""
        return replace(self, kappa=self.kappa.without(reason), same=self.same.without(reason))

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        shape = {
            "measure": self.measure,
            AGAINST[self.part]: self.against,
            "pair": pair_name(self.pair),
            **numbers("kappa", self.kappa),
            **numbers("accuracy" if self.part == CORRESPONDENCE else "same", self.same),
            "n": self.kappa.n,
            "flipped": list(self.flipped),
            "undirected": list(self.undirected),
        }
        return {**shape, **({"reason": self.kappa.reason} if self.kappa.reason else {})}


@dataclass(frozen=True)
class MeanKappa:
    """The mean of one part's kappas over pairs, under one measure.

    Attributes:
        part, measure, against: as of `Agreement`.
        kappa: the mean, with an interval over words that minds that all pairs see the same words.
    """

    part: str
    measure: str
    against: str
    kappa: Estimate

    def withdrawn(self, reason: str) -> MeanKappa:
        """The same mean, undefined for a reason that lies outside it."""
        return replace(self, kappa=self.kappa.without(reason))

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        shape = {
            "of": self.part,
            "measure": self.measure,
            AGAINST[self.part]: self.against,
            **numbers("kappa", self.kappa),
            "n": self.kappa.n,
            "pairs": self.kappa.k,
        }
        return {**shape, **({"reason": self.kappa.reason} if self.kappa.reason else {})}


def numbers(name: str, estimate: Estimate) -> dict[str, Any]:
    """A number under its name and its interval beside it, in the shape that every `--json` uses."""
    ends = {"low": estimate.low, "high": estimate.high, "level": estimate.level, "method": estimate.method}
    return {name: estimate.value, f"{name}_interval": ends}


@dataclass(frozen=True)
class Comparison:
    """Directions of the same words by two ways, under one measure and on several pairs.

    Attributes:
        part, measure, against: as of `Agreement`.
        pairs, words: what the rows and columns are called.
        first, second: pairs × words, each as `directions` gives them.
        lost: pairs that cannot be compared, with the reason.
    """

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
        rows = [self._row(place, kappas[place], level) for place in range(len(self.pairs))]
        return [row.withdrawn(self.lost[row.pair]) if row.pair in self.lost else row for row in rows]

    def _row(self, place: int, kappa: Estimate, level: float) -> Agreement:
        first, second = self.first[place], self.second[place]
        product = first * second
        same = int(np.count_nonzero(first == second))
        return Agreement(
            self.part,
            self.measure,
            self.pairs[place],
            self.against,
            kappa,
            share_of_words(same, int(np.count_nonzero(~np.isnan(product))), level, "share with the same direction"),
            tuple(self.words[one] for one in np.flatnonzero(product < 0)),
            tuple(self.words[one] for one in np.flatnonzero(product == 0)),
        )

    def mean(self, level: float, resamples: int, random_state: int) -> MeanKappa:
        """The mean over pairs."""
        kappa = mean_kappa(self.first, self.second, level, resamples, random_state)
        return MeanKappa(self.part, self.measure, self.against, kappa)
