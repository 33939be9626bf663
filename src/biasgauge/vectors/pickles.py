"""Pickles as biasgauge reads them: plain values from a file, by an interpreter that runs nothing; see `io`."""

from __future__ import annotations

import mmap
import re
from collections.abc import Collection, Sequence
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from biasgauge.core import Array
from biasgauge.errors import EmbeddingFormatError
from biasgauge.io import ByteSource, PickledRecord, PickleProblem, PickleRefusal, interpret_pickle
from biasgauge.vectors.formats.vector_format import NoticeBook, brief
from biasgauge.vectors.rows import decode, is_utf8

CONVERT = (
    "where you trust it: v = gensim.utils.SaveLoad.load(path); getattr(v, 'wv', v).save_word2vec_format('v.bin', "
    "binary=True)"
)
"""What to do with a pickle that cannot be read as plain values; `SaveLoad` loads every class of gensim."""
ARRAYS = frozenset(
    [
        "_codecs.encode",
        "numpy.dtype",
        "numpy.ndarray",
        *(f"numpy.{core}.multiarray._reconstruct" for core in ("core", "_core")),
        *(f"numpy.{core}.numeric._frombuffer" for core in ("core", "_core")),
    ]
)
"""Names that stand in the pickle of a NumPy array."""
_TYPE_CODES = re.compile(r"[fiu][1248]")
_BYTE_ORDERS = ("<", ">", "=", "|")


class Unpickled(NamedTuple):
    """Value of a pickle, and the bytes that it takes there, decompressed."""

    value: object
    size: int


def unpickle(path: Path, names: Collection[str] = frozenset()) -> Unpickled:
    """Read the plain values of a pickle; `names` are those of records that it may hold, as `interpret_pickle` says.

    Raises:
        EmbeddingFormatError: it is damaged, or holds more than plain values.
    """
    with ByteSource(path, error=EmbeddingFormatError) as source, source.seekable() as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return Unpickled(interpret_pickle(content, names), len(content))
    except PickleProblem as problem:
        sentence = f"{problem}; {CONVERT}" if isinstance(problem, PickleRefusal) else str(problem)
        raise EmbeddingFormatError(brief(sentence, 800), path=path, offset=problem.offset) from problem


def decode_word(word: str | bytes, book: NoticeBook) -> str:
    r"""Text of a pickled word; bytes that are not UTF-8, and halves of surrogate pairs, become `\xNN`."""
    if isinstance(word, str):
        if word.isascii() or is_utf8(word):
            return word
        word = word.encode("utf-8", "surrogatepass")
    return decode(word, book)


def decode_words(words: Sequence[str | bytes], book: NoticeBook) -> list[str]:
    """Text of words of a pickle or a table, all at once where every word is text that can be written.

    A long text that is named again and again is joined once.
    """
    if set(map(type, words)) <= {str} and is_utf8("".join(set(cast("Sequence[str]", words)))):
        return list(cast("Sequence[str]", words))
    return [decode_word(word, book) for word in words]


def as_array(value: object) -> Array | None:
    """NumPy array of the record that stands for one, over the bytes in the pickle; None for anything else.

    A record of `_reconstruct` has the state (version, shape, type, column by column, bytes); one of `_frombuffer` the
    arguments (bytes, type, shape, order).

    Raises:
        ValueError: it is an array of something else than numbers, or its bytes do not fit its shape.
    """
    if not isinstance(value, PickledRecord):
        return None
    if value.name.name == "_reconstruct" and isinstance(value.state, tuple) and len(value.state) == 5:
        _, shape, kind, fortran, raw = value.state
    elif value.name.name == "_frombuffer" and len(value.arguments) == 4:
        raw, kind, shape, order = value.arguments
        fortran = order == "F"
    else:
        return None
    dtype = _number_type(kind)
    if not isinstance(shape, tuple) or not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError("an array has no shape")
    content = _raw_bytes(raw)
    if prod(shape) * dtype.itemsize != len(content):
        raise ValueError(f"an array of shape {shape} has {len(content):,} bytes")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


def _number_type(kind: object) -> np.dtype[Any]:
    """Type of numbers that a record of `numpy.dtype` names: ("f4", …) with the state (version, byte order, …)."""
    code = kind.arguments[0] if isinstance(kind, PickledRecord) and kind.arguments else None
    state = kind.state if isinstance(kind, PickledRecord) else None
    order = state[1] if isinstance(state, tuple) and len(state) > 1 else "="
    if not isinstance(code, str) or not _TYPE_CODES.fullmatch(code) or order not in _BYTE_ORDERS:
        raise ValueError("an array holds something else than numbers")
    return np.dtype(f"{'' if order == '|' else order}{code}")


def _raw_bytes(raw: object) -> bytes | memoryview:
    """Bytes of an array; protocol 2 writes them as text of one character a byte, Python 2 as a string."""
    if isinstance(raw, PickledRecord) and str(raw.name) == "_codecs.encode" and len(raw.arguments) == 2:
        text, encoding = raw.arguments
        if isinstance(text, str) and encoding in ("latin1", "latin-1"):
            return text.encode("latin-1")
    if isinstance(raw, str):
        return raw.encode("utf-8", "surrogatepass")
    if not isinstance(raw, (bytes, memoryview)):
        raise ValueError("an array has no bytes")  # noqa: TRY004 - damage, not a wrong argument
    return raw
