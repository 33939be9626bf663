"""A layout of text files: dialogues, "SPEAKER: what is said"; a blank line ends a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.errors import CorpusError
from biasgauge.text.corpus_reader import CorpusReader, whole_lines

if TYPE_CHECKING:
    from biasgauge.io.source import ByteSource
    from biasgauge.text.corpus_reader import Layout, Sink


def read(_layout: Layout, source: ByteSource, sink: Sink) -> None:
    """Hand what is said to the sink, without who says it."""
    for number, line in whole_lines(source):
        _speaker, colon, said = line.partition(":")
        if not line.strip():
            sink.end_document(counted=False)
        elif not colon:
            raise CorpusError("expected 'SPEAKER: what is said'", path=source.path, line=number)
        else:
            sink.line(said)


READER = CorpusReader("dialogue", "lines with their speakers", read, file_names=r".*\.dialogue")
