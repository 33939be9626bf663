"""Formats recognized by their first bytes; their readers are imported where a file of theirs is met."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from functools import partial
from importlib import import_module

from biasgauge.vectors.formats.vector_format import Request, VectorFormat, VectorTable

FASTTEXT_MAGIC = struct.pack("<i", 793712314)
_PICKLE = re.compile(
    rb"\x80[\x00-\x05]"  # protocols 2 to 5 say so
    rb"|\(?\([ld]p\d+\n"  # protocol 0: a list or dict (the first of a pair), and its number in the memo
    rb"|\(?[]}]q[\x00-\x08][(.UX]"  # protocol 1, likewise
    rb"|\([VS][^\n]*\np\d+\n|\(X..\0\0"  # a tuple of text, in protocols 0 and 1
    rb"|c[a-z_]+[\w.]*\n\w+\n(?:p\d+\n|q[\x00-\x1f]|\([c(])",  # an object's class, in protocols 0 and 1
    re.DOTALL,
)
_ARROW_STREAM = re.compile(rb"\xff{4}...\0[\x04-\x40]\0\0\0", re.DOTALL)
_R_MARKS = (b"X\n\x00\x00\x00\x02", b"X\n\x00\x00\x00\x03", b"RDX2\nX\n", b"RDX3\nX\n")
_GENSIM_HEAD = 256
_ZIP = b"PK\x03\x04"


def is_pickle(head: bytes) -> bool:
    """Tell whether the first bytes are those of a pickle, of any protocol."""
    return _PICKLE.match(head) is not None


def _is_parquet(head: bytes, _request: Request) -> bool:
    return head.startswith(b"PAR1")


def _is_arrow(head: bytes, _request: Request) -> bool:
    """Tell whether it is a file of Arrow, or a stream: a mark, the length of the schema, and the place of its table."""
    return head.startswith(b"ARROW1") or _ARROW_STREAM.match(head) is not None


def _is_fasttext(head: bytes, _request: Request) -> bool:
    return head.startswith(FASTTEXT_MAGIC)


def _is_pytorch(head: bytes, request: Request) -> bool:
    if not head.startswith(_ZIP):
        return False
    from biasgauge.vectors.pytorch_file import holds_weights

    return holds_weights(request)


def _is_npz(head: bytes, request: Request) -> bool:
    if not head.startswith(_ZIP):
        return False
    from biasgauge.vectors.numpy_arrays import holds_arrays

    return holds_arrays(request)


def _is_npy(head: bytes, _request: Request) -> bool:
    return head.startswith(b"\x93NUMPY")


def _is_gensim(head: bytes, _request: Request) -> bool:
    return is_pickle(head) and b"gensim" in head[:_GENSIM_HEAD]


def _is_pickle(head: bytes, _request: Request) -> bool:
    return is_pickle(head)


def _is_r(head: bytes, _request: Request) -> bool:
    return head.startswith(_R_MARKS)


def _is_text(name: str, head: bytes, _request: Request) -> bool:
    """Tell whether the first bytes are in the format of that name: text, or binary rows after a header of text."""
    from biasgauge.vectors.plain_text import text_kind

    return text_kind(head) == name


def _imported(reader: str) -> Callable[[Request], VectorTable]:
    """Return a reader that imports "module:function" of `biasgauge.vectors` when it is called."""

    def read(request: Request) -> VectorTable:
        module, _, function = reader.partition(":")
        table: VectorTable = getattr(import_module(f"biasgauge.vectors.{module}"), function)(request)
        return table

    return read


_WEIGHTS = "PyTorch's weights of an embedding, with a vocabulary"
_PICKLED = "pickle of a dict of word to numbers, or of (words, rows)"
_TEXT, _BINARY, _GLOVE = (partial(_is_text, name) for name in ("word2vec-text", "word2vec-binary", "glove-text"))
FORMAT = (
    VectorFormat("pytorch", _WEIGHTS, _is_pytorch, _imported("pytorch_file:read_pytorch"), 9),
    VectorFormat("npz", ".npz with words and vectors", _is_npz, _imported("numpy_arrays:read_npz"), 10),
    VectorFormat("npy", ".npy with a vocabulary", _is_npy, _imported("numpy_arrays:read_npy"), 20),
    VectorFormat("parquet", "Parquet", _is_parquet, _imported("arrow_table:read_parquet"), 24),
    VectorFormat("arrow", "Arrow and Feather", _is_arrow, _imported("arrow_table:read_arrow"), 26),
    VectorFormat("fasttext", "fastText .bin", _is_fasttext, _imported("fasttext_bin:read_fasttext"), 32),
    VectorFormat("gensim", "gensim's .kv and .model", _is_gensim, _imported("gensim_file:read_gensim"), 34),
    VectorFormat("pickle", _PICKLED, _is_pickle, _imported("pickled_words:read_pickled_words"), 35),
    VectorFormat("r", ".rds and .RData of R", _is_r, _imported("r_object:read_r_vectors"), 36),
    VectorFormat("word2vec-text", "word2vec text, fastText .vec", _TEXT, _imported("plain_text:read_text"), 40),
    VectorFormat("word2vec-binary", "word2vec binary", _BINARY, _imported("word2vec_binary:read_word2vec_binary"), 50),
    VectorFormat("glove-text", "GloVe text", _GLOVE, _imported("plain_text:read_text"), 90),
)
