"""Variances of word vectors from one training run: GloVe-V.

Given the vectors of contexts, the GloVe vector of a word is a weighted least-squares fit to its row of log counts, so
that it has a covariance matrix (Vallebueno, Handan-Nader, Manning & Ho, "Statistical Uncertainty in Word Embeddings:
GloVe-V", EMNLP 2024). The authors' files are read here; `text.training.glove_variances` computes the same for GloVe
that biasgauge trains.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge.core import Floats
from biasgauge.errors import EmbeddingFormatError
from biasgauge.io import ByteSource, atomic_file, make_folder, write_text
from biasgauge.vectors.embedding import Embedding
from biasgauge.vectors.formats.safetensors_file import Tensor, map_tensors, widen_bfloat16
from biasgauge.vectors.formats.vector_format import Request
from biasgauge.vectors.frequencies import Frequencies
from biasgauge.vectors.rows import check_matrix, decode, line_blocks, select_rows

VOCABULARY, VECTORS = "vocab.txt", "vectors.safetensors"
APPROXIMATE, COMPLETE = "ApproximationVariances.safetensors", "CompleteVariances.safetensors"
_MATRIX, _ALL = "center_vectors", "variances"


class VectorVariances(ABC):
    """Word vectors, and the covariance matrix of each.

    Attributes:
        embedding: the vectors.
    """

    embedding: Embedding

    @abstractmethod
    def covariance(self, word: str) -> Floats | None:
        """Covariance matrix of a word's vector, dimensions × dimensions; None where it has none."""


class StoredVariances(VectorVariances):
    """Vectors and covariances in a folder of GloVe-V; the covariances stay on disk until they are used."""

    def __init__(self, embedding: Embedding, rows: Mapping[str, int], tensors: Mapping[str, Tensor]) -> None:
        self.embedding = embedding
        self._rows = rows
        self._tensors = tensors

    def covariance(self, word: str) -> Floats | None:
        """Covariance matrix of a word's vector: complete, diagonal, or of low rank (U · diag(s) · Vᵀ).

        Raises:
            EmbeddingFormatError: it has another shape than the vectors have dimensions.
        """
        row = self._rows[word]
        if (whole := self._numbers(_ALL)) is not None:
            covariance = whole[row] if whole.ndim == 3 and row < len(whole) else whole
        elif (whole := self._numbers(f"complete_{row}")) is not None:
            covariance = whole
        elif (diagonal := self._numbers(f"diag_{row}")) is not None:
            covariance = np.diag(diagonal) if diagonal.ndim == 1 else diagonal
        else:
            left, sizes, right = (self._numbers(f"{name}_{row}") for name in ("U", "s", "Vt"))
            if left is None or sizes is None or right is None:
                return None
            shapes = left.shape[-1:] == sizes.shape == right.shape[:1]
            covariance = (left * sizes) @ right if shapes and left.ndim == right.ndim == 2 else sizes
        dim = self.embedding.dim
        if covariance.shape != (dim, dim) or not np.isfinite(covariance).all():
            raise EmbeddingFormatError(
                f"the covariance of {word!r} should be {dim} × {dim} finite numbers; found {covariance.shape}",
                path=self.embedding.source,
            )
        return np.asarray(covariance + covariance.T, np.float64) / 2

    def _numbers(self, name: str) -> Floats | None:
        tensor = self._tensors.get(name)
        if tensor is None:
            return None
        return np.asarray(widen_bfloat16(tensor.numbers) if tensor.kind == "BF16" else tensor.numbers, np.float64)


def load_variances(folder: str | os.PathLike[str]) -> StoredVariances:
    """Read a folder of GloVe-V: `vocab.txt`, `vectors.safetensors`, and the approximate or complete variances.

    Raises:
        EmbeddingFormatError: a file is missing or damaged, or they do not belong together.
    """
    path = Path(folder)
    request = Request(path / VECTORS)
    words, counts = _read_vocabulary(path / VOCABULARY, request)
    tensors = _map(path / VECTORS)
    if _MATRIX not in tensors:
        raise request.error(f"expected the tensor {_MATRIX}, found {', '.join(sorted(tensors)[:5]) or 'none'}")
    matrix = tensors[_MATRIX].numbers
    check_matrix(request, f"the tensor {_MATRIX}", matrix.shape, matrix.dtype)
    convert = widen_bfloat16 if tensors[_MATRIX].kind == "BF16" else None
    table = select_rows(request, words, matrix, convert=convert)
    files = [name for name in (COMPLETE, APPROXIMATE) if (path / name).is_file()]
    if not files:
        raise request.error(f"lies without its variances; put {APPROXIMATE} or {COMPLETE} beside it")
    embedding = Embedding(
        words=table.words,
        vectors=table.vectors,
        name=path.resolve().name,
        source=str(path / VECTORS),
        format="safetensors",
        notices=request.book.notices(),
        dropped=table.dropped,
        frequencies=None if counts is None else Frequencies(counts, source=str(path)).of_table(words, table.words),
    )
    rows = {word: row for row, word in reversed(list(enumerate(words)))}
    return StoredVariances(embedding, rows, _map(path / files[0]))


def _map(path: Path) -> dict[str, Tensor]:
    request = Request(path)
    with request.open() as source, source.seekable() as file:
        return map_tensors(request, file)


def _read_vocabulary(path: Path, request: Request) -> tuple[list[str], Any]:
    """Words, and their counts where each line has one."""
    words: list[str] = []
    counts: list[int] = []
    with ByteSource(path, error=EmbeddingFormatError) as source:
        for lines, _ in line_blocks(source):
            for line in lines:
                word, _, count = line.strip(b"\r").partition(b" ")
                words.append(decode(word, request.book))
                if count.strip().isdigit() and len(count) < 18:
                    counts.append(int(count))
    return words, np.array(counts, np.int64) if len(counts) == len(words) else None


def save_variances(variances: VectorVariances, folder: str | os.PathLike[str], words: Iterable[str]) -> Path:
    """Write some words with their vectors and complete covariances in the layout of GloVe-V.

    Words without a covariance are left out.
    """
    from safetensors.numpy import save as to_bytes

    chosen = {word: covariance for word in words if (covariance := variances.covariance(word)) is not None}
    model = variances.embedding.subset(chosen)
    counts = None if model.frequencies is None else model.frequencies.values
    tensors = {f"complete_{row}": np.asarray(chosen[word], np.float32) for row, word in enumerate(model.words)}
    path = Path(folder)
    make_folder(path)
    lines = (word if counts is None else f"{word} {counts[row]}" for row, word in enumerate(model.words))
    write_text(path / VOCABULARY, "".join(f"{line}\n" for line in lines))
    for name, content in ((VECTORS, {_MATRIX: np.asarray(model.vectors, np.float32)}), (APPROXIMATE, tensors)):
        with atomic_file(path / name) as temporary:
            temporary.write_bytes(to_bytes(content))
    return path
