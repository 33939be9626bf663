"""Folders for work in progress, and what becomes of those whose process was killed.

A folder's name says which machine it belongs to, and its process holds a lock on the file of the same name as long as
it lives. A folder of this machine whose lock is free is nobody's, and is removed by whoever comes next. A process uses
its folders again and again: some file systems take longer to remove a folder than a small cell takes to compute.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from biasgauge._io.locks import try_lock

_LOCK = ".lock"


class Scratch:
    """Folders for work in progress in one place, `home`; where temporary files go when None.

    `prefix` is what their names begin with, before those of the machine and the process.
    """

    def __init__(self, home: Path | None, prefix: str = "") -> None:
        self._home = home
        self._prefix = f"{prefix}{_machine()}-"
        self._spare: list[tuple[Path, int]] = []
        self._end = weakref.finalize(self, _remove_all, self._spare)

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """An empty folder; what is left in it afterwards is removed."""
        if self._home is None:
            with tempfile.TemporaryDirectory(prefix="biasgauge-", ignore_cleanup_errors=True) as name:
                yield Path(name)
            return
        try:
            locked = self._spare.pop()
        except IndexError:
            locked = _make(self._home, self._prefix)
        try:
            yield locked[0]
        finally:
            for left in list(locked[0].iterdir()):
                if left.is_dir() and not left.is_symlink():
                    shutil.rmtree(left, ignore_errors=True)
                else:
                    left.unlink(missing_ok=True)
            self._spare.append(locked)

    def sweep(self) -> None:
        """Remove folders of this machine's processes that have ended without doing so."""
        if self._home is None or sys.platform == "win32":  # there, what is left stays until someone empties the folder
            return
        if not self._home.is_dir():
            return
        made_here = re.compile(rf"{re.escape(self._prefix)}\d+-[0-9a-f]{{12}}{re.escape(_LOCK)}")
        for lock in [path for path in self._home.iterdir() if made_here.fullmatch(path.name)]:
            folder = lock.with_suffix("")
            if lock.is_symlink() or folder.is_symlink():
                continue  # not made by us
            with suppress(OSError), lock.open("rb+") as held:  # OSError: somebody was faster
                if try_lock(held.fileno()):  # else its process lives
                    shutil.rmtree(folder, ignore_errors=True)
                    lock.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove folders that are not in use; otherwise that is done when the process ends."""
        _remove_all(self._spare)


def _make(home: Path, prefix: str) -> tuple[Path, int]:
    """A new folder that nobody else has or sweeps away, and the handle of its lock."""
    while True:
        folder = home / f"{prefix}{os.getpid()}-{secrets.token_hex(6)}"
        lock = folder.with_suffix(_LOCK)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT)
        try:
            mine = try_lock(handle)
        except OSError:  # a file system without locks
            mine = True
        if mine and lock.exists():
            folder.mkdir()
            return folder, handle
        os.close(handle)  # whoever sweeps was faster


def _remove_all(spare: list[tuple[Path, int]]) -> None:
    while spare:
        folder, handle = spare.pop()
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(_LOCK).unlink(missing_ok=True)
        os.close(handle)


def _machine() -> str:
    return re.sub(r"\W", "_", socket.gethostname())
