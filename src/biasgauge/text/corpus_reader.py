"""Readers of text files: lines out of a stream of bytes, the registry's `CorpusReader`, and the layout of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from biasgauge import registry
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.text.tokenizers import unknown_name

if TYPE_CHECKING:
    from biasgauge.io import ByteSource

READ_BYTES = 2**20
"""Bytes that are read at a time."""
LONGEST_PIECE = 2**22
"""Bytes of a line that are tokenized at once; a longer line is cut at blanks."""
LONGEST_RECORD = 2**26
"""Bytes of a record (a row, a JSON object, a line of an article), which has to be in memory as a whole."""
DOCUMENTS = ("line", "blank-line", "file")
FORMULA, UNKNOWN = "<formula>", "<unk>"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_COMPRESSED = (".gz", ".xz", ".zst", ".zstd")


class Block(NamedTuple):
    """Some lines, without their ends, and the number of the first, from 1.

    With `cut` the last is not complete; it is the only one then, and the next block goes on with it.
    """

    lines: list[str]
    number: int
    cut: bool


def line_blocks(source: ByteSource, longest: int | None = None) -> Iterator[Block]:
    """Yield the lines of each block that was read; memory is bounded by `longest` (`LONGEST_PIECE` bytes when None).

    Raises:
        CorpusError: the file is not UTF-8 text.
    """
    most = LONGEST_PIECE if longest is None else longest
    remainder = b""
    number = 1
    while block := source.read(READ_BYTES):
        if source.offset == len(block):
            if block.startswith(_UTF_16):
                raise CorpusError("is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8", path=source.path)
            block = block.removeprefix(_BYTE_ORDER_MARK)
        data = remainder + block
        if (nul := data.find(b"\0", len(remainder))) >= 0:
            raise CorpusError(
                "looks like a binary file (it has a NUL byte); biasgauge reads UTF-8 text, plain or compressed with "
                "gzip, xz or zstd",
                path=source.path,
                line=number + data.count(b"\n", 0, nul),
            )
        end = data.rfind(b"\n") + 1
        if end:
            lines = _decode(source, data[: end - 1], number).split("\n")
            yield Block(lines, number, cut=False)
            number += len(lines)
        elif len(data) >= most:
            end = max(data.rfind(b" "), data.rfind(b"\t"), data.rfind(b"\r")) + 1
            if not end:
                sentence = f"has {len(data):,} bytes without a blank, so this is not running text"
                raise CorpusError(sentence, path=source.path, line=number)
            yield Block([_decode(source, data[:end], number)], number, cut=True)
        remainder = data[end:]
    if remainder:
        yield Block([_decode(source, remainder, number)], number, cut=False)


def whole_lines(source: ByteSource) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line.

    Raises:
        CorpusError: the file is not UTF-8 text, or a line is longer than `LONGEST_RECORD`.
    """
    for block in line_blocks(source, LONGEST_RECORD):
        if block.cut:
            sentence = f"is longer than {LONGEST_RECORD:,} bytes; only running text may have such lines"
            raise CorpusError(sentence, path=source.path, line=block.number)
        yield from enumerate(block.lines, block.number)


def _decode(source: ByteSource, data: bytes, number: int) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise CorpusError(
            f"is not UTF-8 (byte 0x{data[problem.start]:02x}); convert the file first, for example: "
            f"iconv -f LATIN1 -t UTF-8",
            path=source.path,
            line=number + data.count(b"\n", 0, problem.start),
        ) from problem


class Sink(Protocol):
    """Receiver of the texts of a file."""

    def line(self, text: str, *, ended: bool = True) -> None:
        """Take a line, or a piece of one that is not `ended`."""

    def record(self, text: str) -> None:
        """Take a whole document."""

    def end_document(self, *, counted: bool) -> None:
        """End the document; an empty one is counted where the file marks it as a document."""


@dataclass(frozen=True)
class CorpusReader:
    """A layout of text files: which files have it, and where a document ends in one.

    Attributes:
        name: as `layout="…"` in `read_corpus`.
        about: a few words on it.
        read: called with the settings, the bytes, and the sink that takes the texts; raises `CorpusError` for a file
            that is not in this layout.
        file_names: a regular expression for the names of files (in lower case, without .gz and the like) that have
            this layout beyond doubt, for `layout="auto"`; empty for none.
        field: values of the parameter `field`: none, the name of a field, or that or its number.
    """

    name: str
    about: str
    read: Callable[[Layout, ByteSource, Sink], None]
    file_names: str = ""
    field: Literal["none", "name", "name or number"] = "none"

    def claims(self, file_name: str) -> bool:
        """Tell whether a file of this name has this layout beyond doubt."""
        return bool(self.file_names and re.fullmatch(self.file_names, file_name, re.DOTALL))


class Layout:
    """Settings of a reader: the field, what is a document, the marks that the tokenizer would turn into words."""

    def __init__(self, name: str, *, field: str | int | None, documents: str, keeps_marks: bool) -> None:
        readers = registry.names("corpus_reader")
        if name != "auto" and name not in readers:
            raise unknown_name("layout", name, ("auto", *readers))
        if documents not in DOCUMENTS:
            raise unknown_name("documents", documents, DOCUMENTS)
        _check_field(field, name, "name or number" if name == "auto" else registry.get("corpus_reader", name).field)
        self.name = name
        self.field = field
        self.documents = documents
        self.marks = (FORMULA,) if keeps_marks else (FORMULA, UNKNOWN)

    def choose(self, file_name: str) -> str:
        """Layout of a file: the one that was named, or the one of its file name, or plain lines."""
        if self.name != "auto":
            return self.name
        stem = file_name.rpartition("/")[2].lower()
        for ending in _COMPRESSED:
            stem = stem.removesuffix(ending)
        readers = registry.everything("corpus_reader")
        return next((name for name, reader in readers.items() if reader.claims(stem)), "lines")

    def read(self, source: ByteSource, layout: str, sink: Sink) -> None:
        """Hand the texts of a file to `sink`; `CorpusError` where it is not in this layout."""
        registry.get("corpus_reader", layout).read(self, source, sink)
        sink.end_document(counted=False)


def _check_field(field: object, layout: str, accepted: str) -> None:
    """Refuse a field that a file of this layout cannot have."""
    if isinstance(field, bool) or not isinstance(field, (str, int, type(None))) or field == "":
        needed = "must be a name or the number of a column, from 1"
    elif isinstance(field, int) and (field < 1 or accepted == "name"):
        needed = f"must be {'the name of a field' if accepted == 'name' else 'a column from 1 on'}"
    elif field is not None and accepted == "none":
        needed = f"is for tables and JSON lines, not for {layout!r}"
    else:
        return
    raise ParameterError(f"The 'field' parameter of read_corpus {needed}. Got {field!r}.")
