"""safetensors: a table of tensors in one file, memory-mapped. It cannot hold code.

biasgauge writes `vectors` (words × dimensions), `words` (the UTF-8 bytes of all words, one after the other) and
`word_ends` (where each ends in those bytes); character n-grams likewise as `subword_vectors`, `subwords`,
`subword_ends`, and `subword_lengths` (the fewest and the most characters); and, where they are known, `counts` or
`ranks`, the frequency of each word. A file with one matrix and no words is read with a vocabulary beside it, as a bare
`.npy` is.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import prod
from os import SEEK_END
from typing import Any, BinaryIO, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import JsonObject, Singles, Vectors
from biasgauge.io import parse_json
from biasgauge.vectors.formats.vector_format import Request, VectorFormat, VectorTable
from biasgauge.vectors.frequencies import Frequencies, FrequencyKind
from biasgauge.vectors.rows import check_matrix, decode, refuse_impossible_size, select_rows

LONGEST_HEADER = 2**24
"""Bytes; the format allows 100 million, but a file of vectors needs hundreds."""
DTYPES = {
    **{f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "IU" for size in (1, 2, 4, 8)},
    **{f"F{8 * size}": f"<f{size}" for size in (2, 4, 8)},
    "BF16": "<u2",  # the upper half of an F32; widened after reading
}
SUBWORD_TENSORS = ("subword_ends", "subword_lengths", "subword_vectors", "subwords")


class Tensor(NamedTuple):
    """Kind of a tensor, as the header says it, and its numbers, mapped."""

    kind: str
    numbers: NDArray[Any]


def read_safetensors(request: Request) -> VectorTable:
    """Read words and vectors; the vectors stay on disk until they are used."""
    with request.open() as source, source.seekable() as file:
        tensors = map_tensors(request, file)
    matrices = [name for name, tensor in tensors.items() if tensor.numbers.ndim == 2]
    if "vectors" not in tensors and len(matrices) != 1:
        raise request.error(
            f"expected a tensor called vectors, or exactly one matrix; found {', '.join(sorted(tensors)) or 'nothing'}"
        )
    name = "vectors" if "vectors" in tensors else matrices[0]
    kind, matrix = tensors[name]
    check_matrix(request, f"the tensor {name}", matrix.shape, matrix.dtype)
    matrix = _weighted(request, tensors, matrix)
    if not len(matrix):
        raise request.error(f"the tensor {name} has no rows")
    if {"words", "word_ends"} <= tensors.keys():
        words = [decode(piece, request.book) for piece in _pieces(request, tensors, "words", "word_ends")]
    else:
        from biasgauge.vectors.vocabulary import read_vocabulary

        words = read_vocabulary(request)
    table = select_rows(request, words, matrix, convert=widen_bfloat16 if kind == "BF16" else None)
    for frequency_kind in get_args(FrequencyKind):
        tensor = tensors.get(frequency_kind)
        if tensor is not None and (tensor.kind, tensor.numbers.shape) == ("I64", (len(words),)):
            frequencies = Frequencies(tensor.numbers, frequency_kind, str(request.path))
            return replace(table, frequencies=frequencies.of_table(words, table.words))
    return table


def _weighted(request: Request, tensors: dict[str, Tensor], matrix: Vectors) -> Vectors:
    """Rows of tokens that share one, and their weights, as model2vec keeps them apart."""
    mapping, weights = (tensors.get(name) for name in ("mapping", "weights"))
    if mapping is not None and mapping.numbers.ndim == 1 and mapping.numbers.dtype.kind in "iu":
        rows = mapping.numbers
        refuse_impossible_size(request, len(rows) * matrix.shape[1] * matrix.itemsize)
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(matrix)):
            raise request.error(f"the tensor mapping names a row that is not there: there are {len(matrix):,}")
        matrix = matrix[rows]
    if weights is not None and weights.numbers.shape == (len(matrix),):
        if weights.numbers.dtype.kind != "f" or matrix.dtype.kind != "f":
            raise request.error(f"expected weights and {matrix.dtype} numbers in floating point, of 16 to 64 bits")
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = (matrix * weights.numbers[:, None]).astype(np.float32)
    return matrix


def map_tensors(request: Request, file: BinaryIO) -> dict[str, Tensor]:
    """Map every tensor; they must lie side by side from the first byte after the header to the last of the file."""
    if file.seek(0, SEEK_END) < 8:
        raise request.error("is shorter than the header of a safetensors file; copy it again", offset=0)
    content = np.memmap(file, np.uint8, "r")
    length = int.from_bytes(content[:8].tobytes(), "little")
    start = 8 + length
    if length > min(LONGEST_HEADER, len(content) - 8):
        raise request.error(f"the header promises {length:,} bytes, more than there can be", offset=0)
    try:
        header = parse_json(content[8:start].tobytes())
        entries = {name: _check_entry(entry) for name, entry in header.items() if name != "__metadata__"}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as problem:
        raise request.error(
            f"the header is not that of a safetensors file ({type(problem).__name__}: {problem})", offset=8
        ) from problem
    tensors = {}
    for name, (kind, shape, begin, end) in entries.items():
        if end < begin or start + end > len(content):
            raise request.error(f"the tensor {name} lies outside the file: it was cut short, or its header is wrong")
        needed = prod(shape) * np.dtype(DTYPES[kind]).itemsize
        if needed != end - begin:
            raise request.error(f"the tensor {name} has {end - begin:,} bytes, its shape {shape} needs {needed:,}")
        tensors[name] = Tensor(kind, content[start + begin : start + end].view(DTYPES[kind]).reshape(shape))
    reached = 0
    for name, (_, _, begin, end) in sorted(entries.items(), key=lambda item: item[1][2:]):
        if begin != reached:
            raise request.error(f"the tensor {name} does not begin where the one before it ends; save the file again")
        reached = end
    if start + reached != len(content):
        remaining = len(content) - start - reached
        raise request.error(f"the tensors end {remaining:,} bytes before the file does; save the file again")
    return tensors


def _check_entry(entry: JsonObject) -> tuple[str, tuple[int, ...], int, int]:
    shape, (begin, end), dtype = entry["shape"], entry["data_offsets"], entry["dtype"]
    if dtype not in DTYPES or not all(isinstance(number, int) and number >= 0 for number in [*shape, begin, end]):
        raise ValueError(f"a tensor of {dtype!r} with shape {shape!r}")
    return dtype, tuple(shape), begin, end


def widen_bfloat16(halves: Vectors) -> Vectors:
    """From the upper halves of 32-bit numbers (bfloat16) to the numbers."""
    return (halves.astype("<u4") << 16).view("<f4")


def _pieces(request: Request, tensors: dict[str, Tensor], text: str, ends: str) -> list[bytes]:
    """Cut the bytes of one tensor at the ends that another tells."""
    if [(tensors[name].kind, tensors[name].numbers.ndim) for name in (text, ends)] != [("U8", 1), ("I64", 1)]:
        raise request.error(f"expected {text} as a list of U8 and {ends} as a list of I64")
    raw, cuts = tensors[text].numbers.tobytes(), [0, *tensors[ends].numbers.tolist()]
    if cuts != sorted(cuts) or cuts[-1] != len(raw):
        raise request.error(f"{ends} does not cut {text} into pieces: its numbers must rise to the length of {text}")
    return [raw[first:last] for first, last in pairwise(cuts)]


def read_subwords(request: Request) -> tuple[tuple[str, ...], Singles, tuple[int, int]]:
    """Read character n-grams, their vectors (which stay on disk) and the fewest and most characters they have."""
    with request.open(quiet=True) as source, source.seekable() as file:
        tensors = map_tensors(request, file)
    missing = [name for name in SUBWORD_TENSORS if name not in tensors]
    if missing:
        raise request.error(
            f"holds no character n-grams (no tensor {missing[0]}); save(…, subwords=…) writes them beside the words"
        )
    (kind, matrix), (lengths_kind, lengths) = tensors["subword_vectors"], tensors["subword_lengths"]
    if (kind, matrix.ndim) != ("F32", 2) or 0 in matrix.shape:
        raise request.error("expected subword_vectors as a matrix of F32, n-grams × dimensions")
    if (lengths_kind, lengths.shape) != ("I64", (2,)):
        raise request.error("expected subword_lengths as two I64")
    pieces = _pieces(request, tensors, "subwords", "subword_ends")
    if len(pieces) != len(matrix):
        raise request.error(f"there are {len(pieces):,} n-grams for {len(matrix):,} vectors")
    try:
        ngrams = tuple(piece.decode("utf-8") for piece in pieces)
    except UnicodeDecodeError as problem:
        raise request.error(f"an n-gram is not valid UTF-8 ({problem.reason})") from problem
    return ngrams, matrix, (int(lengths[0]), int(lengths[1]))


def _matches(head: bytes, _request: Request) -> bool:
    return head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= LONGEST_HEADER


FORMAT = VectorFormat("safetensors", "safetensors", _matches, read_safetensors, 30)
