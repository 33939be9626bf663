"""Layouts of text files: plain lines, paragraphs, articles of WikiText; tables and JSON lines with a field of text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from biasgauge.errors import CorpusError
from biasgauge.io import JSONProblem, csv_rows, parse_json
from biasgauge.text.corpus_reader import FORMULA, CorpusReader, Layout, Sink, line_blocks, whole_lines

if TYPE_CHECKING:
    from biasgauge.io import ByteSource

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_TITLE = re.compile(r"= .* =")
_SECTION = re.compile(r"= = .* = =")
_HEADING = re.compile(r"(?:= )+(.*?)(?: =)+")


def _read_lines(layout: Layout, source: ByteSource, sink: Sink) -> None:
    by_line, by_blank = layout.documents == "line", layout.documents == "blank-line"
    unfinished = False
    for block in line_blocks(source):
        for text in block.lines:
            if by_blank and not (unfinished or block.cut or text.strip()):
                sink.end_document(counted=False)
            sink.line(text, ended=not block.cut)
            unfinished = block.cut
            if by_line and not unfinished:
                sink.end_document(counted=False)
    sink.end_document(counted=layout.documents == "file")


def _read_paragraphs(layout: Layout, source: ByteSource, sink: Sink) -> None:
    """Join the lines of paragraphs between blank lines: books whose lines were broken to fit a page."""
    lines: list[str] = []
    for text in chain((text.strip() for _, text in whole_lines(source)), ("",)):
        if text:
            lines.append(text)
        elif lines:
            sink.line(" ".join(lines))
            lines = []
            if layout.documents != "file":
                sink.end_document(counted=False)
    sink.end_document(counted=layout.documents == "file")


def _read_wikitext(layout: Layout, source: ByteSource, sink: Sink) -> None:
    """Read articles, which start at a line ` = Title = ` between blank ones; headings lose their signs."""
    lines = (text.strip() for _, text in whole_lines(source))
    before, line = "", None
    titles = 0
    for after in chain((text for text in lines if text != FORMULA), ("",)):
        if line is not None:
            if not before and not after and _TITLE.fullmatch(line) and not _SECTION.fullmatch(line):
                sink.end_document(counted=titles > 0)
                titles += 1
            heading = _HEADING.fullmatch(line)
            text = heading[1] if heading else line
            for mark in layout.marks:
                text = text.replace(mark, "")
            sink.line(text)
            before = line
        line = after
    if not titles:
        raise CorpusError("has no line ' = Title = ' between blank lines, so it is not WikiText", path=source.path)
    sink.end_document(counted=True)


def _read_tsv(layout: Layout, source: ByteSource, sink: Sink) -> None:
    rows = ((number, text.rstrip("\r").split("\t")) for number, text in whole_lines(source) if text.strip())
    _read_table(layout, source, sink, rows)


def _read_csv(layout: Layout, source: ByteSource, sink: Sink) -> None:
    lines = (f"{text}\n" for _, text in whole_lines(source))
    rows = ((row.line, row.cells) for row in csv_rows(lines, source.path, error=CorpusError) if row.cells)
    _read_table(layout, source, sink, rows)


def _read_table(layout: Layout, source: ByteSource, sink: Sink, rows: Iterator[tuple[int, list[str]]]) -> None:
    """Read a column by name, which the first row then gives, or by number, and then the first row is a document too."""
    field = layout.field
    if isinstance(field, int):
        column = field - 1
    else:
        _, header = next(rows, (1, []))
        if field is None or field not in header:
            wanted = "name the column of the text" if field is None else f"has no column {field!r}"
            raise CorpusError(
                f"{wanted} (field=…, --field): the first row has {_listed(header)}, or give its number, from 1",
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
        value: Any = parse_json(text, halves=True)
    except JSONProblem as fault:
        raise problem(f"is not JSON ({fault}); expected one object per line") from fault
    if not isinstance(value, dict):
        raise problem(f"is {_kind(value)}, expected a JSON object")
    if field is None or field not in value:
        wanted = "name the field of the text" if field is None else f"has no field {field!r}"
        raise problem(f"{wanted} (field=…, --field): the object has {_listed(list(value))}")
    cell = value[field]
    if cell is None:
        return ""
    if not isinstance(cell, str):
        raise problem(f"the field {field!r} is {_kind(cell)}, expected text")
    if _HALF_PAIR.search(cell):
        raise problem(f"the field {field!r} holds half of a surrogate pair, which is not text")
    return cell


def _kind(value: object) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object", str: "text"}
    return kinds.get(type(value), "null")


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name if len(name) < 40 else name[:39] + "…") for name in names[:10])
    return (shown + (", …" if len(names) > 10 else "")) or "nothing"


READER = (
    CorpusReader("lines", "plain lines", _read_lines),
    CorpusReader("paragraphs", "lines joined up to a blank one", _read_paragraphs),
    CorpusReader(
        "wikitext", "articles of WikiText", _read_wikitext, file_names=r"wiki\.(train|valid|test)\.(tokens|raw)"
    ),
    CorpusReader("tsv", "a table separated by tabs", _read_tsv, file_names=r".*\.tsv", field="name or number"),
    CorpusReader("csv", "a table separated by commas", _read_csv, file_names=r".*\.csv", field="name or number"),
    CorpusReader("jsonl", "one JSON object per line", _read_jsonl, file_names=r".*\.(jsonl|ndjson)", field="name"),
)
