"""From all words of a matrix that can be addressed by row to the rows that are wanted and usable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.embeddings.formats.vector_format import Request, Table
from biasgauge.embeddings.rows import NOT_FINITE, unusable_rows

_BLOCK = 2**24


def check_matrix(request: Request, kind: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse an array that is not a matrix of real numbers; `kind` says where it stands."""
    if dtype.hasobject:
        raise request.error(
            f"{kind} holds pickled Python objects, which can run code when they are read; save plain numbers and text: "
            "numpy.savez(path, words=numpy.array(words, dtype=str), vectors=matrix.astype('float32'))"
        )
    if len(shape) != 2 or dtype.kind not in "fiu" or shape[1] == 0:
        raise request.error(f"{kind} should be a matrix of numbers, words × dimensions; found {dtype} of shape {shape}")
    if dtype.kind == "f" and dtype.itemsize not in {2, 4, 8}:
        raise request.error(f"{kind} is {dtype}; biasgauge reads 16-, 32- and 64-bit floating point")


def select_rows(
    request: Request,
    words: Sequence[str],
    matrix: NDArray[Any],
    *,
    convert: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> Table:
    """Keep the wanted words among the first `limit`, the first of duplicates, and finite vectors.

    When that is everything, the matrix is handed on as it is, still memory-mapped if it was. `convert` turns the chosen
    rows into floating point where NumPy cannot read them as they are stored.
    """
    if len(words) != len(matrix):
        raise request.error(f"there are {len(words):,} words for {len(matrix):,} vectors; they must be as many")
    rows: dict[str, int] = {}
    for row, word in enumerate(words[: request.limit]):
        if request.wanted is not None and word not in request.wanted:
            continue
        if not word:
            request.book.add("empty-word")
        elif word in rows:
            request.book.add("duplicate", repr(word))
        else:
            rows[word] = row
    whole = len(rows) == len(matrix)
    chosen = matrix if whole else matrix[np.fromiter(rows.values(), np.intp, len(rows))]
    native = convert(chosen) if convert else _native(request, chosen)
    bad = _note_unusable(request, tuple(rows), native)
    if not bad:
        return Table(tuple(rows), native, MappingProxyType({}))
    kept = [word for word in rows if word not in bad]
    usable = np.array([word not in bad for word in rows])
    return Table(tuple(kept), native[usable], MappingProxyType(dict.fromkeys(bad, NOT_FINITE)))


def _native(request: Request, matrix: NDArray[Any]) -> NDArray[Any]:
    """Floating point in this machine's byte order; copies only where it must."""
    if matrix.dtype.kind in "iu":
        request.book.add("integers", str(matrix.dtype))
        return matrix.astype(np.float32)
    return matrix if matrix.dtype.isnative else matrix.astype(matrix.dtype.newbyteorder("="))


def _note_unusable(request: Request, words: Sequence[str], matrix: NDArray[Any]) -> set[str]:
    """Look at every vector, a block at a time; note zero vectors, return the words whose vector is not finite."""
    bad: set[str] = set()
    step = max(_BLOCK // max(matrix.shape[1] * matrix.dtype.itemsize, 1), 1)
    for start in range(0, len(words), step):
        not_finite, zero = unusable_rows(matrix[start : start + step])
        for row in np.flatnonzero(zero).tolist():
            request.book.add("zero", repr(words[start + row]))
        for row in np.flatnonzero(not_finite).tolist():
            request.book.add("not-finite", repr(words[start + row]))
            bad.add(words[start + row])
        if request.progress is not None:
            request.progress(min(start + step, len(words)), len(words))
    return bad
