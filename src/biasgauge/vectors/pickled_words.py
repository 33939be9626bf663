"""Pickles of plain vectors: a dict of word to numbers, or a pair (words, rows); numbers in lists or NumPy arrays.

The opcodes are interpreted by `io`, which runs nothing; anything beyond plain values and arrays of numbers is
refused by the name of its opcode.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.core import Array
from biasgauge.io import PickledRecord
from biasgauge.vectors.formats.vector_format import Request, VectorTable
from biasgauge.vectors.pickles import ARRAYS, as_array, decode_word, unpickle
from biasgauge.vectors.rows import check_matrix, select_rows

_EARLY_PYTORCH = 0x1950A86A20F9469CFC6C
"""Number with which `torch.save` began its files before they were archives."""
_FLOOR = 2**24
_MOST_BYTES_A_BYTE = 8
"""Bytes of a matrix for each byte of its pickle: a number takes two bytes there at least, and eight here."""
_LAYOUTS = "a dict of word to list or array of numbers, or a pair (words, rows of numbers)"


def read_pickled_words(request: Request) -> VectorTable:
    """Read words and vectors from plain containers."""
    value, size = unpickle(request.path, ARRAYS)
    words, rows = _split(request, value)
    names = []
    for word in words:
        if not isinstance(word, (str, bytes)):
            raise request.error(f"is a pickle with a {type(word).__name__} in the place of a word; expected {_LAYOUTS}")
        names.append(decode_word(word, request.book))
    if not names:
        raise request.error("the pickle holds no words")
    if isinstance(rows, np.ndarray):
        check_matrix(request, "the array", rows.shape, rows.dtype)
        return select_rows(request, names, rows)
    if len(names) != len(rows):
        raise request.error(f"there are {len(names):,} words for {len(rows):,} vectors; they must be as many")
    dim = len(_vector(request, names[0], rows[0]))
    needed = len(rows) * dim * np.dtype(np.float64).itemsize
    if needed > max(_FLOOR, _MOST_BYTES_A_BYTE * size):  # one list may stand in many places
        raise request.error(f"its vectors take {needed:,} bytes, more than a pickle of {size:,} bytes can hold")
    vectors = []
    for name, row in zip(names, rows, strict=True):
        vector = _vector(request, name, row)
        if len(vector) != dim:
            raise request.error(f"the vector of {name!r} has {len(vector):,} numbers, the first has {dim:,}")
        vectors.append(vector)
    matrix = np.stack(vectors)
    check_matrix(request, "the pickle", matrix.shape, matrix.dtype)
    return select_rows(request, names, matrix)


def _vector(request: Request, word: str, row: object) -> Array:
    """Numbers of one word."""
    if isinstance(row, (list, tuple)) and {int, float}.issuperset(map(type, row)):
        return np.array(row, np.float64)
    array = _array(request, row)
    if array is None or array.ndim != 1:
        raise request.error(f"the vector of {word!r} is not a list of numbers; expected {_LAYOUTS}")
    return array


def _split(request: Request, value: object) -> tuple[Sequence[object], Sequence[object] | Array]:
    """Words and rows of the value of a pickle."""
    if isinstance(value, dict):
        return list(value), list(value.values())
    if isinstance(value, (list, tuple)) and len(value) == 2:
        words, rows = value
        matrix = _array(request, rows)
        if isinstance(words, (list, tuple)) and (matrix is not None or isinstance(rows, (list, tuple))):
            return words, rows if matrix is None else matrix
    if value == _EARLY_PYTORCH:
        raise request.error("is a file of PyTorch before 1.6; load it there once, and save it again with torch.save")
    kind = value.name if isinstance(value, PickledRecord) else type(value).__name__
    raise request.error(f"is a pickle of a {kind} that holds no vectors; expected {_LAYOUTS}")


def _array(request: Request, value: object) -> Array | None:
    try:
        return as_array(value)
    except ValueError as problem:
        raise request.error(f"is a pickle in which {problem}") from problem
