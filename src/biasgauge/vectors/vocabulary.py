"""Words of a bare matrix: a file of one word a line, or a pickle of plain words, beside the matrix or named."""

from __future__ import annotations

from pathlib import Path

from biasgauge.errors import EmbeddingFormatError
from biasgauge.io import ByteSource
from biasgauge.vectors.formats.by_first_bytes import is_pickle
from biasgauge.vectors.formats.vector_format import Request
from biasgauge.vectors.pickles import decode_words, unpickle
from biasgauge.vectors.rows import decode, line_blocks
from biasgauge.vectors.static_models import TOKENIZER, WEIGHTS, read_tokens

SUFFIXES = (".vocab", ".vocab.txt", ".words", ".words.txt", ".txt", ".vocab.pkl", "-vocab.pkl")
"""Looked for beside `NAME.npy`, in this order, as `NAME` + suffix."""
HISTWORDS = ("-w", "-vocab.pkl")
"""Ends of the names of a matrix of HistWords and of its vocabulary: `1990-w.npy`, `1990-vocab.pkl`."""
_HEAD = 16


def read_vocabulary(request: Request) -> list[str]:
    """Read the vocabulary that the user named, or the one that lies beside the matrix."""
    path = _vocabulary_path(request)
    if path.name == TOKENIZER:
        return decode_words(read_tokens(path), request.book)
    words: list[str] = []
    with ByteSource(path, error=EmbeddingFormatError) as source:
        if is_pickle(source.read(_HEAD)):
            return _words_of_pickle(request, path)
        source.rewind()
        for lines, _ in line_blocks(source):
            if not words and lines[0].endswith(b"\r"):
                request.book.add("crlf")
            words.extend(decode(line.removesuffix(b"\r"), request.book) for line in lines)
    while words and not words[-1]:
        words.pop()
    if words and words[0].startswith("\ufeff"):
        words[0] = words[0][1:]
        request.book.add("bom")
    return words


def _words_of_pickle(request: Request, path: Path) -> list[str]:
    """Read a pickled list of words, or a dict of word to row (or row to word)."""
    value = unpickle(path).value
    if isinstance(value, dict):
        rows = value if all(isinstance(row, int) for row in value) else _reversed(value)
        if all(row in rows for row in range(len(value))):
            value = [rows[row] for row in range(len(value))]
    if not isinstance(value, (list, tuple)) or not all(isinstance(word, (str, bytes)) for word in value):
        raise EmbeddingFormatError(
            f"is a pickle of a {type(value).__name__} that is no vocabulary: a list of words was expected, or a dict "
            "of each word's row, from 0",
            path=path,
        )
    return decode_words(value, request.book)


def _reversed(rows: dict[object, object]) -> dict[object, object]:
    """Swap words and their rows; empty where a row is no number."""
    return {row: word for word, row in rows.items()} if all(isinstance(row, int) for row in rows.values()) else {}


def _vocabulary_path(request: Request) -> Path:
    if request.vocabulary is not None:
        return request.vocabulary
    stem = request.path.name.removesuffix(".gz").rsplit(".", 1)[0]
    names = [stem + suffix for suffix in SUFFIXES] + ([TOKENIZER] if request.path.name == WEIGHTS else [])
    if stem.endswith(HISTWORDS[0]):
        names.insert(0, stem.removesuffix(HISTWORDS[0]) + HISTWORDS[1])
    for name in names:
        candidate = request.path.with_name(name)
        if candidate.is_file() and not candidate.samefile(request.path):
            return candidate
    raise request.error(
        f"holds vectors but no words; put a file with one word per line beside it, such as {names[0]}, or join "
        "them: biasgauge convert FILE vectors.npz --vocabulary WORDS.txt (vocabulary=… in Python)"
    )
