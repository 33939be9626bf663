"""WikiText: articles with their headings."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from biasgauge.corpora.corpus_reader import CorpusReader, Sink
from biasgauge.corpora.layouts import FORMULA, Layout
from biasgauge.corpora.text_lines import whole_lines
from biasgauge.errors import CorpusError

if TYPE_CHECKING:
    from biasgauge._io.source import ByteSource

_TITLE = re.compile(r"= .* =")
_SECTION = re.compile(r"= = .* = =")
_HEADING = re.compile(r"(?:= )+(.*?)(?: =)+")


def _read_wikitext(layout: Layout, source: ByteSource, sink: Sink) -> None:
    """Articles start at a line ` = Title = ` between blank ones; headings are lines of text without their signs."""
    lines = (text.strip() for _, text in whole_lines(source))
    before, here = "", None
    titles = 0
    for after in chain((text for text in lines if text != FORMULA), ("",)):
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
    sink.end_document(counted=True)


READER = CorpusReader(
    "wikitext", "articles of WikiText", _read_wikitext, file_names=r"wiki\.(train|valid|test)\.(tokens|raw)"
)
