"""A file of text, whole: one sentence for whatever is wrong with its name, its kind or its bytes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from biasgauge.errors import InputError, file_error

_LONGEST_SHOWN = 200


def read_whole(
    path: str | os.PathLike[str],
    *,
    error: type[InputError] = InputError,
    most: int | None = None,
    wanted: str = "a file",
    again: str = "",
) -> bytes:
    """Read a regular file; with `most`, no more than one byte above that.

    Args:
        path: the file.
        error: which error to raise.
        most: bytes.
        wanted: what to name, where this is a folder or a device.
        again: what to do where it is a file of ours.

    Raises:
        InputError: it cannot be read.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - Path(...) of a name with a null byte fails too, but later
        if stat.S_ISDIR(mode):
            raise file_error(error, f"is a folder; name {wanted}", path)
        if not stat.S_ISREG(mode):
            raise file_error(error, f"is not a regular file; name {wanted}", path)
        with Path(path).open("rb") as stream:
            return stream.read() if most is None else stream.read(most + 1)
    except FileNotFoundError as problem:
        if again:
            raise file_error(error, f"cannot be read ({problem.strerror}); {again}", path) from problem
        raise file_error(error, "there is no such file; check the path", path) from None
    except OSError as problem:
        raise file_error(error, f"cannot be read: {problem.strerror or problem}", path) from problem
    except ValueError as problem:
        shown = os.fspath(path)[:_LONGEST_SHOWN]
        raise file_error(error, f"is not a usable file name: {problem}", shown) from None


def utf8(text: str) -> bytes:
    r"""Text as UTF-8; bytes of a file's name that are no text stand there by number (\udce9), which JSON reads back."""
    return text.encode("utf-8", "backslashreplace")


def decoded(content: bytes, path: str | os.PathLike[str], *, error: type[InputError] = InputError) -> str:
    """The bytes of a file as text.

    Raises:
        InputError: they are not UTF-8; names the line and the byte.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        why = f"is not UTF-8 text: found the byte 0x{content[problem.start]:02x}; save it as UTF-8"
        raise file_error(error, why, path, line=line, offset=problem.start) from None
