"""Formats whose readers are imported where a file of theirs is met: fastText's `.bin`, pickles, R's, Parquet and Arrow.

They are recognized here by their first bytes, so that reading any other file loads none of their readers.
"""

from __future__ import annotations

import re
import struct

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
    if not head.startswith(b"PK\x03\x04"):
        return False
    from biasgauge.vectors.pytorch_file import holds_weights

    return holds_weights(request)


def _is_gensim(head: bytes, _request: Request) -> bool:
    return is_pickle(head) and b"gensim" in head[:_GENSIM_HEAD]


def _is_pickle(head: bytes, _request: Request) -> bool:
    return is_pickle(head)


def _is_r(head: bytes, _request: Request) -> bool:
    return head.startswith(_R_MARKS)


def _read_parquet(request: Request) -> VectorTable:
    from biasgauge.vectors.arrow_table import read_parquet

    return read_parquet(request)


def _read_arrow(request: Request) -> VectorTable:
    from biasgauge.vectors.arrow_table import read_arrow

    return read_arrow(request)


def _read_fasttext(request: Request) -> VectorTable:
    from biasgauge.vectors.fasttext_bin import read_fasttext

    return read_fasttext(request)


def _read_pytorch(request: Request) -> VectorTable:
    from biasgauge.vectors.pytorch_file import read_pytorch

    return read_pytorch(request)


def _read_gensim(request: Request) -> VectorTable:
    from biasgauge.vectors.gensim_file import read_gensim

    return read_gensim(request)


def _read_pickled_words(request: Request) -> VectorTable:
    from biasgauge.vectors.pickled_words import read_pickled_words

    return read_pickled_words(request)


def _read_r(request: Request) -> VectorTable:
    from biasgauge.vectors.r_object import read_r_vectors

    return read_r_vectors(request)


FORMAT = (
    VectorFormat("pytorch", "PyTorch's weights of an embedding, with a vocabulary", _is_pytorch, _read_pytorch, 9),
    VectorFormat("parquet", "Parquet", _is_parquet, _read_parquet, 24),
    VectorFormat("arrow", "Arrow and Feather", _is_arrow, _read_arrow, 26),
    VectorFormat("fasttext", "fastText .bin", _is_fasttext, _read_fasttext, 32),
    VectorFormat("gensim", "gensim's .kv and .model", _is_gensim, _read_gensim, 34),
    VectorFormat(
        "pickle", "pickle of a dict of word to numbers, or of (words, rows)", _is_pickle, _read_pickled_words, 35
    ),
    VectorFormat("r", ".rds and .RData of R", _is_r, _read_r, 36),
)
