"""Folders for work in progress, and what becomes of those whose process was killed.

A folder's name says whose it is, and its process holds a lock on the file of the same name as long as it lives. A
folder of this machine whose lock is free is nobody's, and is removed by whoever comes next. A process uses its folders
again and again: some file systems take longer to remove a folder than a small cell takes to compute.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from biasgauge.io.leftovers import OWNER, made_here, owner_mark, remove
from biasgauge.io.locks import try_lock

_LOCK = ".lock"


class Scratch:
    """Folders for work in progress in one place, `home`; where temporary files go when None.

    `prefix` is what their names begin with, before their owner.
    """

    def __init__(self, home: Path | None, prefix: str = "") -> None:
        self._home = home
        self._prefix = prefix
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
                remove(left)
            self._spare.append(locked)

    def sweep(self) -> None:
        """Remove folders of this machine's processes that have ended without doing so."""
        if self._home is None or sys.platform == "win32":  # there, what is left stays until someone empties the folder
            return
        locks = re.compile(rf"{re.escape(self._prefix)}{OWNER}{re.escape(_LOCK)}")
        for lock, _ in made_here(self._home, locks):
            folder = lock.with_suffix("")
            if lock.is_symlink() or folder.is_symlink():
                continue  # not made by us
            with suppress(OSError), lock.open("rb+") as held:  # OSError: somebody was faster
                if try_lock(held.fileno()):  # else its process lives
                    remove(folder)
                    remove(lock)

    def close(self) -> None:
        """Remove folders that are not in use; otherwise that is done when the process ends."""
        _remove_all(self._spare)


def _make(home: Path, prefix: str) -> tuple[Path, int]:
    """A new folder that nobody else has or sweeps away, and the handle of its lock."""
    while True:
        folder = home / f"{prefix}{owner_mark()}"
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
        remove(folder)
        remove(folder.with_suffix(_LOCK))
        os.close(handle)
