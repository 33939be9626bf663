"""Checksums of files and folders, remembered within a process as long as a file's stamp stays the same."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from biasgauge.errors import InputError, file_error

_STABLE_AFTER = 2.0
"""Seconds after which a file that has not been written to can be told from a later version by its time."""
_cache: dict[tuple[Path, ...], tuple[str, str]] = {}


def file_sha256(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def path_sha256(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file; of a folder, over the names (with `/`, sorted) and checksums of all files in it.

    The location of a file or folder, its times and hidden files do not count.
    """
    root = Path(path)
    if root.is_file():
        return file_sha256(root)
    digest = hashlib.sha256()
    for name in folder_files(root):
        digest.update(f"{name}\0{file_sha256(root / name)}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def folder_files(folder: Path) -> list[str]:
    """Names of all files below a folder, with `/` as separator, sorted; hidden ones are left out."""
    names = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(name.as_posix() for name in names if not any(part.startswith(".") for part in name.parts))


def file_stamp(paths: Sequence[Path]) -> tuple[str, bool]:
    """Sizes, times and inodes of some files, as text; and whether none was written just now.

    A file of other content has another stamp, once it is old enough.
    """
    stamps, newest = [], 0.0
    for path in paths:
        status = path.stat()
        newest = max(newest, status.st_mtime, status.st_ctime)
        # `cp -p` sets the first time, and nobody the second
        stamps.append(f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino} {status.st_dev}")
    return "\n".join(stamps), time.time() - newest > _STABLE_AFTER


def path_stamps(paths: Sequence[Path]) -> str:
    """Stamps of some files and of all files in some folders, which differ once any has changed."""
    files: list[Path] = []
    for path in paths:
        files += [path / name for name in folder_files(path)] if path.is_dir() else [path] if path.is_file() else []
    return file_stamp(files)[0]


def cache_by_stamp(paths: Sequence[Path], compute: Callable[[], str]) -> str:
    """Call `compute` once in a process, as long as some files keep their stamps, and return its value."""
    key = tuple(path.absolute() for path in paths)
    stamp, stable = file_stamp(paths)
    cached = _cache.get(key)
    if cached is not None and cached[0] == stamp:
        return cached[1]
    value = compute()
    if stable and file_stamp(paths)[0] == stamp:
        _cache[key] = (stamp, value)
    return value


def check_digest(path: Path, expected: object, *, again: str, error: type[InputError] = InputError) -> None:
    """Refuse a file whose SHA-256 is not `expected`; a file is read once in a process, unless it changes.

    Raises:
        InputError: it cannot be read, or is damaged; ends with `again`, what to do about it.
    """
    try:
        digest = cache_by_stamp([path], lambda: file_sha256(path))
    except OSError as problem:
        raise file_error(error, f"cannot be read ({problem.strerror}); {again}", path) from problem
    if digest != expected:
        raise file_error(error, f"is damaged (its checksum differs); {again}", path)
