"""zstd as a stream that notices when the file was cut short; the library itself takes what is there as the whole."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_LONGEST_HEADER = 18
_RUN = 1
"""The kind of block that stores a run of one byte as that byte."""
_LARGEST_WINDOW = 2**31
"""Bytes: what `zstd --long=31` makes, which is how the large archives of forum text are packed."""


class ZstdFile(io.RawIOBase):
    """Decompresses `raw` from where it stands; a further frame after the first is read on.

    Raises:
        ImportError: the library is not installed.
    """

    def __init__(self, raw: BinaryIO) -> None:
        import zstandard

        super().__init__()
        self._raw = raw
        self._library = zstandard
        self._stream = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).stream_reader(
            raw, read_across_frames=True, closefd=False
        )

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill `buffer` as far as there is something.

        Raises:
            DamagedZstdError: the stream is damaged.
            EOFError: it ends in the middle of a frame.
        """
        try:
            count = self._stream.readinto(buffer)
        except self._library.ZstdError as problem:
            raise DamagedZstdError(str(problem)) from problem
        if not count and not self._ends_whole():
            raise EOFError("the last frame is incomplete")
        return count

    def _ends_whole(self) -> bool:
        """Walk from block to block by their headers: does the last frame end where the file ends?"""
        raw = self._raw
        size = raw.seek(0, io.SEEK_END)
        place = 0
        while place < size:
            raw.seek(place)
            head = raw.read(_LONGEST_HEADER)
            if int.from_bytes(head[:4], "little") in _SKIPPABLE:
                place += 8 + int.from_bytes(head[4:8], "little")
                continue
            try:
                place += self._library.frame_header_size(head)
                checksum = 4 * self._library.get_frame_parameters(head).has_checksum
            except self._library.ZstdError:
                return False
            last = False
            while not last:
                raw.seek(place)
                header = raw.read(3)
                if not header:
                    return False
                block = int.from_bytes(header, "little")
                last, kind, length = bool(block & 1), block >> 1 & 3, block >> 3
                place += 3 + (1 if kind == _RUN else length)
            place += checksum
        raw.seek(0, io.SEEK_END)
        return place == size


class DamagedZstdError(OSError):
    """The stream is not what zstd writes."""
