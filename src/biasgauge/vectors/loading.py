"""Vectors from a file of any format we read, from memory, or those that ship: as one `Embedding` or several."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from biasgauge import registry
from biasgauge.core import ModelsLike, VectorsLike, as_pandas, check_whole, distinct_words
from biasgauge.errors import EmbeddingFormatError, ParameterError
from biasgauge.vectors.coverage import spellings
from biasgauge.vectors.embedding import Embedding
from biasgauge.vectors.formats.vector_format import Request, detect
from biasgauge.vectors.recipes import check_trained, lineage_of, model_label, model_labels
from biasgauge.vectors.rows import check_matrix, is_utf8, select_rows

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.io import Progress


def load(
    vectors: VectorsLike,
    words: Iterable[str] | None = None,
    limit: int | None = None,
    *,
    vocabulary: str | os.PathLike[str] | None = None,
    case_fallback: bool = False,
    name: str | None = None,
    progress: Progress | None = None,
) -> Embedding:
    """Read word vectors. The format is detected from the content, gzipped or not; see `docs/formats.md`.

    Args:
        vectors: a path, or vectors in memory: an `Embedding`, gensim `KeyedVectors`, a dict of word to vector, or a
            pair (words, matrix); or "NAME:SOURCE" with the name of a registered encoder.
        words: read only these, in one pass that never holds the other vectors; words that are not there are simply
            absent (`Embedding.coverage` lists them).
        limit: read only the first so many rows of the file (before `words` picks from them).
        vocabulary: for a bare `.npy` or safetensors matrix: the file with one word per line.
        case_fallback: with `words`, also read their lower-case and capitalized spellings, so that
            `lookup(…, case_fallback=True)` can find them.
        name: of this model in tables; the file's name by default.
        progress: called with (done, total) as the reading goes on.

    Raises:
        EmbeddingFormatError: the file is not what it should be; names the file, and the line or the byte.
        ParameterError: an argument cannot be used.
    """
    wanted = _wanted(words, case_fallback=case_fallback)
    check_whole(1, limit=1 if limit is None else limit)
    if isinstance(vectors, Embedding):
        if wanted is None and limit is None:
            return vectors
        subset = load((vectors.words, vectors.vectors), words, limit, case_fallback=case_fallback, name=name)
        frequencies = vectors.frequencies
        if frequencies is not None:
            frequencies = frequencies.select(vectors.lookup(subset.words).rows)
        return replace(subset, lineage=vectors.lineage, facets=vectors.facets, frequencies=frequencies)
    if not isinstance(vectors, (str, os.PathLike)):
        request = Request(Path("memory"), wanted, limit, progress=progress)
        return _from_memory(vectors, request, name or "memory")
    encoded = encode(vectors)
    if encoded is not None:
        if len(encoded) != 1:
            raise ParameterError(f"One model is needed here, and {os.fspath(vectors)!r} gives {len(encoded)}.")
        model = encoded[0] if name is None else replace(encoded[0], name=name)
        return load(model, words, limit, case_fallback=case_fallback, name=model.name, progress=progress)
    path = Path(vectors)
    check_trained(path)
    request = Request(path, wanted, limit, None if vocabulary is None else Path(vocabulary), progress=progress)
    vector_format = detect(request)
    table = vector_format.read(request)
    return Embedding(
        words=table.words,
        vectors=table.vectors,
        name=name or model_label(path),
        source=str(path),
        format=vector_format.name,
        notices=request.book.notices(),
        dropped=table.dropped,
        lineage=lineage_of(path),
        frequencies=table.frequencies,
    )


def _from_memory(vectors: VectorsLike, request: Request, name: str) -> Embedding:
    """Make an Embedding of vectors in memory; the matrix is not copied unless rows are dropped."""
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
        words=table.words, vectors=table.vectors, name=name, notices=request.book.notices(), dropped=table.dropped
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
        common = np.result_type(*{np.asarray(vector).dtype for vector in vectors.values()})
        return list(vectors), np.array(list(vectors.values()), dtype=np.float32 if common.kind in "iub" else common)
    frame = as_pandas(vectors)
    if frame is not None:
        return _split_frame(frame)
    if isinstance(vectors, tuple) and len(vectors) == 2 and isinstance(vectors[0], Iterable):
        return list(vectors[0]), np.asarray(vectors[1])
    if isinstance(vectors, list) and vectors and all(isinstance(model, Embedding) for model in vectors):
        raise ParameterError(f"One model is needed here. Got a list of {len(vectors):,}; choose one of them.")
    accepted = (
        "a path, an Embedding, gensim KeyedVectors, a dict of word to vector, a data frame, or a pair (words, matrix)"
    )
    raise ParameterError(f"Vectors must be {accepted}. Got {type(vectors).__name__}.")


def _split_frame(frame: pd.DataFrame) -> tuple[Sequence[str], NDArray[Any]]:
    """Words are the one column of text, or the labels of the rows; all other columns are numbers."""
    from pandas.api.types import is_numeric_dtype

    texts = [name for name in frame.columns if not is_numeric_dtype(frame[name])]
    if len(texts) > 1:
        raise ParameterError(
            f"A data frame of vectors has one column of words and numbers besides. Got text in {', '.join(texts)}."
        )
    words = list(frame[texts[0]]) if texts else list(frame.index)
    return words, frame.drop(columns=texts).to_numpy(dtype=np.float32)


def encode(source: object) -> list[Embedding] | None:
    """Encode "NAME:SOURCE" where NAME is a registered encoder; None for anything else."""
    text = os.fspath(source) if isinstance(source, (str, os.PathLike)) else b""
    name, colon, location = text.partition(":") if isinstance(text, str) else ("", "", "")
    if not colon or name not in registry.names("encoder") or os.path.exists(text):  # noqa: PTH110 - never raises
        return None
    encoded = registry.get("encoder", name).encode(location)
    models = encoded if isinstance(encoded, list) else [encoded]
    if not models or not all(isinstance(model, Embedding) for model in models):
        kinds = ", ".join(sorted({type(model).__name__ for model in models})) or "an empty list"
        raise ParameterError(f"The encoder {name!r} must give an Embedding or a list of them. Got {kinds}.")
    return models


def _wanted(words: Iterable[str] | None, *, case_fallback: bool) -> frozenset[str] | None:
    if words is None:
        return None
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise ParameterError(
            f"The 'words' parameter of load must be a collection of words. Got {words!r}; for the words of a lexicon "
            "use biasgauge.lexicon(name).words."
        )
    distinct = distinct_words(words, "words", "load")
    return frozenset(spelling for word in distinct for spelling in spellings(word, case_fallback=case_fallback))


def named_models(vectors: ModelsLike) -> dict[str, VectorsLike]:
    """Give every model of a list, or the one that is given, a name of its own, without loading it.

    A file is called by the recipe beside it, or by its name without folder and ending; where two would be called alike,
    with the folder's name behind it. What an encoder makes is made here, since only then it is known how many models
    that are.

    Raises:
        ParameterError: the list is empty, or two models have one name.
    """
    sources = vectors if isinstance(vectors, list) else [cast("VectorsLike", vectors)]
    if not sources:
        raise ParameterError("The 'vectors' parameter must hold at least one model. Got an empty list.")
    sources = [model for source in sources for model in (encode(source) or cast("list[VectorsLike]", [source]))]
    labels = iter(model_labels([Path(model) for model in sources if isinstance(model, (str, PathLike))]))
    named: dict[str, VectorsLike] = {}
    for model in sources:
        if isinstance(model, (str, PathLike)):
            name = next(labels)
        else:
            name = model.name if isinstance(model, Embedding) else "memory"
        if name in named:
            raise ParameterError(
                f"Every model needs a name of its own, or their results could not be told apart. Got {name!r} twice; "
                "use load(…, name=…)."
            )
        named[name] = model
    return named


def load_models(vectors: ModelsLike, limit: int | None = None, *, progress: Progress | None = None) -> list[Embedding]:
    """Load one model, or every model of a list; each gets a name of its own, as `named_models` says."""
    return [load(model, limit=limit, name=name, progress=progress) for name, model in named_models(vectors).items()]


DEFAULT_PATH = Path(__file__).with_name("data") / "glove-6b-100d-subset.safetensors"
"""Part of Stanford's GloVe 6B, 100 dimensions (public domain); `scripts/make_default_vectors.py` makes it."""

DEFAULT_NAME = "GloVe 6B 100d (subset)"

REPLICATES = 8
"""Number of shipped replicates."""


def load_default(limit: int | None = None) -> Embedding:
    """Load the vectors that ship with biasgauge: GloVe 6B, 100 dimensions, half precision, lower case.

    They hold every word of the shipped English lexicons that GloVe has, and the most frequent words. Neighborhood
    measures see only these words: for research, load the whole file. `limit` keeps the first so many.
    """
    return load(DEFAULT_PATH, limit=limit, name=DEFAULT_NAME)


def replicate_path(seed: int) -> Path:
    """Path of the shipped replicate of a seed."""
    return Path(__file__).parent / "data" / "replicates" / f"sgns-64d-enwiki-seed{seed}.safetensors"


def load_default_replicates() -> list[Embedding]:
    """Load the replicates that ship with biasgauge: skip-gram, 64 dimensions, half precision, lower case, seeds 0 to 7.

    They differ by nothing but their seed. They were trained by `scripts/make_default_replicates.py` on 30 million
    words of English Wikipedia, and hold the words of the shipped English lexicons and the most frequent words: 13,000
    in all.
    """
    models = [load(replicate_path(seed), name=f"SGNS enwiki, seed {seed}") for seed in range(REPLICATES)]
    return [replace(model, lineage="shipped replicates") for model in models]
