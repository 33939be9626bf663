"""`save`: an `Embedding` to a file that appears whole or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from biasgauge.core import Integers
from biasgauge.errors import ParameterError
from biasgauge.io import atomic_file, header_bytes, refuse_inputs, write_npz, write_text
from biasgauge.vectors.embedding import Embedding
from biasgauge.vectors.frequencies import Frequencies
from biasgauge.vectors.loading import load
from biasgauge.vectors.vocabulary import SUFFIXES

if TYPE_CHECKING:
    from biasgauge.core import VectorsLike
    from biasgauge.vectors.subwords import Subwords

FORMATS = {
    ".safetensors": "safetensors",
    ".bin": "word2vec-binary",
    ".txt": "word2vec-text",
    ".vec": "word2vec-text",
    ".npz": "npz",
    ".npy": "npy",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
"""Format of each ending."""
_DIGITS = {2: 9, 4: 9, 8: 17}
"""Significant decimal digits from which a number of so many bytes can be read back exactly, as 32-bit or longer."""

_ROWS = 4096
_GROUP = 65_536
"""Rows of a batch of a table."""


def save(
    vectors: VectorsLike,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    counts: Integers | None = None,
    subwords: Subwords | None = None,
) -> Path:
    """Write vectors to `path` and return it.

    Args:
        vectors: what to write: an `Embedding` or anything `load` takes.
        path: where; an existing file is replaced in one step, unless the vectors were read from it.
        format: "safetensors" (any word, any precision, memory-mapped on reading), "word2vec-binary" (32-bit),
            "word2vec-text", "npz", "npy" (with the words in `NAME.vocab` beside it), "parquet" or "arrow"; by default
            found from the ending (`.safetensors`, `.bin`, `.txt`, `.vec`, `.npz`, `.npy`, `.parquet`, `.arrow`,
            `.feather`). A further `.gz` compresses.
        counts: occurrences of each word in the training text; by default the frequencies of the `Embedding`. Only
            safetensors can hold them.
        subwords: vectors of character n-grams to keep in the same file, which must be safetensors; `load_subwords`
            reads them back.

    Raises:
        ParameterError: the format is unknown, or cannot hold a word (word2vec's formats cannot hold blanks), a number
            (they are read as 32-bit), counts or n-grams, or needs what is not installed.
        InputError: `path` is the file that the vectors come from, which is never overwritten.
    """
    target = Path(path)
    ending = Path(target.name.removesuffix(".gz")).suffix
    chosen = format or FORMATS.get(ending)
    if chosen is None or chosen not in FORMATS.values():
        formats = ", ".join(sorted({*FORMATS.values()}))
        raise ParameterError(
            f"The 'format' parameter of save must be one of {formats}, or follow from the file's "
            f"ending ({', '.join(FORMATS)}). Got {format!r} for {target.name}."
        )
    for content, value in (("counts", counts), ("the vectors of n-grams", subwords)):
        if value is not None and chosen != "safetensors":
            raise ParameterError(f"The format {chosen} cannot hold {content}; use safetensors.")
    refuse_inputs(target, [vectors])
    embedding = load(vectors)
    refuse_inputs(target, [embedding.source])
    if subwords is not None and subwords.dim != embedding.dim:
        raise ParameterError(
            f"Vectors of n-grams and of words must have one number of dimensions. Got {subwords.dim} and "
            f"{embedding.dim}."
        )
    if chosen == "npy":
        _write_vocabulary(embedding, target)
    with atomic_file(target) as temporary, temporary.open("wb") as raw, ExitStack() as stack:
        file: BinaryIO = raw
        if target.name.endswith(".gz"):
            # No name and no time in the header: the same vectors give the same bytes.
            packed = gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)
            file = cast("BinaryIO", stack.enter_context(packed))
        if chosen == "safetensors":
            frequencies = embedding.frequencies if counts is None else Frequencies(counts)
            _write_safetensors(embedding, file, frequencies, subwords)
        elif chosen in _WRITERS:
            _WRITERS[chosen](embedding, file)
        else:
            _refuse_what_word2vec_lacks(embedding, chosen)
            file.write(f"{len(embedding)} {embedding.dim}\n".encode())
            (_write_binary if chosen == "word2vec-binary" else _write_text)(embedding, file)
    return target


def _write_safetensors(
    embedding: Embedding, file: BinaryIO, frequencies: Frequencies | None, subwords: Subwords | None
) -> None:
    from safetensors.numpy import save as to_bytes

    tensors: dict[str, Any] = {
        "vectors": np.ascontiguousarray(embedding.vectors),
        **_text_tensors(embedding.words, "words", "word_ends"),
    }
    if frequencies is not None:
        tensors[frequencies.kind] = np.ascontiguousarray(frequencies.values)
    if subwords is not None:
        tensors |= {
            "subword_vectors": np.ascontiguousarray(subwords.vectors),
            **_text_tensors(subwords.ngrams, "subwords", "subword_ends"),
            "subword_lengths": np.array([subwords.min_n, subwords.max_n], np.int64),
        }
    file.write(to_bytes(tensors, metadata={"format": "biasgauge embedding 1"}))


def _text_tensors(words: Sequence[str], text: str, ends: str) -> dict[str, Any]:
    raw = [word.encode("utf-8") for word in words]
    return {text: np.frombuffer(b"".join(raw), np.uint8), ends: np.cumsum([len(word) for word in raw], dtype=np.int64)}


def _write_npz(embedding: Embedding, file: BinaryIO) -> None:
    _refuse_words(embedding, "npz", "\0")
    words = np.array(embedding.words)
    write_npz(file, {"words": words, "vectors": np.asarray(embedding.vectors)})


def _write_npy(embedding: Embedding, file: BinaryIO) -> None:
    vectors = embedding.vectors
    file.write(header_bytes(vectors.dtype, vectors.shape))
    file.writelines(
        np.ascontiguousarray(vectors[start : start + _ROWS]).data for start in range(0, len(embedding), _ROWS)
    )


def _write_vocabulary(embedding: Embedding, target: Path) -> None:
    """Write the words of a matrix beside it, one a line, where the reader of `.npy` looks for them."""
    _refuse_words(embedding, "npy", "\n\r\ufeff")
    path = target.with_name(Path(target.name.removesuffix(".gz")).with_suffix(SUFFIXES[0]).name)
    refuse_inputs(path, [embedding.source])
    write_text(path, "".join(f"{word}\n" for word in embedding.words))


def _write_arrow(embedding: Embedding, file: BinaryIO) -> None:
    pa = _import_arrow()
    schema, batches = _record_batches(embedding)
    with pa.ipc.new_file(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _write_parquet(embedding: Embedding, file: BinaryIO) -> None:
    _import_arrow()
    import pyarrow.parquet as pq

    schema, batches = _record_batches(embedding)
    with pq.ParquetWriter(file, schema, use_dictionary=False, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch, row_group_size=_GROUP)


def _record_batches(embedding: Embedding) -> tuple[Any, Iterator[Any]]:
    """Schema and batches of a table with the columns `word` and `vector`."""
    pa = _import_arrow()
    kind = pa.list_(pa.from_numpy_dtype(embedding.vectors.dtype), embedding.dim)
    schema = pa.schema([("word", pa.string()), ("vector", kind)])
    batches = (
        pa.record_batch(
            [
                pa.array(embedding.words[start : start + _GROUP]),
                pa.FixedSizeListArray.from_arrays(pa.array(np.ravel(block)), type=kind),
            ],
            schema=schema,
        )
        for start in range(0, len(embedding), _GROUP)
        for block in (embedding.vectors[start : start + _GROUP],)
    )
    return schema, batches


def _import_arrow() -> Any:  # noqa: ANN401 - pyarrow need not be installed
    try:
        import pyarrow as pa
    except ImportError as problem:
        raise ParameterError('Parquet and Arrow need an extra: pip install "biasgauge[tables]"') from problem
    return pa


_WRITERS: dict[str, Callable[[Embedding, BinaryIO], None]] = {
    "npz": _write_npz,
    "npy": _write_npy,
    "parquet": _write_parquet,
    "arrow": _write_arrow,
}


def _write_binary(embedding: Embedding, file: BinaryIO) -> None:
    for start in range(0, len(embedding), _ROWS):
        block = np.ascontiguousarray(embedding.vectors[start : start + _ROWS], dtype="<f4")
        words = embedding.words[start : start + _ROWS]
        file.write(b"".join(word.encode() + b" " + row.tobytes() for word, row in zip(words, block, strict=True)))


def _write_text(embedding: Embedding, file: BinaryIO) -> None:
    number = f"%.{_DIGITS[embedding.vectors.dtype.itemsize]}g"
    pattern = " ".join([number] * embedding.dim)
    file.writelines(
        f"{word} {pattern % tuple(row.tolist())}\n".encode()
        for word, row in zip(embedding.words, embedding.vectors, strict=True)
    )


def _refuse_what_word2vec_lacks(embedding: Embedding, chosen: str) -> None:
    _refuse_words(embedding, chosen, " \t\n\r\v\f\0")
    for start in range(0, len(embedding), _ROWS):
        with np.errstate(over="ignore"):
            rounded = embedding.vectors[start : start + _ROWS].astype(np.float32, copy=False)
        if not (finite := np.isfinite(rounded).all(axis=1)).all():
            word = embedding.words[start + int(finite.argmin())]
            raise ParameterError(
                f"The format {chosen} cannot hold the vector of {word!r}, which is too large for 32-bit numbers; use "
                "safetensors."
            )


def _refuse_words(embedding: Embedding, chosen: str, signs: str) -> None:
    """Refuse words that a format cannot hold."""
    for word in embedding.words:
        if any(sign in word for sign in signs):
            raise ParameterError(f"The format {chosen} cannot hold the word {word!r}; use safetensors.")
