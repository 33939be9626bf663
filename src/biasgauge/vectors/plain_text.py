"""Vectors as text: word2vec and fastText (first line "rows dimensions") and GloVe (no such line).

A row is a word and its numbers, separated by spaces or tabs. The word is everything before the last `dim` numbers, so
it may contain spaces; only ASCII blanks separate, so it may contain a no-break space.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from biasgauge.core import Singles
from biasgauge.io import ByteSource
from biasgauge.vectors.formats.vector_format import HEAD, Request, VectorTable
from biasgauge.vectors.rows import RowTable, decode, encodings, line_blocks

_BOM = b"\xef\xbb\xbf"
_BLANKS = b" \t\r"
_SAMPLE = 64
_SMALL, _LARGE = 2**20, 2**22  # bytes read at a time: little memory for few words, few parser calls for all
_LARGEST = 18  # digits of a whole number in a header


class TextLayout(NamedTuple):
    """Layout from the first lines: numbers in a row, rows that a header promises, mean length of a row, any tabs."""

    dim: int
    promised: int | None
    row_bytes: float
    tabs: bool


def read_text(request: Request) -> VectorTable:
    """Read a text file of vectors in one pass; with `wanted`, parse only the rows of those words."""
    with request.open() as source:
        sample, _ = next(line_blocks(source), ([], True))
        layout = find_layout(request, sample)
        source.rewind()
        return _TextReader(request, layout, source).read()


def find_layout(request: Request, lines: Sequence[bytes]) -> TextLayout:
    """Find the number of dimensions, and whether there is a header, from the first lines that are not blank."""
    sample = [
        (number, line)
        for number, line in enumerate(lines, 1)
        if line.removeprefix(_BOM if number == 1 else b"").strip()
    ][: _SAMPLE + 1]
    if not sample:
        raise request.error("the file has no rows")
    header = parse_header(sample[0][1].removeprefix(_BOM))
    rows = sample[1:] if header else sample
    if not rows:
        raise request.error("the header is followed by no rows", line=sample[0][0])
    widths = Counter(row_width(line) for _, line in rows)
    if widths[0] == len(rows):
        lists = "; word lists are named with --test or --lexicon" if request.path.suffix == ".toml" else ""
        expected = "expected a word and its numbers, separated by spaces; found no number"
        raise request.error(f"{expected}{lists}", line=rows[0][0])
    del widths[0]
    dim = max(widths, key=lambda width: (widths[width], -width))
    if header and header[1] != dim:
        raise request.error(
            f"the header promises {header[1]:,} dimensions, but the rows have {dim:,}; mend the first line",
            line=sample[0][0],
        )
    return TextLayout(
        dim=dim,
        promised=header[0] if header else None,
        row_bytes=max(sum(len(line) + 1 for _, line in rows) / len(rows), 2 * dim + 1),
        tabs=any(b"\t" in line for _, line in rows),
    )


def parse_header(line: bytes) -> tuple[int, int] | None:
    """Rows and dimensions, if the line is two whole numbers; None otherwise."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) <= _LARGEST for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def row_width(line: bytes) -> int:
    """Count the numbers at the end of a line, whose first field is a word whatever it looks like."""
    fields = line.split()
    width = 0
    while width < len(fields) - 1 and is_number(fields[-1 - width]):
        width += 1
    return width


class _TextReader:
    """Walks through the lines once and hands complete rows to the table."""

    def __init__(self, request: Request, layout: TextLayout, source: ByteSource) -> None:
        self._request = request
        self._layout = layout
        self._source = source
        self._seen = 0
        self._header_ahead = layout.promised is not None
        self._blank: list[int] = []
        wanted = request.wanted
        self._wanted = None if wanted is None else {raw for word in wanted for raw in encodings(word)}
        self._beginnings = None if self._wanted is None else {word.split(b" ", 1)[0] for word in self._wanted}
        rows = None
        if not source.compressed:
            in_file = int(source.size / layout.row_bytes * 1.02) + 1
            rows = min(in_file, request.limit or in_file, in_file if wanted is None else len(wanted))
        self._table = RowTable(request, layout.dim, np.float32, expected=rows)

    def read(self) -> VectorTable:
        """Read to the end, or until nothing more is wanted."""
        book = self._request.book
        number = 1
        done = False
        for lines, ended in line_blocks(self._source, _SMALL if self._wanted is not None else _LARGE):
            if number == 1 and lines[0].startswith(_BOM):
                lines[0] = lines[0][len(_BOM) :]
                book.add("bom")
            if number == 1 and lines[0].endswith(b"\r"):
                book.add("crlf")
            done = self._take(lines, number)
            number += len(lines)
            if not ended:
                book.add("no-final-newline", f"line {number - 1}")
            if done:
                break
        promised = self._layout.promised
        if not done and promised is not None and promised != self._seen:
            book.add("header-count", f"{promised:,} promised, {self._seen:,} found")
        return self._table.finish()

    def _take(self, lines: list[bytes], first: int) -> bool:  # noqa: C901 - in one piece: a call a line would double its time
        """Add the rows of these lines; return whether nothing more is wanted."""
        gaps = self._layout.dim - 1
        wanted, beginnings, limit, tabs = self._wanted, self._beginnings, self._request.limit, self._layout.tabs
        words: list[bytes] = []
        numbers: list[bytes] = []
        line_numbers: list[int] = []
        for line_number, raw in enumerate(lines, first):
            line = raw.rstrip(_BLANKS)
            if tabs:
                line = line.replace(b"\t", b" ")
            if not line:
                self._blank.append(line_number)
                continue
            if self._blank:
                for number in self._blank:
                    self._request.book.add("blank-line", f"line {number}")
                self._blank.clear()
            if self._header_ahead:
                self._header_ahead = False
                continue
            if self._seen == limit:
                break
            self._seen += 1
            cut = line.find(b" ")
            word = line[:cut]
            plain = cut > 0 and word.split() == [word]
            if beginnings is not None and plain and word not in beginnings:
                continue
            fields = line[cut + 1 :]
            if not plain or fields.count(b" ") != gaps or b"\t" in fields:
                word, fields = self._split(line, line_number)
            if wanted is None or word in wanted:
                if b" " in word:
                    self._request.book.add("spaced-word", repr(word.decode("utf-8", "backslashreplace")))
                words.append(word)
                numbers.append(fields)
                line_numbers.append(line_number)
        if words:
            book = self._request.book
            self._table.add([decode(word, book) for word in words], self._parse(numbers, line_numbers))
        return self._seen == limit or self._table.is_complete()

    def _split(self, line: bytes, line_number: int) -> tuple[bytes, bytes]:
        """Split a row that is not simply a word and `dim` numbers with single spaces between them."""
        dim = self._layout.dim
        fields = line.rsplit(None, dim)
        if len(fields) == dim + 1:
            return b" ".join(fields[0].split()), b" ".join(fields[1:])
        if len(fields) == dim and line.startswith(b" "):
            return b"", b" ".join(fields)
        raise self._request.error(
            f"expected a word and {dim:,} numbers, found {len(fields) - 1:,} after the word; if the file ends here it "
            f"was cut short: copy it again, or read only what is before with limit={self._seen - 1}",
            line=line_number,
        )

    def _parse(self, numbers: list[bytes], line_numbers: list[int]) -> Singles:
        try:
            return parse_rows(numbers, self._layout.dim)
        except ValueError:  # again, field by field, so that the message can name the line and the field
            for row, line_number in zip(numbers, line_numbers, strict=True):
                for field in row.split(b" "):
                    if not is_number(field):
                        shown = field[:40].decode("utf-8", "backslashreplace")
                        raise self._request.error(
                            f"expected {self._layout.dim:,} numbers after the word, found {shown!r}", line=line_number
                        ) from None
            return _parse_few(numbers, self._layout.dim)


def text_kind(head: bytes) -> str:
    """Format of the first bytes, of those with a header and of GloVe's text; empty where in none."""
    first, ended, body = head.partition(b"\n")
    header = parse_header(first.removeprefix(_BOM)) if ended else None
    if header is None:
        return "" if b"\0" in head or _controls(head) * 100 > len(head) else "glove-text"  # one in a hundred bytes
    row, complete, _ = body.partition(b"\n")
    # A row cut off by the end of the head may end in half a number: leave its last field out.
    sure = row if complete or len(head) < HEAD else row.rpartition(b" ")[0]
    text = not row.strip() or _is_text(row, row_width(sure), header[1], body)
    return "word2vec-text" if text else "word2vec-binary"


def _is_text(row: bytes, width: int, dim: int, body: bytes) -> bool:
    """Tell whether text follows a header: a row of as many numbers as promised, or of some among clean text.

    Some numbers are not enough alone: a binary row may have a digit before the first byte that is a line feed.
    """
    if width in {0, dim} or b"\0" in row:
        return width == dim and b"\0" not in row
    try:
        body.rpartition(b"\n")[0].decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not _controls(body)


def _controls(data: bytes) -> int:
    """Count the control characters that text does not have."""
    return sum(data.count(byte) for byte in range(32) if byte not in b"\t\n\v\f\r")


_MANY = 200_000
"""From this many numbers on, importing pandas (0.4 s, once) costs less than its parser saves (4 times as fast)."""

_WIDE = 4096
"""Beyond this many numbers in a row its parser is the slower one, and in the end takes kilobytes a column."""

_ALWAYS_EXACT = "3.1"
"""From this version on pandas rounds correctly without being asked, and warns when it is."""


def is_number(field: bytes) -> bool:
    """Tell whether a field is one decimal number, `nan` and `inf` included; Python's `1_000` is not."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def parse_rows(rows: Sequence[bytes], dim: int) -> Singles:
    """Parse rows of exactly `dim` numbers separated by single spaces; ValueError when any row is not that."""
    if len(rows) * dim < _MANY or dim > _WIDE:
        return _parse_few(rows, dim)
    import pandas as pd

    with np.errstate(over="ignore"):
        frame = pd.read_csv(
            io.BytesIO(b"\n".join(rows)),
            sep=" ",
            header=None,
            names=range(dim),
            index_col=False,
            dtype=np.float32,
            na_filter=False,
            quoting=3,
            skip_blank_lines=False,
            float_precision="round_trip" if pd.__version__ < _ALWAYS_EXACT else None,
        )
    if len(frame) != len(rows):
        raise ValueError(f"{len(rows)} rows expected, {len(frame)} found")
    return np.ascontiguousarray(frame.to_numpy(), dtype=np.float32)


def _parse_few(rows: Sequence[bytes], dim: int) -> Singles:
    together = b" ".join(rows)
    if b"_" in together:
        raise ValueError("an underscore is no part of a number")
    fields = together.split(b" ")
    parsed = np.fromiter(map(float, fields), np.float64, len(fields))
    with np.errstate(over="ignore"):
        return parsed.astype(np.float32).reshape(len(rows), dim)
