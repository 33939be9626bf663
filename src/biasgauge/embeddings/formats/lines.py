"""Lines of a byte stream, a block at a time, with a bound on the length of a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.errors import EmbeddingFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from biasgauge._io.source import ByteSource

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
