"""fastText's own `.bin` (versions 11 and 12): vocabulary, character n-grams in buckets, vectors; memory-mapped.

    magic, version, 12 settings (int32), sampling threshold (double)
    entries, words, labels (int32), tokens (int64), pruned n-grams (int64, −1 where it was not pruned)
    entries: word, NUL, count (int64), 0 for a word and 1 for a label (int8)
    quantized (int8), rows, dimensions (int64), rows × dimensions (float32): the words, then the buckets of n-grams
    the output layer, which is not read

The vector of a word is the mean of its own row and of the rows of its n-grams, as in `hashed_ngrams`.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from biasgauge.core import Array, Integers
from biasgauge.vectors.formats.vector_format import Request, VectorTable
from biasgauge.vectors.frequencies import Frequencies
from biasgauge.vectors.hashed_ngrams import compose
from biasgauge.vectors.rows import RowTable, check_matrix, decode, refuse_impossible_size, select_rows

_VERSIONS = (11, 12)
_SETTINGS = struct.Struct("<12id")
_SIZES = struct.Struct("<iiiqq")
_ENTRY = re.compile(rb"([^\0]{0,65536})\0(?s:(.{8})(.))")
_MATRIX = struct.Struct("<bqq")
_SUPERVISED = 3
_MOST_CHARACTERS = 100
_QUANTIZED = (
    "is a quantized fastText model (.ftz), whose vectors are only approximate; give the .bin that it was made from, or "
    "the .vec file"
)


@dataclass(frozen=True, eq=False)
class FastTextModel:
    """Words and numbers of a model, the numbers mapped.

    Attributes:
        words: the vocabulary, as bytes.
        counts: occurrences of each word in the training text.
        own_rows: a row for each word, as bytes.
        buckets: a row for each bucket of n-grams, as bytes.
        min_n: fewest characters of an n-gram.
        max_n: most characters of an n-gram; 0 for none.
    """

    words: tuple[bytes, ...]
    counts: Integers
    own_rows: Array
    buckets: Array
    min_n: int
    max_n: int

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return int(self.own_rows.shape[1]) // 4


def read_fasttext(request: Request) -> VectorTable:
    """Read the vectors of the vocabulary; without n-grams they stay on disk, else they are composed."""
    model = map_model(request)
    names = [decode(word, request.book) for word in model.words]
    own_rows = model.own_rows.view("<f4")
    if model.max_n == 0 and own_rows.flags.aligned:
        table = select_rows(request, names, own_rows)
    else:
        table = compose_table(request, model, names)
    return replace(table, frequencies=Frequencies(model.counts, source=str(request.path)).of_table(names, table.words))


def compose_table(request: Request, model: FastTextModel, names: Sequence[str]) -> VectorTable:
    """Compose the vectors of the words that are wanted."""
    rows = [row for row, name in enumerate(names[: request.limit]) if request.wanted is None or name in request.wanted]
    refuse_impossible_size(request, 4 * len(rows) * model.dim)
    table = RowTable(request, model.dim, np.float32, expected=len(rows))
    words = [model.words[row] for row in rows]
    blocks = compose(model.own_rows, model.buckets, words, np.array(rows, np.intp), model.min_n, model.max_n)
    for block, vectors in blocks:
        table.add([names[row] for row in rows[block]], vectors)
        if request.progress is not None:
            request.progress(block.stop, len(rows))
    return table.finish()


def map_model(request: Request) -> FastTextModel:
    """Read settings and vocabulary of a model, and map its input matrix."""
    with request.open(quiet=True) as source, source.seekable() as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return _Parser(request, content).parse()
    except struct.error as problem:
        raise request.error(f"the file ends before its vectors: it was cut short ({problem}); copy it again") from None


class _Parser:
    def __init__(self, request: Request, content: mmap.mmap) -> None:
        self.request = request
        self.content = content
        self.position = 0

    def unpack(self, layout: struct.Struct) -> tuple[int, ...]:
        values = layout.unpack_from(self.content, self.position)
        self.position += layout.size
        return values

    def parse(self) -> FastTextModel:
        request = self.request
        _, version = self.unpack(struct.Struct("<4si"))
        if version not in _VERSIONS:
            raise request.error(f"is a fastText model of version {version}; biasgauge reads {_VERSIONS[0]} and 12")
        dim, *_, kind, _, min_n, max_n, _, _ = self.unpack(_SETTINGS)
        if version == _VERSIONS[0] and kind == _SUPERVISED:
            max_n = 0  # as fastText itself does: classifiers had no n-grams then
        if not (0 < dim <= 2**22 and 0 <= min_n <= _MOST_CHARACTERS and 0 <= max_n <= _MOST_CHARACTERS):
            raise request.error(f"the header promises {dim:,} dimensions and n-grams of {min_n} to {max_n} characters")
        words, counts, pruned = self.vocabulary()
        quantized, rows, columns = self.unpack(_MATRIX)
        if quantized:
            raise request.error(_QUANTIZED)
        if columns != dim or rows < len(words):
            raise request.error(
                f"the header promises {len(words):,} words of {dim:,} dimensions, the matrix has {rows:,} × {columns:,}"
            )
        size = rows * columns * 4
        if size > len(self.content) - self.position:
            raise request.error(
                f"the matrix takes {size:,} bytes, {len(self.content) - self.position:,} are there: the file was cut "
                "short; copy it again",
                offset=self.position,
            )
        numbers = np.frombuffer(self.content, np.uint8, size, self.position).reshape(rows, 4 * dim)
        check_matrix(request, "the matrix", (rows, dim), np.dtype("<f4"))
        own_rows, buckets = numbers[: len(words)], numbers[len(words) :]
        has_ngrams = max_n > 0 and pruned != 0 and len(buckets)
        return FastTextModel(words, counts, own_rows, buckets, max(min_n, 1), max_n if has_ngrams else 0)

    def vocabulary(self) -> tuple[tuple[bytes, ...], Integers, int]:
        """Words and their counts, and the number of n-grams that are left after pruning."""
        request = self.request
        entries, promised, labels, _, pruned = self.unpack(_SIZES)
        if not 0 < promised <= entries or labels != entries - promised:
            raise request.error(f"the header promises {promised:,} words and {labels:,} labels in {entries:,} entries")
        words: list[bytes] = []
        counts: list[bytes] = []
        for entry in islice(_ENTRY.finditer(self.content, self.position), entries):
            if entry.start() != self.position:
                raise request.error("a word is longer than 65,536 bytes", offset=self.position)
            word, count, label = entry.groups()
            self.position = entry.end()
            if label == b"\0":
                words.append(word)
                counts.append(count)
        if len(words) != promised:
            raise request.error(
                f"{promised:,} words are promised and {len(words):,} are there: the file is damaged or was cut short",
                offset=self.position,
            )
        if pruned > 0:  # which only quantized models are
            raise request.error(_QUANTIZED)
        return tuple(words), np.frombuffer(b"".join(counts), "<i8"), pruned
