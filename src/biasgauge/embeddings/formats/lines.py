"""Lines of a byte stream, a block at a time; the word list that belongs to a bare matrix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge._io.source import ByteSource
from biasgauge.embeddings.rows import decode
from biasgauge.errors import EmbeddingFormatError

if TYPE_CHECKING:
    from biasgauge.embeddings.formats.vector_format import Request


LONGEST_LINE = 2**22
"""Bytes: about 300,000 numbers, far beyond any embedding."""


def line_blocks(source: ByteSource, block_size: int = 2**20) -> Iterator[tuple[list[bytes], bool]]:
    """Yield the lines of each block that was read, without their line feeds, and whether each had one.

    Only the last line of a file can lack its line feed; it then comes alone.
    """
    rest = b""
    number = 1
    while block := source.read(block_size):
        lines = block.split(b"\n")
        lines[0] = rest + lines[0]
        if any(len(line) > LONGEST_LINE for line in (lines[0], lines[-1])):
            raise EmbeddingFormatError(
                f"the line is longer than {LONGEST_LINE:,} bytes, so this is no text file of vectors",
                path=source.path,
                line=number if len(lines[0]) > LONGEST_LINE else number + len(lines) - 1,
            )
        rest = lines.pop()
        number += len(lines)
        if lines:
            yield lines, True
    if rest:
        yield [rest], False


SUFFIXES = (".vocab", ".vocab.txt", ".words", ".words.txt", ".txt")
"""Looked for beside `NAME.npy`, in this order, as `NAME` + suffix."""


def read_vocabulary(request: Request) -> list[str]:
    """Read the vocabulary that the user named, or the one that lies beside the matrix."""
    words: list[str] = []
    with ByteSource(_find(request), error=EmbeddingFormatError) as source:
        for lines, _ in line_blocks(source):
            if not words and lines[0].endswith(b"\r"):
                request.book.add("crlf")
            words.extend(decode(line.removesuffix(b"\r"), request.book) for line in lines)
    while words and not words[-1]:
        words.pop()
    if words and words[0].startswith("\ufeff"):
        words[0] = words[0][1:]
        request.book.add("bom")
    return words


def _find(request: Request) -> Path:
    if request.vocabulary is not None:
        return request.vocabulary
    stem = request.path.name.removesuffix(".gz").rsplit(".", 1)[0]
    names = [stem + suffix for suffix in SUFFIXES]
    for name in names:
        beside = request.path.with_name(name)
        if beside.is_file() and not beside.samefile(request.path):
            return beside
    raise request.error(
        f"holds vectors but no words; put a file with one word a line beside it ({', '.join(names)}), or name it with "
        "vocabulary=… (--vocabulary FILE)"
    )
