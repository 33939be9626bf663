"""The text that `balance` reads and copies: its lines, and the sets of a test that each has a word of.

Plain lines are read as blocks of bytes, tables and paragraphs record by record; files may be compressed.

Lines are scanned by hand because tokenizing every one is 6 to 10 times as slow (bench/balance.py). For tokenizers that
split at ASCII characters, a block is cut there in a few NumPy passes, and a hash of the first eight bytes of each run
rules out nearly all runs that are no word of a set. The others, and every run with a character of several readings
(an apostrophe, anything beyond ASCII), are split by the tokenizer itself, so the answer is always the tokenizer's.
"""

from __future__ import annotations

import gzip
import lzma
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import ascii_letters
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Integers, JsonObject
from biasgauge.errors import CorpusError, InputError, InternalError, ParameterError
from biasgauge.io import ByteSource, csv_rows
from biasgauge.lexicons import AssociationTest, WordSet, treatment, words_of
from biasgauge.text import LONGEST_RECORD, Tokenizer, line_blocks

if TYPE_CHECKING:
    from biasgauge.io import Progress
    from biasgauge.text import Layout

SetSums = NDArray[np.uint8]
"""Sums of the powers of two of sets: which sets a line has a word of."""
X, Y, A, B = 1, 2, 4, 8
ROLES = {"x": X, "y": Y, "a": A, "b": B}
_KEY_BYTES = 8
_KEY_MASKS = np.array([256**length - 1 for length in range(_KEY_BYTES + 1)], np.uint64)
_HASH_FACTOR, _HASH_BITS = np.uint64(0x9E3779B97F4A7C15), 16
_SEPARATOR, _UNCERTAIN = 0, 1
_MAX_CACHED = 2**18
_BLANKS = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "
"""ASCII characters that `str.split` takes for blanks."""
_BLOCK_BYTES = 2**17


@dataclass(frozen=True)
class BalanceSets:
    """The sets of a test by role, and the token of each word: None where the tokenizer makes none or several of it."""

    name: str
    sets: Mapping[str, WordSet]
    tokens: Mapping[str, str | None]

    @property
    def words(self) -> dict[str, int]:
        """Each token with the sum of its sets."""
        sums: dict[str, int] = {}
        for role, word_set in self.sets.items():
            for token in (self.tokens[word] for word in word_set.words):
                if token is not None:
                    sums[token] = sums.get(token, 0) | ROLES[role]
        return sums

    @property
    def labels(self) -> dict[int, str]:
        """Name of each set."""
        return {ROLES[role]: word_set.name for role, word_set in self.sets.items()}

    @property
    def shared(self) -> tuple[str, ...]:
        """Words in both targets, or in both attributes."""
        pairs = (X | Y, A | B)
        return tuple(word for word, sets in self.words.items() if any(sets & pair == pair for pair in pairs))

    def coverage(self, seen: set[str]) -> JsonObject:
        """Number of words of the sets that a text has, in the shape of every `--json`."""
        words = {role: dict.fromkeys(word_set.words) for role, word_set in self.sets.items()}
        lost = {role: [word for word in members if self.tokens[word] not in seen] for role, members in words.items()}
        number = sum(map(len, words.values()))
        shape: JsonObject = {"asked": number, "found": number - sum(map(len, lost.values()))}
        shape["lost"] = {role: members for role, members in lost.items() if members}
        split = [word for word, token in self.tokens.items() if token is None]
        reasons = dict.fromkeys(split, "the tokenizer makes no single word of it")
        return {**shape, "reasons": reasons} if reasons else shape


def balance_sets(
    test: str | os.PathLike[str] | AssociationTest | Mapping[str, Any], tokenizer: Tokenizer
) -> BalanceSets:
    """Sets of a lexicon, or of a mapping from roles to words, with the token of each word."""
    name, sets = _sets_by_role(test)
    split = {word: list(tokenizer.split(word)) for word_set in sets.values() for word in word_set.words}
    tokens = {word: parts[0] if len(parts) == 1 else None for word, parts in split.items()}
    for role, word_set in sets.items():
        if all(tokens[word] is None for word in word_set.words):
            raise ParameterError(
                f"The tokenizer {tokenizer.name} makes no single word of any word of the set {role} of {name}; choose "
                "another tokenizer or other words."
            )
    return BalanceSets(name, sets, tokens)


def _sets_by_role(test: str | os.PathLike[str] | AssociationTest | Mapping[str, Any]) -> tuple[str, dict[str, WordSet]]:
    if isinstance(test, Mapping):
        if set(test) != set(ROLES):
            listed = ", ".join(map(str, test)) or "none"
            raise ParameterError(f"The 'lexicon' parameter of balance must give the sets x, y, a and b. Got {listed}.")
        return "given words", {role: words_of(test[role]) for role in ROLES}
    named = treatment(test)
    if not isinstance(named, AssociationTest):
        raise ParameterError(
            f"The lexicon {named.name!r} is of kind {named.kind!r}; balancing needs kind 'test', sets with "
            "treatments, or four sets."
        )
    return named.name, dict(named.roles)


class SetFinder:
    """Finds which sets a line has a word of, as a sum of powers of two; `seen` are the words met so far.

    `words` has each word as the tokenizer gives it, with the sets it is in: 1, 2, 4, 8 or a sum of them.
    """

    def __init__(self, words: Mapping[str, int], tokenizer: Tokenizer) -> None:
        self.seen: set[str] = set()
        self._words = dict(words)
        self._split = tokenizer.split
        self._sets_of_run = lru_cache(_MAX_CACHED)(lambda run: self._tokenized_sets(run.decode()))
        # Characters are lowered one by one, except the Greek capital sigma, whose lower case depends on its successor.
        sigma = tokenizer.name != "whitespace" and not set("σς").isdisjoint("".join(words))
        self._table = _byte_tables().get(tokenizer.name) if tokenizer.ours and not sigma else None
        keys = [int.from_bytes(word.encode()[:_KEY_BYTES], "little") for word in words]
        self._filter = np.zeros(2**_HASH_BITS, np.bool_)
        self._filter[_hash(np.array(keys, np.uint64))] = True

    def find(self, raw: bytes) -> SetSums:
        """Sets of each line of UTF-8 text; there is one line more than line feeds."""
        if self._table is None:
            return np.array([self._tokenized_sets(line) for line in raw.decode().split("\n")], np.uint8)
        padded = b"\0" + raw.translate(self._table) + b"\0" * _KEY_BYTES
        codes = np.frombuffer(padded, np.uint8)
        edges = np.flatnonzero(np.diff(codes != _SEPARATOR))
        starts, ends = edges[::2], edges[1::2]
        # the eight bytes from every position on, as one number each, without copying
        windows = np.ndarray((len(padded) - _KEY_BYTES + 1,), "<u8", padded, strides=(1,))
        keys = windows[starts + 1] & _KEY_MASKS[np.minimum(ends - starts, _KEY_BYTES)]
        candidates = self._filter[_hash(keys)]
        uncertain = np.flatnonzero(codes == _UNCERTAIN) - 1
        candidates[np.searchsorted(starts, uncertain, side="right") - 1] = True
        starts, ends = starts[candidates], ends[candidates]
        sets = [self._sets_of_run(raw[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        breaks = np.flatnonzero(np.frombuffer(raw, np.uint8) == ord("\n"))
        by_line = np.zeros(len(breaks) + 1, np.uint8)
        np.bitwise_or.at(by_line, np.searchsorted(breaks, starts), np.array(sets, np.uint8))
        return by_line

    def _tokenized_sets(self, text: str) -> int:
        sets = 0
        for word in self._words.keys() & set(self._split(text)):
            self.seen.add(word)
            sets |= self._words[word]
        return sets


def _hash(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Multiplicative (Fibonacci) hash to `_HASH_BITS` bits."""
    hashes: NDArray[np.uint64] = (keys * _HASH_FACTOR) >> np.uint64(64 - _HASH_BITS)
    return hashes


def _byte_tables() -> dict[str, bytes]:
    """For each tokenizer the class of a byte of UTF-8: a separator, uncertain, or itself, lowered where it lowers."""
    uncertain = dict.fromkeys(range(128, 256), _UNCERTAIN)
    lower = {ord(letter): ord(letter.lower()) for letter in ascii_letters}
    # The two codes may also be bytes of the text; then they are uncertain.
    blanks = {byte: max(byte, _UNCERTAIN) for byte in range(128)} | dict.fromkeys(_BLANKS, _SEPARATOR) | uncertain
    letters = dict.fromkeys(range(128), _SEPARATOR) | lower | {ord("'"): _UNCERTAIN} | uncertain
    rules = {"words": letters, "ascii-words": letters, "whitespace": blanks, "lower-whitespace": blanks | lower}
    return {name: bytes(rule[byte] for byte in range(256)) for name, rule in rules.items()}


UnitCallback = Callable[[bytes, Integers, Integers], None]
"""Takes texts that line feeds separate, where in the file each starts, and how many lines of it each takes."""


def read_units(path: Path, layout: Layout, take: UnitCallback, progress: Progress | None) -> str:
    """Hand every unit of a corpus to `take`: a line, a row or object of a table, a paragraph.

    WikiText is taken line by line. The header and the blank lines of a table are no units.

    Returns:
        SHA-256 of the bytes of the file that were read.
    """
    kind = layout.choose(path.name)
    if kind not in {"lines", "wikitext"}:
        with _LineSource(path, error=CorpusError, progress=progress, hashed=True) as records_source:
            records = _Records(records_source, take, kind, named=not isinstance(layout.field, int))
            layout.read(records_source, kind, records)
            records.flush()
            return records_source.sha256()
    with ByteSource(path, error=CorpusError, progress=progress, hashed=True) as source:
        for lines, number, cut in line_blocks(source, LONGEST_RECORD):
            if cut:
                problem = f"has a line of more than {LONGEST_RECORD:,} bytes; break it first"
                raise CorpusError(problem, path=path, line=number)
            numbers = np.arange(number - 1, number - 1 + len(lines))
            take("\n".join(lines).encode(), numbers, np.ones_like(numbers))
        return source.sha256()


class _LineSource(ByteSource):
    """Hands out a line at a time, so that whoever reads records from it has read no further than the record.

    `taken` are the lines handed out since somebody emptied the list.
    """

    def __init__(self, *settings: Any, **named: Any) -> None:  # noqa: ANN401 - those of a ByteSource
        super().__init__(*settings, **named)
        self.taken: list[bytes] = []
        self._lines = self._split_lines()

    def read(self, size: int) -> bytes:  # noqa: ARG002 - as a ByteSource has it; a line is as long as it is
        line = next(self._lines, b"")
        if line:
            self.offset += len(line)
            self.taken.append(line)
        return line

    def _split_lines(self) -> Iterator[bytes]:
        """Lines of the file; `offset` counts the bytes handed out, but for the base class those it has read."""
        begun, bytes_read, block = b"", 0, b"\n"
        while block:
            handed_out, self.offset = self.offset, bytes_read
            block = super().read(_BLOCK_BYTES)
            bytes_read, self.offset = self.offset, handed_out
            *complete, begun = (begun + block).split(b"\n")
            yield from (line + b"\n" for line in complete)
            if begun and (not block or len(begun) >= LONGEST_RECORD):
                yield begun
                begun = b""


class _Records:
    """Takes records from a layout, and says which lines of the file each takes."""

    def __init__(self, source: _LineSource, take: UnitCallback, kind: str, *, named: bool) -> None:
        self._source, self._take, self._kind = source, take, kind
        self._header = named and kind in {"tsv", "csv"}
        self._number = self._signs = 0
        self._texts: list[str] = []
        self._first: list[int] = []
        self._sizes: list[int] = []

    def line(self, text: str, *, ended: bool = True) -> None:
        """Take a paragraph, which must be whole."""
        if not ended:
            raise InternalError(f"a part of a record of {len(text)} characters")
        self.record(text)

    def end_document(self, *, counted: bool) -> None:
        """Pass over the end of a document: a unit is smaller."""

    def record(self, text: str) -> None:
        """Take a row, an object or a paragraph: the lines read since the one before, less blank ones around it."""
        lines = self._source.taken
        start, end = 0, len(lines)
        if self._header:
            start = self._header_lines(lines)
            self._header = False
        while self._blank(lines[start]):
            start += 1
        while self._blank(lines[end - 1]):
            end -= 1
        self._first.append(self._number + start)
        self._sizes.append(end - start)
        self._texts.append(text.replace("\n", " "))
        self._signs += len(text)
        self._number += len(lines)
        lines.clear()
        if self._signs >= _BLOCK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand on what is waiting."""
        if self._texts:
            raw = "\n".join(self._texts).encode()
            self._take(raw, np.array(self._first, np.int64), np.array(self._sizes, np.int64))
        self._texts, self._first, self._sizes, self._signs = [], [], [], 0

    def _blank(self, line: bytes) -> bool:
        return not (line.strip(b"\r\n") if self._kind == "csv" else line.decode().strip())

    def _header_lines(self, lines: list[bytes]) -> int:
        """Number of lines that the first row takes, with blank ones before it."""
        if self._kind == "tsv":
            return next(number for number, line in enumerate(lines, 1) if not self._blank(line))
        rows = csv_rows((line.decode("utf-8-sig") for line in lines), self._source.path, error=CorpusError)
        return next(row.line for row in rows if row.cells)


def copy_without(
    path: Path, target: BinaryIO, removed: Integers, sha256: str, progress: Progress | None, block_bytes: int = 2**20
) -> None:
    """Write the lines of `path` to `target`, `block_bytes` at a time, but for those `removed` (from 0, ascending)."""
    with ByteSource(path, error=CorpusError, progress=progress, hashed=True) as source:
        line = 0
        while block := source.read(block_bytes):
            breaks = block.count(b"\n")
            removed_here = removed[slice(*np.searchsorted(removed, [line, line + breaks + 1]))] - line
            target.write(b"".join(_remaining_stretches(block, removed_here)) if len(removed_here) else block)
            line += breaks
        if source.sha256() != sha256:
            raise CorpusError("changed while it was read; run it again", path=path)


def _remaining_stretches(block: bytes, removed: Integers) -> Iterator[memoryview]:
    """The stretches of a block that stay; line 0 is the one that it starts in."""
    view = memoryview(block)
    breaks = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
    bounds = np.concatenate([[0], breaks, [len(block)]])
    position = 0
    for start, end in zip(bounds[removed].tolist(), bounds[removed + 1].tolist(), strict=True):
        if start > position:
            yield view[position:start]
        position = end
    yield view[position:]


def compressor(out: Path) -> Callable[[BinaryIO], AbstractContextManager[BinaryIO]]:
    """Return what compresses a file as its ending says; the same bytes for the same text."""
    ending = out.suffix.lower()
    if ending == ".gz":
        return lambda raw: cast("BinaryIO", gzip.GzipFile("", "wb", 6, raw, mtime=0))
    if ending == ".xz":
        return lambda raw: cast("BinaryIO", lzma.LZMAFile(raw, "wb"))
    if ending not in {".zst", ".zstd"}:
        return nullcontext
    try:
        import zstandard
    except ImportError as problem:
        raise InputError(f'{out}: to write zstd: pip install "biasgauge[train]"') from problem
    return lambda raw: cast("BinaryIO", zstandard.ZstdCompressor().stream_writer(raw, closefd=False))
