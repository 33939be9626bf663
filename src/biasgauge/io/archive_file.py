"""Members of a folder, a tar archive (plain or compressed) or a zip archive, read by name; nothing is unpacked."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.errors import file_error
from biasgauge.io.source import ByteSource, expansion_limit
from biasgauge.io.text_file import read_whole

if TYPE_CHECKING:
    from biasgauge.errors import _FileError

_BLOCK = 2**20
_ZIP_MAGIC = b"PK\x03\x04"


def read_members(path: str | os.PathLike[str], names: Collection[str], *, error: type[_FileError]) -> dict[str, bytes]:
    """Read the members of a folder or an archive whose last part of the name is one of `names`; some may be missing.

    Of an archive that unpacks to more than `expansion_limit`, nothing is read.

    Raises:
        error: the archive cannot be read or is damaged.
    """
    source = Path(path)
    if source.is_dir():
        return {name: read_whole(source / name, error=error) for name in sorted(names) if (source / name).is_file()}
    packed = read_whole(source, error=error, most=len(_ZIP_MAGIC), wanted="a folder or an archive")
    if packed[: len(_ZIP_MAGIC)] == _ZIP_MAGIC:
        return _read_zip(source, names, error)
    return _read_tar(source, names, error)


def _read_zip(path: Path, names: Collection[str], error: type[_FileError]) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if _last_part(info.filename) in names]
            if sum(info.file_size for info in members) > expansion_limit(path.stat().st_size):
                raise file_error(error, "unpacks to more than an archive of its size should", path)
            return {_last_part(info.filename): archive.read(info) for info in members}
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError) as problem:
        raise file_error(error, f"is a damaged zip archive ({problem})", path) from problem


def _read_tar(path: Path, names: Collection[str], error: type[_FileError]) -> dict[str, bytes]:
    with ByteSource(path, error=error) as source:
        content = io.BytesIO(b"".join(iter(lambda: source.read(_BLOCK), b"")))
    try:
        with tarfile.open(fileobj=content, mode="r:") as archive:
            members = [info for info in archive if info.isfile() and _last_part(info.name) in names]
            return {_last_part(info.name): stream.read() for info in members if (stream := archive.extractfile(info))}
    except (tarfile.TarError, EOFError, ValueError) as problem:
        raise file_error(error, "is neither a folder nor a tar or zip archive, or is damaged", path) from problem


def _last_part(name: str) -> str:
    return name.rpartition("/")[2]
