"""Corpora on disk: texts become numbers by order of appearance, then by frequency; tokens of a corpus can be edited."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from biasgauge.core import Array, Integers, JsonMapping
from biasgauge.errors import CorpusError, InputError, ParameterError
from biasgauge.io import LOCK, atomic_folder, header_bytes, manifest_text, short_name, usable_path, utf8, writer_lock
from biasgauge.text.token_corpus import (
    COUNTS,
    FORMAT,
    MANIFEST,
    WORDS,
    TokenCorpus,
    content_digest,
    in_blocks,
    is_corpus,
    open_corpus,
)
from biasgauge.text.vocabularies import count_tokens

if TYPE_CHECKING:
    from biasgauge.text.tokenizers import Tokenizer

Edit = Callable[[NDArray[np.uint32]], Mapping[str, Any]]
"""Changes the tokens of a text in place, each a row of the corpus's words; returns what is to be recorded about it."""
SPILL_NUMBERS = 2**20
"""Numbers that wait in memory before they go to a file."""
_RAW_TOKENS = "tokens.raw"
_UINT32 = next(code for code in "IL" if array(code).itemsize == 4)
_LINE_BREAK = re.compile("\r\n|\r|\n")
NOTHING: JsonMapping = MappingProxyType({})


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


def make_corpus(
    target: Path, write: Callable[[Path], None], accept: Callable[[TokenCorpus], TokenCorpus | None]
) -> TokenCorpus:
    """Make a corpus by `write` in a folder that appears whole or not at all; one process makes a target at a time.

    A corpus that is there already is returned by `accept`, which may refuse it; it is replaced where that is None.
    """
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = writer_lock(target.with_name(f".{short_name(target.name)}{LOCK}"))
        with lock:
            if is_corpus(target):
                there = accept(open_corpus(target))
                if there is not None:
                    return there
                shutil.rmtree(target)
            if target.exists() and (not target.is_dir() or any(target.iterdir())):
                raise CorpusError("exists and is not a corpus; name another folder", path=target)
            with atomic_folder(target) as folder:
                write(folder)
    return open_corpus(target, check=False)  # its checksum was made of the bytes that were written


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
            self._tokens = _Spill(folder / _RAW_TOKENS, _UINT32)
            self._lines = _Spill(folder / "lines.raw", "q")
            self._documents = _Spill(folder / "documents.raw", "q")
        self._spills = (self._tokens, self._lines, self._documents)
        self._line_length = 0
        self._lines_here = 0

    def line(self, text: str, *, ended: bool = True) -> None:
        """Take a line, or a piece of one that is not `ended`; a line without words vanishes and is counted.

        A tokenizer that ends sentences makes as many lines of it as it finds.
        """
        sentences = self._tokenizer.sentences
        *complete, last = (sentences(text) or [[]]) if sentences is not None else [self._split(text)]
        for words in complete:
            self._take(words)
            self._end_line()
        self._take(last)
        if ended:
            self._end_line()
        if len(self._tokens.waiting) >= SPILL_NUMBERS:
            self._flush()

    def _take(self, words: Sequence[str]) -> None:
        self._tokens.waiting.extend(map(self._ids.__getitem__, words))
        self._line_length += len(words)

    def record(self, text: str) -> None:
        """Take a whole document; its line breaks end lines, unless the tokenizer wants it in one piece."""
        if self._tokenizer.sentences is not None:
            self.line(text)
        elif self._tokenizer.whole_records:
            self.line(_LINE_BREAK.sub(" ", text))
        else:
            for line in _LINE_BREAK.split(text):
                self.line(line)
        self.end_document(counted=True)

    def end_document(self, *, counted: bool) -> None:
        """End the document; one without words vanishes, and is counted where `counted` says so."""
        if self._line_length:
            self._end_line()
        if self._lines_here:
            self._documents.waiting.append(self._lines_here)
            self._lines_here = 0
        elif counted:
            self.empty_documents += 1

    def _end_line(self) -> None:
        if self._line_length:
            self._lines.waiting.append(self._line_length)
            self._lines_here += 1
            self._line_length = 0
        else:
            self.empty_lines += 1

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
        words = list(self._ids)
        if not words:
            raise CorpusError(
                f"there are no words in the corpus: {self.empty_lines:,} lines, none of them with a word under the "
                f"tokenizer {self._tokenizer.name}",
                path=source,
            )
        for word in words:
            if not isinstance(word, str) or not word:
                raise ParameterError(f"The tokenizer {self._tokenizer.name} must give words. It gave {word!r}.")
        try:
            "".join(words).encode()
        except UnicodeEncodeError as problem:
            half = problem.object[problem.start]
            raise ParameterError(
                f"The documents must be text. One holds half of a surrogate pair ({half!r})."
            ) from problem
        single = "the corpus is a single document, so every bootstrap sample of it is the same"
        details = {
            **settings,
            "empty_lines": self.empty_lines,
            "empty_documents": self.empty_documents,
            "notices": [] if self._documents.count > 1 else [single],
        }
        with writing(self._named):
            numbers = {
                "tokens": (self._tokens.count, self._tokens.blocks(np.uint32)),
                "lines": (self._lines.count + 1, _running_sums(self._lines.blocks(np.int64))),
                "documents": (self._documents.count + 1, _running_sums(self._documents.blocks(np.int64))),
            }
            _write_corpus(self._folder, words, self._counts, numbers, details, durable=self._durable)
            for spill in self._spills:
                spill.path.unlink()

    def close(self) -> None:
        """Close the files and drop the words, whatever happened."""
        self._ids.default_factory = None  # it refers to the dict itself, which would linger
        for spill in self._spills:
            spill.file.close()


class _Spill:
    """Numbers that wait in memory, and those in a file."""

    def __init__(self, path: Path, typecode: str) -> None:
        self.waiting = array(typecode)
        self.count = 0
        self.path = path
        self.file = path.open("wb")

    def flush(self) -> None:
        self.file.write(self.waiting)
        self.count += len(self.waiting)
        self.waiting = array(self.waiting.typecode)

    def blocks(self, dtype: DTypeLike) -> Iterator[Array]:
        self.file.close()
        with self.path.open("rb") as file:
            while len(block := np.fromfile(file, dtype, SPILL_NUMBERS)):
                yield block


def _running_sums(lengths: Iterable[Integers]) -> Iterator[Integers]:
    """Yield 0, then the running sums of the lengths."""
    yield np.zeros(1, np.int64)
    total = 0
    for block in lengths:
        ends = total + np.cumsum(block)
        total = ends[-1]
        yield ends


def _write_corpus(
    folder: Path, words: Sequence[str], counts: Integers, numbers: Mapping[str, tuple[int, Iterable[Array]]],
    settings: JsonMapping, *, durable: bool,
) -> None:  # fmt: skip
    """Write the files of a corpus, with its words renumbered: the most frequent first, ties by code points.

    `numbers` has how many tokens there are, and boundaries of lines and of documents, and these block by block.
    """
    frequency = counts.tolist()
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda number: (-frequency[number], words[number]))
    new_ids = np.zeros(len(counts), np.uint32)
    new_ids[order] = np.arange(len(order), dtype=np.uint32)
    ordered = [words[number] for number in order]
    sizes = {"words": len(ordered), **{name: count - (name != "tokens") for name, (count, _) in numbers.items()}}
    digest = content_digest(sizes, ordered)
    files: dict[str, Iterable[bytes | memoryview]] = {
        WORDS: [json.dumps(ordered, ensure_ascii=False).encode()],
        COUNTS: [header_bytes("<i8", (len(order),)), counts[order].astype("<i8").data],
    }
    for name, (count, blocks) in numbers.items():
        is_text = name == "tokens"
        renumbered = (new_ids[block] for block in blocks) if is_text else blocks
        files[f"{name}.npy"] = _npy_bytes("<u4" if is_text else "<i8", count, renumbered, digest)
    for name, content in files.items():
        _write_file(folder / name, content, durable=durable)
    manifest = {"format": FORMAT, "sizes": sizes, "checksum": digest.hexdigest(), "settings": dict(settings)}
    _write_file(folder / MANIFEST, [utf8(manifest_text(manifest))], durable=durable)


def _write_file(path: Path, blocks: Iterable[bytes | memoryview], *, durable: bool) -> None:
    """Write a file block by block; never through a memory map, which a full disk would turn into a crash."""
    with path.open("wb") as file:
        file.writelines(blocks)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def _npy_bytes(descr: str, count: int, blocks: Iterable[Array], digest: hashlib._Hash) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a NumPy file; those of its numbers also go into `digest`."""
    yield header_bytes(descr, (count,))
    for block in blocks:
        content = np.ascontiguousarray(block, descr).data
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

    def write(folder: Path) -> None:
        raw = folder / _RAW_TOKENS
        _write_file(raw, (np.ascontiguousarray(block).data for block in in_blocks(corpus.tokens)), durable=False)
        mapped = np.memmap(raw, np.uint32, "r+")
        tokens = mapped.view(np.ndarray)
        settings = {**corpus.settings, **edit(tokens), "source": corpus.checksum}
        counts = sum(np.bincount(block, minlength=len(corpus.words)) for block in in_blocks(tokens))
        numbers = {"tokens": tokens, "lines": corpus.lines, "documents": corpus.documents}
        blocks = {name: (len(stored), in_blocks(stored)) for name, stored in numbers.items()}
        _write_corpus(folder, corpus.words, np.asarray(counts), blocks, settings, durable=True)
        del tokens, mapped
        raw.unlink()

    corpus.check_numbers()  # edits are compiled loops, which do not check them
    return make_corpus(usable_path(out).absolute(), write, accept=lambda there: there)


def corpus_of_documents(
    corpus: TokenCorpus, documents: Integers, out: str | os.PathLike[str], record: JsonMapping = NOTHING
) -> TokenCorpus:
    """Write a corpus of some documents of another, in the order given; `out` appears whole or not at all.

    An existing corpus in `out` is opened, not made again, if it was made of the same documents.

    Args:
        corpus: the corpus to take them from.
        documents: their numbers; one that is repeated is there as often.
        out: folder for the new corpus.
        record: more about the choice, to be kept in the settings of the new corpus.

    Raises:
        CorpusError: it cannot be written, or something else is there.
    """
    first, end = corpus.documents[documents], corpus.documents[documents + 1]
    chosen = hashlib.sha256(np.ascontiguousarray(documents, "<i8").data).hexdigest()
    details = {**corpus.settings, **record, "source": corpus.checksum, "chosen": chosen}

    def line_lengths() -> Iterator[Integers]:
        for start, stop in zip(first.tolist(), end.tolist(), strict=True):
            yield np.diff(corpus.lines[start : stop + 1])

    def tokens() -> Iterator[NDArray[np.uint32]]:
        for start, stop in zip(corpus.lines[first].tolist(), corpus.lines[end].tolist(), strict=True):
            yield corpus.tokens[start:stop]

    def write(folder: Path) -> None:
        lines = end - first
        numbers: dict[str, tuple[int, Iterable[Array]]] = {
            "tokens": (int((corpus.lines[end] - corpus.lines[first]).sum()), tokens()),
            "lines": (int(lines.sum()) + 1, _running_sums(line_lengths())),
            "documents": (len(lines) + 1, _running_sums([lines])),
        }
        _write_corpus(folder, corpus.words, count_tokens(corpus, documents), numbers, details, durable=True)

    def accept(there: TokenCorpus) -> TokenCorpus:
        if any(there.settings.get(name) != details[name] for name in ("source", "chosen")):
            raise CorpusError("holds a corpus of other documents; name another folder, or remove it", path=there.path)
        return there

    return make_corpus(usable_path(out).absolute(), write, accept=accept)
