"""How text files are read: the layout that is asked for, or that the name of a file tells, and its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge import registry
from biasgauge.corpora.tokenizers import unknown_name
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge._io.source import ByteSource
    from biasgauge.corpora.corpus_reader import Sink

DOCUMENTS = ("line", "blank-line", "file")
FORMULA, UNKNOWN = "<formula>", "<unk>"
_PACKED = (".gz", ".xz", ".zst", ".zstd")


class Layout:
    """The settings of a reader: which field, what is a document, which marks the tokenizer would turn into words."""

    def __init__(self, name: str, *, field: str | int | None, documents: str, keeps_marks: bool) -> None:
        known = registry.names("corpus_reader")
        if name != "auto" and name not in known:
            raise unknown_name("layout", name, ("auto", *known))
        if documents not in DOCUMENTS:
            raise unknown_name("documents", documents, DOCUMENTS)
        if isinstance(field, bool) or not isinstance(field, (str, int, type(None))) or field == "":
            raise ParameterError(
                f"The 'field' parameter of read_corpus must be a name or the number of a column, from 1. Got {field!r}."
            )
        takes = "name or number" if name == "auto" else registry.get("corpus_reader", name).field
        if isinstance(field, int) and (field < 1 or takes == "name"):
            needed = "the name of a field" if takes == "name" else "a column from 1 on"
            raise ParameterError(f"The 'field' parameter of read_corpus must be {needed}. Got {field!r}.")
        if field is not None and takes == "none":
            raise ParameterError(
                f"The 'field' parameter of read_corpus is for tables and JSON lines. Got {field!r} with {name!r}."
            )
        self.name = name
        self.field = field
        self.documents = documents
        self.marks = (FORMULA,) if keeps_marks else (FORMULA, UNKNOWN)

    def of(self, file_name: str) -> str:
        """The layout of a file: the one asked for, or what its name says beyond doubt, or plain lines."""
        if self.name != "auto":
            return self.name
        stem = file_name.rpartition("/")[2].lower()
        for ending in _PACKED:
            stem = stem.removesuffix(ending)
        readers = registry.everything("corpus_reader")
        return next((name for name, reader in readers.items() if reader.claims(stem)), "lines")

    def read(self, source: ByteSource, layout: str, sink: Sink) -> None:
        """Hand what the file says to `sink`.

        Raises:
            CorpusError: the file is not in this layout.
        """
        registry.get("corpus_reader", layout).read(self, source, sink)
        sink.end_document(counted=False)
