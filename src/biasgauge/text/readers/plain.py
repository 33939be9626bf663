"""Running text: a line is a line, or a paragraph is; and the articles of WikiText with their headings."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from biasgauge.errors import CorpusError
from biasgauge.text.corpus_reader import FORMULA, CorpusReader, Layout, Sink, line_blocks, whole_lines

if TYPE_CHECKING:
    from biasgauge.io import ByteSource

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


READER = (
    CorpusReader("lines", "plain lines", _read_lines),
    CorpusReader("paragraphs", "lines joined up to a blank one", _read_paragraphs),
    CorpusReader(
        "wikitext", "articles of WikiText", _read_wikitext, file_names=r"wiki\.(train|valid|test)\.(tokens|raw)"
    ),
)
