"""Files and folders that appear whole or not at all, and folders for work in progress.

While a file or folder is made it has a hidden name beside its final one, which ends with its owner:
MACHINE-PROCESS-DIGITS. Whoever makes the same file next removes those of this machine whose process has ended, and
nothing else.
"""

from __future__ import annotations

import errno
import hashlib
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
from functools import cache
from pathlib import Path

from biasgauge.errors import InputError, OutputError
from biasgauge.io.paths import LOCK, file_target, usable_path
from biasgauge.io.text_file import utf8

_OWNER = r"(?P<machine>[0-9a-f]{6})-(?P<process>[0-9a-f]+)-[0-9a-f]{8}"
"""Pattern of what `_owner_mark` returns."""
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_PERMISSION = (errno.EROFS, errno.EACCES, errno.EPERM)
_CANNOT_FLUSH_FOLDERS = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.ENOSYS, *_NO_PERMISSION)
"""Errors of Windows shares and other network file systems where a folder is to be flushed."""
_LONGEST_NAME = 180
_TEMPORARY = re.compile(rf"\..+\.(?:{_OWNER}|[0-9a-f]{{8}})\.part", re.DOTALL)


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it into place when the block ends without an error.

    The bytes are flushed to the disk before the move, so a crash leaves either the old file or the new one. A killed
    process leaves a hidden file that ends in `.part`, never the file itself; the next writer of the same file removes
    it.

    Raises:
        InputError: there is no such folder, or the path is a folder.
        OutputError: it may not be written to, or the disk is full.
    """
    target = file_target(path)
    temporary = _temporary_path(target)
    try:
        with _explained_write_errors(target, temporary):
            yield temporary
        with temporary.open("rb+") as file, _explained_write_errors(target):
            os.fsync(file.fileno())
        with _explained_write_errors(target, temporary):
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    _flush_folder(target.parent)


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Yield a hidden folder beside `target`; move it into place when the block ends without an error.

    Files that the block writes must be flushed to the disk when it ends.
    """
    temporary = _temporary_path(target)
    temporary.mkdir()
    try:
        yield temporary
        _flush_folder(temporary)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _flush_folder(target.parent)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8 with Unix line ends, whole or not at all."""
    with atomic_file(path) as temporary:
        temporary.write_bytes(utf8(text))


@contextmanager
def _explained_write_errors(*paths: Path) -> Iterator[None]:
    """Turn the system's error about a failed write into an OutputError that names the first of `paths`.

    Errors about other files, such as one that was to be read, pass unchanged.
    """
    try:
        yield
    except OSError as problem:
        named = any(str(path) == str(problem.filename) for path in paths)
        unnamed = problem.filename is None and problem.errno in (*_NO_SPACE, *_NO_PERMISSION, errno.EIO)
        if isinstance(problem, InputError) or not (named or unnamed):
            raise
        hint = "free some space, or name another path" if problem.errno in _NO_SPACE else "name another path"
        failure = OutputError(f"{paths[0]}: cannot be written: {problem.strerror}; {hint}")
        failure.errno = problem.errno
        raise failure from problem


def is_occupied(folder: Path) -> bool:
    """Tell whether a folder holds more than our locks and temporary files, or is not a folder."""
    path = usable_path(folder)
    if not path.is_dir():
        return path.exists()
    return not all(name == LOCK or _TEMPORARY.fullmatch(name) for name in _folder_names(path))


def _flush_folder(folder: Path) -> None:
    """Make a move itself durable, where the system can open and flush a folder."""
    if os.name != "posix":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as problem:
        if problem.errno not in _CANNOT_FLUSH_FOLDERS:
            raise


def short_name(name: str) -> str:
    """Return a name to which more can be added (systems allow 255 bytes): its digest where it is long."""
    encoded = os.fsencode(name)
    return name if len(encoded) <= _LONGEST_NAME else hashlib.sha256(encoded).hexdigest()[:32]


def _temporary_path(target: Path) -> Path:
    """Path to make `target` at; removes those of this very target whose process, on this machine, has ended."""
    stem = f".{short_name(target.name)}."
    for abandoned, process in _made_on_this_machine(target.parent, re.escape(stem), r"\.part"):
        if not _is_alive(process):
            with suppress(OSError):  # another process was faster
                _remove(abandoned)
    return target.with_name(f"{stem}{_owner_mark()}.part")


def _owner_mark() -> str:
    """Return a mark of this process that is never returned again: machine, process, random digits."""
    return f"{_machine_tag()}-{os.getpid():x}-{secrets.token_hex(4)}"


def _made_on_this_machine(folder: Path, before: str, after: str) -> Iterator[tuple[Path, int]]:
    """Yield paths whose names have an owner of this machine between two patterns, with its process id."""
    pattern = re.compile(before + _OWNER + after)
    for name in _folder_names(folder):
        match = pattern.fullmatch(name)
        if match is not None and match["machine"] == _machine_tag():
            yield folder / name, int(match["process"], 16)


@cache
def _machine_tag() -> str:
    """Six digits for the scope in which process ids are unique: this machine, or this container."""
    try:
        namespace = str(os.stat("/proc/self/ns/pid").st_ino)  # noqa: PTH116 - a path of the system
    except OSError:
        namespace = ""
    return hashlib.sha256(f"{socket.gethostname()}\0{namespace}".encode()).hexdigest()[:6]


def _is_alive(process: int) -> bool:
    """Tell whether a process of that id runs; true where the system cannot say."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _remove(path: Path) -> None:
    """Remove a file, or a folder with its content; of a link the link alone."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _folder_names(folder: Path) -> list[str]:
    """Names in a folder; none where it cannot be read."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are enough
    except OSError:
        return []


class Scratch:
    """Folders for work in progress in the folder `home`; where temporary files go when None.

    The name of a folder is `prefix` and its owner; `sweep` removes those of this machine whose process has ended. A
    process reuses its folders: some file systems take longer to remove one than a small cell takes to compute.
    """

    def __init__(self, home: Path | None, prefix: str = "") -> None:
        self._home = home
        self._prefix = prefix
        self._spare: list[Path] = []
        self._finalizer = weakref.finalize(self, _remove_all, self._spare)

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Yield an empty folder; what is in it afterwards is removed."""
        if self._home is None:
            with tempfile.TemporaryDirectory(prefix="biasgauge-", ignore_cleanup_errors=True) as name:
                yield Path(name)
            return
        try:
            folder = self._spare.pop()
        except IndexError:
            folder = self._home / f"{self._prefix}{_owner_mark()}"
            folder.mkdir()
        try:
            yield folder
        finally:
            for path in list(folder.iterdir()):
                _remove(path)
            self._spare.append(folder)

    def sweep(self) -> None:
        """Remove folders of this machine's processes that have ended without doing so."""
        if self._home is not None:
            for folder, process in _made_on_this_machine(self._home, re.escape(self._prefix), ""):
                if not folder.is_symlink() and not _is_alive(process):
                    with suppress(OSError):  # another process was faster
                        _remove(folder)

    def close(self) -> None:
        """Remove folders that are not in use; otherwise that is done when the process ends."""
        _remove_all(self._spare)


def _remove_all(folders: list[Path]) -> None:
    while folders:
        _remove(folders.pop())
