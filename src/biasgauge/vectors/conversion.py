"""`convert`: vectors of any format that biasgauge reads into any that it writes; and the list of both."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from biasgauge import registry
from biasgauge.core import JsonMapping, Record, VectorsLike, distinct_words
from biasgauge.io import refuse_inputs
from biasgauge.results import RecordTable, Result
from biasgauge.vectors.hub import download, is_hub_name
from biasgauge.vectors.loading import load
from biasgauge.vectors.saving import FORMATS, save

if TYPE_CHECKING:
    from biasgauge.io import Progress


@dataclass(frozen=True)
class FormatRow(Record):
    """One format of vector files.

    Attributes:
        name: as `Embedding.format` records it.
        about: a few words on it.
        endings: of the paths that `save` and `convert` write in this format; empty where they only read it.
    """

    name: str
    about: str
    endings: str


@dataclass(frozen=True, eq=False, repr=False)
class FormatList(Result):
    """Formats that are read, in the order in which they are recognized, and the endings of those that are written."""

    tables: ClassVar[tuple[str, ...]] = ("formats",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (RecordTable("formats", "", ("name", "about", "endings")),)

    formats: tuple[FormatRow, ...]
    settings: JsonMapping

    def _title(self) -> str:
        return "Formats of vector files"

    def _headline(self) -> str:
        written = sum(bool(row.endings) for row in self.formats)
        return f"{len(self.formats)} formats are read, {written} of them are written"


@dataclass(frozen=True, eq=False, repr=False)
class Conversion(Result):
    """A file of vectors that was converted.

    Attributes:
        path: the new file.
        words: number of words.
        dim: number of dimensions.
        source_format: format that was read.
        format: format that was written.
        dropped: number of words that were not taken over, as their vectors could not be used.
    """

    path: str
    words: int
    dim: int
    source_format: str
    format: str
    dropped: int
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    def _title(self) -> str:
        return "Conversion"

    def _headline(self) -> str:
        return f"{self.words:,} words × {self.dim:,} from {self.source_format} to {self.format}"


def list_formats() -> FormatList:
    """List the formats of vector files: those that ship and those that packages added."""
    formats = sorted(registry.everything("vector_format").values(), key=lambda entry: (entry.order, entry.name))
    endings = {name: ", ".join(end for end, written in FORMATS.items() if written == name) for name in FORMATS.values()}
    return FormatList(tuple(FormatRow(entry.name, entry.about, endings.get(entry.name, "")) for entry in formats), {})


def convert(
    vectors: VectorsLike,
    out: str | os.PathLike[str],
    *,
    words: Iterable[str] | None = None,
    limit: int | None = None,
    vocabulary: str | os.PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    allow_download: bool = False,
    progress: Progress | None = None,
) -> Conversion:
    """Read vectors of any format and write them in another; words, order and numbers stay the same.

    Args:
        vectors: a path or anything `load` takes; or, with `allow_download`, `hub:ORGANIZATION/NAME` on the Hugging Face
            hub.
        out: where to write; the ending decides the format, as in `save`.
        words: take only these.
        limit: take only the first rows.
        vocabulary: of a bare matrix, the file of its words.
        format: to write, in place of that of the ending.
        allow_download: whether a connection to the hub may be opened; nothing else in biasgauge opens one.
        progress: called with (done, total) as the reading goes on.

    Raises:
        EmbeddingFormatError: the input is not what it should be.
        InputError: the hub does not give the model.
        ParameterError: the format is unknown, or cannot hold a word or a number.
    """
    refuse_inputs(out, [vectors])
    chosen = None if words is None else distinct_words(words, "words", "convert")
    if is_hub_name(vectors):
        vectors = download(str(vectors), allow_download=allow_download)
    embedding = load(vectors, chosen, limit, vocabulary=vocabulary, progress=progress)
    path = save(embedding, out, format=format)
    written = format or FORMATS[Path(path.name.removesuffix(".gz")).suffix]
    return Conversion(
        path=str(path),
        words=len(embedding),
        dim=embedding.dim,
        source_format=embedding.format,
        format=written,
        dropped=len(embedding.dropped),
        settings={"limit": limit, "words": None if chosen is None else len(chosen)},
        warnings=tuple(notice.message for notice in embedding.notices),
    )
