"""Word lists and queries among the words of a score tensor, with the words that have no score."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import JsonObject, LexiconLike, WordsLike
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import Lexicon, WordSet, languages, lexicon, words_of
from biasgauge.results import share_text

ALL_WORDS = "all words"
DEFAULT_ROLES = ("scored_words", "frequent")
"""Roles of the lists of each language that are used by default where a tensor covers them."""
ListsLike: TypeAlias = "WordsLike | Iterable[LexiconLike | WordSet] | Mapping[str, WordsLike]"
"""Named lists of words: lexicons, or words by name."""
_NamedWords: TypeAlias = tuple[str, tuple[str, ...], str | None]
"""Name, words, and the lexicon that they come from."""


@dataclass(frozen=True, eq=False)
class WordList:
    """A word list, or a query from the lexicon `source`.

    Attributes:
        size: number of words in the list.
        rows: indices of its scored words in the tensor.
        lost: words without a score.
        shortfall: why too few words have scores to represent the list; empty when enough do.
    """

    name: str
    source: str | None
    size: int
    rows: NDArray[np.intp]
    lost: tuple[str, ...]
    shortfall: str

    def to_dict(self) -> JsonObject:
        """Coverage as in `--json`."""
        return {"asked": self.size, "found": len(self.rows), "lost": list(self.lost), "reason": self.shortfall or None}


class ListLookup:
    """Finds lists among the words of a tensor; `scored` marks the words that have a score."""

    def __init__(self, words: tuple[str, ...], scored: NDArray[np.bool_], min_coverage: float) -> None:
        self._index = {word: row for row, word in enumerate(words)}
        self._scored = scored
        self._min_coverage = min_coverage

    def lists(self, lists: ListsLike | None, queries: Iterable[WordList] = ()) -> tuple[WordList, ...]:
        """Look up lists; by default the shipped ones that the tensor covers.

        By default, all words make one more list when they are more than those of the lists and the queries.
        """
        if lists is not None:
            named = _named_words(lists, "lists")
            if not named:
                raise ParameterError("The 'lists' of reliability must name at least one list. Got none.")
            return tuple(self._look_up(name, words) for name, words, _ in named)
        shipped = [words_of(name) for role in DEFAULT_ROLES for record in languages() for name in record.named(role)]
        covered = [self._look_up(words.name, words.words) for words in shipped if self._covers(words.words)]
        listed = {row for words in (*covered, *queries) for row in words.rows.tolist()}
        if len(listed) < int(self._scored.sum()) or not covered:
            lost = tuple(word for word, row in self._index.items() if not self._scored[row])
            covered.append(WordList(ALL_WORDS, None, len(self._index), np.flatnonzero(self._scored), lost, ""))
        return tuple(covered)

    def unlisted(self, lists: Iterable[WordList]) -> NDArray[np.intp]:
        """Rows of words that have a score and are in none of the lists."""
        mask = self._scored.copy()
        for words in lists:
            mask[words.rows] = False
        return np.flatnonzero(mask)

    def queries(self, queries: ListsLike | None) -> tuple[WordList, ...]:
        """Look up queries; by default those of all languages of which enough words were scored."""
        if queries is not None:
            return tuple(self._look_up(*query) for query in _named_words(queries, "queries"))
        shipped = [lexicon(name) for record in languages() for name in record.named("queries")]
        return tuple(
            self._look_up(name, words, source.name)
            for source in shipped
            for name, words in source.sets.items()
            if self._covers(words)
        )

    def _covers(self, words: Iterable[str]) -> bool:
        """Test whether the tensor has enough of these words, with a score or not."""
        distinct = set(words)
        return len(distinct & self._index.keys()) >= max(self._min_coverage, 1e-9) * len(distinct)

    def _look_up(self, name: str, words: Iterable[str], source: str | None = None) -> WordList:
        distinct = tuple(dict.fromkeys(words))
        has_score = {word: word in self._index and bool(self._scored[self._index[word]]) for word in distinct}
        scored = [word for word in distinct if has_score[word]]
        lost = tuple(word for word in distinct if not has_score[word])
        shortfall = ""
        if len(scored) < self._min_coverage * len(distinct):
            shortfall = (
                f"only {len(scored)} of {len(distinct)} words have scores ({share_text(len(scored) / len(distinct))}, "
                f"at least {share_text(self._min_coverage)} are asked for)"
            )
        rows = np.array([self._index[word] for word in scored], np.intp)
        return WordList(name, source, len(distinct), rows, lost, shortfall)


def _named_words(references: ListsLike | None, parameter: str) -> list[_NamedWords]:
    """Resolve the value of the parameter `lists` or `queries`."""
    match references:
        case Mapping():
            return [(str(name), words_of(words).words, None) for name, words in references.items()]
        case str() | os.PathLike() | Lexicon() | WordSet():
            return _resolve(references, parameter)
        case Iterable():
            return [words for reference in references for words in _resolve(reference, parameter)]
    raise ParameterError(f"The '{parameter}' of reliability must be names of lexicons or a mapping of names to words.")


def _resolve(reference: Any, parameter: str) -> list[_NamedWords]:  # noqa: ANN401 - checked
    """Resolve one reference: a list is all of its words; queries are the sets of a lexicon, or one set of it."""
    if parameter == "queries" and not isinstance(reference, WordSet):
        try:
            source = lexicon(reference)
        except LexiconError:
            pass  # one set of a lexicon, as NAME:SET
        else:
            labels = {role: words.name for role, words in getattr(source, "roles", {}).items()}  # those of a test
            names = [source.name] if len(source.sets) == 1 else [labels.get(name, name) for name in source.sets]
            return [(name, words, source.name) for name, words in zip(names, source.sets.values(), strict=True)]
    words = words_of(reference)
    source_name, colon, set_name = words.name.rpartition(":")
    is_set = colon and parameter == "queries"
    return [(set_name, words.words, source_name)] if is_set else [(words.name, words.words, None)]
