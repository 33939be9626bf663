"""Text files read whole, and TOML: one sentence for any problem with a file's name, kind or bytes."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from pathlib import Path

from biasgauge.core import JsonObject
from biasgauge.errors import InputError, file_error

LARGEST_TOML = 16 * 2**20
"""Bytes. Such a file is read whole; ten thousand words take about 0.1 MiB."""
_DEEPEST = 100
"""Parts of a key with dots (a.b.c); no file of ours has more than five."""
_KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:{_KEY_PART}){{{_DEEPEST},}}", re.ASCII)
"""The library takes a time with the square of their number: a key of 80 KB takes a quarter of a minute."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_POSITION = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)$")


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
        error: class of the error.
        most: bytes.
        wanted: kind of file to name, where this is a folder or a device.
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
        raise file_error(error, f"is not a usable file name: {problem}", os.fspath(path)[:200]) from None


def utf8(text: str) -> bytes:
    r"""Encode text; bytes of a file's name that are not text become numbers (\udce9), which JSON reads back."""
    return text.encode("utf-8", "backslashreplace")


def decode_utf8(content: bytes, path: str | os.PathLike[str], *, error: type[InputError] = InputError) -> str:
    """Decode the bytes of a file.

    Raises:
        InputError: they are not UTF-8; names the line and the byte.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        sentence = f"is not UTF-8 text: found the byte 0x{content[problem.start]:02x}; save it as UTF-8"
        raise file_error(error, sentence, path, line=line, offset=problem.start) from None


def read_toml(path: str | os.PathLike[str], *, error: type[InputError] = InputError) -> JsonObject:
    """Read a TOML file as a dictionary. Raises `error`, and nothing else, for any problem with it."""
    return parse_toml(read_whole(path, error=error, most=LARGEST_TOML, wanted="a TOML file"), path, error=error)


def parse_toml(content: bytes, path: str | os.PathLike[str], *, error: type[InputError] = InputError) -> JsonObject:
    """Parse the bytes of a TOML file; `path` is only named in errors."""
    if content.startswith(_BYTE_ORDER_MARK):
        raise file_error(error, "starts with a byte order mark; save it as plain UTF-8 without one", path)
    if len(content) > LARGEST_TOML:
        raise file_error(error, f"holds more than {LARGEST_TOML // 2**20} MiB; such a file must be smaller", path)
    text = decode_utf8(content, path, error=error)
    if deep := _DEEP_KEY.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise file_error(error, f"has a key of more than {_DEEPEST} parts, nested too deeply to read", path, line=line)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise file_error(error, "has tables or arrays nested too deeply to read", path) from None
    except ValueError as problem:  # tomllib's own error is one; numbers too long to convert raise a bare one
        position = _POSITION.search(str(problem))
        number = int(position.group(1) or len(text.splitlines())) if position else None
        raise file_error(error, f"is not valid TOML: {_POSITION.sub('', str(problem))}", path, line=number) from None
