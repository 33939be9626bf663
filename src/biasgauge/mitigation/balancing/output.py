"""A copy of a file without some of its lines, compressed or not."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from biasgauge._io.source import ByteSource
from biasgauge.errors import CorpusError, InputError

if TYPE_CHECKING:
    from biasgauge._io.source import Progress

_BLOCK = 2**20
_GZIP, _XZ, _ZSTD = (".gz",), (".xz",), (".zst", ".zstd")


def copy_without(path: Path, target: BinaryIO, gone: NDArray[np.int64], size: int, progress: Progress | None) -> None:
    """Write the lines of `path` to `target` but for those numbered in `gone`, byte by byte as they are.

    Args:
        path: the file, compressed or not.
        target: where the lines go.
        gone: line numbers from 0, ascending.
        size: how many bytes the text must have.
        progress: told how far the file is read.

    Raises:
        CorpusError: the text has another size.
    """
    with ByteSource(path, error=CorpusError, progress=progress) as source:
        line = 0
        while block := source.read(_BLOCK):
            breaks = block.count(b"\n")
            here = gone[slice(*np.searchsorted(gone, [line, line + breaks + 1]))] - line
            target.write(b"".join(_kept(block, here)) if len(here) else block)
            line += breaks
        if source.offset != size:
            raise CorpusError("changed while it was read; run it again", path=path)


def _kept(block: bytes, gone: NDArray[np.int64]) -> Iterator[memoryview]:
    """The stretches of a block that stay; line 0 is the one that it starts in."""
    view = memoryview(block)
    breaks = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
    bounds = np.concatenate([[0], breaks, [len(block)]])
    place = 0
    for start, end in zip(bounds[gone].tolist(), bounds[gone + 1].tolist(), strict=True):
        if start > place:
            yield view[place:start]
        place = end
    yield view[place:]


def check_ending(out: Path) -> None:
    """Refuse, before the work, a compression that cannot be written here."""
    if out.suffix.lower() in _ZSTD:
        try:
            import zstandard  # noqa: F401 - an extra, needed by those who have such files
        except ImportError as problem:
            raise InputError(f'{out}: to write zstd: pip install "biasgauge[train]"') from problem


@contextmanager
def packed(path: Path, ending: str) -> Iterator[BinaryIO]:
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
