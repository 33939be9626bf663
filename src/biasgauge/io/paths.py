"""Paths of files and folders: usable and portable names, and outputs that are checked before any work."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from biasgauge.errors import InputError, OutputError

LOCK = ".biasgauge.lock"
"""Name of the lock of a folder, inside it; locks that lie beside their target end in it."""
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]+')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE | re.DOTALL)


def usable_path(path: str | os.PathLike[str]) -> Path:
    """Return a path that a file or folder can have, existing or not.

    Raises:
        InputError: it has a null byte, or is too long.
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"{os.fspath(path)[:200]}: cannot be the name of a file ({reason}); name another") from problem
    return Path(path)


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Make a folder and those above it, unless they exist.

    Raises:
        OutputError: it cannot be made.
    """
    folder = usable_path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:  # a file of that name exists, or the folder above is read-only
        failure = OutputError(f"{folder}: cannot be a folder for the output: {problem.strerror}; name another")
        failure.errno = problem.errno
        raise failure from problem
    return folder


def file_target(path: str | os.PathLike[str]) -> Path:
    """Return a path at which a file can be written: not a folder, and in one that exists.

    Raises:
        InputError: it is a folder, or its folder does not exist.
    """
    target = usable_path(path)
    if target.is_dir():
        raise InputError(f"{target}: is a folder; name a file inside it")
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {target.parent} does not exist; make it first")
    return target


def check_output_file(path: str | os.PathLike[str], *, force: bool = True, hint: str = "") -> None:
    """Refuse a file that could not be written, or that exists already.

    Args:
        path: the file to write.
        force: whether an existing file may be replaced.
        hint: how to replace it, such as "--force replaces it".

    Raises:
        InputError: it is a folder, its folder cannot take it, or it exists.
    """
    target = file_target(path)
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"{target}: the folder {target.parent} may not be written to; name another")
    if not force and os.path.lexists(target):
        raise InputError(f"{target}: is there already; name another file{f', or {hint}' if hint else ''}")


def check_output_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a folder that could not be made or written to.

    Raises:
        InputError: it or a folder above it is a file, or may not be written to.
    """
    target = usable_path(path)
    nearest = next(folder for folder in (target, *target.absolute().parents) if os.path.lexists(folder))
    if not nearest.is_dir():
        raise InputError(f"{nearest}: is a file, not a folder; name another folder for the output")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(f"{nearest}: may not be written to; name another folder for the output")


def refuse_inputs(output: str | os.PathLike[str], inputs: Iterable[object]) -> None:
    """Refuse an output that is one of the inputs, also through a link or another spelling of its name.

    Args:
        output: the file to write.
        inputs: files that are read; anything that is not the path of an existing file is ignored.

    Raises:
        InputError: it is one of them.
    """
    target = usable_path(output)
    if not target.exists():
        return
    for source in inputs:
        if isinstance(source, str | os.PathLike) and _is_same_file(target, source):
            raise InputError(f"{target}: is an input, which is never overwritten; name another output")


def _is_same_file(path: Path, source: str | os.PathLike[str]) -> bool:
    try:
        return path.samefile(source)
    except (OSError, ValueError):
        return False


def is_device(name: str) -> bool:
    """Tell whether Windows takes a name for a device, whatever its ending: con, nul, aux, com1."""
    return _DEVICE.fullmatch(name) is not None


def portable_name(name: str) -> str:
    """Nearest name that every system allows: no reserved characters, no device."""
    allowed = _FORBIDDEN.sub("-", name).strip(" .") or "_"
    return f"_{allowed}" if is_device(allowed) else allowed


def portable_names(names: Iterable[str]) -> dict[str, str]:
    """Map each name to a distinct portable one, also on systems that ignore case: later ones get a number."""
    portable: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        stem = candidate = portable_name(name)
        number = 2
        while candidate.casefold() in used:
            candidate, number = f"{stem}-{number}", number + 1
        used.add(candidate.casefold())
        portable[name] = candidate
    return portable
