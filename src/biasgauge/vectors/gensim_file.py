"""gensim's own files (`.kv`, `.model`), of gensim 1 to 4: pickles of a few known classes, read as plain values.

`KeyedVectors.save` and `Word2Vec.save` pickle the object; arrays beyond 10 MB lie beside it, as `NAME.vectors.npy` or,
of a whole model, `NAME.wv.vectors.npy`. The classes are not imported: what the pickle would make of them becomes a
record of plain values (see `io`), of which only the words, their counts and the vectors are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge.core import Vectors
from biasgauge.errors import EmbeddingFormatError
from biasgauge.io import PickledRecord, read_npz
from biasgauge.vectors.fasttext_bin import FastTextModel, compose_table
from biasgauge.vectors.formats.vector_format import Request, VectorTable
from biasgauge.vectors.frequencies import Frequencies
from biasgauge.vectors.numpy_arrays import map_matrix
from biasgauge.vectors.pickles import ARRAYS, CONVERT, as_array, decode_words, unpickle
from biasgauge.vectors.rows import check_matrix, select_rows

_CLASSES = {
    "gensim.models.keyedvectors": (
        *("KeyedVectors", "Word2VecKeyedVectors", "EuclideanKeyedVectors", "WordEmbeddingsKeyedVectors"),
        *("BaseKeyedVectors", "FastTextKeyedVectors", "Vocab", "SimpleVocab", "CompatVocab"),
    ),
    "gensim.models.word2vec": (
        *("Word2Vec", "Word2VecVocab", "Word2VecTrainables", "Vocab", "Heapitem", "LineSentence", "PathLineSentences"),
        *("Text8Corpus", "BrownCorpus"),
    ),
    "gensim.models.fasttext": ("FastText", "FastTextKeyedVectors", "FastTextVocab", "FastTextTrainables"),
    "gensim.models.wrappers.fasttext": ("FastTextKeyedVectors",),
    "gensim.models.deprecated.keyedvectors": ("KeyedVectors", "Vocab", "EuclideanKeyedVectors"),
    "gensim.models.deprecated.word2vec": ("Word2Vec", "Vocab"),
    "gensim.models.deprecated.fasttext": ("FastText", "FastTextKeyedVectors"),
    "gensim.models.deprecated.fasttext_wrapper": ("FastTextKeyedVectors",),
    "gensim.utils": ("call_on_class_only",),
    "builtins": ("hash", "int", "object", "set", "frozenset"),
    "__builtin__": ("hash", "int", "long", "object", "set", "frozenset"),
    "copyreg": ("_reconstructor",),
    "copy_reg": ("_reconstructor",),
    "collections": ("defaultdict", "OrderedDict", "Counter"),
    "numpy.random": ("__RandomState_ctor",),
    "numpy.random._pickle": ("__randomstate_ctor", "__bit_generator_ctor", "__generator_ctor"),
    "numpy.random._mt19937": ("MT19937",),
    "numpy.random.mtrand": ("RandomState",),
}
NAMES = ARRAYS | {f"{module}.{name}" for module, names in _CLASSES.items() for name in names}
"""Names that a file of gensim may hold; each becomes a record, none is imported."""
_WORD_LISTS = ("index_to_key", "index2word", "index2entity")
_MATRICES = ("vectors", "syn0")
_MOST_CHARACTERS = 100


def read_gensim(request: Request) -> VectorTable:
    """Read the words, vectors and counts of a `KeyedVectors` or of a whole model."""
    state, stem = _open(request)
    words = _words(request, state)
    matrix = _find_matrix(request, state, stem, *_MATRICES)
    if matrix is not None:
        table = select_rows(request, words, matrix)
    else:
        table = compose_table(request, _ngrams(request, state, stem, words), words)
    counts = _counts(state, words, str(request.path))
    return table if counts is None else replace(table, frequencies=counts.of_table(words, table.words))


def map_gensim_ngrams(request: Request) -> FastTextModel | None:
    """Map the rows of words and n-grams of a FastText model; None where it is another."""
    state, stem = _open(request)
    return _ngrams(request, state, stem, _words(request, state)) if "vectors_ngrams" in _arrays(state) else None


def _open(request: Request) -> tuple[Mapping[str, Any], str]:
    """Attributes of the vectors, and what the names of the files beside them begin with."""
    state = _state(unpickle(request.path, NAMES).value)
    inner = _state(state.get("wv"))
    return (inner, f"{request.path.name}.wv") if inner else (state, request.path.name)


def _ngrams(request: Request, state: Mapping[str, Any], stem: str, words: Sequence[str]) -> FastTextModel:
    """Rows of words and n-grams of a FastText model, whose vectors gensim 4 composes each time it loads it."""
    own_rows = _find_matrix(request, state, stem, "vectors_vocab")
    buckets = _find_matrix(request, state, stem, "vectors_ngrams")
    if own_rows is None or buckets is None:
        raise request.error(f"is a file of gensim without vectors that biasgauge knows; {CONVERT}")
    min_n, max_n, number = (state.get(name) for name in ("min_n", "max_n", "bucket"))
    if not (type(min_n) is type(max_n) is type(number) is int and 0 <= min_n <= _MOST_CHARACTERS >= max_n >= 0):
        raise request.error("is a FastText model of gensim without the lengths of its n-grams")
    if not state.get("compatible_hash"):
        raise request.error("is a FastText model of gensim before 3.8, which hashed n-grams otherwise; train it again")
    has_ngrams = max_n > 0 and number > 0
    if len(own_rows) != len(words) or (has_ngrams and buckets.shape != (number, own_rows.shape[1])):
        raise request.error(
            f"is a FastText model of gensim with {len(words):,} words and {number:,} buckets, but rows of shape "
            f"{own_rows.shape} and {buckets.shape}"
        )
    return FastTextModel(
        words=tuple(word.encode() for word in words),
        counts=np.empty(0, np.int64),
        own_rows=np.ascontiguousarray(own_rows, "<f4").view(np.uint8),
        buckets=np.ascontiguousarray(buckets, "<f4").view(np.uint8),
        min_n=max(min_n, 1),
        max_n=max_n if has_ngrams else 0,
    )


def _state(value: object) -> Mapping[str, Any]:
    """Attributes of a pickled object; none where it is no object."""
    state = value.state if isinstance(value, PickledRecord) else None
    return state if isinstance(state, dict) else {}


def _words(request: Request, state: Mapping[str, Any]) -> list[str]:
    """Words in the order of the rows: as a list or, in early versions, by the index in their `Vocab`."""
    words = next((state[name] for name in _WORD_LISTS if isinstance(state.get(name), (list, tuple))), None)
    if words is None and isinstance(state.get("key_to_index"), dict):
        words = _in_order(state["key_to_index"])
    if words is None and isinstance(state.get("vocab"), dict):
        words = _in_order({word: _state(entry).get("index") for word, entry in state["vocab"].items()})
    if words is None or not all(isinstance(word, (str, bytes)) for word in words):
        raise request.error(f"is a file of gensim without a list of words; {CONVERT}")
    return decode_words(words, request.book)


def _in_order(indices: Mapping[Any, Any]) -> list[Any] | None:
    """Words by their indices, which must be all numbers from 0 on."""
    rows = {index: word for word, index in indices.items() if isinstance(index, int)}
    return [rows[row] for row in range(len(rows))] if rows.keys() == set(range(len(indices))) else None


def _find_matrix(request: Request, state: Mapping[str, Any], stem: str, *names: str) -> Vectors | None:
    """The first of some matrices that is there, in the pickle or in a `.npy` file beside it."""
    for name in names:
        try:
            matrix = as_array(state.get(name))
        except ValueError as problem:
            raise request.error(f"is a file of gensim in which {problem}") from problem
        if matrix is not None:
            check_matrix(request, f"the array {name}", matrix.shape, matrix.dtype)
            return matrix
    for name in names:
        if name in _arrays(state):
            path = request.path.with_name(f"{stem}.{name}.npy")
            packed = path.with_suffix(".npz")  # beside a compressed file
            if packed.exists():
                return _unpack(request, packed)
            if not path.exists():
                raise request.error(f"keeps its vectors in {path.name}, which is not there; copy it beside this file")
            return map_matrix(replace(request, path=path))
    return None


def _unpack(request: Request, path: Path) -> Vectors:
    """Read the array `val` of a compressed save."""
    matrix = read_npz(path, ["val"], error=EmbeddingFormatError).get("val")
    if matrix is None:
        raise request.error(f"keeps its vectors in {path.name}, which holds no array val")
    check_matrix(replace(request, path=path), "the array val", matrix.shape, matrix.dtype)
    return matrix


def _arrays(state: Mapping[str, Any]) -> list[object]:
    """Names of the arrays in the pickle and beside it."""
    stored = state.get("__numpys")
    beside = list(stored) if isinstance(stored, (list, tuple)) else []
    return [*(name for name, value in state.items() if isinstance(value, PickledRecord)), *beside]


def _counts(state: Mapping[str, Any], words: list[str], source: str) -> Frequencies | None:
    """Count of each word in the training text, where the file has them.

    Vectors that gensim took from a word2vec file have the made-up counts n, n − 1, … instead: those say nothing.
    """
    expandos = state.get("expandos")
    try:
        array = as_array(expandos.get("count")) if isinstance(expandos, dict) else None
    except ValueError:
        return None
    if array is not None and array.ndim == 1 and array.dtype.kind in "iu":
        counts = array.astype(np.int64)
    elif isinstance(state.get("vocab"), dict):
        listed = [_state(state["vocab"].get(word)).get("count") for word in words]
        if not all(type(count) is int and 0 <= count < 2**62 for count in listed):
            return None
        counts = np.array(listed, np.int64)
    else:
        return None
    made_up = np.array_equal(counts, np.arange(len(counts), 0, -1))
    usable = not made_up and len(counts) == len(words) and counts.min(initial=0) >= 0
    return Frequencies(counts, source=source) if usable else None
