"""What a file holds, as one number; and what a folder holds, file by file."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


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
