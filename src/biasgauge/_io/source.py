"""A file as a stream of bytes, gzipped or not, that counts what was read."""

from __future__ import annotations

import gzip
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self, cast

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from io import FileIO
    from types import TracebackType

    from biasgauge.errors import _FileError

    Progress = Callable[[int, int], None]
    """Called with (bytes of the file read so far, bytes of the file)."""

GZIP_MAGIC = b"\x1f\x8b"


class ByteSource:
    """Reads a regular file from its start, decompressing gzip when its first bytes say so.

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
        self.compressed = self._raw.read(2) == GZIP_MAGIC
        self._raw.seek(0)
        self._stream = cast("BinaryIO", gzip.GzipFile(fileobj=self._raw, mode="rb")) if self.compressed else self._raw
        self.offset = 0

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
        self._stream.seek(0)
        self.offset = 0

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; fewer only at the end of the file."""
        pieces = []
        missing = size
        try:
            while missing and (piece := self._stream.read(missing)):
                pieces.append(piece)
                missing -= len(piece)
        except (EOFError, OSError, zlib.error) as problem:
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
        except (EOFError, OSError, zlib.error) as problem:
            raise self._failure(problem, filled) from problem
        self._passed(filled)
        return filled

    def _passed(self, count: int) -> None:
        self.offset += count
        if self._progress is not None:
            self._progress(self._raw.tell(), self.size)

    def _failure(self, problem: Exception, count: int) -> _FileError:
        if isinstance(problem, OSError) and not isinstance(problem, gzip.BadGzipFile):
            sentence = f"reading failed: {problem.strerror}"
        else:
            sentence = f"the gzip stream is damaged or cut short ({problem}); copy or download the file again"
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
