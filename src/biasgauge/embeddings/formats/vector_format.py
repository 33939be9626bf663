"""What a format of vector files is, what its reader is asked for, and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from biasgauge.embeddings.notices import NoticeBook, brief
from biasgauge.errors import EmbeddingFormatError

if TYPE_CHECKING:
    from biasgauge._io.source import Progress


HEAD = 2**16
"""How many of a file's first bytes, decompressed, a format is shown."""


@dataclass(frozen=True)
class VectorFormat:
    """A format of vector files: how a file is known by its first bytes, and how it is read.

    Attributes:
        name: as results record it.
        about: what it is, in a few words.
        matches: called with the first bytes (`HEAD` of them, or all) and the request; says whether the file is in this
            format, or raises `request.error(…)` where it is a broken one.
        read: gives words and vectors.
        order: formats are asked in this order, and the first that matches reads the file. Below 0 a format is asked
            before files of other kinds (HDF5, fastText's .bin, …) are refused, so that it may read one of those;
            from 10 on are those that ship, and last, at 90, text without a header, which most things look like.
    """

    name: str
    about: str
    matches: Callable[[bytes, Request], bool]
    read: Callable[[Request], Table]
    order: int = 0


_LONGEST_PROBLEM = 800


@dataclass(frozen=True)
class Request:
    """A vector file and how much of it is wanted.

    Attributes:
        path: the file.
        wanted: only these words, or None for all.
        limit: only the first so many rows, or None for all.
        vocabulary: the word list that belongs to a bare matrix, where the user named one.
        book: collects what is odd about the file.
        progress: is told how far the reading has come.
    """

    path: Path
    wanted: frozenset[str] | None = None
    limit: int | None = None
    vocabulary: Path | None = None
    book: NoticeBook = field(default_factory=NoticeBook)
    progress: Progress | None = None

    def error(self, problem: str, *, line: int | None = None, offset: int | None = None) -> EmbeddingFormatError:
        """Make the one clear sentence about this file, to be raised."""
        return EmbeddingFormatError(brief(problem, _LONGEST_PROBLEM), path=self.path, line=line, offset=offset)


@dataclass(frozen=True)
class Table:
    """What a reader found: words, one vector for each, and the words it had to drop with the reason."""

    words: tuple[str, ...]
    vectors: NDArray[Any]
    dropped: Mapping[str, str]
