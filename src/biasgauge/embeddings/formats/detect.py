"""Which format a file is in, from its first bytes; its name does not matter."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, NamedTuple

from biasgauge._io.source import GZIP_MAGIC, ByteSource
from biasgauge.embeddings.formats.numpy_arrays import DAMAGED_ARCHIVE, read_npy, read_npz
from biasgauge.embeddings.formats.safetensors_file import LONGEST_HEADER, read_safetensors
from biasgauge.embeddings.formats.text import parse_header, read_text, row_width
from biasgauge.embeddings.formats.word2vec_binary import read_word2vec_binary
from biasgauge.errors import EmbeddingFormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasgauge.embeddings.formats.request import Request, Table

_HEAD = 2**16
_ZIP = b"PK\x03\x04"
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


class Format(NamedTuple):
    """A format's name, as results record it, and its reader."""

    name: str
    read: Callable[[Request], Table]


NPZ = Format("npz", read_npz)
NPY = Format("npy", read_npy)
SAFETENSORS = Format("safetensors", read_safetensors)
WORD2VEC_BINARY = Format("word2vec-binary", read_word2vec_binary)
WORD2VEC_TEXT = Format("word2vec-text", read_text)
GLOVE_TEXT = Format("glove-text", read_text)


def detect(request: Request) -> Format:
    """Find the format, or say in one sentence what the file is instead."""
    with ByteSource(request.path, error=EmbeddingFormatError) as source:
        head = source.read(_HEAD)
        if not head:
            raise request.error("the file is empty")
        if head.startswith(_ZIP):
            return _inside_zip(request, source)
    for magic, sentence in REFUSED:
        if head.startswith(magic):
            raise request.error(sentence)
    if head.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
        raise request.error("is a web page, not vectors; the download went wrong")
    if head[0] == 0x80 and len(head) > 1 and 2 <= head[1] <= 5:  # noqa: PLR2004 - pickle protocols 2 to 5
        raise request.error(PICKLE)
    if head.startswith(b"\x93NUMPY"):
        return NPY
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= LONGEST_HEADER:
        return SAFETENSORS
    return _text_or_binary(request, head)


def _text_or_binary(request: Request, head: bytes) -> Format:
    first, ended, body = head.partition(b"\n")
    header = parse_header(first.removeprefix(b"\xef\xbb\xbf")) if ended else None
    if header:
        row, whole, _ = body.partition(b"\n")
        # A row cut off by the end of the head may end in half a number: leave its last field out.
        sure = row if whole or len(head) < _HEAD else row.rpartition(b" ")[0]
        return WORD2VEC_TEXT if not row.strip() or _is_text(row, row_width(sure), header[1], body) else WORD2VEC_BINARY
    if b"\0" in head or _looks_binary(head):
        raise request.error(f"is in no format that biasgauge reads ({READ_FORMATS})")
    return GLOVE_TEXT


def _is_text(row: bytes, width: int, dim: int, body: bytes) -> bool:
    """Whether what follows a header is text: a row of as many numbers as promised, or of some among clean text.

    Some are not enough alone: in a binary row a digit may well stand before the first byte that is a line feed.
    """
    if width in {0, dim} or b"\0" in row:
        return width == dim and b"\0" not in row
    try:
        body.rpartition(b"\n")[0].decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not _controls(body)


def _looks_binary(head: bytes) -> bool:
    """More than one in a hundred bytes is a control character that text does not have."""
    return _controls(head) * 100 > len(head)


def _controls(data: bytes) -> int:
    return sum(data.count(byte) for byte in range(32) if byte not in b"\t\n\v\f\r")


def _inside_zip(request: Request, source: ByteSource) -> Format:
    with source.seekable() as file:
        try:
            names = zipfile.ZipFile(file).namelist()
        except DAMAGED_ARCHIVE as problem:
            raise request.error(f"the archive is damaged or cut short ({problem}); copy it again") from problem
    if any(name.endswith("data.pkl") for name in names):
        raise request.error("is a PyTorch file, which is a pickle inside; save the weights as safetensors instead")
    if not any(name.endswith(".npy") for name in names):
        shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")  # noqa: PLR2004 - a few names are enough
        raise request.error(f"is a zip archive ({shown}); unzip it and give the file inside")
    return NPZ
