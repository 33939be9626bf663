"""Layouts of corpora: sentences of CoNLL-U, text of web archives (WET), texts in files of R and in Parquet tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from biasgauge.errors import CorpusError
from biasgauge.io import RValue, column_text, parquet_rows
from biasgauge.text.corpus_reader import LONGEST_RECORD, READ_BYTES, CorpusReader, Layout, Sink, whole_lines
from biasgauge.text.r_texts import r_objects

if TYPE_CHECKING:
    from biasgauge.io import ByteSource

_COLUMNS = {"form": 1, "lemma": 2}
_TOKEN = re.compile(r"(\d{1,9})(?:-(\d{1,9})|(\.\d+))?")
_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")
_VERSION = re.compile(rb"WARC/1\.\d")
_LONGEST_HEADER = 2**16


def _read_conllu(layout: Layout, source: ByteSource, sink: Sink) -> None:
    """Read sentences as they stand; words of a contraction (`1-2  du`) are the one form that the text has.

    A document is what follows `# newdoc`; in a file without such lines a sentence.
    """
    field = layout.field or "form"
    if field not in _COLUMNS:
        raise CorpusError(f"has no field {field!r}; CoNLL-U has form and lemma", path=source.path)
    marked = False
    for words in _sentences(source, str(field)):
        if words is None:
            sink.end_document(counted=marked)
            marked = True
            continue
        sink.line(" ".join(words))
        if not marked:
            sink.end_document(counted=False)
    sink.end_document(counted=marked)


def _sentences(source: ByteSource, field: str) -> Iterator[list[str] | None]:
    """Yield the words of each sentence, and None where a document begins."""
    words: list[str] = []
    covered = 0  # last word of the contraction before
    for number, line in chain(whole_lines(source), ((0, ""),)):
        text = line.rstrip("\r")
        if not text.strip():
            if words:
                yield words
            words, covered = [], 0
        elif text.startswith("#"):
            if _NEW_DOCUMENT.match(text):
                yield None
        else:
            cells = text.split("\t")
            token = _TOKEN.fullmatch(cells[0])
            if token is None or len(cells) <= _COLUMNS[field]:
                sentence = "is no line of CoNLL-U: a number, and further columns between tabs, were expected"
                raise CorpusError(sentence, path=source.path, line=number)
            first, last, empty = int(token[1]), token[2], token[3]
            if last is not None:
                if field == "form":
                    words.append(cells[1])
                    covered = int(last)
            elif empty is None and first > covered:
                words.append(cells[_COLUMNS[field]])


def _read_warc(_layout: Layout, source: ByteSource, sink: Sink) -> None:
    """Read the records of plain text (`conversion`) of a web archive, a document each; others are passed over."""
    texts = pages = 0
    for fields, content in _records(source):
        if fields.get("warc-type") in {"response", "resource", "revisit"}:
            pages += 1
        if fields.get("warc-type") != "conversion" or "text/plain" not in fields.get("content-type", "text/plain"):
            continue
        texts += 1
        for line in content.decode("utf-8", "replace").splitlines():
            sink.line(line)
        sink.end_document(counted=True)
    if not texts:
        found = f"holds {pages:,} web pages and no text; give the WET file with the text of the pages" if pages else (
            "holds no records of text"
        )  # fmt: skip
        raise CorpusError(found, path=source.path)


def _records(source: ByteSource) -> Iterator[tuple[dict[str, str], bytes]]:
    """Yield the fields and the content of each record of a web archive."""
    buffer = b""

    def problem(sentence: str) -> CorpusError:
        return CorpusError(sentence, path=source.path, offset=source.offset - len(buffer))

    while True:
        buffer = buffer.lstrip(b"\r\n")
        while (end := buffer.find(b"\r\n\r\n")) < 0:
            piece = source.read(READ_BYTES)
            if not piece and not buffer:
                return
            if not piece or len(buffer) > _LONGEST_HEADER:
                raise problem("the record has no end of its header, so this is no WARC file or it was cut short")
            buffer = (buffer + piece).lstrip(b"\r\n")
        first, *lines = buffer[:end].split(b"\r\n")
        if not _VERSION.fullmatch(first):
            raise problem("a record of WARC/1.0 or 1.1 was expected")
        pairs = (line.decode("utf-8", "replace").partition(":") for line in lines)
        fields = {name.strip().lower(): value.strip().lower() for name, _, value in pairs}
        length = fields.get("content-length", "")
        if not length.isdecimal() or len(length) > 15:
            raise problem("the record does not tell its Content-Length")
        size = int(length)
        if size > LONGEST_RECORD:
            raise problem(f"the record has {size:,} bytes; at most {LONGEST_RECORD:,} are read")
        buffer = buffer[end + 4 :]
        buffer += source.read(max(size - len(buffer), 0))
        if len(buffer) < size:
            raise problem("the record ends before its Content-Length: the file was cut short")
        yield fields, buffer[:size]
        buffer = buffer[size:]


def _read_r(layout: Layout, source: ByteSource, sink: Sink) -> None:
    """Read a column of text of a data frame, or a character vector such as a corpus of quanteda, an element each."""
    objects = r_objects(source)
    texts = {name: text for name, value in objects.items() if (text := _texts(value, layout.field)) is not None}
    if len(texts) != 1:
        wanted = (
            "name the column of the text (field=…, --field)"
            if layout.field is None
            else f"has no column {layout.field!r}"
        )
        columns = [name for value in objects.values() if isinstance(value, RValue) for name in value.strings("names")]
        shown = ", ".join(repr(str(name)[:40]) for name in columns[:10]) or "no names"
        raise CorpusError(f"{wanted}, or save a character vector alone; found {shown}", path=source.path)
    (column,) = texts.values()
    for element in column:
        sink.record(element or "")


def _texts(value: Any, field: str | int | None) -> Sequence[str | None] | None:  # noqa: ANN401 - any object of R
    """Texts of an object; None where it has none of this name."""
    if not isinstance(value, RValue):
        return None
    if "data.frame" not in value.strings("class"):
        return column_text(value) if field is None else None
    names = value.strings("names")
    if field not in names:
        return None
    column = value.values[names.index(str(field))]
    return column_text(column) if isinstance(column, RValue) else None


def _read_parquet(layout: Layout, source: ByteSource, sink: Sink) -> None:
    """Read a column of text of a Parquet table, a document each cell; a batch of rows is in memory at a time."""
    columns = [] if layout.field is None else [str(layout.field)]
    with source.seekable() as file:
        for row, (cell,) in enumerate(parquet_rows(source.path, columns, content=file, error=CorpusError), 1):
            if cell is not None and not isinstance(cell, str):
                sentence = f"holds no text in the column {columns[0]!r} (row {row:,}); name the column of the text"
                raise CorpusError(sentence, path=source.path)
            sink.record(cell or "")


READER = (
    CorpusReader("conllu", "sentences of CoNLL-U", _read_conllu, file_names=r".*\.conllu", field="name"),
    CorpusReader("warc", "text of web archives (WET)", _read_warc, file_names=r".*\.(warc|wet)(\.wet)?"),
    CorpusReader("r", "texts in .rds and .RData of R", _read_r, file_names=r".*\.(rds|rda|rdata)", field="name"),
    CorpusReader("parquet", "a column of a Parquet table", _read_parquet, file_names=r".*\.parquet", field="name"),
)
