"""Folders for work in progress, also of processes that were killed.

A folder's name ends with its owner, and its process holds a lock on the file of the same name as long as it lives. A
folder of this machine whose lock is free has no owner, and is removed by the next process. A process reuses its
folders: some file systems take longer to remove a folder than a small cell takes to compute.
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

from biasgauge.io.atomic import OWNER, made_on_this_machine, owner_mark, remove
from biasgauge.io.locks import try_lock

_LOCK = ".lock"


class Scratch:
    """Folders for work in progress in the folder `home`; where temporary files go when None.

    Their names are `prefix` and their owner.
    """

    def __init__(self, home: Path | None, prefix: str = "") -> None:
        self._home = home
        self._prefix = prefix
        self._spare: list[tuple[Path, int]] = []
        self._finalizer = weakref.finalize(self, _remove_all, self._spare)

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Yield an empty folder; what is in it afterwards is removed."""
        if self._home is None:
            with tempfile.TemporaryDirectory(prefix="biasgauge-", ignore_cleanup_errors=True) as name:
                yield Path(name)
            return
        try:
            locked = self._spare.pop()
        except IndexError:
            locked = _make_locked_folder(self._home, self._prefix)
        try:
            yield locked[0]
        finally:
            for path in list(locked[0].iterdir()):
                remove(path)
            self._spare.append(locked)

    def sweep(self) -> None:
        """Remove folders of this machine's processes that have ended without doing so."""
        if self._home is None or sys.platform == "win32":  # there, folders stay until someone empties `home`
            return
        locks = re.compile(rf"{re.escape(self._prefix)}{OWNER}{re.escape(_LOCK)}")
        for lock, _ in made_on_this_machine(self._home, locks):
            folder = lock.with_suffix("")
            if lock.is_symlink() or folder.is_symlink():
                continue  # not made by us
            with suppress(OSError), lock.open("rb+") as file:  # OSError: another process was faster
                if try_lock(file.fileno()):  # else its process lives
                    remove(folder)
                    remove(lock)

    def close(self) -> None:
        """Remove folders that are not in use; otherwise that is done when the process ends."""
        _remove_all(self._spare)


def _make_locked_folder(home: Path, prefix: str) -> tuple[Path, int]:
    """Make a folder that no other process has or sweeps away; return it with the handle of its lock."""
    while True:
        folder = home / f"{prefix}{owner_mark()}"
        lock = folder.with_suffix(_LOCK)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT)
        try:
            is_locked = try_lock(handle)
        except OSError:  # a file system without locks
            is_locked = True
        if is_locked and lock.exists():
            folder.mkdir()
            return folder, handle
        os.close(handle)  # a sweep was faster


def _remove_all(spare: list[tuple[Path, int]]) -> None:
    while spare:
        folder, handle = spare.pop()
        remove(folder)
        remove(folder.with_suffix(_LOCK))
        os.close(handle)
