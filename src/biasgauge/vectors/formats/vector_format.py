"""Formats of vector files: the registry's `VectorFormat`, a reader's request and table, notices, and detection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO

from biasgauge import registry
from biasgauge.core import Record, Vectors
from biasgauge.errors import EmbeddingFormatError, one_sentence
from biasgauge.io import GZIP_MAGIC, ByteSource

if TYPE_CHECKING:
    import zipfile

    from biasgauge.io import Progress
    from biasgauge.vectors.frequencies import Frequencies

OUTCOMES = MappingProxyType(
    {
        "bom": "the file starts with a byte order mark, which was skipped",
        "crlf": "lines end in CR LF, read as LF",
        "blank-line": "blank lines were skipped",
        "no-final-newline": "the last line has no line feed; if the file was cut short, its last number is wrong",
        "header-count": "the header does not tell the truth about the number of rows",
        "trailing-bytes": "bytes after the last row that the header promises were not read",
        "spaced-word": "words with a space in them were kept as they are",
        "invalid-utf8": "words that are not valid UTF-8 were kept with the bad bytes written as \\xNN",
        "empty-word": "rows with an empty word were dropped",
        "duplicate": "words that occur again were dropped; the first vector of each was kept",
        "not-finite": "vectors with NaN or infinity were dropped",
        "zero": "zero vectors were kept; a measure that needs their direction is undefined",
        "integers": "the vectors are stored as integers and were read as 32-bit floating point",
    }
)
"""Code and sentence of each notice. `docs/reference/formats.md` explains when each arises; a test compares the two."""


@dataclass(frozen=True)
class Notice(Record):
    """One oddity of an input.

    Attributes:
        code: a key of `OUTCOMES`, to test for.
        message: a sentence to read, with the count and the first few examples.
        count: how many rows, lines or words are concerned.
        examples: the first few of them.
    """

    code: str
    message: str
    count: int = 1
    examples: tuple[str, ...] = ()


def brief(text: str, longest: int) -> str:
    """Make one printable line of what a file says, however long it is or whatever it holds."""
    line = text if len(text) <= longest else text[: longest - 1] + "…"
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in line)


class NoticeBook:
    """Collects notices while an input is read."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, list[str]] = {}

    def add(self, code: str, example: str | None = None) -> None:
        """Note one more occurrence of an oddity, with the word or the place."""
        self._counts[code] = self._counts.get(code, 0) + 1
        examples = self._examples.setdefault(code, [])
        if example is not None and len(examples) < 5:
            examples.append(brief(example, 80))

    def notices(self) -> tuple[Notice, ...]:
        """Everything noted, in the order of `OUTCOMES`."""
        notices = []
        for code in (code for code in OUTCOMES if code in self._counts):
            message, count, examples = OUTCOMES[code], self._counts[code], tuple(self._examples[code])
            if examples:
                shown = ", ".join(examples) + (", …" if count > len(examples) else "")
                message += f" ({shown})" if count == 1 else f" ({count:,}: {shown})"
            notices.append(Notice(code, one_sentence(message), count, examples))
        return tuple(notices)


HEAD = 2**16
"""Number of a file's first bytes, decompressed, by which a format is recognized."""


@dataclass(frozen=True)
class VectorFormat:
    """A format of vector files: recognition by the first bytes, and reading.

    Attributes:
        name: as results record it.
        about: a few words on it.
        matches: called with the first bytes (`HEAD` of them, or all) and the request; returns whether the file is in
            this format, or raises `request.error(…)` where it is a broken one.
        read: returns words and vectors.
        order: formats are asked in this order, and the first that matches reads the file. Below 0 a format is asked
            before files of other kinds (HDF5, fastText's .bin, …) are refused, so that it may read one of those;
            from 10 on are those that ship, and last, at 90, text without a header, which most things look like.
    """

    name: str
    about: str
    matches: Callable[[bytes, Request], bool]
    read: Callable[[Request], VectorTable]
    order: int = 0


@dataclass(frozen=True)
class Request:
    """A vector file and the part of it that is wanted.

    Attributes:
        path: the file.
        wanted: only these words, or None for all.
        limit: number of rows to read from the start; None for all.
        vocabulary: the word list that belongs to a bare matrix, where the user named one.
        book: collects notices about the file.
        progress: called as the reading goes on.
    """

    path: Path
    wanted: frozenset[str] | None = None
    limit: int | None = None
    vocabulary: Path | None = None
    book: NoticeBook = field(default_factory=NoticeBook)
    progress: Progress | None = None

    def open(self, *, quiet: bool = False) -> ByteSource:
        """Open the file's bytes; `quiet` leaves progress to a later reading."""
        return ByteSource(self.path, error=EmbeddingFormatError, progress=None if quiet else self.progress)

    def error(self, problem: str, *, line: int | None = None, offset: int | None = None) -> EmbeddingFormatError:
        """Make the one clear sentence about this file, to be raised."""
        return EmbeddingFormatError(brief(problem, 800), path=self.path, line=line, offset=offset)

    @contextmanager
    def archive(self, file: BinaryIO) -> Iterator[zipfile.ZipFile]:
        """Open the file's bytes as a zip archive; damage of it becomes one sentence."""
        import zipfile

        from biasgauge.io import ARCHIVE_DAMAGE

        try:
            with zipfile.ZipFile(file) as archive:
                yield archive
        except ARCHIVE_DAMAGE as problem:
            raise self.error(f"the archive is damaged or cut short ({problem}); copy or save it again") from problem


@dataclass(frozen=True)
class VectorTable:
    """Words, one vector for each, the words that a reader dropped, with the reason, and frequencies in the file."""

    words: tuple[str, ...]
    vectors: Vectors
    dropped: Mapping[str, str]
    frequencies: Frequencies | None = None


_R_TEXT = {
    **dict.fromkeys((b"A\n2", b"A\n3"), "saveRDS(object, 'v.rds')"),
    **dict.fromkeys((b"RDA2\nA", b"RDA3\nA"), "save(object, file = 'v.RData')"),
}
REFUSED = (
    (b"\x89HDF", "is HDF5, which biasgauge does not read; those that it reads are listed by: biasgauge formats"),
    (b"\xfd7zXZ\x00", "is compressed twice; decompress it once (unxz)"),
    (b"BZh", "is compressed with bzip2; decompress it first (bunzip2), or use gzip"),
    (b"\x28\xb5\x2f\xfd", "is compressed twice; decompress it once (unzstd)"),
    (b"7z\xbc\xaf", "is a 7z archive; unpack it first"),
    (GZIP_MAGIC, "is gzipped twice; decompress it once (gunzip)"),
    (b"\xff\xfe", "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)"),
    (b"\xfe\xff", "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)"),
    (b"version https://git-lfs", "is a Git LFS pointer, not the vectors; fetch them with: git lfs pull"),
    (b"%PDF", "is a PDF, not vectors"),
    (b"FEA1\0", "is Feather of version 1; save it again with pyarrow.feather.write_feather(table, path)"),
    *((mark + b"\n", f"is R's text form; save it again in R: {remedy}") for mark, remedy in _R_TEXT.items()),
)
"""First bytes of files that are given by mistake, and the sentence about each."""


def detect(request: Request) -> VectorFormat:
    """Find the format; otherwise an error with the kind of the file in one sentence."""
    with request.open(quiet=True) as source:
        head = source.read(HEAD)
    if not head:
        raise request.error("the file is empty")
    formats: list[VectorFormat] = sorted(
        registry.everything("vector_format").values(), key=lambda candidate: (candidate.order, candidate.name)
    )
    early = sum(candidate.order < 0 for candidate in formats)
    for candidate in formats[:early]:
        if candidate.matches(head, request):
            return candidate
    for magic, sentence in REFUSED:
        if head.startswith(magic):
            raise request.error(sentence)
    if head.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
        raise request.error("is a web page, not vectors; the download went wrong")
    for candidate in formats[early:]:
        if candidate.matches(head, request):
            return candidate
    raise request.error("is in no format that biasgauge reads; those that it reads are listed by: biasgauge formats")
