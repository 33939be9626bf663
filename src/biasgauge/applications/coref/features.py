"""Settings of a coreference model; documents as arrays, candidate spans, pairs of mentions, and clusters from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from biasgauge.applications.coref.document import Document
from biasgauge.core import Integers, JsonObject, Singles, Vectors, check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding

_PADDING, _UNKNOWN, _FIRST = 0, 1, 2
_MAX_LETTERS = 40
"""Letters of a word that are looked at; what is longer is no word."""


@dataclass(frozen=True)
class CorefSettings:
    """Lee et al. 2017 with the sizes that Goldfarb-Tarrant et al. 2021 used.

    Attributes:
        char_size, char_filters, char_width: letters as vectors, and what is looked for in runs of letters.
        lstm_size: hidden units of the BiLSTM in each direction.
        hidden_size, hidden_layers: of the networks that score mentions and pairs of them.
        feature_size: of the vectors for widths, distances, speakers and genres.
        dropout: of hidden layers and features; lexical_dropout: of words.
        max_width: longest mention, in words.
        spans_per_word: mentions kept for each word of a document.
        max_antecedents: how many mentions back a mention may refer.
        speakers, genres: whether pairs know if one person said both, and the genre; for data that have them.
        max_sentences: longer documents are cut to so many sentences in training, another stretch each time.
        learning_rate, clip: of Adam; norm to which gradients are cut.
        epochs, patience: at most so many; end after so many without a better F1 on the dev documents.
        plateau, plateau_patience: what the learning rate is multiplied by, after more than so many such epochs.
    """

    char_size: int = 16
    char_filters: int = 100
    char_width: int = 5
    lstm_size: int = 200
    hidden_size: int = 150
    hidden_layers: int = 2
    feature_size: int = 20
    dropout: float = 0.2
    lexical_dropout: float = 0.5
    max_width: int = 10
    spans_per_word: float = 0.29
    max_antecedents: int = 100
    speakers: bool = False
    genres: bool = False
    max_sentences: int = 50
    learning_rate: float = 1e-3
    clip: float = 5.0
    epochs: int = 150
    patience: int = 10
    plateau: float = 0.5
    plateau_patience: int = 2

    def __post_init__(self) -> None:
        for field in fields(self):
            name, value = field.name, getattr(self, field.name)
            if name in {"dropout", "lexical_dropout"}:
                if not 0 <= value < 1:
                    raise ParameterError(f"The {name!r} parameter must be at least 0 and below 1. Got {value!r}.")
            elif field.type == "int":
                check_whole(0 if name == "plateau_patience" else 1, **{name: value})
            elif field.type == "float":
                check_number(0, ends=False, **{name: value})


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
        vectors: Singles = np.zeros((len(number), self.vectors.dim), np.float32)
        rows = {index: row for word, index in number.items() if (row := self.row(word)) is not None}
        vectors[list(rows)] = self.vectors.vectors[list(rows.values())]
        spelled = [[self._letter.get(letter, _UNKNOWN) for letter in word[:_MAX_LETTERS]] for word in number]
        width = max([self.settings.char_width, *map(len, spelled)])
        letters = [word + [_PADDING] * (width - len(word)) for word in spelled]
        sentences = np.array([len(sentence) for document in documents for sentence in document.sentences], np.int64)
        ends = np.repeat(np.cumsum(sentences), sentences)
        return Arrays(
            types=np.array(types, np.int64),
            vectors=vectors,
            letters=np.array(letters, np.int64).reshape(-1, width),
            sentences=sentences,
            documents=np.array([len(document.words) for document in documents], np.int64),
            remaining=ends - np.arange(len(ends)),
            speakers=np.concatenate([_speakers(document) for document in documents]),
            genres=np.array([self._genre.get(document.genre, 0) for document in documents], np.int64),
            gold=self._gold(documents),
        )

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


def word_coverage(features: Features, documents: Iterable[Document], role: str) -> JsonObject:
    """Coverage of some documents by an embedding, which must have one of their words at least.

    Different words asked for and found, the same of running words, and up to twenty words without a vector, the most
    frequent first.
    """
    counts = Counter(word for document in documents for word in document.words)
    missing = [(-count, word) for word, count in counts.items() if features.row(word) is None]
    if counts and len(missing) == len(counts):
        raise ParameterError(
            f"The embedding {features.vectors.name!r} has none of the {len(counts):,} different words of the {role} "
            "documents; is it for another language?"
        )
    total = sum(counts.values())
    return {
        "asked": len(counts),
        "found": len(counts) - len(missing),
        "asked_tokens": total,
        "found_tokens": total + sum(count for count, _ in missing),
        "most_frequent_lost": [word for _, word in sorted(missing)[:20]],
    }


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

    `counts` is the number of mentions of each document; pairs stay within a document.
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
