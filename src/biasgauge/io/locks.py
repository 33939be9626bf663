"""One writer at a time: a file that its process locks, and that says who holds it.

The system lets go of the lock when a process ends, however it ends, so a file that is left behind holds nobody up.
Where a file system has no such locks nobody waits, and `sole` is false.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from biasgauge.errors import InputError

LOCK = ".biasgauge.lock"
"""Name of the lock of a folder, inside it; locks that lie beside what they are for end in it."""
_HOLDER = "process "
"""What the text of a lock begins with: a file of that name with another text is not a lock of ours."""
_PAUSE = 0.02
_LONGEST_PAUSE = 0.5
_FAR = 2**30
"""Windows locks ranges of bytes, and forbids others to read them: this one lies beyond the text."""


class _HeldError(Exception):
    """Another process has the lock."""


@contextmanager
def writer_lock(
    path: Path, *, patience: float | None = None, waits: Callable[[str], None] | None = None
) -> Iterator[bool]:
    """Hold the lock file `path`; give whether the system vouches that no other process does.

    Args:
        path: the lock file; it is made, and removed at the end.
        patience: seconds to wait for whoever holds it; without end when None.
        waits: told once, in a sentence, that another process has to be waited for, and which.

    Raises:
        InputError: it is still held after `patience`, or is a link or a file of the user's own.
    """
    handle = _acquire(path, patience, waits)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            _release(path, handle)


def holder_of(path: Path) -> str:
    """Who wrote into a lock file: "process 4711 on HOST"; "another process" where it does not say."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[:200].strip()
    except OSError:
        text = ""
    return text if text.startswith(_HOLDER) else "another process"


def try_lock(handle: int) -> bool:
    """Lock an open file without waiting; false where another process holds it.

    Raises:
        OSError: the file system has no locks.
    """
    try:
        _lock_now(handle)
    except _HeldError:
        return False
    return True


def _acquire(path: Path, patience: float | None, waits: Callable[[str], None] | None) -> int | None:
    deadline = None if patience is None else time.monotonic() + patience
    pause = _PAUSE
    told = False
    while True:
        handle = _opened(path)
        try:
            held = not try_lock(handle)
            here = None if held else _same(path, handle)
        except OSError:  # this file system has no locks
            os.close(handle)
            with suppress(OSError):
                path.unlink()
            return None
        except BaseException:
            os.close(handle)
            raise
        if here:
            os.ftruncate(handle, 0)
            os.write(handle, f"{_HOLDER}{os.getpid()} on {socket.gethostname()}\n".encode())
            return handle
        os.close(handle)
        if not held:
            continue  # its last holder has removed it: lock the file that is there now
        if deadline is not None and time.monotonic() > deadline:
            raise InputError(f"{path.parent}: {holder_of(path)} is writing there; wait until it has ended")
        if waits is not None and not told:
            waits(f"{path.parent}: waiting for {holder_of(path)}, which is writing there")
            told = True
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _opened(path: Path) -> int:
    """Open a lock file, or make it; never what a link leads to, and never a file that is something else.

    A folder may come from somebody else, with a link of that name to a file of the user's: what is opened here is
    written to.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    except OSError as problem:
        if problem.errno not in {errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO}:
            raise
        raise InputError(f"{path}: is not a lock of biasgauge; move it away, or name another folder") from problem
    if stat.S_ISREG(os.fstat(handle).st_mode) and _is_free_or_ours(handle):
        return handle
    os.close(handle)
    raise InputError(f"{path}: is not a lock of biasgauge; move it away, or name another folder")


def _is_free_or_ours(handle: int) -> bool:
    start = os.read(handle, len(_HOLDER))
    os.lseek(handle, 0, os.SEEK_SET)
    return _HOLDER.encode().startswith(start)


def _same(path: Path, handle: int) -> bool:
    """Whether the file that was locked is still the one of that name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _release(path: Path, handle: int) -> None:
    if sys.platform != "win32":  # there, a file that is open cannot go; it may stay
        with suppress(OSError):
            path.unlink()
    os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _lock_now(handle: int) -> None:
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as problem:
            raise _HeldError from problem
        finally:
            os.lseek(handle, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock_now(handle: int) -> None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise _HeldError from problem
