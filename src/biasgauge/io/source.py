"""A file as a stream of bytes, compressed or not, that counts what was read, and hashes it on request.

A small file that unpacks to a full disk or to hours of work is refused. Text packs to a tenth, vectors to a half, and
nothing real to less than a hundredth. Up to `FLOOR` bytes anything may expand. Where a user's file is past the limit,
`BIASGAUGE_MAX_EXPANSION` raises it, or the file is unpacked before.
"""

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
from typing import TYPE_CHECKING, BinaryIO, Self, TypeAlias, cast

from biasgauge.errors import InternalError, ParameterError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from biasgauge.errors import _FileError

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (bytes of the file read so far, bytes of the file)."""
GZIP_MAGIC, _XZ_MAGIC, _ZSTD_MAGIC = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
VARIABLE = "BIASGAUGE_MAX_EXPANSION"
RATIO = 100
"""Bytes of content per byte of the file."""
FLOOR = 2**28
_ASSUMED_MEMORY = 64 * 2**30
_COMPRESSIONS = {GZIP_MAGIC: "gzip", _XZ_MAGIC: "xz", _ZSTD_MAGIC: "zstd"}
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)
_ZSTD_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_ZSTD_LONGEST_HEADER = 18
_ZSTD_RUN = 1
"""The kind of block that stores a run of one byte as that byte."""
_ZSTD_LARGEST_WINDOW = 2**31
"""Bytes: what `zstd --long=31` makes, which is how the large archives of forum text are packed."""


def expansion_limit(packed: int) -> int:
    """Bytes that a file or archive member of `packed` bytes may unpack to.

    Raises:
        ParameterError: the environment variable is not a whole number of at least 1.
    """
    ratio = os.environ.get(VARIABLE, "").strip() or str(RATIO)
    if not ratio.isdecimal() or not 1 <= len(ratio) <= 12 or int(ratio) < 1:
        raise ParameterError(f"{VARIABLE} must be a whole number of at least 1, such as 1000. Got {ratio[:40]!r}.")
    return max(FLOOR, int(ratio) * packed)


def expansion_sentence(packed: int) -> str:
    """Reason why a file is refused, and what to do with one that is trusted."""
    return (
        f"unpacks to more than {readable_size(expansion_limit(packed))}, from {readable_size(packed)}; if you trust "
        f"it, unpack it first, or set {VARIABLE}=1000"
    )


def physical_memory() -> int:
    """Bytes of main memory; a generous guess where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _ASSUMED_MEMORY


def readable_size(size: float) -> str:
    """Format a number of bytes: `1536` -> `1.5 KB`; powers of 1,024."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TB"


class ByteSource:
    """Reads a regular file from its start, decompressing gzip, xz and zstd when its first bytes say so.

    `error` is the exception class for any problem with the file. `progress` is called after each block with the bytes
    of the file itself (compressed, if it is) read so far. `limits` bounds what a compressed file may unpack to. With
    `hashed`, `sha256` is the checksum of the very bytes that were read.
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
        expansion_limit(0)  # refuses an impossible limit before anything is opened
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
        self.rewind()

    def _open_stream(self) -> BinaryIO:
        """Open the content from the raw file's current position."""
        if self._compression is None:
            return self._raw
        if self._compression == "gzip":
            return cast("BinaryIO", gzip.GzipFile(fileobj=self._raw, mode="rb"))
        if self._compression == "xz":
            return cast("BinaryIO", lzma.LZMAFile(self._raw))
        try:
            return cast("BinaryIO", _ZstdFile(self._raw))
        except ImportError as problem:
            self._raw.close()
            install = 'is compressed with zstd; to read it: pip install "biasgauge[train]"'
            raise self._error(install, path=self.path) from problem

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
        self._stream = self._open_stream()
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
        self._advance(size - missing)
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
        self._advance(filled)
        return filled

    def _advance(self, count: int) -> None:
        self.offset += count
        if self.compressed and self.offset > expansion_limit(self.size):
            raise self._error(expansion_sentence(self.size), path=self.path)
        if self._progress is not None:
            self._progress(self._raw.tell(), self.size)

    def _failure(self, problem: Exception, count: int) -> _FileError:
        if isinstance(problem, OSError) and not isinstance(problem, (gzip.BadGzipFile, _DamagedZstdError)):
            sentence = f"reading failed: {problem.strerror}"
        else:
            damage = f"the {self._compression} stream is damaged or cut short ({problem})"
            sentence = f"{damage}; copy or download the file again"
        return self._error(sentence, path=self.path, offset=self.offset + count)

    def stream(self) -> io.RawIOBase:
        """Return the content as a file object for libraries; it ends with this source."""
        return _ContentFile(self)

    def sha256(self) -> str:
        """SHA-256 of the bytes that were read from the file itself; for a source opened with `hashed`."""
        if self._hashed is None:
            raise InternalError("This source was opened without a checksum.")
        try:
            return self._hashed.finish()
        except OSError as problem:
            raise self._error(f"reading failed: {problem.strerror}", path=self.path) from problem

    def seekable(self) -> BinaryIO:
        """Return the bytes as a seekable file that can be mapped: the file itself, or its content decompressed.

        The decompressed copy is an unnamed temporary file that vanishes when it is closed.
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
            sentence = f"cannot be decompressed to a temporary file: {problem.strerror}"
            raise self._error(sentence, path=self.path) from problem
        except BaseException:
            copy.close()
            raise
        copy.seek(0)
        return copy


class _HashedFile(io.RawIOBase):
    """A file that hashes each of its bytes once, in their order, as they are read."""

    def __init__(self, raw: FileIO) -> None:
        super().__init__()
        self._raw = raw
        self._digest = hashlib.sha256()
        self._hashed_to = 0
        self._ended = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        start = self._raw.tell()
        count = self._raw.readinto(buffer) or 0
        # Only bytes beyond those hashed before count; after the end none do: the file has grown since.
        self._ended = self._ended or (not count and start == self._hashed_to)
        if not self._ended and start <= self._hashed_to < start + count:
            self._digest.update(memoryview(buffer).cast("B")[self._hashed_to - start : count])
            self._hashed_to = start + count
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        return self._raw.tell()

    def finish(self) -> str:
        """Read the bytes that were not read yet, unless the end was met before; return the checksum."""
        self._raw.seek(self._hashed_to)
        while self.read(2**20):
            pass
        return self._digest.hexdigest()

    def close(self) -> None:
        self._raw.close()
        super().close()


class _ContentFile(io.RawIOBase):
    """Decompressed content of a source as a file object."""

    def __init__(self, source: ByteSource) -> None:
        super().__init__()
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        return self._source.readinto(memoryview(buffer).cast("B"))


class _DamagedZstdError(OSError):
    """The stream is not what zstd writes."""


class _ZstdFile(io.RawIOBase):
    """Decompresses `raw` from its current position, frame after frame, and notices a file that was cut short.

    The library itself takes the bytes that are there as the whole. Raises ImportError where it is not installed.
    """

    def __init__(self, raw: BinaryIO) -> None:
        import zstandard

        super().__init__()
        self._raw = raw
        self._library = zstandard
        decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_LARGEST_WINDOW)
        self._stream = decompressor.stream_reader(raw, read_across_frames=True, closefd=False)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill `buffer` as far as there is content; EOFError where it ends in the middle of a frame."""
        try:
            count = self._stream.readinto(buffer)
        except self._library.ZstdError as problem:
            raise _DamagedZstdError(str(problem)) from problem
        if not count and not self._ends_with_a_frame():
            raise EOFError("the last frame is incomplete")
        return count

    def _ends_with_a_frame(self) -> bool:
        """Walk from block to block by their headers: the last frame must end where the file ends."""
        raw = self._raw
        size = raw.seek(0, io.SEEK_END)
        position = 0
        while position < size:
            raw.seek(position)
            head = raw.read(_ZSTD_LONGEST_HEADER)
            if int.from_bytes(head[:4], "little") in _ZSTD_SKIPPABLE:
                position += 8 + int.from_bytes(head[4:8], "little")
                continue
            try:
                position += self._library.frame_header_size(head)
                checksum = 4 * self._library.get_frame_parameters(head).has_checksum
            except self._library.ZstdError:
                return False
            last = False
            while not last:
                raw.seek(position)
                header = raw.read(3)
                if not header:
                    return False
                # Three bytes, little-endian: one bit "last block", two bits kind, 21 bits length.
                block = int.from_bytes(header, "little")
                last, kind, length = bool(block & 1), block >> 1 & 3, block >> 3
                position += 3 + (1 if kind == _ZSTD_RUN else length)
            position += checksum
        raw.seek(0, io.SEEK_END)
        return position == size
