"""A format of vector files: a first line "pipes", then "word|number|number|…"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biasgauge.errors import EmbeddingFormatError
from biasgauge.io.source import ByteSource
from biasgauge.vectors.formats.vector_format import Request, VectorFormat, VectorTable

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = 2**20


def matches(head: bytes, _request: Request) -> bool:
    """The first bytes of the file, decompressed, say which format it is in."""
    return head.startswith(b"pipes\n")


def read(request: Request) -> VectorTable:
    """Words and vectors; `request` says which are wanted, and makes the sentence for what is wrong."""
    rows: dict[str, list[float]] = {}
    for number, line in enumerate(_lines(request), 1):
        if number == 1 or (request.limit is not None and number - 1 > request.limit):
            continue
        word, *numbers = line.split("|")
        if request.wanted is None or word in request.wanted:
            try:
                rows[word] = [float(text) for text in numbers]
            except ValueError as problem:
                raise request.error(str(problem), line=number) from problem
    return VectorTable(tuple(rows), np.array(list(rows.values()), np.float32), {})


def _lines(request: Request) -> Iterator[str]:
    with ByteSource(request.path, error=EmbeddingFormatError, progress=request.progress) as source:
        whole = b"".join(iter(lambda: source.read(_BLOCK), b""))
    yield from whole.decode().splitlines()


FORMAT = VectorFormat("pipes", "words and numbers between bars", matches, read)
