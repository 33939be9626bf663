"""Which words of a score tensor a word list or a query stands for, and which of its words are lost."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from biasgauge.analyses.reliability.rows import Rows
from biasgauge.core import JsonObject, LexiconLike, WordsLike
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import Lexicon, WordSet, languages, lexicon, words_of
from biasgauge.results import share_text

ALL_WORDS = "all words"
LISTS = ("scored_words", "frequent")
"""Roles of lists, in every language, that are looked at unasked where a tensor covers them."""


@dataclass(frozen=True, eq=False)
class WordList:
    """A word list, or a query from the lexicon `source`: of the words asked for, where those with a score stand.

    `short` says why too few words are left to stand for it; empty when there are enough.
    """

    name: str
    source: str | None
    asked: int
    places: NDArray[np.intp]
    lost: tuple[str, ...]
    short: str

    def to_dict(self) -> JsonObject:
        """As it stands in `--json`."""
        return {"asked": self.asked, "found": len(self.places), "lost": list(self.lost), "reason": self.short or None}


def judged(rows: Rows, words: WordList) -> Rows:
    """Return the rows of a list, undefined where too few of its words have scores."""
    if not words.short:
        return rows
    nothing = np.full(len(rows), np.nan)
    reasons = np.full(len(rows), words.short, dtype=object)
    return replace(rows, value=nothing, low=nothing, high=nothing, reason=reasons)


ListsLike: TypeAlias = "WordsLike | Iterable[LexiconLike | WordSet] | Mapping[str, WordsLike]"
"""Named lists of words: lexicons, or words by name."""


class Chooser:
    """Looks up lists among the words of a tensor, `found` saying which of them have a score."""

    def __init__(self, words: tuple[str, ...], found: NDArray[np.bool_], min_coverage: float) -> None:
        self._index = {word: place for place, word in enumerate(words)}
        self._found = found
        self._min_coverage = min_coverage

    def lists(self, asked: ListsLike | None, beside: Iterable[WordList] = ()) -> tuple[WordList, ...]:
        """Lists that were asked for; by default the shipped ones that the tensor covers.

        All words make a list of their own when they are more than those lists and the queries `beside` them.
        """
        if asked is not None:
            named = _named(asked, "lists")
            if not named:
                raise ParameterError("The 'lists' of reliability must name at least one list. Got none.")
            return tuple(self._one(name, words) for name, words, _ in named)
        known = [words_of(name) for role in LISTS for record in languages() for name in record.named(role)]
        chosen = [self._one(words.name, words.words) for words in known if self._scored(words.words)]
        covered = {place for words in (*chosen, *beside) for place in words.places.tolist()}
        if len(covered) < int(self._found.sum()) or not chosen:
            everything = np.flatnonzero(self._found)
            lost = tuple(word for word, place in self._index.items() if not self._found[place])
            chosen.append(WordList(ALL_WORDS, None, len(self._index), everything, lost, ""))
        return tuple(chosen)

    def unlisted(self, lists: Iterable[WordList]) -> NDArray[np.intp]:
        """Places of words that have a score and are in none of the lists."""
        left = self._found.copy()
        for words in lists:
            left[words.places] = False
        return np.flatnonzero(left)

    def queries(self, asked: ListsLike | None) -> tuple[WordList, ...]:
        """Queries that were asked for; by default those of all languages of which enough words were scored."""
        if asked is not None:
            return tuple(self._one(*query) for query in _named(asked, "queries"))
        known = [lexicon(name) for record in languages() for name in record.named("queries")]
        return tuple(
            self._one(name, words, source.name)
            for source in known
            for name, words in source.sets.items()
            if self._scored(words)
        )

    def _scored(self, words: Iterable[str]) -> bool:
        """Whether scores were asked for enough of these words, found or not."""
        wanted = set(words)
        return len(wanted & self._index.keys()) >= max(self._min_coverage, 1e-9) * len(wanted)

    def _one(self, name: str, words: Iterable[str], source: str | None = None) -> WordList:
        scored = {word: word in self._index and bool(self._found[self._index[word]]) for word in words}
        kept = [word for word, there in scored.items() if there]
        lost = tuple(word for word, there in scored.items() if not there)
        places = np.array([self._index[word] for word in kept], np.intp)
        short = ""
        if len(kept) < self._min_coverage * len(scored):
            short = (
                f"only {len(kept)} of {len(scored)} words have scores ({share_text(len(kept) / len(scored))}, at least "
                f"{share_text(self._min_coverage)} are asked for)"
            )
        return WordList(name, source, len(scored), places, lost, short)


def _named(asked: ListsLike | None, what: str) -> list[tuple[str, tuple[str, ...], str | None]]:
    """Name, words and source of everything that was asked for."""
    match asked:
        case Mapping():
            return [(str(name), words_of(words).words, None) for name, words in asked.items()]
        case str() | os.PathLike() | Lexicon() | WordSet():
            return _reference(asked, what)
        case Iterable():
            return [words for reference in asked for words in _reference(reference, what)]
    raise ParameterError(f"The '{what}' of reliability must be names of lexicons or a mapping of names to words.")


def _reference(reference: Any, what: str) -> list[tuple[str, tuple[str, ...], str | None]]:  # noqa: ANN401 - checked
    """A list is all words of a reference; queries are the sets of a lexicon, or one set of it."""
    if what == "queries" and not isinstance(reference, WordSet):
        try:
            source = lexicon(reference)
        except LexiconError:
            pass  # one set of a lexicon, as NAME:SET
        else:
            labels = {role: words.name for role, words in getattr(source, "roles", {}).items()}  # those of a test
            alone = [source.name] if len(source.sets) == 1 else []
            names = alone or [labels.get(name, name) for name in source.sets]
            return [(name, words, source.name) for name, words in zip(names, source.sets.values(), strict=True)]
    found = words_of(reference)
    source_name, colon, set_name = found.name.rpartition(":")
    return [(set_name, found.words, source_name)] if colon and what == "queries" else [(found.name, found.words, None)]
