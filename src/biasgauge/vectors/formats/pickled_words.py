"""Pickles of plain vectors: a dict of word to list of numbers, or a pair (words, rows of numbers).

The opcodes are interpreted by `io`, which runs nothing; anything beyond plain values is refused by the name of its
opcode.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.core import Floats
from biasgauge.vectors.formats.vector_format import Request, VectorFormat, VectorTable
from biasgauge.vectors.pickles import decode_word, is_pickle, unpickle
from biasgauge.vectors.rows import check_matrix, select_rows

_FLOOR = 2**24
_MOST_BYTES_A_BYTE = 8
"""Bytes of a matrix for each byte of its pickle: a number takes two bytes there at least, and eight here."""
_LAYOUTS = "a dict of word to list of numbers, or a pair (words, rows of numbers)"


def read_pickled_words(request: Request) -> VectorTable:
    """Read words and vectors from plain containers."""
    value, size = unpickle(request.path)
    words, rows = _split(request, value)
    names = []
    for word in words:
        if not isinstance(word, (str, bytes)):
            raise request.error(f"is a pickle with a {type(word).__name__} in the place of a word; expected {_LAYOUTS}")
        names.append(decode_word(word, request.book))
    if not names:
        raise request.error("the pickle holds no words")
    if len(names) != len(rows):
        raise request.error(f"there are {len(names):,} words for {len(rows):,} vectors; they must be as many")
    if isinstance(rows[0], (list, tuple)):
        needed = len(rows) * len(rows[0]) * np.dtype(np.float64).itemsize
        if needed > max(_FLOOR, _MOST_BYTES_A_BYTE * size):  # one list may stand in many places
            raise request.error(f"its vectors take {needed:,} bytes, more than a pickle of {size:,} bytes can hold")
    matrix = np.stack([_vector(request, word, row, rows[0]) for word, row in zip(names, rows, strict=True)])
    check_matrix(request, "the pickle", matrix.shape, matrix.dtype)
    return select_rows(request, names, matrix)


def _vector(request: Request, word: str, row: object, first: object) -> Floats:
    """Numbers of one word, as many as the first word has."""
    if not isinstance(row, (list, tuple)) or not {int, float}.issuperset(map(type, row)):
        raise request.error(f"the vector of {word!r} is not a list of numbers; expected {_LAYOUTS}")
    if isinstance(first, (list, tuple)) and len(row) != len(first):
        raise request.error(f"the vector of {word!r} has {len(row):,} numbers, the first has {len(first):,}")
    return np.array(row, np.float64)


def _split(request: Request, value: object) -> tuple[Sequence[object], Sequence[object]]:
    """Words and rows of the value of a pickle."""
    if isinstance(value, dict):
        return list(value), list(value.values())
    if isinstance(value, (list, tuple)) and len(value) == 2:
        words, rows = value
        if isinstance(words, (list, tuple)) and isinstance(rows, (list, tuple)):
            return words, rows
    raise request.error(f"is a pickle of a {type(value).__name__} that holds no vectors; expected {_LAYOUTS}")


def _matches(head: bytes, _request: Request) -> bool:
    return is_pickle(head)


FORMAT = VectorFormat(
    "pickle", "pickle of a dict of word to list of numbers, or of (words, rows)", _matches, read_pickled_words, 35
)
