"""safetensors: a table of tensors in one file, memory-mapped. It cannot hold code.

biasgauge writes `vectors` (words × dimensions), `words` (the UTF-8 bytes of all words, one after the other) and
`word_ends` (where each ends in those bytes); character n-grams likewise as `subword_vectors`, `subwords`,
`subword_ends`, and `subword_lengths` (the fewest and the most characters); and, where they are known, `counts` or
`ranks`, the frequency of each word. A file with one matrix and no words is read
with a vocabulary beside it, as a bare `.npy` is.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import BinaryIO, NamedTuple, get_args

import numpy as np

from biasgauge.core import JsonObject, Singles, Vectors
from biasgauge.io import parse_json
from biasgauge.vectors.coverage import Frequencies, FrequencyKind
from biasgauge.vectors.formats.vector_format import Request, VectorFormat, VectorTable
from biasgauge.vectors.rows import check_matrix, decode, read_vocabulary, select_rows

LONGEST_HEADER = 2**24
"""Bytes; the format allows 100 million, but a file of vectors needs hundreds."""

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",  # BF16: the upper half of an F32; widened after reading
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "<i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "<u1",
}
SUBWORD_TENSORS = frozenset({"subword_vectors", "subwords", "subword_ends", "subword_lengths"})


class _Tensor(NamedTuple):
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read_safetensors(request: Request) -> VectorTable:
    """Read words and vectors; the vectors stay on disk until they are used."""
    with request.open() as source, source.seekable() as file:
        tensors, start = _read_header(request, file)
        name, tensor = _choose(request, tensors)
        check_matrix(request, f"the tensor {name}", tensor.shape, np.dtype(DTYPES[tensor.dtype]))
        if tensor.shape[0] == 0:
            raise request.error(f"the tensor {name} has no rows")
        if {"words", "word_ends"} <= tensors.keys():
            pieces = _pieces(request, file, start, tensors, ("words", "word_ends"))
            words = [decode(piece, request.book) for piece in pieces]
        else:
            words = read_vocabulary(request)
        matrix = np.memmap(file, DTYPES[tensor.dtype], "r", offset=start + tensor.begin, shape=tensor.shape)
        table = select_rows(request, words, matrix, convert=_widen if tensor.dtype == "BF16" else None)
        return replace(table, frequencies=_read_frequencies(request, file, start, tensors, words, table.words))


def _read_frequencies(
    request: Request,
    file: BinaryIO,
    start: int,
    tensors: dict[str, _Tensor],
    words: list[str],
    selected: tuple[str, ...],
) -> Frequencies | None:
    """Counts or ranks of the selected words; None where the file has neither, one whole number per word."""
    for kind in get_args(FrequencyKind):
        tensor = tensors.get(kind)
        if tensor is not None and (tensor.dtype, tensor.shape) == ("I64", (len(words),)):
            first_row: dict[str, int] = {}
            for row, word in enumerate(words):
                first_row.setdefault(word, row)
            values = np.frombuffer(_bytes(file, start, tensor), "<i8")
            return Frequencies(values[[first_row[word] for word in selected]], kind, str(request.path))
    return None


def _choose(request: Request, tensors: dict[str, _Tensor]) -> tuple[str, _Tensor]:
    """Return the tensor `vectors`, or the only matrix there is."""
    matrices = {name: tensor for name, tensor in tensors.items() if len(tensor.shape) == 2}
    if "vectors" in tensors:
        return "vectors", tensors["vectors"]
    if len(matrices) != 1:
        raise request.error(
            f"expected a tensor called vectors, or exactly one matrix; found {', '.join(sorted(tensors)) or 'nothing'}"
        )
    return next(iter(matrices.items()))


def _read_header(request: Request, file: BinaryIO) -> tuple[dict[str, _Tensor], int]:
    size = file.seek(0, 2)
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    start = 8 + length
    if length > min(LONGEST_HEADER, size - 8):
        raise request.error(f"the header promises {length:,} bytes, more than there can be", offset=0)
    try:
        header = parse_json(file.read(length))
        tensors = {name: _tensor(entry) for name, entry in header.items() if name != "__metadata__"}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as problem:
        raise request.error(
            f"the header is not that of a safetensors file ({type(problem).__name__}: {problem})", offset=8
        ) from problem
    for name, tensor in tensors.items():
        if tensor.end < tensor.begin or start + tensor.end > size:
            raise request.error(f"the tensor {name} lies outside the file: it was cut short, or its header is wrong")
        present, needed = tensor.end - tensor.begin, prod(tensor.shape) * np.dtype(DTYPES[tensor.dtype]).itemsize
        if needed != present:
            raise request.error(f"the tensor {name} has {present:,} bytes, its shape {tensor.shape} needs {needed:,}")
    _refuse_gaps(request, tensors, size - start)
    return tensors, start


def _refuse_gaps(request: Request, tensors: dict[str, _Tensor], size: int) -> None:
    """The format wants its tensors side by side, from the first byte after the header to the last of the file."""
    reached = 0
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].begin, item[1].end)):
        if tensor.begin != reached:
            raise request.error(f"the tensor {name} does not begin where the one before it ends; save the file again")
        reached = tensor.end
    if reached != size:
        raise request.error(f"the tensors end {size - reached:,} bytes before the file does; save the file again")


def _tensor(entry: JsonObject) -> _Tensor:
    shape, (begin, end), dtype = entry["shape"], entry["data_offsets"], entry["dtype"]
    if dtype not in DTYPES or not all(isinstance(number, int) and number >= 0 for number in [*shape, begin, end]):
        raise ValueError(f"a tensor of {dtype!r} with shape {shape!r}")
    return _Tensor(dtype, tuple(shape), begin, end)


def _widen(halves: Vectors) -> Vectors:
    """From the upper halves of 32-bit numbers (bfloat16) to the numbers."""
    return (halves.astype("<u4") << 16).view("<f4")


def _pieces(
    request: Request, file: BinaryIO, start: int, tensors: dict[str, _Tensor], names: tuple[str, str]
) -> list[bytes]:
    """Cut the bytes of the first tensor named at the ends that the second tells."""
    text, ends = (tensors[name] for name in names)
    if (text.dtype, len(text.shape)) != ("U8", 1) or (ends.dtype, len(ends.shape)) != ("I64", 1):
        raise request.error(f"expected {names[0]} as a list of U8 and {names[1]} as a list of I64")
    raw = _bytes(file, start, text)
    cuts = np.frombuffer(_bytes(file, start, ends), "<i8")
    begins = np.concatenate(([0], cuts))
    if (np.diff(begins) < 0).any() or begins[-1] != len(raw):
        raise request.error(
            f"{names[1]} does not cut {names[0]} into pieces: its numbers must rise to the length of {names[0]}"
        )
    return [raw[a:b] for a, b in zip(begins[:-1].tolist(), cuts.tolist(), strict=True)]


def _bytes(file: BinaryIO, start: int, tensor: _Tensor) -> bytes:
    file.seek(start + tensor.begin)
    return file.read(tensor.end - tensor.begin)


def read_subwords(request: Request) -> tuple[tuple[str, ...], Singles, tuple[int, int]]:
    """Read character n-grams, their vectors (which stay on disk) and the fewest and most characters they have."""
    with request.open(quiet=True) as source, source.seekable() as file:
        tensors, start = _read_header(request, file)
        missing = sorted(SUBWORD_TENSORS - tensors.keys())
        if missing:
            raise request.error(
                f"holds no character n-grams (no tensor {missing[0]}); save(…, subwords=…) writes them beside the words"
            )
        matrix, lengths = tensors["subword_vectors"], tensors["subword_lengths"]
        if (matrix.dtype, len(matrix.shape)) != ("F32", 2) or 0 in matrix.shape:
            raise request.error("expected subword_vectors as a matrix of F32, n-grams × dimensions")
        if (lengths.dtype, lengths.shape) != ("I64", (2,)):
            raise request.error("expected subword_lengths as two I64")
        pieces = _pieces(request, file, start, tensors, ("subwords", "subword_ends"))
        if len(pieces) != matrix.shape[0]:
            raise request.error(f"there are {len(pieces):,} n-grams for {matrix.shape[0]:,} vectors")
        try:
            ngrams = tuple(piece.decode("utf-8") for piece in pieces)
        except UnicodeDecodeError as problem:
            raise request.error(f"an n-gram is not valid UTF-8 ({problem.reason})") from problem
        fewest, most = np.frombuffer(_bytes(file, start, lengths), "<i8").tolist()
        vectors = np.memmap(file, "<f4", "r", offset=start + matrix.begin, shape=matrix.shape)
        return ngrams, vectors, (fewest, most)


def _matches(head: bytes, _request: Request) -> bool:
    return head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= LONGEST_HEADER


FORMAT = VectorFormat("safetensors", "safetensors", _matches, read_safetensors, 30)
