"""Outcomes of cells under their keys: in a folder, or anywhere that fsspec reaches.

    cells/ab/abcd…/manifest.json    what the cell was and the SHA-256 of each of its files: the same bytes everywhere
    cells/ab/abcd…/files/…          the outcome
    cells/ab/abcd…/run.json         how long it took; may differ from run to run
    failed/abcd….json               a cell that failed: its error and its log
    checksums.json                  checksums of the user's files
    results/…                       copies of outcomes under their names, see run.py

A cell is there when its manifest is. In a folder a whole cell is moved into place at once; in an object store its
manifest is written last. Two runs that compute the same cell write the same bytes, and the first one stays.

Nothing is flushed to the disk (`fsync`): a machine that loses its power may leave cells that are named but not whole.
Checksums find them before they are used, and they are computed again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from contextlib import AbstractContextManager, suppress
from glob import escape
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from biasgauge.core import JsonObject
from biasgauge.errors import InputError
from biasgauge.io import Scratch, file_sha256, folder_files, parse_json
from biasgauge.study.cell import Cell, Failure, address_sha256, canonical
from biasgauge.study.files import Checksums

MANIFEST, RUN, FILES, CHECKSUMS = "manifest.json", "run.json", "files", "checksums.json"
_TRIES = 3
_OCCUPIED = (errno.ENOTEMPTY, errno.EEXIST, *((errno.EACCES, errno.EPERM) if os.name == "nt" else ()))
"""What systems say when a folder is to be moved to where one is."""


class DamagedCellError(InputError):
    """A stored outcome is not what its manifest says."""


class CellStore:
    """Outcomes of cells at a path or an fsspec URL.

    With `make` false a folder that is not there is not made until `make()`: for who only looks.

    Attributes:
        url: where; the whole path of a folder, so that it means the same in every process.
        local: it is a folder of this machine (or one that is mounted here).
        shared: other processes see the same; false for fsspec's `memory://`.
        checksums: of the user's files, remembered in the store.
    """

    def __init__(self, url: str | os.PathLike[str], *, make: bool = True) -> None:
        self.url = os.fspath(url)
        if not self.url:
            raise InputError("The place for outcomes must be a folder or a URL. Got an empty text.")
        try:
            self._files, self._root = fsspec.core.url_to_fs(self.url)
        except (ImportError, ValueError) as problem:
            raise InputError(f"{self.url}: cannot be used for outcomes: {problem}") from problem
        self.local = isinstance(self._files, LocalFileSystem)
        self.shared = not isinstance(self._files, MemoryFileSystem)
        self._scratch = Scratch(Path(self._root, "scratch") if self.local else None)
        self.checksums = Checksums(Path(self._root, CHECKSUMS) if self.local else None)
        if self.local:
            self.url = self._root
            if Path(self._root).is_file():
                raise InputError(f"{self.url}: is a file; name a folder for outcomes")
        if make:
            self.make()

    def make(self) -> None:
        """Make the folders of a local store.

        Raises:
            InputError: they cannot be made.
        """
        if self.local:
            try:
                for name in ("cells", "failed", "scratch"):
                    Path(self._root, name).mkdir(parents=True, exist_ok=True)
            except OSError as problem:
                raise InputError(f"{self.url}: cannot be used for outcomes: {problem.strerror}") from problem
            self.checksums.keep()

    def finished(self) -> frozenset[str]:
        """Keys of all cells that are there; their files are not looked at."""
        if self.local:
            return frozenset(path.parent.name for path in Path(self._root, "cells").glob(f"*/*/{MANIFEST}"))
        return frozenset(name.rsplit("/", 2)[1] for name in self._glob(f"cells/*/*/{MANIFEST}"))

    def _glob(self, pattern: str) -> list[str]:
        self._files.invalidate_cache()
        return [str(name) for name in self._files.glob(f"{escape(self._root)}/{pattern}")]

    def manifest(self, key: str) -> JsonObject | None:
        """Manifest of a finished cell (`key`, `address`, `files`); None where it is not there or is damaged."""
        try:
            content = parse_json(self._files.cat_file(f"{self._cell_path(key)}/{MANIFEST}"))
            matches = content["key"] == key == address_sha256(content["address"])
            safe = isinstance(content["files"], dict) and all(map(_is_below, content["files"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return content if matches and safe else None

    def seconds(self, key: str) -> float | None:
        """Seconds that a finished cell took."""
        try:
            return float(parse_json(self._files.cat_file(f"{self._cell_path(key)}/{RUN}"))["seconds"])
        except (FileNotFoundError, ValueError, KeyError, TypeError, OverflowError):
            return None

    def is_intact(self, key: str) -> bool:
        """Return whether a cell has all its bytes and no others; of an object store only sizes are compared."""
        manifest = self.manifest(key)
        if manifest is None:
            return False
        folder = f"{self._cell_path(key)}/{FILES}"
        try:
            if self.local and folder_files(Path(folder)) != sorted(manifest["files"]):
                return False
            return all(
                self._files.size(f"{folder}/{name}") == description["bytes"]
                and (not self.local or file_sha256(f"{folder}/{name}") == description["sha256"])
                for name, description in manifest["files"].items()
            )
        except (OSError, KeyError, TypeError):
            return False

    def folder(self, key: str, fetched: Path) -> Path:
        """A cell's outcome as a folder of this machine; fetched into `fetched` and checked where it lies elsewhere.

        Raises:
            DamagedCellError: it is not there, or not whole.
        """
        path = Path(self._cell_path(key), FILES) if self.local else fetched / key
        if not self.local and not path.is_dir():
            self._fetch(key, path)
        if not path.is_dir():
            raise DamagedCellError(f"{self.url}: the outcome {key[:12]} is not there")
        return path

    def location(self, key: str) -> str:
        """Location of a cell's outcome: a path, or a URL for fsspec."""
        path = f"{self._cell_path(key)}/{FILES}"
        return path if self.local else str(self._files.unstrip_protocol(path))

    def publish(self, cell: Cell, outcome: Path, seconds: float) -> None:
        """Keep a cell's outcome: a folder that becomes the store's and must lie in `scratch()`."""
        names = folder_files(outcome)
        descriptions = {
            name: {"bytes": (outcome / name).stat().st_size, "sha256": file_sha256(outcome / name)} for name in names
        }
        manifest = {"key": cell.key, "address": cell.address, "files": descriptions}
        complete = outcome.parent / f"{outcome.name}.cell"
        complete.mkdir()
        (complete / MANIFEST).write_text(canonical(manifest) + "\n", encoding="utf-8")
        (complete / RUN).write_text(canonical({"seconds": round(seconds, 3)}) + "\n", encoding="utf-8")
        outcome.replace(complete / FILES)
        if self.local:
            self._move_in(cell.key, complete)
        else:
            for name in (*(f"{FILES}/{name}" for name in names), RUN, MANIFEST):
                self._files.put_file(str(complete / name), f"{self._cell_path(cell.key)}/{name}")

    def read(self, name: str) -> bytes | None:
        """A file of the store by its path in it; None where there is none."""
        try:
            content: bytes = self._files.cat_file(f"{self._root}/{name}")
        except FileNotFoundError:
            return None
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file by its path in the store, whole or not at all.

        Raises:
            InputError: a folder on the way is a link, which may lead to files of the user's own.
        """
        if not self.local:
            self._files.pipe_file(f"{self._root}/{name}", content)
            return
        target = Path(self._root, name)
        if not self._is_inside(name):
            raise InputError(f"{target}: leads out of {self.url} (a link?); remove it, or name another folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        with self.scratch() as scratch:
            (scratch / "part").write_bytes(content)
            (scratch / "part").replace(target)

    def is_copy(self, name: str, key: str, file: str) -> bool:
        """Return whether a file, by its path in the store, is not a link and has the bytes of that file of a cell."""
        manifest = self.manifest(key) if re.fullmatch(r"[0-9a-f]{64}", key) else None
        description = (manifest or {"files": {}})["files"].get(file)
        if not isinstance(description, dict) or not self._is_inside(name):
            return False
        try:
            content = self.read(name)
        except OSError:
            return False
        return content is not None and hashlib.sha256(content).hexdigest() == description.get("sha256")

    def _is_inside(self, name: str) -> bool:
        """Return whether a path in the store can only mean a file of its own: no folder above it is a link."""
        path = Path(name)
        folders = (Path(self._root, folder) for folder in (path, *path.parents))
        return _is_below(name) and not (self.local and any(folder.is_symlink() for folder in folders))

    def remove(self, name: str) -> None:
        """Remove a file by its path in the store, if it is there."""
        with suppress(FileNotFoundError):
            self._files.rm_file(f"{self._root}/{name}")

    def discard(self, key: str) -> None:
        """Take a damaged cell away, its manifest first."""
        folder = self._cell_path(key)
        if self.local:
            with self.scratch() as scratch, suppress(FileNotFoundError):
                Path(folder).replace(scratch / key)
        else:
            self._files.invalidate_cache()
            for name in sorted(self._files.find(folder), key=lambda name: not name.endswith(f"/{MANIFEST}")):
                with suppress(FileNotFoundError):
                    self._files.rm_file(name)

    def scratch(self) -> AbstractContextManager[Path]:
        """An empty folder for work in progress, on the same disk as the store where that is a folder."""
        return self._scratch.folder()

    def sweep(self) -> None:
        """Remove what processes of this machine that were killed have left in `scratch`."""
        self._scratch.sweep()

    def close(self) -> None:
        """Leave nothing in `scratch`; otherwise that is done when the process ends."""
        self._scratch.close()

    def failures(self) -> dict[str, Failure]:
        """Cells that failed, by key."""
        failures = {}
        for name in self._glob("failed/*.json"):
            try:
                failure = Failure.from_dict(parse_json(self._files.cat_file(name)))
            except (FileNotFoundError, ValueError, AttributeError, InputError):
                continue  # taken away by another run, or damaged: then it is tried again
            failures[failure.key] = failure
        return failures

    def keep_failure(self, failure: Failure) -> None:
        """Remember that a cell failed; a disk that is full may forget it."""
        with suppress(OSError):
            self.write(f"failed/{failure.key}.json", (canonical(failure.to_dict()) + "\n").encode())

    def forget_failure(self, key: str) -> None:
        """Allow a cell to be tried again."""
        self.remove(f"failed/{key}.json")

    def _cell_path(self, key: str) -> str:
        return f"{self._root}/cells/{key[:2]}/{key}"

    def _move_in(self, key: str, complete: Path) -> None:
        folder = Path(self._cell_path(key))
        folder.parent.mkdir(exist_ok=True)
        for _ in range(_TRIES):
            try:
                complete.replace(folder)
            except OSError as problem:
                if problem.errno not in _OCCUPIED:
                    raise
                if self.is_intact(key):  # another run was first, with the same bytes
                    return
                self.discard(key)
            else:
                return
        raise DamagedCellError(f"{self.url}: the outcome {key[:12]} is being damaged over and over by another run")

    def _fetch(self, key: str, target: Path) -> None:
        if (manifest := self.manifest(key)) is None:
            return
        partial = target.with_name(f"{target.name}.part")
        partial.mkdir(parents=True)
        for name, description in manifest["files"].items():
            path = partial / name
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._files.get_file(f"{self._cell_path(key)}/{FILES}/{name}", str(path))
            except FileNotFoundError as problem:
                raise DamagedCellError(f"{self.url}: the outcome {key[:12]} has lost {name}") from problem
            if file_sha256(path) != description["sha256"]:
                raise DamagedCellError(f"{self.url}: {name} of the outcome {key[:12]} is damaged")
        partial.replace(target)


def cell_file(key: str, name: str = "") -> str:
    """Path within a store of a file of a cell's outcome, or of their folder."""
    return f"cells/{key[:2]}/{key}/{FILES}/{name}".rstrip("/")


def _is_below(name: str) -> bool:
    """Return whether a name in a manifest can only mean a file of its own cell."""
    return bool(name) and "\\" not in name and not any(part in {"", ".", ".."} for part in name.split("/"))
