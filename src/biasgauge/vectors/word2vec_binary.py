"""word2vec's binary format: a text line "rows dimensions", then word, space, 32-bit little-endian numbers, each row.

The original tool ends each row with a line feed, gensim does not; both are read.
"""

from __future__ import annotations

import re

import numpy as np

from biasgauge.core import Places, Singles
from biasgauge.io import ByteSource
from biasgauge.vectors.formats.vector_format import Request, VectorTable
from biasgauge.vectors.plain_text import parse_header
from biasgauge.vectors.rows import RowTable, decode_each, encodings

_BLOCK = 2**20
_LONGEST_HEADER = 64
_LONGEST_WORD = 2**16
_LONGEST_ROW = 2**24
_WRONG_DIM = "the header is probably wrong about the number of dimensions, or this is not a word2vec file"


def read_word2vec_binary(request: Request) -> VectorTable:
    """Read a word2vec binary file in one pass; with `wanted`, copy only the rows of those words."""
    with request.open() as source:
        return _BinaryReader(request, source).read()


class _BinaryReader:
    """Walks from row to row: each begins where the one before it ended."""

    def __init__(self, request: Request, source: ByteSource) -> None:
        self._request = request
        self._source = source
        head = source.read(_LONGEST_HEADER)
        line, newline, self._rest = head.partition(b"\n")
        header = parse_header(line) if newline else None
        if header is None:
            raise request.error(
                'expected a first line with the number of rows and of dimensions, as in "3000000 300"', line=1
            )
        self._promised, dim = header
        self._width = 4 * dim
        if not 0 < self._width <= _LONGEST_ROW:
            raise request.error(f"the header promises {dim:,} dimensions, which no embedding has", line=1)
        # A row, or else all that is left: so the search never starts again inside an incomplete row.
        self._row = re.compile(rb"([^ ]*) (?s:.{%d})|(?s:.+)" % self._width)
        wanted = request.wanted
        self._wanted = None
        if wanted is not None:
            plain = {raw for word in wanted for raw in encodings(word)}
            self._wanted = plain | {b"\n" + word for word in plain}
        self._rows = self._promised if request.limit is None else min(self._promised, request.limit)
        expected = None
        if not source.compressed:
            in_file = min(source.size // (self._width + 1) + 1, self._rows)
            expected = in_file if wanted is None else min(in_file, len(wanted))
        self._table = RowTable(request, dim, "<f4", expected=expected)

    def read(self) -> VectorTable:
        """Read all rows that the header promises, or until nothing more is wanted."""
        request, source = self._request, self._source
        buffer = memoryview(bytearray(_BLOCK + _LONGEST_WORD + self._width + 2))
        filled = len(self._rest)
        buffer[:filled] = self._rest
        passed = 0
        while passed < self._rows:
            got = source.readinto(buffer[filled:])
            filled += got
            data = buffer[:filled]
            words, starts, end = self._find_rows(data, self._rows - passed, source.offset - filled)
            passed += len(words)
            if self._wanted is not None:
                hits = [row for row, word in enumerate(words) if word in self._wanted]
                words, starts = [words[row] for row in hits], starts[hits]
            if words:
                bare = [word[1:] if word[:1] == b"\n" else word for word in words]
                self._table.add(decode_each(bare, request.book), _gather(data, starts, self._width))
            if self._table.is_complete():
                return self._table.finish()
            filled -= end
            buffer[:filled] = bytes(data[end:])
            if not got and passed < self._rows:
                self._ends_early(bytes(buffer[:filled]), passed)
                break
        else:
            end_of_rows = source.offset - filled
            if passed == self._promised and (bytes(buffer[:filled]).strip() or source.read(_BLOCK).strip()):
                request.book.add("trailing-bytes", f"from byte {end_of_rows}")
        return self._table.finish()

    def _find_rows(self, data: memoryview, most: int, begin: int) -> tuple[list[bytes], Places, int]:
        """Find the complete rows in `data`, which starts at byte `begin` of the file.

        Returns their words (with the line feed that may stand before them), where their numbers start, and where the
        first incomplete row starts.
        """
        words = self._row.findall(data)
        ends = np.cumsum(np.fromiter(map(len, words), np.intp, len(words)) + (1 + self._width))
        if words and (ends[-1] != len(data) or (not words[-1] and data[-1 - self._width] != ord(" "))):
            del words[-1]  # not a row but what the pattern's second half took: the beginning of the next one
        del words[most:]
        ends = ends[: len(words)]
        if b"\0" in b"".join(words):
            row = next(row for row, word in enumerate(words) if b"\0" in word)
            offset = begin + int(ends[row]) - self._width - 1 - len(words[row])
            raise self._request.error(f"found a NUL byte inside a word: {_WRONG_DIM}", offset=offset)
        end = int(ends[-1]) if words else 0
        if not words and len(data) > _LONGEST_WORD + self._width:
            raise self._request.error(f"found no space after a word: {_WRONG_DIM}", offset=begin)
        return words, ends - self._width, end

    def _ends_early(self, remainder: bytes, passed: int) -> None:
        if remainder.strip():
            raise self._request.error(
                f"the file ends in the middle of row {passed + 1:,}: it was cut short; copy it again, or read only "
                f"what is before with limit={passed}",
                offset=self._source.offset,
            )
        self._request.book.add("header-count", f"{self._promised:,} promised, {passed:,} found")


def _gather(data: memoryview, starts: Places, width: int) -> Singles:
    """Copy the `width` bytes at each start into the rows of a matrix."""
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, np.uint8), width)
    rows: Singles = windows[starts].view("<f4")
    return rows
