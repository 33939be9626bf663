"""Lines of text out of a stream of bytes: a block at a time, UTF-8 or one clear error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from biasgauge.errors import CorpusError

if TYPE_CHECKING:
    from biasgauge.io import ByteSource

_BLOCK = 2**20
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

LONGEST_PIECE = 2**22
"""Bytes of a line that are tokenized at once; a longer line is cut at blanks."""

LONGEST_RECORD = 2**26
"""Bytes of a record (a row, a JSON object, a line of an article), which has to be held as a whole."""


class Block(NamedTuple):
    """Some lines, without their ends, and the number of the first, from 1.

    With `cut` the last is not complete; it is the only one then, and the next block goes on with it.
    """

    lines: list[str]
    number: int
    cut: bool


def line_blocks(source: ByteSource, longest: int = LONGEST_PIECE) -> Iterator[Block]:
    """Yield the lines of each block that was read; the memory it takes is bounded by `longest`.

    Raises:
        CorpusError: the file is not UTF-8 text.
    """
    rest = b""
    number = 1
    while block := source.read(_BLOCK):
        if source.offset == len(block):
            if block.startswith(_UTF_16):
                raise CorpusError("is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8", path=source.path)
            block = block.removeprefix(_BOM)
        data = rest + block
        if (nul := data.find(b"\0", len(rest))) >= 0:
            raise CorpusError(
                "looks like a binary file (it has a NUL byte); biasgauge reads UTF-8 text, plain or compressed with "
                "gzip, xz or zstd",
                path=source.path,
                line=number + data.count(b"\n", 0, nul),
            )
        end = data.rfind(b"\n") + 1
        if end:
            lines = _decoded(source, data[: end - 1], number).split("\n")
            yield Block(lines, number, cut=False)
            number += len(lines)
        elif len(data) >= longest:
            end = max(data.rfind(b" "), data.rfind(b"\t"), data.rfind(b"\r")) + 1
            if not end:
                sentence = f"has {len(data):,} bytes without a blank, so this is no running text"
                raise CorpusError(sentence, path=source.path, line=number)
            yield Block([_decoded(source, data[:end], number)], number, cut=True)
        rest = data[end:]
    if rest:
        yield Block([_decoded(source, rest, number)], number, cut=False)


def whole_lines(source: ByteSource) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line.

    Raises:
        CorpusError: the file is not UTF-8 text, or a line is longer than `LONGEST_RECORD`.
    """
    for block in line_blocks(source, LONGEST_RECORD):
        if block.cut:
            sentence = f"is longer than {LONGEST_RECORD:,} bytes; only running text may have such lines"
            raise CorpusError(sentence, path=source.path, line=block.number)
        yield from enumerate(block.lines, block.number)


def _decoded(source: ByteSource, data: bytes, number: int) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise CorpusError(
            f"is not UTF-8 (byte 0x{data[problem.start]:02x}); convert the file first, for example: "
            f"iconv -f LATIN1 -t UTF-8",
            path=source.path,
            line=number + data.count(b"\n", 0, problem.start),
        ) from problem
