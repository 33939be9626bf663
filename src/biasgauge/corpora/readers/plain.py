"""Plain text: a line is a line, or a paragraph is."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from biasgauge.corpora.corpus_reader import CorpusReader, Sink
from biasgauge.corpora.text_lines import line_blocks, whole_lines

if TYPE_CHECKING:
    from biasgauge._io.source import ByteSource
    from biasgauge.corpora.layouts import Layout


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
    sink.end_document(counted=layout.documents == "file")


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
    sink.end_document(counted=layout.documents == "file")


READER = (
    CorpusReader("lines", "plain lines", _read_lines),
    CorpusReader("paragraphs", "lines joined up to a blank one", _read_paragraphs),
)
