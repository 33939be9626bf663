"""How a file says where a document ends: plain lines, WikiText, tables with a field, JSON lines."""

from __future__ import annotations

import csv
import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from biasgauge.corpora.text_lines import LONGEST_RECORD, line_blocks, whole_lines
from biasgauge.corpora.tokenisers import unknown_name
from biasgauge.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from biasgauge._io.source import ByteSource

DOCUMENTS = ("line", "blank-line", "file")
_PACKED = (".gz", ".xz", ".zst", ".zstd")
_ENDINGS = {".tsv": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_WIKITEXT_NAME = re.compile(r"wiki\.(train|valid|test)\.(tokens|raw)")
_TITLE = re.compile(r"= .* =")
_SECTION = re.compile(r"= = .* = =")
_HEADING = re.compile(r"(?:= )+(.*?)(?: =)+")
_FORMULA, _UNKNOWN = "<formula>", "<unk>"
_HALF_PAIR = re.compile("[\ud800-\udfff]")


class Sink(Protocol):
    """What takes the texts."""

    def line(self, text: str) -> None:
        """Take a line."""

    def piece(self, text: str, *, last: bool) -> None:
        """Take a part of a line."""

    def record(self, text: str) -> None:
        """Take a whole document."""

    def end_document(self, *, counted: bool) -> None:
        """End the document; an empty one is counted where it stands for something in the file."""


class Layout:
    """The settings of a reader: which field, what is a document, which marks the tokeniser would turn into words."""

    def __init__(self, name: str, *, field: str | int | None, documents: str, keeps_marks: bool) -> None:
        if name != "auto" and name not in _READERS:
            raise unknown_name("layout", name, ("auto", *_READERS))
        if documents not in DOCUMENTS:
            raise unknown_name("documents", documents, DOCUMENTS)
        if isinstance(field, bool) or not isinstance(field, (str, int, type(None))) or field == "":
            raise ParameterError(
                f"The 'field' parameter of read_corpus must be a name or the number of a column, from 1. Got {field!r}."
            )
        if isinstance(field, int) and (field < 1 or name == "jsonl"):
            needed = "the name of a field" if name == "jsonl" else "a column from 1 on"
            raise ParameterError(f"The 'field' parameter of read_corpus must be {needed}. Got {field!r}.")
        if field is not None and name in {"lines", "paragraphs", "wikitext"}:
            raise ParameterError(
                f"The 'field' parameter of read_corpus is for tables and JSON lines. Got {field!r} with {name!r}."
            )
        self.name = name
        self.field = field
        self.documents = documents
        self.marks = (_FORMULA,) if keeps_marks else (_FORMULA, _UNKNOWN)

    def of(self, file_name: str) -> str:
        """The layout of a file: the one asked for, or what its name says beyond doubt, or plain lines."""
        if self.name != "auto":
            return self.name
        stem = file_name.rpartition("/")[2].lower()
        for ending in _PACKED:
            stem = stem.removesuffix(ending)
        if _WIKITEXT_NAME.fullmatch(stem):
            return "wikitext"
        return next((layout for ending, layout in _ENDINGS.items() if stem.endswith(ending)), "lines")

    def read(self, source: ByteSource, layout: str, sink: Sink) -> None:
        """Hand what the file says to `sink`.

        Raises:
            CorpusError: the file is not in this layout.
        """
        _READERS[layout](self, source, sink)
        sink.end_document(
            counted=layout == "wikitext" or (layout in {"lines", "paragraphs"} and self.documents == "file")
        )


def _read_lines(layout: Layout, source: ByteSource, sink: Sink) -> None:
    by_line, by_blank = layout.documents == "line", layout.documents == "blank-line"
    unfinished = False
    for block in line_blocks(source):
        lines = iter(block.lines)
        if block.cut or unfinished:
            sink.piece(next(lines), last=not block.cut)
            unfinished = block.cut
            if by_line and not unfinished:
                sink.end_document(counted=False)
        for text in lines:
            if by_blank and not text.strip():
                sink.end_document(counted=False)
            sink.line(text)
            if by_line:
                sink.end_document(counted=False)


def _read_paragraphs(layout: Layout, source: ByteSource, sink: Sink) -> None:
    """Paragraphs between blank lines, their lines joined: books whose lines were broken to fit a page."""
    parts: list[str] = []
    for text in chain((text.strip() for _, text in whole_lines(source)), ("",)):
        if text:
            parts.append(text)
        elif parts:
            sink.line(" ".join(parts))
            parts = []
            if layout.documents != "file":
                sink.end_document(counted=False)


def _read_wikitext(layout: Layout, source: ByteSource, sink: Sink) -> None:
    """Articles start at a line ` = Title = ` between blank ones; headings are lines of text without their signs."""
    lines = (text.strip() for _, text in whole_lines(source))
    before, here = "", None
    titles = 0
    for after in chain((text for text in lines if text != _FORMULA), ("",)):
        if here is not None:
            if not before and not after and _TITLE.fullmatch(here) and not _SECTION.fullmatch(here):
                sink.end_document(counted=titles > 0)
                titles += 1
            heading = _HEADING.fullmatch(here)
            text = heading[1] if heading else here
            for mark in layout.marks:
                text = text.replace(mark, "")
            sink.line(text)
            before = here
        here = after
    if not titles:
        raise CorpusError("has no line ' = Title = ' between blank lines, so it is not WikiText", path=source.path)


def _read_tsv(layout: Layout, source: ByteSource, sink: Sink) -> None:
    rows = ((number, text.rstrip("\r").split("\t")) for number, text in whole_lines(source) if text.strip())
    _read_table(layout, source, sink, rows)


def _read_csv(layout: Layout, source: ByteSource, sink: Sink) -> None:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_RECORD))  # the library's own bound is 128 KiB
    reader = csv.reader((f"{text}\n" for _, text in whole_lines(source)), strict=True)

    def rows() -> Iterator[tuple[int, list[str]]]:
        try:
            for row in reader:
                if row:
                    yield reader.line_num, row
        except csv.Error as problem:
            raise CorpusError(
                f"is no comma-separated row ({problem})", path=source.path, line=reader.line_num
            ) from problem

    _read_table(layout, source, sink, rows())


def _read_table(layout: Layout, source: ByteSource, sink: Sink, rows: Iterator[tuple[int, list[str]]]) -> None:
    """A column by name, which the first row then gives, or by number, and then the first row is a document too."""
    field = layout.field
    if isinstance(field, int):
        column = field - 1
    else:
        _, header = next(rows, (1, []))
        if field is None or field not in header:
            wanted = "name the column of the text" if field is None else f"has no column {field!r}"
            raise CorpusError(
                f"{wanted} (field): the first row has {_listed(header)}, or give its number, from 1",
                path=source.path,
                line=1,
            )
        column = header.index(field)
    for number, row in rows:
        if column >= len(row):
            raise CorpusError(f"has {len(row)} columns, expected at least {column + 1}", path=source.path, line=number)
        sink.record(row[column])


def _read_jsonl(layout: Layout, source: ByteSource, sink: Sink) -> None:
    for number, text in whole_lines(source):
        if text.strip():
            sink.record(_text_of(layout.field, source, number, text))


def _text_of(field: str | int | None, source: ByteSource, number: int, text: str) -> str:
    def problem(sentence: str) -> CorpusError:
        return CorpusError(sentence, path=source.path, line=number)

    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise problem(f"is no JSON ({fault}); expected one object a line") from fault
    if not isinstance(value, dict):
        raise problem(f"is {_kind(value)}, expected a JSON object")
    if field is None or field not in value:
        wanted = "name the field of the text" if field is None else f"has no field {field!r}"
        raise problem(f"{wanted} (field): the object has {_listed(list(value))}")
    found = value[field]
    if found is None:
        return ""
    if not isinstance(found, str):
        raise problem(f"the field {field!r} is {_kind(found)}, expected text")
    if _HALF_PAIR.search(found):
        raise problem(f"the field {field!r} holds half of a surrogate pair, which is no text")
    return found


def _kind(value: object) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object", str: "text"}
    return kinds.get(type(value), "null")


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name if len(name) < 40 else name[:39] + "…") for name in names[:10])  # noqa: PLR2004 - a line
    return (shown + (", …" if len(names) > 10 else "")) or "nothing"  # noqa: PLR2004 - as above


_READERS: dict[str, Callable[[Layout, ByteSource, Sink], None]] = {
    "lines": _read_lines,
    "paragraphs": _read_paragraphs,
    "wikitext": _read_wikitext,
    "tsv": _read_tsv,
    "csv": _read_csv,
    "jsonl": _read_jsonl,
}
