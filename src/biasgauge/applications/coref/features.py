"""Documents as arrays, candidate spans, pairs of mentions and antecedents, and the clusters that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge.applications.coref.document import Document
from biasgauge.applications.coref.settings import CorefSettings
from biasgauge.core import Integers, Record, Singles, Vectors
from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding

_PADDING, _UNKNOWN, _FIRST = 0, 1, 2
_MAX_LETTERS = 40
"""Letters of a word that are looked at; what is longer is no word."""


@dataclass(frozen=True)
class Arrays:
    """Some documents, one after another.

    Attributes:
        types: for each word its place among the different words.
        vectors: of the different words; zero where the embedding lacks one.
        letters: numbers of the letters of the different words, 0 behind their end.
        sentences: lengths of sentences.
        documents: lengths of documents, in words.
        remaining: for each word, the number of words of its sentence from it on: 1 for the last.
        speakers: a number for each speaker of a document, 0 where unknown.
        genres: a number for each document, 0 where unknown.
        gold: words × widths: the number of the thing that the span is a mention of, counted from 1 through all
            documents; 0 for none.
    """

    types: Integers
    vectors: Singles
    letters: Integers
    sentences: Integers
    documents: Integers
    remaining: Integers
    speakers: Integers
    genres: Integers
    gold: Integers


class Features:
    """Turns documents into arrays for one embedding, one alphabet, and one list of genres."""

    def __init__(self, vectors: Embedding, settings: CorefSettings, letters: str, genres: Sequence[str]) -> None:
        self.vectors, self.settings, self.letters, self.genres = vectors, settings, letters, tuple(genres)
        self._letter = {letter: number for number, letter in enumerate(letters, _FIRST)}
        self._genre = {genre: number for number, genre in enumerate(genres, 1)}

    @classmethod
    def of(cls, vectors: Embedding, settings: CorefSettings, documents: Sequence[Document]) -> Features:
        """With the letters and genres of some documents."""
        letters = {letter for document in documents for word in document.words for letter in word}
        genres = {document.genre for document in documents} - {""}
        return cls(vectors, settings, "".join(sorted(letters)), sorted(genres))

    @property
    def alphabet(self) -> int:
        """Numbers that letters have, with those for none and for unknown ones."""
        return len(self.letters) + _FIRST

    def row(self, word: str) -> int | None:
        """Row of a word as it is written, else in lower case; None when the embedding lacks both."""
        row = self.vectors.index.get(word)
        return self.vectors.index.get(word.lower()) if row is None else row

    def arrays(self, documents: Sequence[Document]) -> Arrays:
        """Some documents, one after another."""
        number: dict[str, int] = {}
        types = [number.setdefault(word, len(number)) for document in documents for word in document.words]
        sentences = np.array([len(sentence) for document in documents for sentence in document.sentences], np.int64)
        ends = np.repeat(np.cumsum(sentences), sentences)
        return Arrays(
            types=np.array(types, np.int64),
            vectors=self._vectors(list(number)),
            letters=self._letters(list(number)),
            sentences=sentences,
            documents=np.array([len(document.words) for document in documents], np.int64),
            remaining=ends - np.arange(len(ends)),
            speakers=np.concatenate([_speakers(document) for document in documents]),
            genres=np.array([self._genre.get(document.genre, 0) for document in documents], np.int64),
            gold=self._gold(documents),
        )

    def _vectors(self, words: list[str]) -> Singles:
        vectors: Singles = np.zeros((len(words), self.vectors.dim), np.float32)
        rows = {index: row for index, word in enumerate(words) if (row := self.row(word)) is not None}
        vectors[list(rows)] = self.vectors.vectors[list(rows.values())]
        return vectors

    def _letters(self, words: list[str]) -> Integers:
        spelled = [[self._letter.get(letter, _UNKNOWN) for letter in word[:_MAX_LETTERS]] for word in words]
        width = max([self.settings.char_width, *map(len, spelled)])
        return np.array([word + [_PADDING] * (width - len(word)) for word in spelled], np.int64).reshape(-1, width)

    def _gold(self, documents: Sequence[Document]) -> Integers:
        widest = self.settings.max_width
        gold: Integers = np.zeros((sum(len(document.words) for document in documents), widest), np.int64)
        start = number = 0
        for document in documents:
            for cluster in document.clusters:
                number += 1
                for first, last in cluster:
                    if last - first < widest:
                        gold[start + first, last - first] = number
            start += len(document.words)
        return gold


def _speakers(document: Document) -> Integers:
    if not document.speakers:
        return np.zeros(len(document.words), np.int64)
    number: dict[str, int] = {}
    return np.array([number.setdefault(name, len(number) + 1) for name in document.speakers], np.int64)


@dataclass(frozen=True)
class WordCoverage(Record):
    """Coverage of some documents by an embedding, as words are looked up for a model.

    Attributes:
        asked, found: different words, and those with a vector.
        asked_tokens, found_tokens: the same for running words.
        most_frequent_lost: up to twenty words without one, the most frequent first.
    """

    asked: int
    found: int
    asked_tokens: int
    found_tokens: int
    most_frequent_lost: tuple[str, ...]


def coverage(features: Features, documents: Iterable[Document], role: str) -> WordCoverage:
    """Look up every word; the embedding must have one of them at least."""
    counts = Counter(word for document in documents for word in document.words)
    missing = [(-count, word) for word, count in counts.items() if features.row(word) is None]
    if counts and len(missing) == len(counts):
        raise ParameterError(
            f"The embedding {features.vectors.name!r} has none of the {len(counts):,} different words of the {role} "
            "documents; is it for another language?"
        )
    total = sum(counts.values())
    return WordCoverage(
        asked=len(counts),
        found=len(counts) - len(missing),
        asked_tokens=total,
        found_tokens=total + sum(count for count, _ in missing),
        most_frequent_lost=tuple(word for _, word in sorted(missing)[:20]),
    )


_BUCKETS = np.array([2, 3, 4, 5, 8, 16, 32, 64])
BUCKETS = len(_BUCKETS) + 1
"""Distances 1, 2, 3, 4, 5–7, 8–15, 16–31, 32–63, 64 and more."""


def candidate_spans(remaining: Integers, widest: int) -> tuple[Integers, Integers]:
    """First and last words of all spans of at most `widest` words within a sentence, in the order of the text.

    `remaining` is for each word the number of words of its sentence from it on.
    """
    first, wider = np.nonzero(np.arange(widest) < remaining[:, None])
    return first, first + wider


def select_spans(first: Integers, last: Integers, scores: Vectors, most: int) -> Integers:
    """Places of the best spans of a document, at most `most`, none crossing a better one, in the order of the text.

    Spans are taken by falling score, the earlier of equals first; one that crosses a span already taken is passed over
    (Lee et al. 2017). Spans cross when they overlap and neither contains the other.
    """
    if most <= 0 or not len(first):
        return np.zeros(0, np.int64)
    words = int(last.max()) + 1
    furthest, nearest = [-1] * words, [words] * words  # of spans taken: last word by first, first word by last
    order = np.argsort(-scores, kind="stable")
    selected = []
    for candidate, a, b in zip(order.tolist(), first[order].tolist(), last[order].tolist(), strict=True):
        if a != b and (max(furthest[a + 1 : b + 1]) > b or min(nearest[a:b]) < a):
            continue
        selected.append(candidate)
        if len(selected) == most:
            break
        furthest[a], nearest[b] = max(furthest[a], b), min(nearest[b], a)
    return np.sort(np.array(selected, np.int64))


def mention_limit(words: int, spans_per_word: float) -> int:
    """Mentions kept in a document of so many words."""
    return int(spans_per_word * words + 1e-9)


def antecedent_pairs(counts: Sequence[int], most: int) -> tuple[Integers, Integers]:
    """Mentions and how far back their possible antecedents are, 1 for the mention just before and `most` at most.

    `kept` is the number of mentions of each document; pairs stay within a document.
    """
    sizes = np.array(counts, np.int64)
    before = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    mention, back = np.nonzero(np.arange(1, min(most, max([*sizes.tolist(), 1]) - 1) + 1) <= before[:, None])
    return mention, back + 1


def distance_buckets(distances: Integers) -> Integers:
    """Class of each distance, from 0."""
    return np.searchsorted(_BUCKETS, distances, side="right")


def clusters_from_antecedents(back: Integers) -> list[list[int]]:
    """Clusters of mentions from how far back each refers, 0 for not at all; those of one mention are left out."""
    roots = np.arange(len(back)) - back
    while True:
        further = roots[roots]
        if np.array_equal(further, roots):
            break
        roots = further
    order = np.argsort(roots, kind="stable")
    starts = np.flatnonzero(np.diff(roots[order], prepend=-1))
    return [members.tolist() for members in np.split(order, starts[1:]) if len(members) > 1]
