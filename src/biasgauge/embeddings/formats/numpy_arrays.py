"""NumPy files: `.npz` with the arrays `words` and `vectors`, and a bare `.npy` matrix with a vocabulary beside it."""

from __future__ import annotations

import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from biasgauge._io.source import ByteSource
from biasgauge.embeddings.formats.request import Request, Table
from biasgauge.embeddings.formats.select import check_matrix, select_rows
from biasgauge.embeddings.formats.vocabulary import read_vocabulary
from biasgauge.embeddings.rows import RowTable
from biasgauge.errors import EmbeddingFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_BLOCK = 2**22
_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class _Header(NamedTuple):
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Bytes of data that the header promises."""
        count = 1
        for length in self.shape:
            count *= length
        return count * self.dtype.itemsize


def read_npy(request: Request) -> Table:
    """Read a `.npy` matrix, memory-mapped."""
    with (
        ByteSource(request.path, error=EmbeddingFormatError, progress=request.progress) as source,
        source.seekable() as file,
    ):
        header = _read_header(request, file, "the array")
        check_matrix(request, "the array", header.shape, header.dtype)
        start = file.tell()
        present = file.seek(0, 2) - start
        if present != header.size:
            raise request.error(
                f"the header promises {header.size:,} bytes of numbers, {present:,} are there; copy the file again"
            )
        words = read_vocabulary(request)
        if header.size == 0:
            raise request.error("the matrix has no rows")
        shape = header.shape[::-1] if header.fortran else header.shape
        matrix = np.memmap(file, dtype=header.dtype, mode="r", offset=start, shape=shape)
        if header.fortran:
            matrix = matrix.T
        return select_rows(request, words, matrix)


def read_npz(request: Request) -> Table:
    """Read an `.npz` archive in one pass over its vectors, a block of rows at a time."""
    with (
        ByteSource(request.path, error=EmbeddingFormatError, progress=request.progress) as source,
        source.seekable() as file,
    ):
        try:
            with zipfile.ZipFile(file) as archive:
                return _read_archive(request, archive)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as problem:
            raise request.error(f"the archive is damaged or cut short ({problem}); copy or save it again") from problem


def _read_archive(request: Request, archive: zipfile.ZipFile) -> Table:
    names = {name.removesuffix(".npy") for name in archive.namelist()}
    if not {"words", "vectors"} <= names:
        raise request.error(
            f"expected the arrays words and vectors, found {', '.join(sorted(names)) or 'none'}; save them with "
            "numpy.savez(path, words=words, vectors=vectors)"
        )
    words = _read_words(request, archive)
    with archive.open("vectors.npy") as member:
        header = _read_header(request, member, "the array vectors")
        check_matrix(request, "the array vectors", header.shape, header.dtype)
        if len(words) != header.shape[0]:
            raise request.error(
                f"there are {len(words):,} words for {header.shape[0]:,} vectors; the two must be equal"
            )
        if header.fortran:
            whole = _read_exactly(request, member, header.size)
            return select_rows(request, words, np.frombuffer(whole, header.dtype).reshape(header.shape, order="F"))
        return _stream(request, words, header, _row_blocks(request, member, header))


def _stream(request: Request, words: list[str], header: _Header, blocks: Iterator[NDArray[Any]]) -> Table:
    """Pass once over the rows of the matrix, keeping those that are wanted."""
    integers = header.dtype.kind in "iu"
    if integers:
        request.book.add("integers", str(header.dtype))
    dtype = np.dtype(np.float32) if integers else header.dtype.newbyteorder("=")
    wanted, limit = request.wanted, request.limit
    expected = len(words) if wanted is None else len(wanted)
    table = RowTable(header.shape[1], dtype, request.book, path=str(request.path), expected=min(expected, len(words)))
    start = 0
    for block in blocks:
        names = words[start : start + len(block)]
        if limit is not None and start + len(block) > limit:
            names = names[: max(limit - start, 0)]
        rows = [row for row, word in enumerate(names) if wanted is None or word in wanted]
        if rows:
            table.add([names[row] for row in rows], block[rows] if len(rows) < len(block) else block)
        start += len(block)
        if (limit is not None and start >= limit) or (wanted is not None and len(table) == len(wanted)):
            break
        if request.progress is not None:
            request.progress(start, len(words))
    return Table(*table.finish())


def _row_blocks(request: Request, member: IO[bytes], header: _Header) -> Iterator[NDArray[Any]]:
    row_bytes = header.shape[1] * header.dtype.itemsize
    step = max(_BLOCK // row_bytes, 1)
    for start in range(0, header.shape[0], step):
        count = min(step, header.shape[0] - start)
        data = _read_exactly(request, member, count * row_bytes)
        yield np.frombuffer(data, header.dtype).reshape(count, header.shape[1])


def _read_words(request: Request, archive: zipfile.ZipFile) -> list[str]:
    with archive.open("words.npy") as member:
        header = _read_header(request, member, "the array words")
        if header.dtype.hasobject:
            check_matrix(request, "the array words", header.shape, header.dtype)
        if len(header.shape) != 1 or header.dtype.kind not in "US":
            raise request.error(
                f"the array words should be a list of text; found {header.dtype} of shape {header.shape}"
            )
        if header.shape[0] == 0 or header.dtype.itemsize == 0:
            raise request.error("the array words is empty")
        if header.size > archive.getinfo("words.npy").file_size:
            raise request.error(f"the array words promises {header.size:,} bytes, more than the archive holds")
        try:
            words: list[str] = np.frombuffer(_read_exactly(request, member, header.size), header.dtype).tolist()
            words = [word if isinstance(word, str) else word.decode("utf-8") for word in words]
            "".join(words).encode("utf-8")
        except ValueError as problem:
            raise request.error(f"the array words is not valid text ({problem})") from problem
    return words


def _read_exactly(request: Request, member: IO[bytes], size: int) -> bytes:
    """Read `size` bytes in pieces, so that a header that promises too much costs nothing."""
    pieces = []
    missing = size
    while missing:
        piece = member.read(min(missing, _BLOCK))
        if not piece:
            raise request.error(f"the archive ends {missing:,} bytes before its numbers do; copy or save it again")
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


def _read_header(request: Request, file: IO[bytes] | BinaryIO, kind: str) -> _Header:
    try:
        version = np.lib.format.read_magic(file)
        if version not in _HEADER_READERS:
            raise request.error(f"{kind} is in version {version[0]}.{version[1]} of NumPy's format; save it again")
        shape, fortran, dtype = _HEADER_READERS[version](file)
    except (ValueError, TypeError, SyntaxError, EOFError, RecursionError, MemoryError, UnicodeError) as problem:
        first = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise request.error(f"{kind} has a damaged header ({first})") from problem
    if any(length < 0 for length in shape):
        raise request.error(f"{kind} has the impossible shape {shape}")
    return _Header(shape, fortran, dtype)
