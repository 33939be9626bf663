"""A file as a stream of bytes, compressed or not, that counts what was read."""

from __future__ import annotations

import gzip
import lzma
import os
import tempfile
import zlib
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from biasgauge._io.zstd import ZSTD_MAGIC, DamagedZstdError, ZstdFile

if TYPE_CHECKING:
    from biasgauge.errors import _FileError

    Progress = Callable[[int, int], None]
    """Called with (bytes of the file read so far, bytes of the file)."""

GZIP_MAGIC = b"\x1f\x8b"
_XZ_MAGIC = b"\xfd7zXZ\x00"
_COMPRESSIONS = {GZIP_MAGIC: "gzip", _XZ_MAGIC: "xz", ZSTD_MAGIC: "zstd"}
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)


class ByteSource:
    """Reads a regular file from its start, decompressing gzip, xz and zstd when its first bytes say so.

    `error` is the exception class for whatever is wrong with the file. `progress` is told, after each block, how many
    bytes of the file itself (compressed, if it is) are behind us.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        error: type[_FileError],
        progress: Progress | None = None,
    ) -> None:
        self.path = Path(path)
        self._error = error
        self._progress = progress
        try:
            if not self.path.exists():
                raise error("there is no such file; check the path", path=path)
            if not self.path.is_file():
                raise error("is not a regular file; name a file, not a folder or a device", path=path)
            self.size = self.path.stat().st_size
            self._raw: BinaryIO = self.path.open("rb", buffering=0)
        except OSError as problem:
            raise error(f"cannot be opened: {problem.strerror}", path=path) from problem
        head = self._raw.read(max(map(len, _COMPRESSIONS)))
        self._compression = next((name for magic, name in _COMPRESSIONS.items() if head.startswith(magic)), None)
        self.compressed = self._compression is not None
        self._raw.seek(0)
        self._stream = self._decompressed()
        self.offset = 0

    def _decompressed(self) -> BinaryIO:
        """The content from the place where the raw file stands."""
        if self._compression is None:
            return self._raw
        if self._compression == "gzip":
            return cast("BinaryIO", gzip.GzipFile(fileobj=self._raw, mode="rb"))
        if self._compression == "xz":
            return cast("BinaryIO", lzma.LZMAFile(self._raw))
        try:
            return cast("BinaryIO", ZstdFile(self._raw))
        except ImportError as problem:
            self._raw.close()
            raise self._error(
                'is compressed with zstd; to read it: pip install "biasgauge[train]"', path=self.path
            ) from problem

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._raw.close()

    def rewind(self) -> None:
        """Go back to the first byte."""
        self._raw.seek(0)
        self._stream = self._decompressed()
        self.offset = 0

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; fewer only at the end of the file."""
        pieces = []
        missing = size
        try:
            while missing and (piece := self._stream.read(missing)):
                pieces.append(piece)
                missing -= len(piece)
        except _DAMAGE as problem:
            raise self._failure(problem, size - missing) from problem
        self._passed(size - missing)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def readinto(self, buffer: memoryview) -> int:
        """Fill `buffer`; return how many bytes it got, fewer than it holds only at the end of the file.

        Reading into the same memory again and again spares the system from handing out fresh pages for every block.
        """
        filled = 0
        try:
            while filled < len(buffer) and (count := cast("FileIO", self._stream).readinto(buffer[filled:])):
                filled += count
        except _DAMAGE as problem:
            raise self._failure(problem, filled) from problem
        self._passed(filled)
        return filled

    def _passed(self, count: int) -> None:
        self.offset += count
        if self._progress is not None:
            self._progress(self._raw.tell(), self.size)

    def _failure(self, problem: Exception, count: int) -> _FileError:
        if isinstance(problem, OSError) and not isinstance(problem, (gzip.BadGzipFile, DamagedZstdError)):
            sentence = f"reading failed: {problem.strerror}"
        else:
            sentence = (
                f"the {self._compression} stream is damaged or cut short ({problem}); copy or download the file again"
            )
        return self._error(sentence, path=self.path, offset=self.offset + count)

    def seekable(self) -> BinaryIO:
        """Return the bytes as a seekable file that can be mapped: the file itself, or its content decompressed.

        The decompressed copy is an unnamed temporary file that goes when it is closed.
        """
        if not self.compressed:
            return self.path.open("rb")
        self.rewind()
        copy = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - the caller closes it
        try:
            while block := self.read(2**22):
                copy.write(block)
        except OSError as problem:
            copy.close()
            raise self._error(
                f"cannot be decompressed to a temporary file: {problem.strerror}", path=self.path
            ) from problem
        except BaseException:
            copy.close()
            raise
        copy.seek(0)
        return copy
