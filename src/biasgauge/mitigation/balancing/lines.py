"""The lines of a corpus, with their numbers, and a copy of a file without some of them.

Plain lines are read as blocks of bytes, tables and paragraphs record by record; files may be compressed.
"""

from __future__ import annotations

import gzip
import lzma
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from biasgauge.core import Integers
from biasgauge.errors import CorpusError, InputError, InternalError
from biasgauge.io import ByteSource, csv_rows
from biasgauge.text import LONGEST_RECORD, line_blocks

if TYPE_CHECKING:
    from biasgauge.io import Progress
    from biasgauge.text import Layout

_BLOCK_BYTES = 2**17
"""Bytes: what is made of a block stays in the processor's cache."""
_COPY_BYTES = 2**20
_BOM = b"\xef\xbb\xbf"
_GZIP, _XZ, _ZSTD = (".gz",), (".xz",), (".zst", ".zstd")


UnitCallback = Callable[[bytes, Integers, Integers], None]
"""Takes texts that line feeds separate, where in the file each starts, and how many lines of it each takes."""


def read_units(path: Path, layout: Layout, take: UnitCallback, progress: Progress | None) -> str:
    """Hand every unit of a corpus to `take`: a line, a row or object of a table, a paragraph.

    WikiText is taken line by line. The header and the blank lines of a table are no units.

    Returns:
        SHA-256 of the bytes of the file that were read.

    Raises:
        CorpusError: the file is not in this layout, or no UTF-8 text.
    """
    kind = layout.choose(path.name)
    if kind not in {"lines", "wikitext"}:
        with _LineSource(path, error=CorpusError, progress=progress) as lines:
            records = _Records(lines, take, kind, named=not isinstance(layout.field, int))
            layout.read(lines, kind, records)
            records.flush()
            return lines.sha256()
    with ByteSource(path, error=CorpusError, progress=progress, hashed=True) as source:
        number = 0
        for raw in line_bytes(source):
            count = raw.count(b"\n") + 1
            take(raw, np.arange(number, number + count), np.ones(count, np.int64))
            number += count
        return source.sha256()


def line_bytes(source: ByteSource) -> Iterator[bytes]:
    """Blocks of whole lines, without the last line feed of each.

    Raises:
        CorpusError: the file is not UTF-8 text, or a line is longer than `LONGEST_RECORD`.
    """
    pending: list[bytes] = []
    waiting = 0
    while block := source.read(_BLOCK_BYTES):
        if source.offset == len(block):
            block = block.removeprefix(_BOM)
        end = block.rfind(b"\n")
        if end < 0:
            pending.append(block)
            waiting += len(block)
            if waiting > LONGEST_RECORD:
                raise CorpusError(f"has a line of more than {LONGEST_RECORD:,} bytes; break it first", path=source.path)
            continue
        yield _check_text(source, b"".join([*pending, block[:end]]))
        pending = [block[end + 1 :]]
        waiting = len(pending[0])
    if last := b"".join(pending):
        yield _check_text(source, last)


def _check_text(source: ByteSource, raw: bytes) -> bytes:
    try:
        if b"\0" not in raw and (raw.isascii() or raw.decode()):
            return raw
    except UnicodeDecodeError:
        pass
    with ByteSource(source.path, error=CorpusError) as again:
        for _ in line_blocks(again):  # it says what is wrong, and in which line
            pass
    raise CorpusError("changed while it was read; run it again", path=source.path)


class _LineSource(ByteSource):
    """Hands out a line at a time, so that whoever reads records from it has read no further than the record.

    `taken` are the lines handed out since somebody emptied the list.
    """

    def __init__(self, path: Path, *, error: type[CorpusError], progress: Progress | None) -> None:
        super().__init__(path, error=error, progress=progress, hashed=True)
        self.taken: list[bytes] = []
        self._waiting: deque[bytes] = deque()
        self._begun = b""
        self._behind = 0

    def read(self, size: int) -> bytes:  # noqa: ARG002 - as a ByteSource has it; a line is as long as it is
        if not self._waiting:
            handed_offset, self.offset = self.offset, self._behind
            self._fill()
            self._behind, self.offset = self.offset, handed_offset
        if not self._waiting:
            return b""
        line = self._waiting.popleft()
        self.offset += len(line)
        self.taken.append(line)
        return line

    def _fill(self) -> None:
        while not self._waiting:
            block = super().read(_BLOCK_BYTES)
            *complete, self._begun = (self._begun + block).split(b"\n")
            self._waiting.extend(line + b"\n" for line in complete)
            if self._begun and (not block or len(self._begun) >= LONGEST_RECORD):
                self._waiting.append(self._begun)
                self._begun = b""
            if not block:
                return


class _Records:
    """Takes records from a layout, and says which lines of the file each takes."""

    def __init__(self, source: _LineSource, take: UnitCallback, kind: str, *, named: bool) -> None:
        self._source, self._take, self._kind = source, take, kind
        self._header = named and kind in {"tsv", "csv"}
        self._number = self._signs = 0
        self._texts: list[str] = []
        self._first: list[int] = []
        self._sizes: list[int] = []

    def line(self, text: str) -> None:
        """Take a paragraph."""
        self.record(text)

    def piece(self, text: str, *, last: bool) -> None:
        """Refuse a part of a line: records come whole."""
        raise InternalError(f"a part of a record, last: {last}, {len(text)} signs")

    def end_document(self, *, counted: bool) -> None:
        """Pass over the end of a document: a unit is smaller."""

    def record(self, text: str) -> None:
        """Take a row, an object or a paragraph: the lines read since the one before, less blank ones around it."""
        lines = self._source.taken
        start, end = 0, len(lines)
        if self._header:
            start = self._header_lines(lines)
            self._header = False
        while self._blank(lines[start]):
            start += 1
        while self._blank(lines[end - 1]):
            end -= 1
        self._first.append(self._number + start)
        self._sizes.append(end - start)
        self._texts.append(text.replace("\n", " "))
        self._signs += len(text)
        self._number += len(lines)
        lines.clear()
        if self._signs >= _BLOCK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand on what is waiting."""
        if self._texts:
            raw = "\n".join(self._texts).encode()
            self._take(raw, np.array(self._first, np.int64), np.array(self._sizes, np.int64))
        self._texts, self._first, self._sizes, self._signs = [], [], [], 0

    def _blank(self, line: bytes) -> bool:
        return not (line.strip(b"\r\n") if self._kind == "csv" else line.decode().strip())

    def _header_lines(self, lines: list[bytes]) -> int:
        """Number of lines that the first row takes, with blank ones before it."""
        if self._kind == "tsv":
            return next(number for number, line in enumerate(lines, 1) if not self._blank(line))
        rows = csv_rows((line.decode("utf-8-sig") for line in lines), self._source.path, error=CorpusError)
        return next(row.line for row in rows if row.cells)


def copy_without(path: Path, target: BinaryIO, removed: Integers, sha256: str, progress: Progress | None) -> None:
    """Write the lines of `path` to `target`, byte by byte, but for those numbered in `gone` (from 0, ascending).

    Raises:
        CorpusError: the file is not the one with the checksum `sha256`.
    """
    with ByteSource(path, error=CorpusError, progress=progress, hashed=True) as source:
        line = 0
        while block := source.read(_COPY_BYTES):
            breaks = block.count(b"\n")
            removed_here = removed[slice(*np.searchsorted(removed, [line, line + breaks + 1]))] - line
            target.write(b"".join(_remaining_stretches(block, removed_here)) if len(removed_here) else block)
            line += breaks
        if source.sha256() != sha256:
            raise CorpusError("changed while it was read; run it again", path=path)


def _remaining_stretches(block: bytes, removed: Integers) -> Iterator[memoryview]:
    """The stretches of a block that stay; line 0 is the one that it starts in."""
    view = memoryview(block)
    breaks = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
    bounds = np.concatenate([[0], breaks, [len(block)]])
    position = 0
    for start, end in zip(bounds[removed].tolist(), bounds[removed + 1].tolist(), strict=True):
        if start > position:
            yield view[position:start]
        position = end
    yield view[position:]


def check_ending(out: Path) -> None:
    """Refuse, before the work, a compression that cannot be written here."""
    if out.suffix.lower() in _ZSTD:
        try:
            import zstandard  # noqa: F401 - an extra, needed by those who have such files
        except ImportError as problem:
            raise InputError(f'{out}: to write zstd: pip install "biasgauge[train]"') from problem


@contextmanager
def compressed(path: Path, ending: str) -> Iterator[BinaryIO]:
    """A file to write to that compresses as the ending says; the same bytes for the same text."""
    ending = ending.lower()
    with ExitStack() as stack:
        raw = stack.enter_context(path.open("wb"))
        if ending in _GZIP:
            yield cast("BinaryIO", stack.enter_context(gzip.GzipFile("", "wb", 6, raw, mtime=0)))
        elif ending in _XZ:
            yield cast("BinaryIO", stack.enter_context(lzma.LZMAFile(raw, "wb")))
        elif ending in _ZSTD:
            import zstandard

            yield cast("BinaryIO", stack.enter_context(zstandard.ZstdCompressor().stream_writer(raw, closefd=False)))
        else:
            yield raw
