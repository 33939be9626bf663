"""Where CoNLL files are: by themselves, in folders, in tar archives."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from biasgauge._io.source import ByteSource
from biasgauge.errors import CorpusError

ENDING = "conll"
_BLOCK = 1 << 24


def conll_texts(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
) -> Iterator[tuple[str, str, str]]:
    """For each file: what errors call it, its name without ending, its text.

    Raises:
        CorpusError: there is no such file, no CoNLL file in a folder or archive, or the text is not UTF-8.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    for path in map(Path, given):
        found = 0
        for label, raw in _files(path):
            found += 1
            yield label, Path(label).name.split(".")[0], _decoded(raw, label)
        if not found:
            raise CorpusError(f"holds no file whose name ends in {ENDING!r}", path=path)


def file_text(path: str | os.PathLike[str]) -> str:
    """Text of one file, compressed or not.

    Raises:
        CorpusError: there is no such file, or it is not UTF-8.
    """
    return _decoded(_content(Path(path)), str(path))


def _decoded(raw: bytes, label: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise CorpusError("is not UTF-8 text", path=label, offset=problem.start) from problem


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for one in sorted(path.rglob(f"*{ENDING}")):
            if one.is_file():
                yield str(one), _content(one)
    elif ".tar" in path.suffixes and path.is_file():
        yield from _members(path)
    else:
        yield str(path), _content(path)


def _content(path: Path) -> bytes:
    pieces = []
    with ByteSource(path, error=CorpusError) as source:
        while piece := source.read(_BLOCK):
            pieces.append(piece)
    return b"".join(pieces)


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(path) as archive:
            content = {}
            for member in archive:
                taken = archive.extractfile(member) if member.name.endswith(ENDING) and member.isfile() else None
                if taken is not None:
                    content[member.name] = taken.read()
    except (tarfile.TarError, OSError, EOFError) as problem:
        raise CorpusError(f"is not a whole tar archive: {problem}", path=path) from problem
    for name in sorted(content):
        yield f"{path}/{name}", content[name]
