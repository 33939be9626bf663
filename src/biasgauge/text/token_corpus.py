"""A tokenized corpus: numbers on disk that every model trained on it shares.

    CORPUS/
      corpus.json      sizes, checksum, and how it was made
      words.json       every word once, the most frequent first
      counts.npy       how often each occurs
      tokens.npy       the text: for each token the number of its word
      lines.npy        boundaries of lines among the tokens
      documents.npy    boundaries of documents among the lines

The folder appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Array, Integers, JsonMapping, JsonObject
from biasgauge.errors import CorpusError
from biasgauge.io import cache_by_stamp, map_array, read_json, read_manifest

MANIFEST, WORDS = "corpus.json", "words.json"
COUNTS, TOKENS, LINES, DOCUMENTS = "counts.npy", "tokens.npy", "lines.npy", "documents.npy"
FORMAT = "biasgauge corpus 1"
SIZES = ("words", "tokens", "lines", "documents")
BLOCK = 2**22
_AGAIN = "remove the folder and make the corpus again"


@dataclass(frozen=True, eq=False, repr=False)
class TokenCorpus:
    """A text as numbers, read from a folder through memory maps.

    Attributes:
        path: the folder.
        words: every type, the most frequent first, ties in the order of their code points.
        counts: how many tokens each type has.
        tokens: the types of the text in its order; a type's number is its row in `words`.
        lines: line i is `tokens[lines[i]:lines[i + 1]]`; a context window never crosses a line.
        documents: document j is the lines `documents[j]` to `documents[j + 1]`; the unit of a bootstrap sample.
        checksum: SHA-256 of words, tokens and boundaries; it does not depend on the folder or the settings.
        settings: of its making: files (name, bytes, sha256, layout), layout, tokenizer, field, documents; how many
            lines and documents without a word vanished; notices.
    """

    path: Path
    words: tuple[str, ...]
    counts: Integers
    tokens: NDArray[np.uint32]
    lines: Integers
    documents: Integers
    checksum: str
    settings: JsonMapping

    def __repr__(self) -> str:
        sizes = self.to_dict()
        return f"TokenCorpus({str(self.path)!r}, " + ", ".join(f"{name}={sizes[name]:,}" for name in SIZES) + ")"

    def document(self, number: int) -> list[list[str]]:
        """Words of each line of a document."""
        first, end = self.documents[number : number + 2]
        bounds = self.lines[first : end + 1].tolist()
        return [[self.words[token] for token in self.tokens[start:stop].tolist()] for start, stop in pairwise(bounds)]

    def to_dict(self) -> JsonObject:
        """Sizes, checksum and settings, without the text."""
        return {
            "path": str(self.path),
            "words": len(self.words),
            "tokens": len(self.tokens),
            "lines": len(self.lines) - 1,
            "documents": len(self.documents) - 1,
            "checksum": self.checksum,
            "settings": dict(self.settings),
        }

    def content_checksum(self) -> str:
        """Checksum of the present content; everything is read, a block at a time."""
        sizes = self.to_dict()
        start = json.dumps({name: sizes[name] for name in SIZES}) + json.dumps(list(self.words), ensure_ascii=False)
        digest = hashlib.sha256(start.encode())
        for numbers, descr in ((self.tokens, "<u4"), (self.lines, "<i8"), (self.documents, "<i8")):
            for block in _blocks(numbers):
                digest.update(np.ascontiguousarray(block, descr).data)
        return digest.hexdigest()

    def check(self) -> None:
        """Read everything and compare it with the checksum it was written with.

        Raises:
            CorpusError: it is damaged.
        """
        self.check_numbers()
        counts = np.zeros(len(self.words), np.int64)
        if self.content_checksum() == self.checksum:
            for block in _blocks(self.tokens):
                counts += np.bincount(block, minlength=len(counts))
        if not np.array_equal(counts, self.counts):
            raise CorpusError(f"is damaged (its checksum differs); {_AGAIN}", path=self.path)

    def verified_checksum(self) -> str:
        """Return the checksum, after everything was compared with it."""
        self.check()
        return self.checksum

    def check_numbers(self) -> None:
        """Check the range of every token and boundary once: compiled loops would crash on one out of range.

        Raises:
            CorpusError: a token is not a row of `words`, or boundaries do not rise within the text.
        """
        if self in _in_range:
            return
        highest = max((int(block.max()) for block in _blocks(self.tokens)), default=-1)
        if highest >= len(self.words):
            sentence = f"is damaged (a token has the number {highest:,}, there are {len(self.words):,} words); {_AGAIN}"
            raise CorpusError(sentence, path=self.path)
        for bounds, end in ((self.lines, len(self.tokens)), (self.documents, len(self.lines) - 1)):
            if len(bounds) < 1 or bounds[0] != 0 or bounds[-1] != end or not _rises(bounds):
                raise CorpusError(f"is damaged (its boundaries do not fit its tokens); {_AGAIN}", path=self.path)
        _in_range.add(self)


_in_range: WeakSet[TokenCorpus] = WeakSet()
"""Corpora whose numbers were checked."""


def is_corpus(folder: Path) -> bool:
    """Tell whether a folder holds the manifest of a corpus."""
    return (folder / MANIFEST).is_file()


def open_corpus(folder: str | os.PathLike[str], *, check: bool = True) -> TokenCorpus:
    """Open a corpus that `read_corpus` wrote, and compare all of it with its checksum, once in a process.

    Args:
        folder: its folder.
        check: whether to read it all; False compares sizes alone, for one that was written just now.

    Raises:
        CorpusError: there is none, or it is damaged.
    """
    path = Path(folder)
    absent = "is not a corpus ({}); read_corpus makes one"
    manifest = read_manifest(path / MANIFEST, FORMAT, absent=absent, again=_AGAIN, error=CorpusError)
    try:
        sizes = {name: int(manifest["sizes"][name]) for name in SIZES}
        checksum, settings = str(manifest["checksum"]), dict(manifest["settings"])
    except (ValueError, TypeError, KeyError, OverflowError) as problem:
        raise CorpusError(f"is damaged ({problem}); {_AGAIN}", path=path) from problem
    words = read_json(path / WORDS, error=CorpusError, again=_AGAIN)
    if not (isinstance(words, list) and len(words) == sizes["words"] and all(isinstance(word, str) for word in words)):
        raise CorpusError(f"does not hold {sizes['words']:,} words; {_AGAIN}", path=path / WORDS)
    counts, tokens, lines, documents = (
        map_array(path / name, dtype, (sizes[size] + extra,), again=_AGAIN, error=CorpusError).view(np.ndarray)
        for name, dtype, size, extra in (
            (COUNTS, "<i8", "words", 0),
            (TOKENS, "<u4", "tokens", 0),
            (LINES, "<i8", "lines", 1),
            (DOCUMENTS, "<i8", "documents", 1),
        )
    )
    ends = (int(counts.sum()), int(lines[0]), int(lines[-1]), int(documents[0]), int(documents[-1]))
    if ends != (sizes["tokens"], 0, sizes["tokens"], 0, sizes["lines"]):
        raise CorpusError(f"is damaged (its boundaries do not fit its tokens); {_AGAIN}", path=path)
    corpus = TokenCorpus(path, tuple(words), counts, tokens, lines, documents, checksum, MappingProxyType(settings))
    if check:
        cache_by_stamp(
            [path / name for name in (MANIFEST, WORDS, COUNTS, TOKENS, LINES, DOCUMENTS)], corpus.verified_checksum
        )
    return corpus


def _blocks(numbers: Array) -> Iterator[Array]:
    return (numbers[start : start + BLOCK] for start in range(0, len(numbers), BLOCK))


def _rises(bounds: Integers) -> bool:
    """Tell whether no number is smaller than the one before; a block at a time."""
    starts = range(0, len(bounds), BLOCK)
    return all(bool((np.diff(bounds[start : start + BLOCK + 1]) >= 0).all()) for start in starts)
