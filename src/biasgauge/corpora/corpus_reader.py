"""What a reader of text files is, for the registry, and what it is given: settings in, documents out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from biasgauge._io.source import ByteSource
    from biasgauge.corpora.layouts import Layout


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
