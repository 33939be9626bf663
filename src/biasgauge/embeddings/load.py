"""`load`: vectors from a file of any format we read, or from memory, as one `Embedding`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.embeddings.coverage import spellings
from biasgauge.embeddings.embedding import Embedding
from biasgauge.embeddings.formats.detect import detect
from biasgauge.embeddings.formats.request import Request
from biasgauge.embeddings.memory import from_memory
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge._io.source import Progress


def load(
    source: object,
    words: Iterable[str] | None = None,
    limit: int | None = None,
    *,
    vocabulary: str | os.PathLike[str] | None = None,
    case_fallback: bool = False,
    name: str | None = None,
    progress: Progress | None = None,
) -> Embedding:
    """Read word vectors. The format is found from the content, gzipped or not; `docs/formats.md` tells all of it.

    Args:
        source: a path, or vectors in memory: an `Embedding`, gensim `KeyedVectors`, a dict of word to vector, or a
            pair (words, matrix).
        words: read only these, in one pass that never holds the other vectors; words that are not there are simply
            absent (`Embedding.coverage` lists them).
        limit: read only the first so many rows of the file (before `words` picks from them).
        vocabulary: for a bare `.npy` or safetensors matrix: the file with one word a line.
        case_fallback: with `words`, also read their lower-case and capitalised spellings, so that
            `lookup(…, case_fallback=True)` can find them.
        name: what tables call this model; the file's name by default.
        progress: called with (done, total) as the reading goes on.

    Raises:
        EmbeddingFormatError: the file is not what it should be; names the file, and the line or the byte.
        ParameterError: an argument cannot be used.
    """
    wanted = _wanted(words, case_fallback=case_fallback)
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise ParameterError(f"The 'limit' parameter of load must be a whole number of at least 1. Got {limit!r}.")
    if isinstance(source, Embedding):
        if wanted is None and limit is None:
            return source
        source = (source.words, source.vectors)
    if not isinstance(source, (str, os.PathLike)):
        request = Request(Path("memory"), wanted, limit, progress=progress)
        return from_memory(source, request, name=name or "memory")
    path = Path(source)
    request = Request(path, wanted, limit, None if vocabulary is None else Path(vocabulary), progress=progress)
    found = detect(request)
    table = found.read(request)
    return Embedding(
        words=table.words,
        vectors=table.vectors,
        name=name or path.name,
        source=str(path),
        format=found.name,
        notices=request.book.notices(),
        dropped=table.dropped,
    )


def _wanted(words: Iterable[str] | None, *, case_fallback: bool) -> frozenset[str] | None:
    if words is None:
        return None
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise ParameterError(
            f"The 'words' parameter of load must be a collection of words. Got {words!r}; for the words of a lexicon "
            "use biasgauge.lexicon(name).words."
        )
    asked = list(words)
    for word in asked:
        if not isinstance(word, str):
            raise ParameterError(f"The 'words' parameter of load must hold text only. Got {word!r}.")
    return frozenset(spelling for word in asked for spelling in spellings(word, case_fallback=case_fallback))
