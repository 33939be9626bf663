"""Pickles as biasgauge reads them: plain values from a file, by an interpreter that runs nothing; see `io`."""

from __future__ import annotations

import mmap
import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from biasgauge.errors import EmbeddingFormatError
from biasgauge.io import ByteSource, PickleProblem, PickleRefusal, interpret_pickle
from biasgauge.vectors.formats.vector_format import NoticeBook, brief
from biasgauge.vectors.rows import decode

_MARK = re.compile(
    rb"\x80[\x00-\x05]"  # protocols 2 to 5 say so
    rb"|\(?\([ld]p\d+\n"  # protocol 0: a list or dict (the first of a pair), and its number in the memo
    rb"|\(?[]}]q.[(.UX]"  # protocol 1, likewise
    rb"|\([VS][^\n]*\np\d+\n|\(X..\0\0"  # a tuple of text, in protocols 0 and 1
    rb"|c[\w.]+\n\w+\n[pq(]",  # an object's class, in protocols 0 and 1
    re.DOTALL,
)
CONVERT = (
    "where you trust the file, convert it once with gensim: "
    "KeyedVectors.load(path).save_word2vec_format('vectors.bin', binary=True)"
)


class Unpickled(NamedTuple):
    """Value of a pickle, and the bytes that it takes there, decompressed."""

    value: object
    size: int


def is_pickle(head: bytes) -> bool:
    """Tell whether the first bytes are those of a pickle, of any protocol."""
    return _MARK.match(head) is not None


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
    return decode(word.encode("utf-8", "surrogatepass") if isinstance(word, str) else word, book)
