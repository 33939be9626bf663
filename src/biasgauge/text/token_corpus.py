"""A tokenized corpus: numbers on disk that every model trained on it shares.

    CORPUS/
      corpus.json      sizes, checksum, and how it was made
      words.json       every word once, the most frequent first
      counts.npy       how often each occurs
      tokens.npy       the text: for each token the number of its word
      lines.npy        boundaries of lines among the tokens
      documents.npy    boundaries of documents among the lines

The folder appears whole or not at all. `statistics` counts documents, words and vocabulary of corpora.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Array, Integers, JsonMapping, JsonObject, Record, check_choice, check_whole
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.io import cache_by_stamp, map_array, read_json, read_manifest
from biasgauge.results import Column, Result, Summary, Table

MANIFEST, WORDS = "corpus.json", "words.json"
COUNTS, TOKENS, LINES, DOCUMENTS = "counts.npy", "tokens.npy", "lines.npy", "documents.npy"
FORMAT = "biasgauge corpus 1"
SIZES = ("words", "tokens", "lines", "documents")
BLOCK = 2**22
PUBLISHED = "badder_seeds2022"
_SIGNS = re.compile(r"[^\w\s]")
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
        digest = content_digest({name: sizes[name] for name in SIZES}, self.words)
        for numbers, descr in ((self.tokens, "<u4"), (self.lines, "<i8"), (self.documents, "<i8")):
            for block in in_blocks(numbers):
                digest.update(np.ascontiguousarray(block, descr).data)
        return digest.hexdigest()

    def check(self) -> str:
        """Read everything and compare it with the checksum it was written with, which is returned.

        Raises:
            CorpusError: it is damaged.
        """
        self.check_numbers()
        counts = np.zeros(len(self.words), np.int64)
        for block in in_blocks(self.tokens):
            counts += np.bincount(block, minlength=len(counts))
        if not np.array_equal(counts, self.counts) or self.content_checksum() != self.checksum:
            raise CorpusError(f"is damaged (its checksum differs); {_AGAIN}", path=self.path)
        return self.checksum

    def check_numbers(self) -> None:
        """Check the range of every token and boundary once: compiled loops would crash on one out of range.

        Raises:
            CorpusError: a token is not a row of `words`, or boundaries do not rise within the text.
        """
        if self in _in_range:
            return
        highest = max((int(block.max()) for block in in_blocks(self.tokens)), default=-1)
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
        cache_by_stamp([path / name for name in (MANIFEST, WORDS, COUNTS, TOKENS, LINES, DOCUMENTS)], corpus.check)
    return corpus


def content_digest(sizes: JsonMapping, words: Sequence[str]) -> hashlib._Hash:
    """Digest of sizes and words; with that of tokens, lines and documents it is the checksum of a corpus."""
    return hashlib.sha256((json.dumps(sizes) + json.dumps(list(words), ensure_ascii=False)).encode())


def in_blocks(numbers: Array) -> Iterator[Array]:
    """Yield an array block by block."""
    return (numbers[start : start + BLOCK] for start in range(0, len(numbers), BLOCK))


def _rises(bounds: Integers) -> bool:
    """Tell whether no number is smaller than the one before; a block at a time."""
    starts = range(0, len(bounds), BLOCK)
    return all(bool((np.diff(bounds[start : start + BLOCK + 1]) >= 0).all()) for start in starts)


@dataclass(frozen=True)
class CorpusSize(Record):
    """One row of the table.

    Attributes:
        name: of the corpus.
        documents: documents with at least one word.
        lines: lines with at least one word.
        words: tokens.
        vocabulary: types.
        mean_length: words of a document in the mean.
    """

    name: str
    documents: int
    lines: int
    words: int
    vocabulary: int
    mean_length: float


@dataclass(frozen=True, repr=False)
class CorpusStatistics(Result):
    """Sizes of corpora. They are counts of the whole text, not estimates, so they have no intervals.

    Attributes:
        counting: the rule of counting, in words.
        rows: one per corpus.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)

    counting: str
    rows: tuple[CorpusSize, ...]

    def summary(self) -> Summary:
        """One row per corpus."""
        counts = [Column(name, "count") for name in ("documents", "lines", "words", "vocabulary")]
        rows = [(row.name, row.documents, row.lines, row.words, row.vocabulary, row.mean_length) for row in self.rows]
        tables = (Table.of("corpora", "", ["corpus", *counts, Column("mean length", "number", 1)], rows),)
        return Summary("Sizes of corpora", f"{len(rows)} corpora, counted: {self.counting}", tables=tables)


def statistics(
    corpora: TokenCorpus | Mapping[str, TokenCorpus], *, min_count: int = 1, as_published: str | None = None
) -> CorpusStatistics:
    """Count documents, words, vocabulary and mean length of one corpus or of several by name.

    Args:
        corpora: a corpus, or names and corpora.
        min_count: words rarer than this are counted nowhere.
        as_published: "badder_seeds2022" counts as its table A.1 was: signs that are no letters or digits are deleted
            from every token, and the words are those left with at least 10 occurrences; the vocabulary, however, is
            that of all tokens as they are; the mean length follows the words.

    Raises:
        ParameterError: an argument is impossible.
    """
    named = {corpora.path.name: corpora} if isinstance(corpora, TokenCorpus) else corpora
    if not isinstance(named, Mapping) or not all(isinstance(corpus, TokenCorpus) for corpus in named.values()):
        raise ParameterError(
            f"The 'corpora' parameter of statistics must be a corpus, or a dict of them. Got {type(corpora).__name__}."
        )
    check_choice((None, PUBLISHED), as_published=as_published)
    check_whole(1, min_count=min_count)
    if as_published:
        counting = f"as published ({PUBLISHED}): words of at least 10 occurrences without signs; vocabulary unfiltered"
    else:
        counting = "all words" if min_count == 1 else f"words of at least {min_count} occurrences"
    rows = []
    for name, corpus in named.items():
        counts = corpus.counts[corpus.counts >= min_count]
        words, vocabulary = _count_as_published(corpus) if as_published else (int(counts.sum()), len(counts))
        documents = len(corpus.documents) - 1
        rows.append(CorpusSize(name, documents, len(corpus.lines) - 1, words, vocabulary, words / documents))
    return CorpusStatistics(counting, tuple(rows))


def _count_as_published(corpus: TokenCorpus) -> tuple[int, int]:
    stripped: Counter[str] = Counter()
    for word, count in zip(corpus.words, corpus.counts.tolist(), strict=True):
        stripped[_SIGNS.sub("", word)] += count
    return sum(count for word, count in stripped.items() if word and count >= 10), len(corpus.words)
