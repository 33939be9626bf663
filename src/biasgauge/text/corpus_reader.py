"""How text files are read: what a reader is, for the registry; what it is given; which one a file has."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from biasgauge import registry
from biasgauge.errors import ParameterError
from biasgauge.text.tokenizers import unknown_name

if TYPE_CHECKING:
    from biasgauge.io import ByteSource

DOCUMENTS = ("line", "blank-line", "file")
FORMULA, UNKNOWN = "<formula>", "<unk>"
_PACKED = (".gz", ".xz", ".zst", ".zstd")


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


@dataclass(frozen=True)
class CorpusReader:
    """A layout of text files: which files have it, and how a file says where a document ends.

    Attributes:
        name: as `layout="…"` in `read_corpus`.
        about: what it is, in a few words.
        read: called with the settings, the bytes, and the sink that takes the texts; raises `CorpusError` for a file
            that is not in this layout.
        file_names: a regular expression for the names of files (in lower case, without .gz and the like) that have
            this layout beyond doubt, for `layout="auto"`; empty for none.
        field: what the parameter `field` may be: nothing, the name of a field, or that or its number.
    """

    name: str
    about: str
    read: Callable[[Layout, ByteSource, Sink], None]
    file_names: str = ""
    field: Literal["none", "name", "name or number"] = "none"

    def claims(self, file_name: str) -> bool:
        """Whether a file of this name has this layout beyond doubt."""
        return bool(self.file_names and re.fullmatch(self.file_names, file_name, re.DOTALL))


class Layout:
    """The settings of a reader: which field, what is a document, which marks the tokenizer would turn into words."""

    def __init__(self, name: str, *, field: str | int | None, documents: str, keeps_marks: bool) -> None:
        known = registry.names("corpus_reader")
        if name != "auto" and name not in known:
            raise unknown_name("layout", name, ("auto", *known))
        if documents not in DOCUMENTS:
            raise unknown_name("documents", documents, DOCUMENTS)
        _check_field(field, name, "name or number" if name == "auto" else registry.get("corpus_reader", name).field)
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
        """Hand what the file says to `sink`; `CorpusError` where it is not in this layout."""
        registry.get("corpus_reader", layout).read(self, source, sink)
        sink.end_document(counted=False)


def _check_field(field: object, layout: str, takes: str) -> None:
    """`takes` says what the field of such a file may be."""
    if isinstance(field, bool) or not isinstance(field, (str, int, type(None))) or field == "":
        needed = "must be a name or the number of a column, from 1"
    elif isinstance(field, int) and (field < 1 or takes == "name"):
        needed = f"must be {'the name of a field' if takes == 'name' else 'a column from 1 on'}"
    elif field is not None and takes == "none":
        needed = f"is for tables and JSON lines, not for {layout!r}"
    else:
        return
    raise ParameterError(f"The 'field' parameter of read_corpus {needed}. Got {field!r}.")
