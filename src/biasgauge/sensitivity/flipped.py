"""Which conclusions flip when a reasonable choice changes: the pair, the measure, the form of the words.

One choice is changed at a time, from a baseline: the first measure, the first pair, the words as given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.special import stdtrit

from biasgauge.agreement.rows import pair_name
from biasgauge.arrays import Floats
from biasgauge.embeddings import load
from biasgauge.errors import ParameterError
from biasgauge.inputs import LexiconLike, PairsLike, VectorsLike, WordsLike
from biasgauge.lexicons import Lexicon, WordSet, pairs_of, words_of
from biasgauge.measures import Measure
from biasgauge.scores import ScoreTensor, score
from biasgauge.sensitivity.flipped_result import CLEAR_TO_NONE, HOLDS, NONE_TO_CLEAR, REVERSED, UNCLEAR, Flip, Flips
from biasgauge.sensitivity.forms import FormsLike
from biasgauge.sensitivity.plan import MEASURES, NEUTRAL, Plan, chosen_measures, pool_of
from biasgauge.sensitivity.result import AS_GIVEN
from biasgauge.sensitivity.vocabularies import as_spelled, pairs_as_spelled
from biasgauge.stats.estimate import check_level
from biasgauge.stats.shares import share_of_words

Pair = tuple[str, str]

CONCEPTS = ("occ16", "adj", "bsri:male", "bsri:female", "weat7:x", "weat7:y", "weat8:x", "weat8:y")
"""What pairs of male and female are asked about: occupations, adjectives, traits, mathematics, science, arts."""
_TWO = 2


ConceptsLike: TypeAlias = "LexiconLike | WordSet | Iterable[WordsLike] | Mapping[str, WordsLike]"
"""Sets of words, each standing for one concept."""


def flips(
    vectors: VectorsLike,
    *,
    concepts: ConceptsLike = CONCEPTS,
    pairs: PairsLike = "zhang2020",
    measures: str | Measure | Sequence[str | Measure] = MEASURES,
    forms: FormsLike = ("plural", "capitalized"),
    k: int = 100,
    pool: WordsLike | None = NEUTRAL,
    case_fallback: bool = False,
    level: float = 0.95,
    n_jobs: int | None = None,
) -> Flips:
    """For each concept: to which end do its words lean, and does that hold when one choice changes?

    A concept leans to an end when the mean score of its words differs from 0 (Student's interval over words); else it
    has no clear lean. Each other pair, measure and form is tried alone, on the words that have both scores.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        concepts: lexicons or their sets, or a mapping of names to words.
        pairs: a lexicon of pairs, or pairs; the first that the embedding has is the baseline.
        measures: the first is the baseline.
        forms: forms of the words, as in `robustness`.
        k: how many neighbors vote.
        pool: which words may be neighbors, as in `robustness`.
        case_fallback: look a word up in lower case, then capitalized, when it is not there as written.
        level: nominal coverage of the intervals.
        n_jobs: threads; all cores when None.

    Raises:
        ParameterError: an argument cannot be used, or the embedding has none of the pairs.
        LexiconError: a lexicon is unknown.
    """
    check_level(level)
    model = load(vectors)
    base = pairs_of(pairs)
    named = {name: as_spelled(model, words, case_fallback=case_fallback) for name, words in _concepts(concepts).items()}
    used = chosen_measures(measures)
    asked = pairs_as_spelled(model, base.pairs, case_fallback=case_fallback)
    plan = Plan.of(model, asked, [word for words in named.values() for word in words], forms, ())
    usable = tuple(pair for pair in plan.pairs if all(end in model for end in pair))
    if not usable:
        raise ParameterError(f"The embedding has no pair of {base.name} with both its ends; name other pairs.")
    scored = score(
        model,
        pairs=usable,
        words=plan.all_words,
        measures=list(used),
        k=k,
        pool=pool_of(pool, model, plan.pairs, used),
        n_jobs=n_jobs,
    )
    table = _Table(scored, usable, plan, level)
    return Flips(
        rows=tuple(row for name, words in named.items() for row in table.rows(name, words)),
        baseline={"measure": scored.measures[0], "pair": pair_name(usable[0]), "form": AS_GIVEN},
        level=level,
        lost_pairs=tuple(pair_name(pair) for pair in plan.pairs if pair not in usable),
        lost_words={
            name: lost for name, words in named.items() if (lost := tuple(word for word in words if word not in model))
        },
    )


def _concepts(given: ConceptsLike) -> dict[str, tuple[str, ...]]:
    if isinstance(given, Mapping):
        sets = {str(name): words_of(words).words for name, words in given.items()}
    else:
        several = [given] if isinstance(given, (str, Lexicon, WordSet)) else given
        if not isinstance(several, Iterable):
            raise ParameterError(f"The 'concepts' must be lexicons, or a mapping of names to words. Got {given!r}.")
        sets = {one.name: one.words for one in map(words_of, several)}
    if not sets:
        raise ParameterError("The 'concepts' must hold at least one set of words. Got none.")
    return {name: tuple(dict.fromkeys(words)) for name, words in sets.items()}


@dataclass(frozen=True)
class _Table:
    """Scores by choice."""

    scores: ScoreTensor
    pairs: tuple[Pair, ...]
    plan: Plan
    level: float

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each word is."""
        return {word: place for place, word in enumerate(self.scores.words)}

    def rows(self, concept: str, words: tuple[str, ...]) -> list[Flip]:
        measures, pairs = self.scores.measures, self.pairs
        before = self._values(0, 0, words)
        found = [
            self._row(
                concept, words, "pair", pair_name(pairs[0]), pair_name(pair), before, self._values(0, place, words)
            )
            for place, pair in enumerate(pairs)
            if place
        ]
        found += [
            self._row(concept, words, "measure", measures[0], name, before, self._values(place, 0, words))
            for place, name in enumerate(measures)
            if place
        ]
        for form in self.plan.forms:
            there = tuple(word for word in words if word in form.found)
            spelled = tuple(form.found[word] for word in there)
            first, second = (self._values(0, 0, several) for several in (there, spelled))
            found.append(self._row(concept, there, "form", AS_GIVEN, form.name, first, second))
        return found

    def _values(self, measure: int, pair: int, words: tuple[str, ...]) -> Floats:
        rows = [self.places[word] for word in words]
        found: Floats = self.scores.values[measure, pair, rows, 0].astype(np.float64)
        return found

    def _row(
        self, concept: str, words: tuple[str, ...], choice: str, old: str, new: str, before: Floats, after: Floats
    ) -> Flip:
        both = np.flatnonzero(~(np.isnan(before) | np.isnan(after)))
        before, after = before[both], after[both]
        ends = self.pairs[0]
        new_ends = next((pair for pair in self.pairs if choice == "pair" and pair_name(pair) == new), ends)
        leans = _lean(before, self.level), _lean(after, self.level)
        flipped = np.flatnonzero(before * after < 0)
        return Flip(
            concept=concept,
            choice=choice,
            old=old,
            new=new,
            before=_said(leans[0], ends),
            after=_said(leans[1], new_ends),
            outcome=_outcome(*leans),
            share=share_of_words(len(flipped), len(both), self.level, "share of words that flip"),
            words=tuple(words[both[place]] for place in flipped),
        )


def _lean(scores: Floats, level: float) -> int | None:
    """1 or −1 where the mean differs from 0, 0 where it does not; None with fewer than two scores."""
    n = len(scores)
    if n < _TWO:
        return None
    mean, margin = float(scores.mean()), float(stdtrit(n - 1, (1 + level) / 2)) * float(scores.std(ddof=1)) / n**0.5
    return 0 if abs(mean) <= margin else int(np.sign(mean))


def _said(lean: int | None, ends: Pair) -> str | None:
    if lean is None:
        return None
    return UNCLEAR if lean == 0 else f"leans to {ends[0] if lean > 0 else ends[1]}"


def _outcome(before: int | None, after: int | None) -> str | None:
    if before is None or after is None:
        return None
    if before == after:
        return HOLDS
    if before == 0:
        return NONE_TO_CLEAR
    return CLEAR_TO_NONE if after == 0 else REVERSED
