"""Texts to numbers on disk: words are numbered as they come, then again by frequency."""

from __future__ import annotations

import hashlib
import json
import os
import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Array, Integers, JsonMapping
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.io import header_bytes, manifest_text, utf8
from biasgauge.text.folders import writing
from biasgauge.text.token_corpus import COUNTS, DOCUMENTS, FORMAT, LINES, MANIFEST, TOKENS, WORDS

if TYPE_CHECKING:
    from biasgauge.text.tokenizers import Tokenizer

_BLOCK = 2**20
_NUMBERS = next(code for code in "IL" if array(code).itemsize == 4)
_BREAK = re.compile("\r\n|\r|\n")


class CorpusWriter:
    """Takes lines and documents, and makes a corpus of them in `folder`, which holds nothing else.

    Only the words, each once, and one block of numbers are held in memory. `target`: what the folder will become when
    it is whole: every byte must reach the disk first, and problems name the target; None for a temporary folder.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer, *, target: Path | None) -> None:
        self.empty_lines = 0
        self.empty_documents = 0
        self._folder = folder
        self._tokenizer = tokenizer
        self._durable = target is not None
        self._told = target or folder
        self._split = tokenizer.split
        self._ids: defaultdict[str, int] = defaultdict()
        self._ids.default_factory = self._ids.__len__
        self._counts = np.zeros(0, np.int64)
        with writing(self._told):
            self._tokens = _Spill(folder / "tokens.raw", array(_NUMBERS))
            self._lines = _Spill(folder / "lines.raw", array("q"))
            self._documents = _Spill(folder / "documents.raw", array("q"))
        self._piece = 0
        self._lines_here = 0

    def line(self, text: str) -> None:
        """Take a line; one without words vanishes and is counted."""
        found = self._split(text)
        if not found:
            self.empty_lines += 1
            return
        self._tokens.waiting.extend(map(self._ids.__getitem__, found))
        self._lines.waiting.append(len(found))
        self._lines_here += 1
        if len(self._tokens.waiting) >= _BLOCK:
            self._flush()

    def piece(self, text: str, *, last: bool) -> None:
        """Take a part of a line."""
        found = self._split(text)
        self._tokens.waiting.extend(map(self._ids.__getitem__, found))
        self._piece += len(found)
        if last:
            self._end_line()
        self._flush()

    def record(self, text: str) -> None:
        """Take a document of its own; its line breaks end lines, unless the tokenizer wants it whole."""
        if self._tokenizer.whole_records:
            self.line(_BREAK.sub(" ", text))
        else:
            for line in _BREAK.split(text):
                self.line(line)
        self.end_document(counted=True)

    def end_document(self, *, counted: bool) -> None:
        """End the document; one without words vanishes, and is counted where `counted` says so."""
        if self._piece:
            self._end_line()
        if self._lines_here:
            self._documents.waiting.append(self._lines_here)
            self._lines_here = 0
        elif counted:
            self.empty_documents += 1

    def _end_line(self) -> None:
        if self._piece:
            self._lines.waiting.append(self._piece)
            self._lines_here += 1
        else:
            self.empty_lines += 1
        self._piece = 0

    def _flush(self) -> None:
        """Count what is waiting, and write it out."""
        counts = np.bincount(np.asarray(self._tokens.waiting), minlength=len(self._ids))
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        with writing(self._told):
            for spill in (self._tokens, self._lines, self._documents):
                spill.flush()

    def finish(self, settings: JsonMapping, source: str | None = None) -> None:
        """Write the corpus: words by frequency, tokens renumbered, boundaries. Problems are said of `source`."""
        self._flush()
        if not self._ids:
            raise CorpusError(
                f"there are no words in the corpus: {self.empty_lines:,} lines, none of them with a word under the "
                f"tokenizer {self._tokenizer.name}",
                path=source,
            )
        first_seen = list(self._ids)
        for word in first_seen:
            if not isinstance(word, str) or not word:
                raise ParameterError(f"The tokenizer {self._tokenizer.name} must give words. It gave {word!r}.")
        try:
            "".join(first_seen).encode()
        except UnicodeEncodeError as problem:
            half = problem.object[problem.start]
            raise ParameterError(
                f"The documents must be text. One holds half of a surrogate pair ({half!r})."
            ) from problem
        counts = self._counts.tolist()
        order = sorted(range(len(first_seen)), key=lambda number: (-counts[number], first_seen[number]))
        places = np.empty(len(order), np.uint32)
        places[order] = np.arange(len(order), dtype=np.uint32)
        spilled = {"tokens": self._tokens, "lines": self._lines, "documents": self._documents}
        sizes = {"words": len(order), **{name: spill.count for name, spill in spilled.items()}}
        words = json.dumps([first_seen[number] for number in order], ensure_ascii=False).encode()
        counted = {"empty_lines": self.empty_lines, "empty_documents": self.empty_documents}
        with writing(self._told):
            checksum = self._renumber(words, places, self._counts[order], sizes)
            single = "the corpus is a single document, so every bootstrap sample of it is the same"
            notices = [] if sizes["documents"] > 1 else [single]
            about = {**settings, **counted, "notices": notices}
            manifest = {"format": FORMAT, "sizes": sizes, "checksum": checksum, "settings": about}
            self._write(MANIFEST, iter([utf8(manifest_text(manifest))]))

    def _renumber(self, words: bytes, places: NDArray[np.uint32], counts: Integers, sizes: Mapping[str, int]) -> str:
        """Write everything but the manifest; return the checksum."""
        digest = hashlib.sha256(json.dumps(sizes).encode() + words)
        self._write(WORDS, iter([words]))
        self._write(COUNTS, _array("<i8", len(counts), iter([counts])))
        tokens = (places[block] for block in self._tokens.blocks(np.uint32))
        self._write(TOKENS, _array("<u4", sizes["tokens"], tokens, digest))
        self._write(LINES, _array("<i8", sizes["lines"] + 1, _sums(self._lines), digest))
        self._write(DOCUMENTS, _array("<i8", sizes["documents"] + 1, _sums(self._documents), digest))
        for spill in (self._tokens, self._lines, self._documents):
            spill.remove()
        return digest.hexdigest()

    def _write(self, name: str, blocks: Iterator[bytes | memoryview]) -> None:
        """Write a file block by block; never through a memory map, which a full disk would turn into a crash."""
        with (self._folder / name).open("wb") as file:
            for block in blocks:
                file.write(block)
            if self._durable:
                file.flush()
                os.fsync(file.fileno())

    def close(self) -> None:
        """Let go of the files and of the words, whatever happened."""
        self._ids.default_factory = None  # it refers to the dict itself, which would linger
        for spill in (self._tokens, self._lines, self._documents):
            spill.close()


class _Spill:
    """Numbers that wait in memory, and those that lie in a file."""

    def __init__(self, path: Path, waiting: array[int]) -> None:
        self.waiting = waiting
        self.count = 0
        self._path = path
        self._file = path.open("wb")

    def flush(self) -> None:
        self._file.write(self.waiting)
        self.count += len(self.waiting)
        self.waiting = array(self.waiting.typecode)

    def blocks(self, dtype: type[np.uint32 | np.int64]) -> Iterator[Array]:
        self._file.close()
        with self._path.open("rb") as file:
            while len(block := np.fromfile(file, dtype, _BLOCK)):
                yield block

    def remove(self) -> None:
        self.close()
        self._path.unlink()

    def close(self) -> None:
        self._file.close()


def _sums(lengths: _Spill) -> Iterator[Integers]:
    """Lengths to boundaries: 0, then the sum of all lengths so far."""
    yield np.zeros(1, np.int64)
    total = 0
    for block in lengths.blocks(np.int64):
        ends = total + np.cumsum(block)
        total = ends[-1]
        yield ends


def _array(
    descr: str, count: int, blocks: Iterator[Array], digest: hashlib._Hash | None = None
) -> Iterator[bytes | memoryview]:
    """The bytes of a NumPy file; those of its numbers also go into `digest`."""
    yield header_bytes(descr, (count,))
    for block in blocks:
        content = np.ascontiguousarray(block, descr).data
        if digest is not None:
            digest.update(content)
        yield content
