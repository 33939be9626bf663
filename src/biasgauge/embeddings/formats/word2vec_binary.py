"""word2vec's binary format: a text line "rows dimensions", then word, space, 32-bit little-endian numbers, each row.

The original tool ends each row with a line feed, gensim does not; both are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasgauge._io.source import ByteSource
from biasgauge.embeddings.formats.request import Request, Table
from biasgauge.embeddings.formats.text import parse_header
from biasgauge.embeddings.rows import RowTable, decode
from biasgauge.errors import EmbeddingFormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 2**22
_LONGEST_HEADER = 64
_LONGEST_WORD = 2**16
_LONGEST_ROW = 2**24
_WRONG_DIM = "the header is probably wrong about the number of dimensions, or this is not a word2vec file"


def read_word2vec_binary(request: Request) -> Table:
    """Read a word2vec binary file in one pass; with `wanted`, copy only the rows of those words."""
    with ByteSource(request.path, error=EmbeddingFormatError, progress=request.progress) as source:
        return _Reader(request, source).read()


class _Scan(NamedTuple):
    """Rows found in a block: their words, where their numbers start, where the next row starts, how many passed."""

    words: list[bytes]
    starts: list[int]
    end: int
    passed: int


class _Reader:
    """Walks from row to row: each begins where the one before it ended."""

    def __init__(self, request: Request, source: ByteSource) -> None:
        self._request = request
        self._source = source
        head = source.read(_LONGEST_HEADER)
        line, found, self._rest = head.partition(b"\n")
        header = parse_header(line) if found else None
        if header is None:
            raise request.error(
                'expected a first line with the number of rows and of dimensions, as in "3000000 300"', line=1
            )
        self._promised, dim = header
        self._width = 4 * dim
        if not 0 < self._width <= _LONGEST_ROW:
            raise request.error(f"the header promises {dim:,} dimensions, which no embedding has", line=1)
        wanted = request.wanted
        self._wanted = None if wanted is None else {word.encode("utf-8", "surrogatepass") for word in wanted}
        self._rows = self._promised if request.limit is None else min(self._promised, request.limit)
        expected = None
        if not source.compressed:
            in_file = min(source.size // (self._width + 1) + 1, self._rows)
            expected = in_file if wanted is None else min(in_file, len(wanted))
        self._table = RowTable(dim, "<f4", request.book, path=str(request.path), expected=expected)

    def read(self) -> Table:
        """Read all rows that the header promises, or until nothing more is wanted."""
        request, source = self._request, self._source
        passed = 0
        data = self._rest
        while passed < self._rows:
            block = source.read(_BLOCK)
            data += block
            begin = source.offset - len(data)
            scan = self._scan(data, self._rows - passed, begin)
            passed += scan.passed
            if scan.words:
                vectors = _gather(data, scan.starts, self._width)
                self._table.add([decode(word, request.book) for word in scan.words], vectors)
            if self._wanted is not None and len(self._table) == len(self._wanted):
                break
            data = data[scan.end :]
            if not block and passed < self._rows:
                self._ends_early(data, passed)
                break
        else:
            if passed == self._promised and (data.strip() or source.read(_BLOCK).strip()):
                request.book.add("trailing-bytes", f"from byte {source.offset - len(data)}")
        return Table(*self._table.finish())

    def _scan(self, data: bytes, most: int, begin: int) -> _Scan:
        """Find complete rows in `data`, which starts at byte `begin` of the file."""
        find, startswith = data.find, data.startswith
        width, size, wanted = self._width, len(data), self._wanted
        words: list[bytes] = []
        starts: list[int] = []
        position = passed = 0
        while passed < most:
            if startswith(b"\n", position):
                position += 1
            blank = find(b" ", position)
            if blank < 0:
                if size - position > _LONGEST_WORD:
                    raise self._request.error(f"found no space after a word: {_WRONG_DIM}", offset=begin + position)
                break
            end = blank + 1 + width
            if end > size:
                break
            word = data[position:blank]
            if b"\0" in word:
                raise self._request.error(f"found a NUL byte inside a word: {_WRONG_DIM}", offset=begin + position)
            if wanted is None or word in wanted:
                words.append(word)
                starts.append(blank + 1)
            position = end
            passed += 1
        return _Scan(words, starts, position, passed)

    def _ends_early(self, rest: bytes, passed: int) -> None:
        if rest.strip():
            raise self._request.error(
                f"the file ends in the middle of row {passed + 1:,}: it was cut short; copy it again, or read only "
                f"what is before with limit={passed}",
                offset=self._source.offset,
            )
        self._request.book.add("header-count", f"{self._promised:,} promised, {passed:,} found")


def _gather(data: bytes, starts: list[int], width: int) -> NDArray[np.float32]:
    """Copy the `width` bytes at each start into the rows of a matrix."""
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, np.uint8), width)
    rows: NDArray[np.float32] = windows[np.array(starts)].view("<f4")
    return rows
