"""The documents of a corpus as they were written, one after the other; for what needs sentences and not words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from biasgauge.errors import CorpusError, ParameterError
from biasgauge.io import ByteSource
from biasgauge.text.corpus_reader import Layout
from biasgauge.text.read import paths_or_texts, text_files

if TYPE_CHECKING:
    from biasgauge.io import Progress


def visit_documents(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    visit: Callable[[str], None],
    *,
    layout: str = "auto",
    field: str | int | None = None,
    documents: str = "line",
    progress: Progress | None = None,
) -> None:
    """Call `visit` with every document that has text, in the order of the corpus; one of them is in memory at a time.

    The other arguments are those of `read_corpus`.

    Raises:
        CorpusError: a file cannot be read as it should.
        ParameterError: an argument has an impossible value.
    """
    how = Layout(layout, field=field, documents=documents, keeps_marks=True)
    paths, texts = paths_or_texts(source)
    files = text_files(paths, how.of)
    total, behind = sum(file.size for file in files), 0
    sink = _Documents(visit)
    for file in files:
        told = None if progress is None else partial(_told, progress, behind, total)
        with ByteSource(file.path, error=CorpusError, progress=told) as bytes_:
            how.read(bytes_, file.layout, sink)
        behind += file.size
    for text in texts:
        if not isinstance(text, str):
            raise ParameterError(f"The 'source' parameter must give strings. Got {type(text).__name__}.")
        sink.record(text)


def _told(progress: Progress, behind: int, total: int, done: int, _of: int) -> None:
    progress(behind + done, total)


class _Documents:
    """Takes the texts of files, and hands on whole documents."""

    def __init__(self, visit: Callable[[str], None]) -> None:
        self._visit = visit
        self._parts: list[str] = []

    def line(self, text: str) -> None:
        """Take a line."""
        self._parts += [text, "\n"]

    def piece(self, text: str, *, last: bool) -> None:
        """Take a part of a line."""
        self._parts += [text, "\n"] if last else [text]

    def record(self, text: str) -> None:
        """Take a whole document."""
        self._parts.append(text)
        self.end_document(counted=True)

    def end_document(self, *, counted: bool) -> None:  # noqa: ARG002 - a document without text is none here
        """End the document."""
        text = "".join(self._parts).strip()
        self._parts.clear()
        if text:
            self._visit(text)
