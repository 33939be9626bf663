"""NumPy files, whose headers are read here and nowhere else; mapping and writing them.

A header is Python source, and NumPy's own reader raises whatever Python's parser does on damaged bytes. Here a file is
an array of numbers with exactly the bytes that its header promises, or one error of ours; pickled objects are refused.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from biasgauge.core import Array
from biasgauge.errors import InputError, file_error
from biasgauge.io.atomic import atomic_file
from biasgauge.io.source import expansion_limit, expansion_sentence

_LONGEST_HEADER = 2**16
_ROWS = 4096
_LONGEST_SHOWN = 200
"""Characters: Python's message about a header may repeat all of it."""
_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_DAMAGE = (
    *(ValueError, TypeError, SyntaxError, KeyError, AttributeError, IndexError, EOFError, OverflowError),
    *(RecursionError, MemoryError, tokenize.TokenError, struct.error, UnicodeError),
)
"""Exceptions of NumPy and of Python's parser on a damaged header."""

ARCHIVE_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError, KeyError),
)
"""Exceptions of the standard library on an archive that is damaged, encrypted or packed in some other way."""


class NpyProblem(ValueError):  # noqa: N818 - a sentence for whoever reads the file, who raises an error of their own
    """Reason why some bytes are not an array of ours."""


class NpyHeader(NamedTuple):
    """Shape, order and type that a header promises."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Bytes of the numbers."""
        return prod(self.shape) * self.dtype.itemsize


def read_header(file: IO[bytes] | BinaryIO) -> NpyHeader:
    """Read the header of an array; the file then stands before the first number.

    Raises:
        NpyProblem: it is damaged, or of an unknown version; the message continues after the name of the array.
    """
    try:
        version = np.lib.format.read_magic(file)
    except ValueError as problem:
        raise NpyProblem(f"has a damaged header ({problem})") from problem
    if version not in _READERS:
        raise NpyProblem(f"is in version {version[0]}.{version[1]} of NumPy's format; save it again")
    length = file.read(2 if version == (1, 0) else 4)
    size = int.from_bytes(length, "little")
    if size > _LONGEST_HEADER:
        raise NpyProblem(f"has a header of {size:,} bytes, which no matrix needs")
    content = io.BytesIO(length + file.read(size))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a header written by Python 2 is as good as any; odd escapes are damage
            shape, fortran, dtype = _READERS[version](content)
    except _DAMAGE as problem:
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise NpyProblem(f"has a damaged header ({reason[:_LONGEST_SHOWN]})") from problem
    if any(isinstance(length, bool) or length < 0 for length in shape):
        raise NpyProblem(f"has the impossible shape {shape}")
    return NpyHeader(shape, fortran, dtype)


def map_array(
    path: Path,
    dtype: DTypeLike,
    shape: tuple[int, ...] | None,
    *,
    again: str,
    error: type[InputError] = InputError,
    writable: bool = False,
    by_column: bool = False,
) -> Array:
    """Map a NumPy file into memory; it must hold numbers of this type and shape, and nothing after them.

    Args:
        path: the file.
        dtype: required type of its numbers.
        shape: required shape; one row of any length when None.
        again: what to do about a damaged file, for errors.
        error: class of the error.
        writable: whether changes go to the file.
        by_column: whether a matrix may be stored column by column.

    Raises:
        InputError: it is missing, damaged, or holds something else.
    """
    kind = np.dtype(dtype)
    try:
        with path.open("rb+" if writable else "rb") as file:
            header = read_header(file)
            start, end = file.tell(), file.seek(0, os.SEEK_END)
            wanted = header.shape[:1] if shape is None else shape
            other_order = header.fortran and len(wanted) > 1 and not by_column
            if header.shape != wanted or not wanted or header.dtype != kind or other_order:
                expected = f"{kind} of shape {'(any,)' if shape is None else shape}"
                problem = f"holds {header.dtype} of shape {header.shape}, expected {expected}; {again}"
                raise file_error(error, problem, path)
            if end - start != header.size:
                problem = f"holds {end - start:,} bytes of numbers, expected {header.size:,}; {again}"
                raise file_error(error, problem, path)
            if not header.size:  # nothing can be mapped
                return np.empty(wanted, kind)
            order: Literal["C", "F"] = "F" if header.fortran else "C"
            mode: Literal["r", "r+"] = "r+" if writable else "r"
            return np.memmap(file, dtype=kind, mode=mode, offset=start, shape=wanted, order=order)
    except OSError as problem:
        raise file_error(error, f"cannot be read ({problem.strerror}); {again}", path) from problem
    except (ValueError, OverflowError) as problem:  # a damaged header, or a name with a null byte
        raise file_error(error, f"cannot be read ({problem}); {again}", path) from problem


def read_npz(path: Path, names: Sequence[str], *, error: type[InputError] = InputError) -> dict[str, Array]:
    """Read some arrays of an archive whole; names that it lacks are left out.

    Raises:
        InputError: it is damaged, or unpacks to more than it may.
    """
    arrays: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member.filename: member for member in archive.infolist()}
            for name in names:
                member = members.get(f"{name}.npy")
                if member is None:
                    continue
                if member.file_size > expansion_limit(member.compress_size):
                    raise file_error(error, f"the array {name} {expansion_sentence(member.compress_size)}", path)
                with archive.open(member) as file:
                    arrays[name] = _read_numbers(file)
    except ARCHIVE_DAMAGE as problem:
        raise file_error(error, f"the archive is damaged ({problem}); copy or save it again", path) from problem
    return arrays


def _read_numbers(file: IO[bytes]) -> Array:
    header = read_header(file)
    if header.dtype.hasobject:
        raise NpyProblem("holds pickled Python objects, which can run code when they are read")
    content = file.read()
    if len(content) != header.size:
        raise NpyProblem(f"holds {len(content):,} bytes of numbers, expected {header.size:,}")
    order: Literal["F", "C"] = "F" if header.fortran else "C"
    return np.frombuffer(content, header.dtype).reshape(header.shape, order=order)


def header_bytes(dtype: DTypeLike, shape: tuple[int, ...]) -> bytes:
    """Header of an array of this type and shape, as bytes."""
    header = io.BytesIO()
    descr = np.lib.format.dtype_to_descr(np.dtype(dtype))
    np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
    return header.getvalue()


def array_sha256(array: Array) -> str:
    """SHA-256 of the file that an array will be written to; from memory, before anything is written."""
    digest = hashlib.sha256(header_bytes(array.dtype, array.shape))
    digest.update(_array_bytes(array))
    return digest.hexdigest()


def write_array(path: Path, array: Array) -> None:
    """Write a NumPy file, whole or not at all."""
    with atomic_file(path) as part, part.open("wb") as file:
        file.write(header_bytes(array.dtype, array.shape))
        file.write(_array_bytes(array))  # never through `tofile`, which does not say that the disk is full


def write_npz(file: BinaryIO, arrays: Mapping[str, Array]) -> None:
    """Write an archive of arrays, uncompressed; the same arrays give the same bytes."""
    mode: Literal["w"] = "w"  # of members of archives, which are always bytes
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), mode, force_zip64=True) as member:
                member.write(header_bytes(array.dtype, array.shape))
                for start in range(0, len(array), _ROWS):
                    member.write(np.ascontiguousarray(array[start : start + _ROWS]).view(np.uint8).data)


def _array_bytes(array: Array) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
