"""Rows of vector files: lines of text, words as bytes, and selection of wanted and usable rows."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from biasgauge.core import Flags, Vectors
from biasgauge.errors import EmbeddingFormatError
from biasgauge.io import ByteSource, physical_memory, readable_size
from biasgauge.vectors.formats.vector_format import NoticeBook, Request, VectorTable

_FIRST_ALLOCATION = 2**24
_CHECKED = 2**24  # bytes of a matrix that are looked at together
_SHOWN_BYTE = re.compile(rb"\\x([89a-f][0-9a-f])")
NOT_FINITE = "its vector has NaN or infinity"


def decode(raw: bytes, book: NoticeBook) -> str:
    r"""Turn a word's bytes into text; bytes that are not UTF-8 become `\xNN`, so that words stay apart."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        word = raw.decode("utf-8", "backslashreplace")
        book.add("invalid-utf8", word)
        return word


def decode_each(raw: Sequence[bytes], book: NoticeBook) -> list[str]:
    """Decode words without a NUL byte, all at once where each is UTF-8."""
    try:
        return b"\0".join(raw).decode("utf-8").split("\0") if raw else []
    except UnicodeDecodeError:
        return [decode(word, book) for word in raw]


def encodings(word: str) -> tuple[bytes, ...]:
    r"""Return the bytes that `decode` turns into this word: its UTF-8, and those that it shows as `\xNN`."""
    try:
        plain = word.encode("utf-8")
    except UnicodeEncodeError:
        return ()
    raw = _SHOWN_BYTE.sub(lambda shown: bytes.fromhex(shown[1].decode()), plain)
    return (plain, raw) if raw != plain and raw.decode("utf-8", "backslashreplace") == word else (plain,)


def is_utf8(text: str) -> bool:
    """Tell whether a text can be written: half a surrogate pair cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def unusable_rows(block: Vectors) -> tuple[Flags, Flags]:
    """Flag rows with NaN or infinity, and rows that are all zero: by their squared length, then the suspects again."""
    wide = block if block.dtype.itemsize >= 4 else block.astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        energy = np.einsum("ij,ij->i", wide, wide)
    not_finite = ~np.isfinite(energy)
    zero = energy == 0
    if not_finite.any():
        not_finite[not_finite] = ~np.isfinite(block[not_finite]).all(axis=1)
    if zero.any():
        zero[zero] = ~block[zero].any(axis=1)
    return not_finite, zero


def refuse_impossible_size(request: Request, size: int) -> None:
    """Refuse vectors that take more bytes than this machine has memory."""
    if size > physical_memory():
        raise request.error(
            f"needs {readable_size(size)} of memory or more, and this machine has "
            f"{readable_size(physical_memory())}; ask for some words (words=…) or the first rows (limit=…)"
        )


class RowTable:
    """Words and vectors in the order they are added.

    A word that comes again, an empty word and a vector that is not finite are dropped and noted; a zero vector is
    kept and noted. Memory grows with the rows added; `expected` rows are allocated at once, so it must be bounded by
    the size of the file, never by the promise of a header.
    """

    def __init__(self, request: Request, dim: int, dtype: DTypeLike, *, expected: int | None = None) -> None:
        self._request = request
        self._book = request.book
        self._index: dict[str, int] = {}
        self._dropped: dict[str, str] = {}
        self._row_bytes = max(dim * np.dtype(dtype).itemsize, 1)
        rows = max(_FIRST_ALLOCATION // self._row_bytes, 1) if expected is None else expected
        refuse_impossible_size(request, rows * self._row_bytes)
        self._matrix = np.empty((rows, dim), dtype)

    def is_complete(self) -> bool:
        """True where all wanted words are here; never without a list of wanted words."""
        return self._request.wanted is not None and len(self._index) == len(self._request.wanted)

    def add(self, words: Sequence[str], block: Vectors) -> None:
        """Add one row of `block` for each word."""
        not_finite, zero = unusable_rows(block)
        start = len(self._index)
        stop = start + len(words)
        if not (not_finite.any() or zero.any()):
            deque(map(self._index.setdefault, words, range(start, stop)), maxlen=0)
            if len(self._index) == stop and "" not in self._index:  # every word is new
                self._append(start, block)
                return
            for word in set(words):
                if self._index[word] >= start:
                    del self._index[word]
        usable = []
        for row, word in enumerate(words):
            if not word:
                self._book.add("empty-word")
            elif word in self._index:
                self._book.add("duplicate", repr(word))
            elif not_finite[row]:
                self._book.add("not-finite", repr(word))
                self._dropped.setdefault(word, NOT_FINITE)
            else:
                if zero[row]:
                    self._book.add("zero", repr(word))
                self._index[word] = len(self._index)
                usable.append(row)
        self._append(start, block[usable])

    def _append(self, start: int, block: Vectors) -> None:
        stop = start + len(block)
        if stop > len(self._matrix):
            refuse_impossible_size(self._request, stop * self._row_bytes)
            rows = max(stop, len(self._matrix) * 3 // 2)
            # in place: the system moves pages, not bytes
            self._matrix.resize((rows, self._matrix.shape[1]), refcheck=False)
        self._matrix[start:stop] = block

    def finish(self) -> VectorTable:
        """Return the table, and the words dropped with the reason."""
        if len(self._index) < len(self._matrix):
            self._matrix.resize((len(self._index), self._matrix.shape[1]), refcheck=False)
        dropped = {word: reason for word, reason in self._dropped.items() if word not in self._index}
        return VectorTable(tuple(self._index), self._matrix, MappingProxyType(dropped))


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
    matrix: Vectors,
    *,
    convert: Callable[[Vectors], Vectors] | None = None,
) -> VectorTable:
    """Keep the wanted words among the first `limit`, the first of duplicates, and finite vectors.

    When that is everything, the matrix is handed on as it is, still memory-mapped if it was. `convert` turns the chosen
    rows into floating point where NumPy cannot read them as they are stored.
    """
    if len(words) != len(matrix):
        raise request.error(f"there are {len(words):,} words for {len(matrix):,} vectors; they must be as many")
    some = words[: request.limit]
    rows = dict(zip(some, range(len(some)), strict=True)) if request.wanted is None else {}
    if len(rows) < len(some) or "" in rows:  # not every word is wanted and new
        rows = _first_rows(request, some)
    selected: Vectors = matrix if len(rows) == len(matrix) else matrix[np.fromiter(rows.values(), np.intp, len(rows))]
    if convert is not None:
        selected = convert(selected)
    elif selected.dtype.kind in "iu":
        request.book.add("integers", str(selected.dtype))
        selected = selected.astype(np.float32)
    elif not selected.dtype.isnative:
        selected = selected.astype(selected.dtype.newbyteorder("="))
    return _drop_not_finite(request, tuple(rows), selected)


def _first_rows(request: Request, words: Sequence[str]) -> dict[str, int]:
    """Row of each wanted word where it first occurs."""
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        if request.wanted is not None and word not in request.wanted:
            continue
        if not word:
            request.book.add("empty-word")
        elif word in rows:
            request.book.add("duplicate", repr(word))
        else:
            rows[word] = row
    return rows


def _drop_not_finite(request: Request, names: tuple[str, ...], selected: Vectors) -> VectorTable:
    """Look at every vector, a block at a time; note zero vectors, and drop those that are not finite."""
    dropped = {}
    usable = np.ones(len(names), bool)
    step = max(_CHECKED // max(selected.shape[1] * selected.dtype.itemsize, 1), 1)
    for start in range(0, len(names), step):
        not_finite, zero = unusable_rows(selected[start : start + step])
        usable[start : start + step] = ~not_finite
        for row in (start + np.flatnonzero(zero)).tolist():
            request.book.add("zero", repr(names[row]))
        for row in (start + np.flatnonzero(not_finite)).tolist():
            request.book.add("not-finite", repr(names[row]))
            dropped[names[row]] = NOT_FINITE
        if request.progress is not None:
            request.progress(min(start + step, len(names)), len(names))
    if dropped:
        names, selected = tuple(compress(names, usable)), selected[usable]
    return VectorTable(names, selected, MappingProxyType(dropped))


LONGEST_LINE = 2**22
"""Bytes: about 300,000 numbers, far beyond any embedding."""


def line_blocks(source: ByteSource, block_size: int = 2**20) -> Iterator[tuple[list[bytes], bool]]:
    """Yield the lines of each block that was read, without their line feeds, and whether each had one.

    Only the last line of a file can lack its line feed; it then comes alone.
    """
    remainder = b""
    number = 1
    while block := source.read(block_size):
        lines = block.split(b"\n")
        lines[0] = remainder + lines[0]
        if any(len(line) > LONGEST_LINE for line in (lines[0], lines[-1])):
            raise EmbeddingFormatError(
                f"the line is longer than {LONGEST_LINE:,} bytes, so this is no text file of vectors",
                path=source.path,
                line=number if len(lines[0]) > LONGEST_LINE else number + len(lines) - 1,
            )
        remainder = lines.pop()
        number += len(lines)
        if lines:
            yield lines, True
    if remainder:
        yield [remainder], False
