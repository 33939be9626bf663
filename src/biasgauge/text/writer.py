"""Corpora on disk: texts become numbers by order of appearance, then by frequency; tokens of a corpus can be edited."""

from __future__ import annotations

import hashlib
import json
import os
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Array, Integers, JsonMapping
from biasgauge.errors import CorpusError, InputError, ParameterError
from biasgauge.io import (
    LOCK,
    atomic_folder,
    header_bytes,
    manifest_text,
    map_array,
    short_name,
    usable_path,
    utf8,
    write_array,
    writer_lock,
)
from biasgauge.text.token_corpus import (
    BLOCK,
    COUNTS,
    DOCUMENTS,
    FORMAT,
    LINES,
    MANIFEST,
    SIZES,
    TOKENS,
    WORDS,
    TokenCorpus,
    is_corpus,
    open_corpus,
)

if TYPE_CHECKING:
    from biasgauge.text.tokenizers import Tokenizer

Edit = Callable[[NDArray[np.uint32]], Mapping[str, Any]]
"""Changes the tokens of a text in place, each a row of the corpus's words; returns what is to be recorded about it."""
SPILL_NUMBERS = 2**20
"""Numbers that wait in memory before they go to a file."""
_UINT32 = next(code for code in "IL" if array(code).itemsize == 4)
_LINE_BREAK = re.compile("\r\n|\r|\n")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the system's error about a failed write into one sentence that names `path`."""
    try:
        yield
    except OSError as problem:
        if isinstance(problem, InputError):
            raise  # it has its sentence
        raise CorpusError(
            f"the corpus cannot be written: {problem.strerror or problem}; free some space, or name another folder",
            path=path,
        ) from problem


@contextmanager
def exclusive_lock(target: Path) -> Iterator[None]:
    """Wait until no other process makes `target`, and keep others waiting meanwhile."""
    with ExitStack() as stack:
        with writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(writer_lock(target.with_name(f".{short_name(target.name)}{LOCK}")))
        yield


@contextmanager
def corpus_folder(target: Path) -> Iterator[Path]:
    """Yield a hidden folder beside `target`; move it into place when the block ends without an error."""
    with writing(target), atomic_folder(target) as folder:
        yield folder


class CorpusWriter:
    """Takes lines and documents, and makes a corpus of them in `folder`, which holds nothing else.

    Only the words, each once, and one block of numbers are in memory. `target`: the name of the folder when it is
    whole: every byte must reach the disk first, and problems name the target; None for a temporary folder.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer, *, target: Path | None) -> None:
        self.empty_lines = 0
        self.empty_documents = 0
        self._folder = folder
        self._tokenizer = tokenizer
        self._durable = target is not None
        self._named = target or folder
        self._split = tokenizer.split
        self._ids: defaultdict[str, int] = defaultdict()
        self._ids.default_factory = self._ids.__len__  # a new word gets the next number
        self._counts = np.zeros(0, np.int64)
        with writing(self._named):
            self._tokens = _Spill(folder / "tokens.raw", array(_UINT32))
            self._lines = _Spill(folder / "lines.raw", array("q"))
            self._documents = _Spill(folder / "documents.raw", array("q"))
        self._spills = (self._tokens, self._lines, self._documents)
        self._unfinished_line = 0
        self._lines_here = 0

    def line(self, text: str) -> None:
        """Take a line; one without words vanishes and is counted."""
        words = self._split(text)
        if not words:
            self.empty_lines += 1
            return
        self._tokens.waiting.extend(map(self._ids.__getitem__, words))
        self._lines.waiting.append(len(words))
        self._lines_here += 1
        if len(self._tokens.waiting) >= SPILL_NUMBERS:
            self._flush()

    def piece(self, text: str, *, last: bool) -> None:
        """Take a piece of a line."""
        words = self._split(text)
        self._tokens.waiting.extend(map(self._ids.__getitem__, words))
        self._unfinished_line += len(words)
        if last:
            self._end_line()
        self._flush()

    def record(self, text: str) -> None:
        """Take a whole document; its line breaks end lines, unless the tokenizer wants it in one piece."""
        if self._tokenizer.whole_records:
            self.line(_LINE_BREAK.sub(" ", text))
        else:
            for line in _LINE_BREAK.split(text):
                self.line(line)
        self.end_document(counted=True)

    def end_document(self, *, counted: bool) -> None:
        """End the document; one without words vanishes, and is counted where `counted` says so."""
        if self._unfinished_line:
            self._end_line()
        if self._lines_here:
            self._documents.waiting.append(self._lines_here)
            self._lines_here = 0
        elif counted:
            self.empty_documents += 1

    def _end_line(self) -> None:
        if self._unfinished_line:
            self._lines.waiting.append(self._unfinished_line)
            self._lines_here += 1
        else:
            self.empty_lines += 1
        self._unfinished_line = 0

    def _flush(self) -> None:
        """Count the waiting tokens, and write them out."""
        counts = np.bincount(np.asarray(self._tokens.waiting), minlength=len(self._ids))
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        with writing(self._named):
            for spill in self._spills:
                spill.flush()

    def finish(self, settings: JsonMapping, source: str | None = None) -> None:
        """Write the corpus: words by frequency, tokens renumbered, boundaries. Errors name `source`."""
        self._flush()
        if not self._ids:
            raise CorpusError(
                f"there are no words in the corpus: {self.empty_lines:,} lines, none of them with a word under the "
                f"tokenizer {self._tokenizer.name}",
                path=source,
            )
        by_appearance = list(self._ids)
        for word in by_appearance:
            if not isinstance(word, str) or not word:
                raise ParameterError(f"The tokenizer {self._tokenizer.name} must give words. It gave {word!r}.")
        try:
            "".join(by_appearance).encode()
        except UnicodeEncodeError as problem:
            half = problem.object[problem.start]
            raise ParameterError(
                f"The documents must be text. One holds half of a surrogate pair ({half!r})."
            ) from problem
        order, new_ids = _order_by_frequency(self._counts, by_appearance)
        spilled = dict(zip(("tokens", "lines", "documents"), self._spills, strict=True))
        sizes = {"words": len(order), **{name: spill.count for name, spill in spilled.items()}}
        words = json.dumps([by_appearance[number] for number in order], ensure_ascii=False).encode()
        with writing(self._named):
            checksum = self._write_arrays(words, new_ids, self._counts[order], sizes)
            single = "the corpus is a single document, so every bootstrap sample of it is the same"
            details = {
                **settings,
                "empty_lines": self.empty_lines,
                "empty_documents": self.empty_documents,
                "notices": [] if sizes["documents"] > 1 else [single],
            }
            manifest = {"format": FORMAT, "sizes": sizes, "checksum": checksum, "settings": details}
            self._write(MANIFEST, iter([utf8(manifest_text(manifest))]))

    def _write_arrays(
        self, words: bytes, new_ids: NDArray[np.uint32], counts: Integers, sizes: Mapping[str, int]
    ) -> str:
        """Write everything but the manifest; return the checksum."""
        digest = hashlib.sha256(json.dumps(sizes).encode() + words)
        self._write(WORDS, iter([words]))
        self._write(COUNTS, _npy_bytes("<i8", len(counts), iter([counts])))
        tokens = (new_ids[block] for block in self._tokens.blocks(np.uint32))
        self._write(TOKENS, _npy_bytes("<u4", sizes["tokens"], tokens, digest))
        self._write(LINES, _npy_bytes("<i8", sizes["lines"] + 1, _boundaries(self._lines), digest))
        self._write(DOCUMENTS, _npy_bytes("<i8", sizes["documents"] + 1, _boundaries(self._documents), digest))
        for spill in self._spills:
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
        """Close the files and drop the words, whatever happened."""
        self._ids.default_factory = None  # it refers to the dict itself, which would linger
        for spill in self._spills:
            spill.close()


class _Spill:
    """Numbers that wait in memory, and those in a file."""

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
            while len(block := np.fromfile(file, dtype, SPILL_NUMBERS)):
                yield block

    def remove(self) -> None:
        self.close()
        self._path.unlink()

    def close(self) -> None:
        self._file.close()


def _order_by_frequency(counts: Integers, words: list[str] | tuple[str, ...]) -> tuple[list[int], NDArray[np.uint32]]:
    """Numbers of the words that occur, the most frequent first, ties by code points; and the new number of each."""
    frequency = counts.tolist()
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda number: (-frequency[number], words[number]))
    new_ids = np.zeros(len(counts), np.uint32)
    new_ids[order] = np.arange(len(order), dtype=np.uint32)
    return order, new_ids


def _boundaries(lengths: _Spill) -> Iterator[Integers]:
    """Yield 0, then the running sums of the lengths."""
    yield np.zeros(1, np.int64)
    total = 0
    for block in lengths.blocks(np.int64):
        ends = total + np.cumsum(block)
        total = ends[-1]
        yield ends


def _npy_bytes(
    descr: str, count: int, blocks: Iterator[Array], digest: hashlib._Hash | None = None
) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a NumPy file; those of its numbers also go into `digest`."""
    yield header_bytes(descr, (count,))
    for block in blocks:
        content = np.ascontiguousarray(block, descr).data
        if digest is not None:
            digest.update(content)
        yield content


def edited_corpus(corpus: TokenCorpus, edit: Edit, out: str | os.PathLike[str]) -> TokenCorpus:
    """Write a corpus whose tokens were edited, with the same lines and documents; `out` appears whole or not at all.

    The text is copied block by block and edited in the file, through a memory map, so that memory does not grow with
    it. Words are numbered anew where their counts changed. An existing corpus in `out` is opened, not made again.

    Args:
        corpus: the corpus to start from, which stays as it is.
        edit: called with the tokens; its return value goes into the settings of the new corpus.
        out: folder for the new corpus.

    Raises:
        CorpusError: it cannot be written, or something else is there.
    """
    target = usable_path(out).absolute()
    corpus.check_numbers()  # edits are compiled loops, which do not check them
    with exclusive_lock(target):
        if is_corpus(target):
            return open_corpus(target)
        with corpus_folder(target) as folder:
            _write_edited(corpus, edit, folder)
    return open_corpus(target, check=False)  # its checksum was made of the bytes that were written


def _write_edited(corpus: TokenCorpus, edit: Edit, folder: Path) -> None:
    with (folder / TOKENS).open("wb") as file:
        file.write(header_bytes("<u4", corpus.tokens.shape))
        for start in range(0, len(corpus.tokens), BLOCK):
            file.write(np.ascontiguousarray(corpus.tokens[start : start + BLOCK], "<u4").data)
    mapped = map_array(folder / TOKENS, "<u4", corpus.tokens.shape, again="make the corpus again", writable=True)
    tokens = mapped.view(np.ndarray)
    remarks = edit(tokens)
    counts = np.zeros(len(corpus.words), np.int64)
    for start in range(0, len(tokens), BLOCK):
        counts += np.bincount(tokens[start : start + BLOCK], minlength=len(counts))
    words = corpus.words
    if not np.array_equal(counts, corpus.counts):
        order, new_ids = _order_by_frequency(counts, words)
        for start in range(0, len(tokens), BLOCK):
            tokens[start : start + BLOCK] = new_ids[tokens[start : start + BLOCK]]
        words, counts = tuple(words[number] for number in order), counts[order]
    if isinstance(mapped, np.memmap):
        mapped.flush()
    changed = replace(corpus, words=words, counts=counts, tokens=tokens)
    sizes = {name: changed.to_dict()[name] for name in SIZES}
    settings = {**corpus.settings, **remarks, "source": corpus.checksum}
    manifest = {"format": FORMAT, "sizes": sizes, "checksum": changed.content_checksum(), "settings": settings}
    del tokens, mapped, changed
    for name, text in ((WORDS, json.dumps(list(words), ensure_ascii=False)), (MANIFEST, manifest_text(manifest))):
        (folder / name).write_text(text, encoding="utf-8")
    for name, numbers in ((COUNTS, counts), (LINES, corpus.lines), (DOCUMENTS, corpus.documents)):
        write_array(folder / name, np.asarray(numbers, "<i8"))
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
