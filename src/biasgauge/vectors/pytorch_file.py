"""PyTorch's files (`torch.save`) with the weights of an embedding: a state dict, a module `Embedding`, or a tensor.

Such a file is a zip archive: a pickle says which tensors there are, and their numbers lie in members of their own. The
pickle is interpreted as plain values and records of a few known names; PyTorch is not needed, and nothing is run. The
words come from a vocabulary, as for a bare `.npy`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from biasgauge.core import Array
from biasgauge.io import PERSISTENT, PickledRecord, PickleProblem, expansion_limit, interpret_pickle
from biasgauge.vectors.formats.safetensors_file import widen_bfloat16
from biasgauge.vectors.formats.vector_format import Request, VectorTable
from biasgauge.vectors.rows import check_matrix, select_rows
from biasgauge.vectors.vocabulary import read_vocabulary

_STORAGES = {"FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2", "BFloat16Storage": "<u2"}
_NAMES = frozenset(
    [
        PERSISTENT,
        "collections.OrderedDict",
        "torch._utils._rebuild_tensor_v2",
        "torch._utils._rebuild_parameter",
        "torch.nn.modules.sparse.Embedding",
        "torch.nn.modules.sparse.EmbeddingBag",
        "__builtin__.set",
        *(f"torch.{storage}" for storage in (*_STORAGES, "LongStorage", "IntStorage", "BoolStorage")),
    ]
)
_PICKLE = "/data.pkl"
_EMBEDDINGS = ("embedding.weight", "embeddings.weight", "word_embeddings.weight", "embed.weight", "emb.weight")
_LONGEST_PICKLE = 2**26
_DEEPEST = 20
_CONVERT = "save the weights alone: torch.save(model.state_dict(), 'weights.pt')"


def read_pytorch(request: Request) -> VectorTable:
    """Read the one matrix of a file, or the one that is named as an embedding."""
    with request.open() as source, source.seekable() as file, request.archive(file) as archive:
        member = next(name for name in archive.namelist() if name.endswith(_PICKLE))
        if archive.getinfo(member).file_size > _LONGEST_PICKLE:
            raise request.error(f"has a pickle of {archive.getinfo(member).file_size:,} bytes")
        try:
            value = interpret_pickle(archive.read(member), _NAMES)
        except PickleProblem as problem:
            raise request.error(f"PyTorch: {problem}; {_CONVERT}") from problem
        matrices = {name: tensor for name, tensor in _tensors(value, "", set()) if _is_matrix(tensor)}
        name, tensor = _choose(request, matrices)
        matrix, kind = _map_tensor(request, file, archive, member.removesuffix(_PICKLE), tensor)
    check_matrix(request, f"the tensor {name}", matrix.shape, matrix.dtype)
    if not len(matrix):
        raise request.error(f"the tensor {name} has no rows")
    words = read_vocabulary(request)
    return select_rows(request, words, matrix, convert=widen_bfloat16 if kind == "BFloat16Storage" else None)


def _tensors(value: object, name: str, seen: set[int]) -> Iterator[tuple[str, PickledRecord]]:
    """Tensors of nested dicts and modules, with their names; what stands in several places is visited once."""
    if id(value) in seen or name.count(".") > _DEEPEST:
        return
    if isinstance(value, (dict, PickledRecord)):
        seen.add(id(value))
    if isinstance(value, PickledRecord):
        kind = value.name.name
        if kind == "_rebuild_tensor_v2":
            yield name, value
        elif kind == "_rebuild_parameter" and value.arguments:
            yield from _tensors(value.arguments[0], name, seen)
        elif kind == "OrderedDict":
            yield from _tensors(value.entries, name, seen)
        elif isinstance(value.state, dict):
            yield from _tensors(value.state.get("_parameters"), name, seen)
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _tensors(entry, f"{name}.{key}" if name else str(key), seen)


def _is_matrix(tensor: PickledRecord) -> bool:
    size = tensor.arguments[2] if len(tensor.arguments) > 3 else None
    return isinstance(size, tuple) and len(size) == 2 and all(type(length) is int and length >= 0 for length in size)


def _choose(request: Request, matrices: dict[str, PickledRecord]) -> tuple[str, PickledRecord]:
    chosen = matrices
    if len(matrices) > 1:
        chosen = {name: matrix for name, matrix in matrices.items() if name.endswith(_EMBEDDINGS)}
    if len(chosen) != 1:
        names = ", ".join(sorted(matrices)[:5]) or "none"
        raise request.error(
            f"is a PyTorch file whose pickle should name one matrix of an embedding; found {names}: save one alone, as "
            "torch.save({'embedding.weight': matrix}, 'weights.pt')"
        )
    return next(iter(chosen.items()))


def _map_tensor(
    request: Request, file: BinaryIO, archive: zipfile.ZipFile, prefix: str, tensor: PickledRecord
) -> tuple[Array, str]:
    """Map the numbers of a tensor, which must lie row by row; and the kind of its storage."""
    storage, offset, size, stride, *_ = tensor.arguments
    reference = storage.arguments[0] if isinstance(storage, PickledRecord) and storage.arguments else ()
    if not isinstance(reference, tuple) or len(reference) < 3 or type(offset) is not int or offset < 0:
        raise request.error("is a PyTorch file with a tensor without a storage")
    kind = getattr(reference[1], "name", "")
    if kind not in _STORAGES or stride != (size[1], 1):
        raise request.error(
            f"has a matrix of {kind or 'unknown numbers'} that is not stored row by row; save matrix.contiguous()"
        )
    dtype = np.dtype(_STORAGES[kind])
    entry = archive.getinfo(f"{prefix}/data/{reference[2]}")
    order = f"{prefix}/byteorder"
    if order in archive.namelist() and archive.read(order)[:8] != b"little":
        raise request.error("is a PyTorch file of a machine of another byte order; save it again as safetensors")
    start, needed = offset * dtype.itemsize, size[0] * size[1] * dtype.itemsize
    if start + needed > entry.file_size or entry.file_size > expansion_limit(entry.compress_size):
        raise request.error(f"the tensor promises {needed:,} bytes, more than the archive holds")
    if entry.compress_type != zipfile.ZIP_STORED or not needed:
        content = archive.read(entry)[start : start + needed]
        return np.frombuffer(content, dtype).reshape(size), kind
    with archive.open(entry):  # compares the name in the local header with that in the list
        pass
    file.seek(entry.header_offset + 26)  # lengths of the name and of the further fields before the numbers
    lengths = file.read(4)
    begin = entry.header_offset + 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
    return np.memmap(file, dtype, "r", begin + start, shape=size), kind


def holds_weights(request: Request) -> bool:
    """Tell whether a zip archive is one of PyTorch."""
    with request.open(quiet=True) as source, source.seekable() as file, request.archive(file) as archive:
        return any(name.endswith(_PICKLE) for name in archive.namelist())
