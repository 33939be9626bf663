"""Folders that appear whole or not at all, made by one process at a time."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from biasgauge._io.atomic import flush_folder
from biasgauge.errors import CorpusError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says about a failed write into one sentence that names `path`."""
    try:
        yield
    except OSError as problem:
        raise CorpusError(
            f"the corpus cannot be written: {problem.strerror or problem}; free some space, or name another folder",
            path=path,
        ) from problem


@contextmanager
def exclusive_lock(target: Path) -> Iterator[bool]:
    """Wait until no other process makes `target`, keep others waiting meanwhile, and say whether that can be done.

    The system lets go of the lock when a process ends, however it ends. Where it has no such locks (not POSIX, some
    network file systems) nobody waits.
    """
    lock = target.with_name(f".{target.name}.lock")
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = _locked(lock)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            lock.unlink(missing_ok=True)
            os.close(handle)


def _locked(path: Path) -> int | None:
    try:
        import fcntl
    except ImportError:
        return None
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            here = path.stat()
        except FileNotFoundError:
            os.close(handle)  # its last holder has removed it: lock the file that is there now
            continue
        except OSError:
            os.close(handle)
            path.unlink(missing_ok=True)
            return None
        except BaseException:
            os.close(handle)
            raise
        if os.path.samestat(here, os.fstat(handle)):
            return handle
        os.close(handle)


@contextmanager
def atomic_folder(target: Path, *, sole: bool) -> Iterator[Path]:
    """Give a hidden folder beside `target`; move it into place when the block ends without an error.

    What the block writes must be on the disk when it ends. `sole`: no other process makes this folder now, so what is
    there was left behind by one that was killed, and goes.
    """
    for left in target.parent.glob(f".{escape(target.name)}.*.part") if sole else ():
        shutil.rmtree(left, ignore_errors=True)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    with writing(target):
        part.mkdir()
    try:
        yield part
        with writing(target):
            flush_folder(part)
            part.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    flush_folder(target.parent)
