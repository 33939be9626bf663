"""What a format of vector files is, what its reader is asked for and hands back, and which format a file is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge import registry
from biasgauge.core import Vectors
from biasgauge.errors import EmbeddingFormatError
from biasgauge.io import GZIP_MAGIC, ByteSource
from biasgauge.vectors.notices import NoticeBook, brief

if TYPE_CHECKING:
    from biasgauge.io import Progress

HEAD = 2**16
"""How many of a file's first bytes, decompressed, a format is shown."""


@dataclass(frozen=True)
class VectorFormat:
    """A format of vector files: how a file is known by its first bytes, and how it is read.

    Attributes:
        name: as results record it.
        about: what it is, in a few words.
        matches: called with the first bytes (`HEAD` of them, or all) and the request; says whether the file is in this
            format, or raises `request.error(…)` where it is a broken one.
        read: gives words and vectors.
        order: formats are asked in this order, and the first that matches reads the file. Below 0 a format is asked
            before files of other kinds (HDF5, fastText's .bin, …) are refused, so that it may read one of those;
            from 10 on are those that ship, and last, at 90, text without a header, which most things look like.
    """

    name: str
    about: str
    matches: Callable[[bytes, Request], bool]
    read: Callable[[Request], Table]
    order: int = 0


@dataclass(frozen=True)
class Request:
    """A vector file and how much of it is wanted.

    Attributes:
        path: the file.
        wanted: only these words, or None for all.
        limit: only the first so many rows, or None for all.
        vocabulary: the word list that belongs to a bare matrix, where the user named one.
        book: collects what is odd about the file.
        progress: is told how far the reading has come.
    """

    path: Path
    wanted: frozenset[str] | None = None
    limit: int | None = None
    vocabulary: Path | None = None
    book: NoticeBook = field(default_factory=NoticeBook)
    progress: Progress | None = None

    def open(self, *, quiet: bool = False) -> ByteSource:
        """The file's bytes; `quiet` leaves progress to a later reading."""
        return ByteSource(self.path, error=EmbeddingFormatError, progress=None if quiet else self.progress)

    def error(self, problem: str, *, line: int | None = None, offset: int | None = None) -> EmbeddingFormatError:
        """Make the one clear sentence about this file, to be raised."""
        return EmbeddingFormatError(brief(problem, 800), path=self.path, line=line, offset=offset)


@dataclass(frozen=True)
class Table:
    """What a reader found: words, one vector for each, and the words it had to drop with the reason."""

    words: tuple[str, ...]
    vectors: Vectors
    dropped: Mapping[str, str]


READ_FORMATS = "word2vec text or binary, GloVe text, fastText .vec, .npz, .npy with a vocabulary, safetensors"

PICKLE = (
    "is a Python pickle, which can run code when it is read, so biasgauge never opens one; where you trust the file, "
    "convert it once with gensim: KeyedVectors.load(path).save_word2vec_format('vectors.bin', binary=True)"
)

REFUSED = (
    (b"\xba\x16\x4f\x2f", "is fastText's own .bin model; give the .vec file that comes with it"),
    (b"\x89HDF", f"is HDF5; biasgauge reads {READ_FORMATS}"),
    (b"\xfd7zXZ\x00", "is compressed twice; decompress it once (unxz)"),
    (b"BZh", "is compressed with bzip2; decompress it first (bunzip2), or use gzip"),
    (b"\x28\xb5\x2f\xfd", "is compressed twice; decompress it once (unzstd)"),
    (b"7z\xbc\xaf", "is a 7z archive; unpack it first"),
    (GZIP_MAGIC, "is gzipped twice; decompress it once (gunzip)"),
    (b"\xff\xfe", "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)"),
    (b"\xfe\xff", "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)"),
    (b"version https://git-lfs", "is a Git LFS pointer, not the vectors; fetch them with: git lfs pull"),
    (b"%PDF", "is a PDF, not vectors"),
)
"""First bytes of what users give by mistake, and what to tell them."""


def detect(request: Request) -> VectorFormat:
    """Find the format, or say in one sentence what the file is instead."""
    with request.open(quiet=True) as source:
        head = source.read(HEAD)
    if not head:
        raise request.error("the file is empty")
    if head[0] == 0x80 and len(head) > 1 and 2 <= head[1] <= 5:
        raise request.error(PICKLE)
    formats: list[VectorFormat] = sorted(
        registry.everything("vector_format").values(), key=lambda known: (known.order, known.name)
    )
    early = sum(known.order < 0 for known in formats)
    for known in formats[:early]:
        if known.matches(head, request):
            return known
    for magic, sentence in REFUSED:
        if head.startswith(magic):
            raise request.error(sentence)
    if head.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
        raise request.error("is a web page, not vectors; the download went wrong")
    for known in formats[early:]:
        if known.matches(head, request):
            return known
    raise request.error(f"is in no format that biasgauge reads ({READ_FORMATS})")
