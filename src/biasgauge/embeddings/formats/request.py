"""What a reader is asked for, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from biasgauge.embeddings.notices import NoticeBook, brief
from biasgauge.errors import EmbeddingFormatError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from biasgauge._io.source import Progress

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
