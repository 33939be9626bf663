"""Which directions are to be compared with which: pairs, forms of pairs and words, truths, measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from biasgauge.agreement.rows import pair_name
from biasgauge.arrays import Floats
from biasgauge.scores import REASONS, ScoreTensor
from biasgauge.sensitivity.agreements import (
    BETWEEN_MEASURES,
    CORRESPONDENCE,
    PAIR_FORMS,
    PAIRWISE,
    WORD_FORMS,
    Comparison,
    directions,
)
from biasgauge.sensitivity.plan import Plan
from biasgauge.sensitivity.truths import Truth

Pair = tuple[str, str]

NO_FORM = "no word has this form in the vocabulary"


@dataclass(frozen=True)
class Signs:
    """Directions of every word on every pair, found by label.

    Attributes:
        values: measures × pairs × words.
        lost: for each measure, pairs on which no word has a score, with the reason.
    """

    values: Floats
    measures: tuple[str, ...]
    pairs: Mapping[Pair, int]
    words: Mapping[str, int]
    lost: tuple[Mapping[Pair, str], ...]

    @classmethod
    def of(cls, scores: ScoreTensor, *, as_published: bool = False) -> Signs:
        """Directions of the scores of one model."""
        return cls(
            directions(scores.values[..., 0], as_published=as_published),
            scores.measures,
            {pair: place for place, pair in enumerate(scores.pairs)},
            {word: place for place, word in enumerate(scores.words)},
            tuple(_lost(scores, place) for place in range(len(scores.measures))),
        )

    def select(self, pairs: Sequence[Pair], words: Sequence[str]) -> Floats:
        """Measures × pairs × words, in the order asked for."""
        rows, columns = [self.pairs[pair] for pair in pairs], [self.words[word] for word in words]
        found: Floats = self.values[:, rows][:, :, columns]
        return found


def _lost(scores: ScoreTensor, measure: int) -> dict[Pair, str]:
    """Pairs without any score for a reason that lies in the pair or its neighbors, not in the words."""
    found = {}
    for place, pair in enumerate(scores.pairs):
        codes = np.unique(scores.undefined[measure, place, :, 0])
        reasons = [REASONS[code] for code in codes if not REASONS[code].startswith("the word")]
        if reasons and codes.min() > 0:
            found[pair] = reasons[0]
    return found


def of_pairs(signs: Signs, plan: Plan) -> list[Comparison]:
    """Every pair with every earlier one."""
    values = signs.select(plan.pairs, plan.words)
    found = []
    for place, name in enumerate(signs.measures):
        for other in range(1, len(plan.pairs)):
            earlier, lost = plan.pairs[:other], signs.lost[place]
            if plan.pairs[other] in lost:
                lost = dict.fromkeys(earlier, lost[plan.pairs[other]])
            second = np.broadcast_to(values[place, other], (other, len(plan.words)))
            against = pair_name(plan.pairs[other])
            found.append(Comparison(PAIRWISE, name, against, earlier, plan.words, values[place, :other], second, lost))
    return found


def of_pair_forms(signs: Signs, plan: Plan) -> list[Comparison]:
    """Every pair with another form of it."""
    base = signs.select(plan.pairs, plan.words)
    found = []
    for form in plan.pair_forms:
        other = np.full(base.shape, np.nan)
        there = [place for place, pair in enumerate(plan.pairs) if pair in form.found]
        other[:, there] = signs.select([form.found[plan.pairs[place]] for place in there], plan.words)
        found += [
            Comparison(
                PAIR_FORMS, name, form.name, plan.pairs, plan.words, base[place], other[place],
                {**form.lost, **signs.lost[place]},
            )
            for place, name in enumerate(signs.measures)
        ]  # fmt: skip
    return found


def of_word_forms(signs: Signs, plan: Plan) -> list[Comparison]:
    """Every word with another form of it."""
    found = []
    for form in plan.forms:
        words = tuple(form.found)
        base, other = signs.select(plan.pairs, words), signs.select(plan.pairs, list(form.found.values()))
        without = dict.fromkeys(plan.pairs if not words else (), NO_FORM)
        found += [
            Comparison(
                WORD_FORMS, name, form.name, plan.pairs, words, base[place], other[place],
                {**without, **signs.lost[place]},
            )
            for place, name in enumerate(signs.measures)
        ]  # fmt: skip
    return found


def of_truths(signs: Signs, plan: Plan, truths: Sequence[Truth]) -> list[Comparison]:
    """Directions against those that are known."""
    found = []
    for truth in truths:
        values = signs.select(plan.pairs, truth.words)
        known = np.broadcast_to(truth.directions, values.shape[1:])
        found += [
            Comparison(
                CORRESPONDENCE, name, truth.name, plan.pairs, truth.words, values[place], known, signs.lost[place]
            )
            for place, name in enumerate(signs.measures)
        ]  # fmt: skip
    return found


def of_measures(signs: Signs, plan: Plan) -> list[Comparison]:
    """Every two measures."""
    values = signs.select(plan.pairs, plan.words)
    return [
        Comparison(
            BETWEEN_MEASURES, signs.measures[one], signs.measures[other], plan.pairs, plan.words,
            values[one], values[other], {**signs.lost[one], **signs.lost[other]},
        )
        for one, other in combinations(range(len(signs.measures)), 2)
    ]  # fmt: skip
