"""Documents as arrays: what the network sees of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge.applications.coref.document import Document
from biasgauge.applications.coref.settings import CorefSettings
from biasgauge.core import Integers, Record, Singles
from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding

_PADDING, _UNKNOWN, _FIRST = 0, 1, 2
_LONGEST = 40
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
        room: for each word, how many words of its sentence begin with it: 1 for the last.
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
    room: Integers
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
            room=ends - np.arange(len(ends)),
            speakers=np.concatenate([_speakers(document) for document in documents]),
            genres=np.array([self._genre.get(document.genre, 0) for document in documents], np.int64),
            gold=self._gold(documents),
        )

    def _vectors(self, words: list[str]) -> Singles:
        vectors: Singles = np.zeros((len(words), self.vectors.dim), np.float32)
        rows = {place: row for place, word in enumerate(words) if (row := self.row(word)) is not None}
        vectors[list(rows)] = self.vectors.vectors[list(rows.values())]
        return vectors

    def _letters(self, words: list[str]) -> Integers:
        spelled = [[self._letter.get(letter, _UNKNOWN) for letter in word[:_LONGEST]] for word in words]
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
    """How much of some documents an embedding knows, as words are looked up for a model.

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


def coverage(features: Features, documents: Iterable[Document], where: str) -> WordCoverage:
    """Look up every word; the embedding must have one of them at least."""
    counts = Counter(word for document in documents for word in document.words)
    lost = [(-count, word) for word, count in counts.items() if features.row(word) is None]
    if counts and len(lost) == len(counts):
        raise ParameterError(
            f"The embedding {features.vectors.name!r} has none of the {len(counts):,} different words of the {where} "
            "documents; is it for another language?"
        )
    total = sum(counts.values())
    return WordCoverage(
        asked=len(counts),
        found=len(counts) - len(lost),
        asked_tokens=total,
        found_tokens=total + sum(count for count, _ in lost),
        most_frequent_lost=tuple(word for _, word in sorted(lost)[:20]),
    )
