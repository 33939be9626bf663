"""Scores of words on the base pairs of a language, computed once for all parts of an audit that look at them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Lock
from typing import Any

from biasgauge.core import EXACT_POLICY, FALLBACK_POLICY, PairsLike
from biasgauge.errors import InputError
from biasgauge.lexicons import (
    DEFAULT_LANGUAGE,
    AssociationTest,
    Language,
    Lexicon,
    Pairs,
    language_of,
    lexicons_in_language,
    pairs_of,
    words_of,
)
from biasgauge.scores import ScoreTensor, score
from biasgauge.vectors import Embedding

MEASURES = ("dbwa", "ripa", "nbm")
MOST_WORDS = 2_500
"""Words that a reader can look up: three tables of 3 measures × 23 pairs × 2,500 words take 1.4 MB of a page."""
POOL = 50_000
"""Words, from the start, among which the look-up searches neighbors: all of three million would take a minute."""


@dataclass(frozen=True, eq=False)
class SharedScores:
    """One score tensor over everything that the parts of an audit look at, computed when a part first asks.

    Parts may ask from several threads: the first computes, the others wait.

    Attributes:
        models: the models of the audit, then the replicates that are not among them.
        lexicons: what the audit looks at.
        case_fallback: look words up in other cases too.
        most_words: words that a reader can look up.
        language: whose base pairs and word lists; without any, what needs them raises InputError.
    """

    models: tuple[Embedding, ...]
    lexicons: tuple[Lexicon, ...]
    case_fallback: bool = False
    most_words: int = MOST_WORDS
    language: Language = field(default_factory=partial(language_of, DEFAULT_LANGUAGE))
    _lock: Lock = field(default_factory=Lock, repr=False)

    @cached_property
    def page_words(self) -> tuple[str, ...]:
        """Words of the first model that a reader can look up."""
        further = lexicons_in_language(self.language)
        return page_words(
            self.models[0], self.lexicons, self.most_words, further=further, case_fallback=self.case_fallback
        )

    @property
    def pairs(self) -> Pairs:
        """The base pairs of the language.

        Raises:
            InputError: it has none.
        """
        if reason := self.language.lacks("base_pairs"):
            raise InputError(f"{reason[:1].upper()}{reason[1:]}.")
        return pairs_of(self.language.named("base_pairs")[0])

    @property
    def pool(self) -> int:
        """Among how many words neighbors are searched for the look-up."""
        return min(len(self.models[0]), POOL)

    def of_lists(self, models: Sequence[Embedding]) -> ScoreTensor:
        """Scores of the word lists whose reliability is judged."""
        return self._select(models, words_of_lists(self.language))

    def of_words(self, model: Embedding, words: Sequence[str]) -> ScoreTensor:
        """Scores of words of an association test."""
        return self._select([model], words)

    def of_pairs(
        self, model: Embedding, words: Sequence[str], pairs: PairsLike, measures: Sequence[str] = MEASURES
    ) -> ScoreTensor:
        """Scores on pairs of one's own, or with other measures: nothing else sees them."""
        return self._score([model], words, pairs, measures=list(measures))

    def of_page(self, pairs: Sequence[tuple[str, str]]) -> ScoreTensor:
        """Scores that a reader can look up; of a large vocabulary, with neighbors among its first words alone."""
        language_pairs = () if self.language.lacks("base_pairs") else self.pairs.pairs
        if len(self.models[0]) <= POOL and set(pairs) <= set(language_pairs):
            return self._select(self.models, self.page_words).select(pair=pairs)
        return self._score(self.models, self.page_words, pairs, pool=list(self.models[0].words[:POOL]))

    def _select(self, models: Sequence[Embedding], words: Sequence[str]) -> ScoreTensor:
        with self._lock:
            scores = self._all_scores
        model_names = {id(model): name for model, name in zip(self.models, scores.models, strict=True)}
        return scores.select(word=words, model=[model_names[id(model)] for model in models])

    @cached_property
    def _all_scores(self) -> ScoreTensor:
        word_lists = [words_of_lists(self.language)] if len(self.models) > 1 else []
        word_lists += [test.words for test in self.lexicons if isinstance(test, AssociationTest)]
        if len(self.models[0]) <= POOL:
            word_lists.append(self.page_words)
        return self._score(self.models, list(dict.fromkeys(word for words in word_lists for word in words)), self.pairs)

    def _score(
        self,
        models: Sequence[Embedding],
        words: Sequence[str],
        pairs: PairsLike,
        **settings: Any,  # noqa: ANN401 - those of score
    ) -> ScoreTensor:
        policy = FALLBACK_POLICY if self.case_fallback else EXACT_POLICY
        settings = {"measures": list(MEASURES), "policy": policy, **settings}
        return score(list(models), pairs=pairs, words=list(words), **settings)


def words_of_lists(language: Language) -> tuple[str, ...]:
    """Words of a language's lists and queries on which reliability is judged, each once."""
    names = (*language.named("scored_words"), *language.named("queries"))
    return tuple(dict.fromkeys(word for name in names for word in words_of(name).words))


def page_words(
    model: Embedding,
    lexicons: Iterable[Lexicon],
    most_words: int,
    *,
    further: Iterable[Lexicon] = (),
    case_fallback: bool = False,
) -> tuple[str, ...]:
    """Words of the model for a page, `most_words` at most: of the lists, then of `further`, then the first.

    Smaller lists come first, and only lists that fit as a whole; the first words of a file are usually its most
    frequent ones.
    """
    selected: dict[str, None] = {}
    for lists in (lexicons, further):
        for words in sorted((lexicon.words for lexicon in lists), key=len):
            rows = model.lookup(words, case_fallback=case_fallback).rows
            wider = {**selected, **dict.fromkeys(model.words[row] for row in rows.tolist())}
            if len(wider) > most_words:
                break
            selected = wider
    for word in model.words:
        if len(selected) >= most_words:
            break
        selected[word] = None
    return tuple(selected)


def usable_pairs(
    model: Embedding, pairs: Sequence[tuple[str, str]], *, case_fallback: bool
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The base pairs with a vector for both ends, and those without."""
    usable = [pair for pair in pairs if len(model.lookup(pair, case_fallback=case_fallback).words) == len(set(pair))]
    return usable, [pair for pair in pairs if pair not in usable]
