"""Vectors of character n-grams, from which words that a model has never seen get a vector.

As in fastText (Bojanowski et al., TACL 2017) a word is `<word>`, and its n-grams are all runs of min_n to max_n
characters of that. fastText hashes n-grams into buckets (`HashedSubwords`); in models that we train each that training
saw has a vector of its own (`Subwords`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np

from biasgauge.core import Array, Singles, Vectors, check_whole, distinct_words
from biasgauge.errors import ParameterError
from biasgauge.vectors.embedding import Embedding
from biasgauge.vectors.fasttext_bin import FastTextModel, map_model
from biasgauge.vectors.formats.safetensors_file import read_subwords
from biasgauge.vectors.formats.vector_format import Notice, Request, brief, detect
from biasgauge.vectors.gensim_file import map_gensim_ngrams
from biasgauge.vectors.hashed_ngrams import compose_unknown
from biasgauge.vectors.rows import is_utf8, unusable_rows

UNKNOWN = "not in the vocabulary, and none of its character n-grams is known"
_ROWS = 65_536
_SHOWN = 5
_LONGEST_SHOWN = 80


def word_ngrams(word: str, min_n: int, max_n: int) -> tuple[str, ...]:
    """Character n-grams of `<word>` for each n from `min_n` to `max_n`, by their place, the shorter first.

    Characters are Unicode's. An n-gram that occurs twice is listed twice, and the ends `<` and `>` alone are none, as
    in fastText.

    Raises:
        ParameterError: not 1 ≤ min_n ≤ max_n.
    """
    check_whole(1, min_n=min_n)
    check_whole(min_n, max_n=max_n)
    text = f"<{word}>"
    size = len(text)
    return tuple(
        text[start:stop]
        for start in range(size)
        for stop in range(start + min_n, min(start + max_n, size) + 1)
        if stop - start > 1 or 0 < start < size - 1
    )


class WordComposer:
    """Gives words that a model has never seen a vector."""

    @property
    def dim(self) -> int:
        """Number of dimensions of each vector."""
        raise NotImplementedError

    def vector(self, word: str) -> Singles:
        """Mean vector of the word's n-grams.

        Raises:
            KeyError: it has none that is known.
        """
        raise NotImplementedError

    def extend(self, embedding: Embedding, words: Iterable[str]) -> Embedding:
        """Add words to a model, each with the vector that its n-grams compose; words that are there stay as they are.

        The result's notice `composed` lists every word that was added. A word none of whose n-grams is known is not
        added; the reason is in `dropped`. Half precision becomes single.

        Raises:
            ParameterError: the model has another number of dimensions, or `words` is no collection of words.
        """
        if embedding.dim != self.dim:
            raise ParameterError(
                f"Vectors of n-grams and of words must have one number of dimensions. Got {self.dim} and "
                f"{embedding.dim} in {embedding.name!r}."
            )
        composed: dict[str, Singles] = {}
        lost: dict[str, str] = {}
        for word in distinct_words(words, "words", "extend"):
            if word in embedding:
                continue
            try:
                composed[word] = self.vector(word)
            except KeyError:
                lost[word] = UNKNOWN
        dropped = {word: why for word, why in embedding.dropped.items() if word not in composed} | lost
        vectors: Vectors = embedding.vectors
        if composed:
            vectors = np.concatenate([vectors, np.stack(list(composed.values()))])
        return replace(
            embedding,
            words=(*embedding.words, *composed),
            vectors=vectors,
            notices=(*embedding.notices, *_notices(composed)),
            dropped=MappingProxyType(dropped),
            frequencies=embedding.frequencies if not composed else None,
        )


@dataclass(frozen=True, eq=False)
class Subwords(WordComposer):
    """Character n-grams and a vector for each.

    Attributes:
        ngrams: each once, of min_n to max_n characters.
        vectors: n-grams × dimensions, 32-bit, finite, read-only, possibly memory-mapped.
        min_n: fewest characters of an n-gram.
        max_n: most characters of an n-gram.
    """

    ngrams: tuple[str, ...]
    vectors: Singles
    min_n: int
    max_n: int

    def __post_init__(self) -> None:
        check_whole(1, min_n=self.min_n)
        check_whole(self.min_n, max_n=self.max_n)
        view = np.asarray(self.vectors, np.float32).view()
        if view.ndim != 2 or len(view) != len(self.ngrams) or not view.size:
            raise ParameterError(
                f"Subwords need one row of vectors for each n-gram, and at least one. Got {len(self.ngrams):,} n-grams "
                f"and vectors of shape {view.shape}."
            )
        for ngram in self.ngrams:
            if not isinstance(ngram, str) or not self.min_n <= len(ngram) <= self.max_n or not is_utf8(ngram):
                raise ParameterError(
                    f"Every n-gram must be valid text of {self.min_n} to {self.max_n} characters. Got "
                    f"{brief(repr(ngram), _LONGEST_SHOWN)}."
                )
        if len(self.index) != len(self.ngrams):
            raise ParameterError("The n-grams of Subwords must differ from each other.")
        for start in range(0, len(view), _ROWS):
            not_finite, _ = unusable_rows(view[start : start + _ROWS])
            if not_finite.any():
                bad = self.ngrams[start + int(not_finite.argmax())]
                raise ParameterError(f"The vector of the n-gram {bad!r} has NaN or infinity.")
        view.flags.writeable = False
        object.__setattr__(self, "vectors", view)

    @property
    def dim(self) -> int:
        """Number of dimensions of each vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Row of each n-gram."""
        return MappingProxyType({ngram: row for row, ngram in enumerate(self.ngrams)})

    def __len__(self) -> int:
        return len(self.ngrams)

    def vector(self, word: str) -> Singles:
        """Mean vector of the word's known n-grams; one that the word has twice counts twice.

        For a word of the vocabulary this is not the vector that the model has for it.

        Raises:
            KeyError: none of its n-grams is known.
        """
        rows = [self.index[ngram] for ngram in word_ngrams(word, self.min_n, self.max_n) if ngram in self.index]
        if not rows:
            raise KeyError(f"{word!r} has no vector: none of its character n-grams is known")
        mean: Singles = self.vectors[rows].mean(axis=0, dtype=np.float64).astype(np.float32)
        return mean

    def __repr__(self) -> str:
        return f"<Subwords: {len(self):,} n-grams of {self.min_n} to {self.max_n} characters × {self.dim}>"


@dataclass(frozen=True, eq=False)
class HashedSubwords(WordComposer):
    """Vectors of n-grams in buckets, as fastText and gensim's FastText keep them.

    Attributes:
        buckets: a row for each bucket: the bytes of 32-bit numbers, memory-mapped.
        min_n: fewest characters of an n-gram.
        max_n: most characters of an n-gram.
    """

    buckets: Array
    min_n: int
    max_n: int

    @property
    def dim(self) -> int:
        """Number of dimensions of each vector."""
        return int(self.buckets.shape[1]) // 4

    def __len__(self) -> int:
        return len(self.buckets)

    def vector(self, word: str) -> Singles:
        """Mean vector of the word's n-grams, each that of its bucket; one that the word has twice counts twice.

        Raises:
            KeyError: the word has no n-gram of these lengths, or its vector has NaN or infinity.
        """
        mean = compose_unknown(self.buckets, word, self.min_n, self.max_n)
        if mean is None or not np.isfinite(mean).all():
            raise KeyError(f"{word!r} has no vector: it has no character n-grams of these lengths")
        return mean

    def __repr__(self) -> str:
        return f"<HashedSubwords: {len(self):,} buckets of {self.min_n} to {self.max_n} characters × {self.dim}>"


def load_subwords(path: str | os.PathLike[str]) -> Subwords | HashedSubwords:
    """Read the n-grams of a model; the vectors stay on disk until they are used.

    They are those that `save(…, subwords=…)` put beside a model in safetensors, or those in a fastText `.bin` or in a
    FastText model of gensim.

    Raises:
        EmbeddingFormatError: the file is not what it should be, or holds no n-grams.
    """
    request = Request(Path(path))
    vector_format = detect(request)
    if vector_format.name in _HASHED:
        model = _HASHED[vector_format.name](request)
        if model is None or model.max_n == 0:
            raise request.error("holds no character n-grams: the model was trained without (maxn is 0)")
        return HashedSubwords(model.buckets, model.min_n, model.max_n)
    if vector_format.name != "safetensors":
        raise request.error(
            f"is {vector_format.name}; character n-grams are kept in safetensors files, fastText's .bin and gensim's "
            "FastText models only"
        )
    ngrams, vectors, (min_n, max_n) = read_subwords(request)
    try:
        return Subwords(ngrams, vectors, min_n, max_n)
    except ParameterError as problem:
        raise request.error(f"its n-grams cannot be used: {problem}") from problem


_HASHED: Mapping[str, Callable[[Request], FastTextModel | None]] = MappingProxyType(
    {"fasttext": map_model, "gensim": map_gensim_ngrams}
)
"""Formats with hashed n-grams, and their readers."""


def _notices(composed: Mapping[str, Singles]) -> Iterable[Notice]:
    zero = [word for word, vector in composed.items() if not vector.any()]
    added = "words that the model lacks got the mean vector of their character n-grams"
    cancel = "the n-grams of composed words cancel out"
    for code, message, words in (("composed", added, list(composed)), ("zero", cancel, zero)):
        if words:
            shown = ", ".join(brief(repr(word), _LONGEST_SHOWN) for word in words[:_SHOWN])
            more = ", …" if len(words) > _SHOWN else ""
            yield Notice(code, f"{message} ({len(words):,}: {shown}{more})", len(words), tuple(words))
