"""What a file holds, as one number; and what a folder holds, file by file."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from biasgauge.errors import InputError, file_error

_SETTLED = 2.0
"""Seconds after which a file that has not been written to can be told from a later version by its time."""
_known: dict[tuple[Path, ...], tuple[str, str]] = {}


def file_sha256(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def path_sha256(path: str | os.PathLike[str]) -> str:
    """The same of a file; of a folder, over the names (with `/`, sorted) and checksums of all files in it.

    Where a file or folder lies, and when it was written, does not count. Hidden files do not count either.
    """
    place = Path(path)
    if place.is_file():
        return file_sha256(place)
    digest = hashlib.sha256()
    for name in folder_files(place):
        digest.update(f"{name}\0{file_sha256(place / name)}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def folder_files(folder: Path) -> list[str]:
    """Names of all files below a folder, with `/` between their parts, sorted; hidden ones are left out."""
    names = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(name.as_posix() for name in names if not any(part.startswith(".") for part in name.parts))


def file_stamp(paths: Sequence[Path]) -> tuple[str, bool]:
    """Sizes, times and places on the disk of some files, as text; and whether none was written just now.

    A file that has another content has another stamp, once it has settled.
    """
    stamps, newest = [], 0.0
    for path in paths:
        about = path.stat()
        newest = max(newest, about.st_mtime, about.st_ctime)
        # `cp -p` sets the first time, and nobody the second
        stamps.append(f"{about.st_size} {about.st_mtime_ns} {about.st_ctime_ns} {about.st_ino} {about.st_dev}")
    return "\n".join(stamps), time.time() - newest > _SETTLED


def stamps_of(places: Sequence[Path]) -> str:
    """Stamps of some files and of all files in some folders: whether any has changed since."""
    files = [path for place in places for path in ([place] if place.is_file() else map(place.joinpath, _listed(place)))]
    return file_stamp(files)[0]


def _listed(folder: Path) -> list[str]:
    return folder_files(folder) if folder.is_dir() else []


def remembered(paths: Sequence[Path], compute: Callable[[], str]) -> str:
    """What `compute` makes of some files, computed once in a process for as long as they have the same stamp."""
    key = tuple(path.absolute() for path in paths)
    stamp, settled = file_stamp(paths)
    known = _known.get(key)
    if known is not None and known[0] == stamp:
        return known[1]
    value = compute()
    if settled and file_stamp(paths)[0] == stamp:
        _known[key] = (stamp, value)
    return value


def check_digest(path: Path, expected: object, *, again: str, error: type[InputError] = InputError) -> None:
    """Refuse a file whose SHA-256 is not `expected`; a file is read once in a process, unless it changes.

    Raises:
        InputError: it cannot be read, or is damaged; ends with `again`, what to do about it.
    """
    try:
        given = remembered([path], lambda: file_sha256(path))
    except OSError as problem:
        raise file_error(error, f"cannot be read ({problem.strerror}); {again}", path) from problem
    if given != expected:
        raise file_error(error, f"is damaged (its checksum differs); {again}", path)
