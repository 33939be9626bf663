"""A TOML file on disk -> a plain dictionary, or one sentence that says why not."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from pathlib import Path

from biasgauge.errors import LexiconError

LARGEST = 16 * 2**20
"""Bytes. A lexicon is read whole; ten thousand words take about 0.1 MiB."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PLACE = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)$")


def read_toml(path: str | os.PathLike[str]) -> dict[str, object]:
    """Read a TOML file as a dictionary. Raises LexiconError, and nothing else, for whatever is wrong with it."""
    return parse_toml(_read_bytes(path), path)


def parse_toml(content: bytes, path: str | os.PathLike[str]) -> dict[str, object]:
    """Parse the bytes of a TOML file; `path` is only named in errors."""
    if len(content) > LARGEST:
        raise LexiconError(f"holds more than {LARGEST // 2**20} MiB; a lexicon must be smaller", path=path)
    if content.startswith(_BYTE_ORDER_MARK):
        raise LexiconError("starts with a byte order mark; save it as plain UTF-8 without one", path=path)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise LexiconError(
            f"is not UTF-8 text: found the byte 0x{content[problem.start]:02x}; save it as UTF-8",
            path=path,
            line=line,
            offset=problem.start,
        ) from None
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise LexiconError("has tables or arrays nested too deeply to read", path=path) from None
    except ValueError as problem:  # tomllib's own error is one; numbers too long to convert raise a bare one
        place = _PLACE.search(str(problem))
        stated = place.group(1) if place else None
        last = len(text.splitlines())
        raise LexiconError(
            f"is not valid TOML: {_PLACE.sub('', str(problem))}",
            path=path,
            line=int(stated) if stated else last if place else None,
        ) from None


def _read_bytes(path: str | os.PathLike[str]) -> bytes:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  # Path(...) of a name with a null byte fails too, but later
        if stat.S_ISDIR(mode):
            raise LexiconError("is a folder; name a TOML file", path=path)
        if not stat.S_ISREG(mode):
            raise LexiconError("is not a regular file; name a TOML file", path=path)
        with Path(path).open("rb") as stream:
            return stream.read(LARGEST + 1)
    except FileNotFoundError:
        raise LexiconError("there is no such file; check the path", path=path) from None
    except OSError as problem:
        raise LexiconError(f"cannot be read: {problem.strerror or problem}", path=path) from problem
    except ValueError as problem:
        raise LexiconError(f"is not a usable file name: {problem}", path=path) from None
