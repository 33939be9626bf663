"""One writer at a time: a file that its process locks, and that names the holder.

The system releases the lock when a process ends, however it ends, so a lock file that is left behind stops nobody.
Where a file system has no such locks nobody waits, and `writer_lock` yields False.
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

_HOLDER = "process "
"""Beginning of the text of a lock: a file of that name with another text is not a lock of ours."""
_PAUSE = 0.02
_LONGEST_PAUSE = 0.5
_BEYOND_TEXT = 2**30
"""Windows locks ranges of bytes, and forbids others to read them: this one lies beyond the text."""

if sys.platform == "win32":
    import msvcrt

    def try_lock(handle: int) -> bool:
        """Lock an open file without waiting; False where another process holds it."""
        os.lseek(handle, _BEYOND_TEXT, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(handle, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def try_lock(handle: int) -> bool:
        """Lock an open file without waiting; False where another process holds it.

        Raises:
            OSError: the file system has no locks.
        """
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def writer_lock(
    path: Path, *, patience: float | None = None, waits: Callable[[str], None] | None = None
) -> Iterator[bool]:
    """Hold the lock file `path`; yield whether the system vouches that no other process does.

    Args:
        path: the lock file; it is made, and removed at the end.
        patience: seconds to wait for its holder; without limit when None.
        waits: called once, with a sentence, when another process has to be waited for.

    Raises:
        InputError: it is still held after `patience`, or is a link or a file of the user's.
    """
    handle = _acquire(path, patience, waits)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            if sys.platform != "win32":  # there, an open file cannot be removed; it may stay
                with suppress(OSError):
                    path.unlink()
            os.close(handle)


def lock_holder(path: Path) -> str:
    """Text of a lock file: "process 4711 on HOST"; "another process" where it does not say."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[:200].strip()
    except OSError:
        text = ""
    return text if text.startswith(_HOLDER) else "another process"


def _acquire(path: Path, patience: float | None, waits: Callable[[str], None] | None) -> int | None:
    """Handle of the locked file; None where the file system has no locks."""
    deadline = None if patience is None else time.monotonic() + patience
    pause = _PAUSE
    while True:
        handle = _open_lock(path)
        try:
            is_locked = try_lock(handle)
            is_current = is_locked and _is_same_file(path, handle)
        except OSError:  # this file system has no locks
            os.close(handle)
            with suppress(OSError):
                path.unlink()
            return None
        except BaseException:
            os.close(handle)
            raise
        if is_current:
            os.ftruncate(handle, 0)
            os.write(handle, f"{_HOLDER}{os.getpid()} on {socket.gethostname()}\n".encode())
            return handle
        os.close(handle)
        if is_locked:
            continue  # its last holder has removed the file: lock the one that exists now
        if deadline is not None and time.monotonic() > deadline:
            raise InputError(f"{path.parent}: {lock_holder(path)} is writing there; wait until it has ended")
        if waits is not None:
            waits(f"{path.parent}: waiting for {lock_holder(path)}, which is writing there")
            waits = None  # once is enough
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _open_lock(path: Path) -> int:
    """Open or make a lock file; never the target of a link, and never a file that is something else.

    A folder may come from somebody else, with a link of that name to a file of the user's, and what is opened here is
    written to.
    """
    refusal = f"{path}: is not a lock of biasgauge; move it away, or name another folder"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    except OSError as problem:
        if problem.errno not in {errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO}:
            raise
        raise InputError(refusal) from problem
    if stat.S_ISREG(os.fstat(handle).st_mode):
        beginning = os.read(handle, len(_HOLDER))
        os.lseek(handle, 0, os.SEEK_SET)
        if _HOLDER.encode().startswith(beginning):
            return handle
    os.close(handle)
    raise InputError(refusal)


def _is_same_file(path: Path, handle: int) -> bool:
    """Tell whether the file that was locked is still the one of that name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
