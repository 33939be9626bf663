"""NumPy files: `.npz` with the arrays `words` and `vectors`, and a bare `.npy` matrix with a vocabulary beside it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any, BinaryIO

import numpy as np

from biasgauge.core import Places, Vectors
from biasgauge.io import NpyHeader, NpyProblem, expansion_limit, expansion_sentence, read_header
from biasgauge.vectors.formats.vector_format import Request, VectorTable
from biasgauge.vectors.rows import check_matrix, refuse_impossible_size, select_rows

_BLOCK = 2**22
_LONGEST_WORD = 2**20  # bytes


def read_npy(request: Request) -> VectorTable:
    """Read a `.npy` matrix, memory-mapped."""
    from biasgauge.vectors.vocabulary import read_vocabulary

    matrix = map_matrix(request)
    words = read_vocabulary(request)
    return select_rows(request, words, matrix)


def map_matrix(request: Request) -> Vectors:
    """Map the matrix of a `.npy` file."""
    with request.open() as source, source.seekable() as file:
        header = _read_header(request, file, "the array")
        check_matrix(request, "the array", header.shape, header.dtype)
        start = file.tell()
        present = file.seek(0, 2) - start
        if present != header.size:
            raise request.error(
                f"the header promises {header.size:,} bytes of numbers, {present:,} are there; copy the file again"
            )
        if header.size == 0:
            raise request.error("the matrix has no rows")
        order: Any = "F" if header.fortran else "C"
        matrix: Vectors = np.memmap(file, dtype=header.dtype, mode="r", offset=start, shape=header.shape, order=order)
        return matrix


def read_npz(request: Request) -> VectorTable:
    """Read an `.npz` archive in one pass over its vectors, a block of rows (or a column) at a time."""
    with request.open() as source, source.seekable() as file, request.archive(file) as archive:
        names = {name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")}
        if not {"words", "vectors"} <= names:
            raise request.error(
                f"expected the arrays words and vectors, found {', '.join(sorted(names)) or 'none'}; save them with "
                "numpy.savez(path, words=words, vectors=vectors)"
            )
        with archive.open("vectors.npy") as member:
            header = _read_header(request, member, "the array vectors")
            check_matrix(request, "the array vectors", header.shape, header.dtype)
            _refuse_promises(request, archive, "vectors", header)
            words = list(_read_words(request, archive, header.shape[0]))
            wanted = request.wanted
            chosen = [row for row, word in enumerate(words[: request.limit]) if wanted is None or word in wanted]
            matrix = _read_matrix(request, member, header, np.array(chosen, np.intp))
    return select_rows(replace(request, progress=None), [words[row] for row in chosen], matrix)


def _read_matrix(request: Request, member: IO[bytes], header: NpyHeader, chosen: Places) -> Vectors:
    """Read some rows, which rise, of a matrix that is stored row by row or column by column."""
    rows, dim = header.shape
    refuse_impossible_size(request, len(chosen) * dim * header.dtype.itemsize)
    matrix = np.empty((len(chosen), dim), header.dtype)
    if header.fortran:
        for column in range(dim):
            data = _read_exactly(request, member, rows * header.dtype.itemsize)
            matrix[:, column] = np.frombuffer(data, header.dtype)[chosen]
        return matrix
    first = 0
    for start, data in _row_blocks(request, member, rows, dim * header.dtype.itemsize):
        if first == len(chosen):
            break
        block = np.frombuffer(data, header.dtype).reshape(-1, dim)
        last = int(np.searchsorted(chosen, start + len(block)))
        matrix[first:last] = block[chosen[first:last] - start]
        first = last
        if request.progress is not None:
            request.progress(start + len(block), rows)
    return matrix


def _refuse_promises(request: Request, archive: zipfile.ZipFile, name: str, header: NpyHeader) -> None:
    """Refuse a header that promises more than its member holds, before anything is set aside for it."""
    member = archive.getinfo(f"{name}.npy")
    if header.size > member.file_size:
        raise request.error(f"the array {name} promises {header.size:,} bytes, more than the archive holds")
    if member.file_size > expansion_limit(member.compress_size):
        raise request.error(f"the array {name} {expansion_sentence(member.compress_size)}")


def _row_blocks(request: Request, member: IO[bytes], rows: int, row_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield the first row and the bytes of a block of rows at a time."""
    step = max(_BLOCK // row_bytes, 1)
    for start in range(0, rows, step):
        yield start, _read_exactly(request, member, min(step, rows - start) * row_bytes)


def _read_words(request: Request, archive: zipfile.ZipFile, rows: int) -> Iterator[str]:
    with archive.open("words.npy") as member:
        header = _read_header(request, member, "the array words")
        if header.dtype.hasobject:
            check_matrix(request, "the array words", header.shape, header.dtype)
        if len(header.shape) != 1 or header.dtype.kind not in "US":
            raise request.error(
                f"the array words should be a list of text; found {header.dtype} of shape {header.shape}"
            )
        size = header.dtype.itemsize
        if header.shape[0] == 0 or size == 0:
            raise request.error("the array words is empty")
        if header.shape[0] != rows:
            raise request.error(f"there are {header.shape[0]:,} words for {rows:,} vectors; the two must be equal")
        _refuse_promises(request, archive, "words", header)
        if size > _LONGEST_WORD:
            raise request.error(f"the array words has words of {size:,} bytes, which no vocabulary has")
        for _, data in _row_blocks(request, member, rows, size):
            try:
                if header.dtype.kind == "U":  # NumPy takes any code for a character
                    data.decode("utf-32-le" if header.dtype.newbyteorder("<") == header.dtype else "utf-32-be")
                texts = np.frombuffer(data, header.dtype).tolist()
                yield from (word if isinstance(word, str) else word.decode("utf-8") for word in texts)
            except ValueError as problem:
                raise request.error(f"the array words is not valid text ({problem})") from problem


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


def _read_header(request: Request, file: IO[bytes] | BinaryIO, kind: str) -> NpyHeader:
    try:
        return read_header(file)
    except NpyProblem as problem:
        raise request.error(f"{kind} {problem}") from problem


def holds_arrays(request: Request) -> bool:
    """Tell that a zip archive holds arrays; any other is refused."""
    with request.open(quiet=True) as source, source.seekable() as file, request.archive(file) as archive:
        names = archive.namelist()
    if not any(name.endswith(".npy") for name in names):
        shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        raise request.error(f"is a zip archive ({shown}); unzip it and give the file inside")
    return True
