"""Which format a file is in, from its first bytes; its name does not matter."""

from __future__ import annotations

from biasgauge import registry
from biasgauge._io.source import GZIP_MAGIC, ByteSource
from biasgauge.embeddings.formats.vector_format import HEAD, Request, VectorFormat
from biasgauge.errors import EmbeddingFormatError

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
    with ByteSource(request.path, error=EmbeddingFormatError) as source:
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
    _refuse(request, head)
    for known in formats[early:]:
        if known.matches(head, request):
            return known
    raise request.error(f"is in no format that biasgauge reads ({READ_FORMATS})")


def _refuse(request: Request, head: bytes) -> None:
    for magic, sentence in REFUSED:
        if head.startswith(magic):
            raise request.error(sentence)
    if head.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
        raise request.error("is a web page, not vectors; the download went wrong")
