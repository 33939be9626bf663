"""Vectors that are already in memory: gensim's KeyedVectors, a dict, or words with a matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.embeddings.embedding import Embedding
from biasgauge.embeddings.formats.select import check_matrix, select_rows
from biasgauge.embeddings.formats.vector_format import Request
from biasgauge.embeddings.rows import is_utf8
from biasgauge.errors import EmbeddingFormatError, ParameterError
from biasgauge.inputs import VectorsLike

ACCEPTED = "a path, an Embedding, gensim KeyedVectors, a dict of word to vector, or a pair (words, matrix)"
_PAIR = 2


def from_memory(vectors: VectorsLike, request: Request, *, name: str) -> Embedding:
    """Make an Embedding of what the user holds; the matrix is not copied unless rows must go."""
    try:
        words, matrix = _words_and_matrix(vectors)
    except (TypeError, ValueError) as problem:
        if isinstance(problem, ParameterError):
            raise
        raise ParameterError(f"The vectors cannot be used: they do not form a matrix ({problem}).") from problem
    for position, word in enumerate(words):
        if not isinstance(word, str) or not is_utf8(word):
            raise ParameterError(f"Every word must be valid text. Got {word!r} at position {position}.")
    try:
        check_matrix(request, "the matrix", matrix.shape, matrix.dtype)
        table = select_rows(request, words, matrix)
    except EmbeddingFormatError as problem:
        raise ParameterError(f"The vectors cannot be used: {problem.problem}.") from problem
    return Embedding(
        words=table.words,
        vectors=table.vectors,
        name=name,
        notices=request.book.notices(),
        dropped=table.dropped,
    )


def _words_and_matrix(vectors: object) -> tuple[Sequence[str], NDArray[Any]]:
    vectors = getattr(vectors, "wv", vectors)  # a whole gensim model carries its KeyedVectors there
    if hasattr(vectors, "index_to_key") and hasattr(vectors, "vectors"):
        return list(vectors.index_to_key), np.asarray(vectors.vectors)
    if isinstance(vectors, Mapping):
        if not vectors:
            raise ParameterError("The dict of word to vector must not be empty.")
        lengths = {word: np.shape(vector) for word, vector in vectors.items()}
        first = next(iter(lengths.values()))
        for word, length in lengths.items():
            if length != first:
                raise ParameterError(
                    f"All vectors must have one length. Got shape {length} for {word!r}, {first} before."
                )
        return list(vectors), np.array(list(vectors.values()), dtype=_common_dtype(vectors.values()))
    if isinstance(vectors, tuple) and len(vectors) == _PAIR and isinstance(vectors[0], Iterable):
        return list(vectors[0]), np.asarray(vectors[1])
    raise ParameterError(f"Vectors must be {ACCEPTED}. Got {type(vectors).__name__}.")


def _common_dtype(vectors: Iterable[Any]) -> np.dtype[Any]:
    """Keep half and single precision; anything else that is a number becomes at least single precision."""
    found = np.result_type(*{np.asarray(vector).dtype for vector in vectors})
    return found if found.kind not in "iub" else np.dtype(np.float32)
