"""Files and folders that appear whole or not at all; what a killed process left behind goes with the next one.

While a file or folder is made it has a hidden name beside its own, which says whose it is: of which machine and which
process. Whoever makes the same file next removes those whose process has ended, and nothing else.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from biasgauge.errors import InputError, OutputError
from biasgauge.io.leftovers import OWNER, is_alive, made_here, names_in, owner_mark, remove
from biasgauge.io.locks import LOCK
from biasgauge.io.text_file import utf8

_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_RIGHTS = (errno.EROFS, errno.EACCES, errno.EPERM)
_FILES_ALONE = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.ENOSYS, *_RIGHTS)
"""What shares of Windows, and other file systems over a network, say where a folder is to be flushed."""
_LONGEST = 180
_PART = re.compile(rf"\..+\.(?:{OWNER}|[0-9a-f]{{8}})\.part", re.DOTALL)


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path`; move it into place when the block ends without an error.

    The bytes are flushed to the disk before the move, so a crash leaves either the old file or the new one. What a
    killed process leaves behind is a hidden file that ends in `.part`, never the file itself; whoever writes the same
    file next removes it.

    Raises:
        InputError: there is no such folder, or a folder is there.
        OutputError: it may not be written to, or the disk is full.
    """
    target = checked_target(path)
    sweep_parts(target)
    part = _part_of(target)
    try:
        with writing(target, part):
            yield part
        with part.open("rb+") as written, writing(target):
            os.fsync(written.fileno())
        with writing(target, part):
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    flush_folder(target.parent)


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Give a hidden folder beside `target`; move it into place when the block ends without an error.

    What the block writes must be on the disk when it ends.
    """
    sweep_parts(target)
    part = _part_of(target)
    part.mkdir()
    try:
        yield part
        flush_folder(part)
        part.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    flush_folder(target.parent)


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all."""
    with atomic_file(path) as part:
        part.write_bytes(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8 with Unix line ends, whole or not at all."""
    write_bytes(path, utf8(text))


@contextmanager
def writing(*places: Path) -> Iterator[None]:
    """Turn what the system says about a failed write into one sentence that names the first of `places`.

    What it says of other files, such as one that was to be read, is left as it is.

    Raises:
        OutputError: one of them cannot be written.
    """
    try:
        yield
    except OSError as problem:
        named = any(str(place) == str(problem.filename) for place in places)
        unnamed = problem.filename is None and problem.errno in (*_ROOM, *_RIGHTS, errno.EIO)
        if isinstance(problem, InputError) or not (named or unnamed):
            raise
        mend = "free some space, or name another place" if problem.errno in _ROOM else "name another place"
        failure = OutputError(f"{places[0]}: cannot be written: {problem.strerror}; {mend}")
        failure.errno = problem.errno
        raise failure from problem


def usable_path(path: str | os.PathLike[str]) -> Path:
    """A path that a file or folder can have, whether there is one or not.

    Raises:
        InputError: it has a null byte, or is too long.
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise InputError(f"{os.fspath(path)[:200]}: cannot be the name of a file ({why}); name another") from problem
    return Path(path)


def made_folder(path: str | os.PathLike[str]) -> Path:
    """A folder that is there, made where it is not, with those above it.

    Raises:
        OutputError: it cannot be made.
    """
    folder = usable_path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:  # a file is there, or no rights
        failure = OutputError(f"{folder}: cannot be a folder for the output: {problem.strerror}; name another")
        failure.errno = problem.errno
        raise failure from problem
    return folder


def checked_target(path: str | os.PathLike[str]) -> Path:
    """A path that a file can have, in a folder that is there.

    Raises:
        InputError: it cannot.
    """
    target = usable_path(path)
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {target.parent} does not exist; make it first")
    if target.is_dir():
        raise InputError(f"{target}: is a folder; name a file inside it")
    return target


def sweep_parts(target: Path) -> None:
    """Remove what processes of this machine that were killed left of this very file or folder."""
    parts = re.compile(rf"\.{re.escape(short_name(target.name))}\.{OWNER}\.part")
    for part, process in made_here(target.parent, parts):
        if not is_alive(process):
            with suppress(OSError):  # somebody was faster
                remove(part)


def is_of_ours(name: str) -> bool:
    """Whether a name in a folder is one that writing there makes for a while: a lock, or a part of a file."""
    return name == LOCK or _PART.fullmatch(name) is not None


def holds_something(folder: Path) -> bool:
    """Whether there is anything in a folder but locks and parts of files of ours; also where it is no folder."""
    place = usable_path(folder)
    return place.exists() and (not place.is_dir() or not all(map(is_of_ours, names_in(place))))


def flush_folder(folder: Path) -> None:
    """Make the move itself durable, where the system can open and flush a folder; what was moved is there anyway."""
    if os.name != "posix":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as problem:
        if problem.errno not in _FILES_ALONE:
            raise


def _part_of(target: Path) -> Path:
    return target.with_name(f".{short_name(target.name)}.{owner_mark()}.part")


def short_name(name: str) -> str:
    """A name to which more can be added: systems allow 255 bytes."""
    return name if len(os.fsencode(name)) <= _LONGEST else hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
