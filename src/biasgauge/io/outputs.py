"""Outputs, tried before any work: can they be written, and would they destroy an input or an earlier result?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from biasgauge.errors import InputError
from biasgauge.io.atomic import usable_path


def refuse_inputs(output: str | os.PathLike[str], inputs: Iterable[object]) -> None:
    """Refuse an output that is one of the inputs, also by way of a link or of another spelling of its name.

    Args:
        output: what is to be written.
        inputs: files that are read; whatever is not the path of a file that exists is passed over.

    Raises:
        InputError: it is one of them.
    """
    target = usable_path(output)
    if not target.exists():
        return
    for given in inputs:
        if isinstance(given, str | os.PathLike) and _same_file(target, given):
            raise InputError(f"{target}: is an input, which is never overwritten; name another output")


def check_output_file(path: str | os.PathLike[str], *, force: bool = True, hint: str = "") -> None:
    """Refuse a file that could not be written, or that is there already.

    Args:
        path: what is to be written.
        force: whether one that is there may be replaced.
        hint: how to replace it, such as "--force replaces it".

    Raises:
        InputError: it is a folder, its folder cannot take it, or it is there.
    """
    target = usable_path(path)
    if target.is_dir():
        raise InputError(f"{target}: is a folder; name a file inside it")
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {target.parent} does not exist; make it first")
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


def _same_file(one: Path, other: str | os.PathLike[str]) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False
