"""A file as a stream of bytes, compressed or not, that counts what was read, and hashes it if asked."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import tempfile
import zlib
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from biasgauge.errors import InternalError
from biasgauge.io.expansion import expansion_limit, expansion_sentence
from biasgauge.io.zstd import ZSTD_MAGIC, DamagedZstdError, ZstdFile

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from biasgauge.errors import _FileError

    Progress = Callable[[int, int], None]
    """Called with (bytes of the file read so far, bytes of the file)."""

GZIP_MAGIC = b"\x1f\x8b"
_XZ_MAGIC = b"\xfd7zXZ\x00"
_COMPRESSIONS = {GZIP_MAGIC: "gzip", _XZ_MAGIC: "xz", ZSTD_MAGIC: "zstd"}
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)


class _HashedFile(io.RawIOBase):
    """A file that hashes each of its bytes once, in their order, as they are read."""

    def __init__(self, raw: FileIO) -> None:
        super().__init__()
        self._raw = raw
        self._digest = hashlib.sha256()
        self._behind = 0
        self._ended = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        start = self._raw.tell()
        count = self._raw.readinto(buffer) or 0
        self._take(memoryview(buffer).cast("B")[:count], start)
        return count

    def read(self, size: int = -1, /) -> bytes:
        start = self._raw.tell()
        content = self._raw.read(size) or b""
        self._take(memoryview(content), start)
        return content

    def _take(self, content: memoryview, start: int) -> None:
        """Hash what lies behind the bytes that were hashed before; after the end, nothing: the file has grown since."""
        self._ended = self._ended or (not content and start == self._behind)
        if not self._ended and start <= self._behind < start + len(content):
            self._digest.update(content[self._behind - start :])
            self._behind = start + len(content)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        return self._raw.tell()

    def finish(self) -> str:
        """Read what was not read yet, unless the end was met before; then the checksum of what was read."""
        self._raw.seek(self._behind)
        while self.read(2**20):
            pass
        return self._digest.hexdigest()

    def close(self) -> None:
        self._raw.close()
        super().close()


class ByteSource:
    """Reads a regular file from its start, decompressing gzip, xz and zstd when its first bytes say so.

    `error` is the exception class for whatever is wrong with the file. `progress` is told, after each block, how many
    bytes of the file itself (compressed, if it is) are behind us. What a compressed file may unpack to has a limit, see
    `expansion`. With `hashed`, `sha256` says what the file held while it was read.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        error: type[_FileError],
        progress: Progress | None = None,
        hashed: bool = False,
    ) -> None:
        self.path = Path(path)
        self._error = error
        self._progress = progress
        self._hashed: _HashedFile | None = None
        expansion_limit(0)  # refuses a limit that is none, before anything is opened
        try:
            if not self.path.exists():
                raise error("there is no such file; check the path", path=path)
            if not self.path.is_file():
                raise error("is not a regular file; name a file, not a folder or a device", path=path)
            self.size = self.path.stat().st_size
            self._raw: BinaryIO = self.path.open("rb", buffering=0)
            if hashed:
                self._hashed = _HashedFile(self._raw)
                self._raw = cast("BinaryIO", self._hashed)
        except OSError as problem:
            raise error(f"cannot be opened: {problem.strerror}", path=path) from problem
        except ValueError as problem:  # a null byte in its name
            raise error(f"is not a usable file name: {problem}", path=os.fspath(path)[:200]) from problem
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
        if self.compressed and self.offset > expansion_limit(self.size):
            raise self._error(expansion_sentence(self.size), path=self.path)
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

    def stream(self) -> io.RawIOBase:
        """The content as a file for reading, as the library wants one; it ends with this source."""
        return _ContentFile(self)

    def sha256(self) -> str:
        """SHA-256 of the file itself, of the very bytes that were read; for a source that was opened with `hashed`."""
        if self._hashed is None:
            raise InternalError("This source was opened without a checksum.")
        try:
            return self._hashed.finish()
        except OSError as problem:
            raise self._error(f"reading failed: {problem.strerror}", path=self.path) from problem

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


class _ContentFile(io.RawIOBase):
    """What a source holds, unpacked, as a file."""

    def __init__(self, source: ByteSource) -> None:
        super().__init__()
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        return self._source.readinto(memoryview(buffer).cast("B"))
