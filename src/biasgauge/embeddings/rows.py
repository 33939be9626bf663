"""Collects the rows that a reader finds into one table, keeping only what can be used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from biasgauge._io.memory import physical_memory, readable_size
from biasgauge.errors import EmbeddingFormatError

if TYPE_CHECKING:
    from biasgauge.embeddings.notices import NoticeBook

_FIRST_ALLOCATION = 2**24
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


def encodings(word: str) -> tuple[bytes, ...]:
    r"""Return the bytes that `decode` turns into this word: its UTF-8, and those that it shows as `\xNN`."""
    try:
        plain = word.encode("utf-8")
    except UnicodeEncodeError:
        return ()
    raw = _SHOWN_BYTE.sub(lambda shown: bytes.fromhex(shown[1].decode()), plain)
    return (plain, raw) if raw != plain and raw.decode("utf-8", "backslashreplace") == word else (plain,)


def is_utf8(text: str) -> bool:
    """Whether a text can be written: half a surrogate pair cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def unusable_rows(block: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows hold NaN or infinity, and which are all zero: one pass, then a closer look at the suspects."""
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


class RowTable:
    """Words and vectors in the order they are added.

    A word that comes again, an empty word and a vector that is not finite are dropped and noted; a zero vector is
    kept and noted. Memory grows with the rows added; `expected` rows are set aside at once, so it must be a number that
    the size of the file vouches for, never one that a header merely promises.
    """

    def __init__(self, dim: int, dtype: DTypeLike, book: NoticeBook, *, path: str, expected: int | None = None) -> None:
        self._book = book
        self._path = path
        self._index: dict[str, int] = {}
        self._dropped: dict[str, str] = {}
        self._row_bytes = max(dim * np.dtype(dtype).itemsize, 1)
        rows = max(_FIRST_ALLOCATION // self._row_bytes, 1) if expected is None else expected
        self._refuse_impossible(rows)
        self._matrix = np.empty((rows, dim), dtype)

    def __len__(self) -> int:
        return len(self._index)

    def holds(self, wanted: frozenset[str] | None) -> bool:
        """Whether all words that are wanted are here; a table of which all is wanted never is complete."""
        return wanted is not None and len(self._index) == len(wanted)

    def add(self, words: Sequence[str], block: NDArray[Any]) -> None:
        """Add one row of `block` for each word."""
        not_finite, zero = unusable_rows(block)
        start = len(self._index)
        fresh = dict(zip(words, range(start, start + len(words)), strict=True))
        if len(fresh) == len(words) and not (
            not_finite.any() or zero.any() or "" in fresh or not self._index.keys().isdisjoint(fresh)
        ):
            self._index.update(fresh)
            self._append(start, block)
            return
        keep = [row for row, word in enumerate(words) if self._accept(word, bad=not_finite[row], zero=zero[row])]
        self._append(start, block[keep])

    def _accept(self, word: str, *, bad: np.bool_, zero: np.bool_) -> bool:
        if not word:
            self._book.add("empty-word")
        elif word in self._index:
            self._book.add("duplicate", repr(word))
        elif bad:
            self._book.add("not-finite", repr(word))
            self._dropped.setdefault(word, NOT_FINITE)
        else:
            if zero:
                self._book.add("zero", repr(word))
            self._index[word] = len(self._index)
            return True
        return False

    def _append(self, start: int, block: NDArray[Any]) -> None:
        stop = start + len(block)
        if stop > len(self._matrix):
            self._grow(stop)
        self._matrix[start:stop] = block

    def _grow(self, needed: int) -> None:
        """Enlarge in place: the system moves pages, not bytes."""
        self._refuse_impossible(needed)
        rows = max(needed, len(self._matrix) * 3 // 2)
        self._matrix.resize((rows, self._matrix.shape[1]), refcheck=False)

    def _refuse_impossible(self, rows: int) -> None:
        size = rows * self._row_bytes
        if size > physical_memory():
            raise EmbeddingFormatError(
                f"needs {readable_size(size)} of memory or more, and this machine has "
                f"{readable_size(physical_memory())}; ask for some words (words=…) or the first rows (limit=…)",
                path=self._path,
            )

    def finish(self) -> tuple[tuple[str, ...], NDArray[Any], Mapping[str, str]]:
        """Return words, vectors and the words dropped with the reason."""
        if len(self._index) < len(self._matrix):
            self._matrix.resize((len(self._index), self._matrix.shape[1]), refcheck=False)
        dropped = {word: reason for word, reason in self._dropped.items() if word not in self._index}
        return tuple(self._index), self._matrix, MappingProxyType(dropped)
