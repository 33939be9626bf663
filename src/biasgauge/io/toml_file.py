"""TOML: the one place that parses it."""

from __future__ import annotations

import os
import re
import tomllib

from biasgauge.core import JsonObject
from biasgauge.errors import InputError, file_error
from biasgauge.io.text_file import decoded, read_whole

LARGEST = 16 * 2**20
"""Bytes. Such a file is read whole; ten thousand words take about 0.1 MiB."""
DEEPEST = 100
"""Parts of a key with dots (a.b.c); nothing of ours has more than five."""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:{_PART}){{{DEEPEST},}}", re.ASCII)
"""The library takes a time with the square of their number: a key of 80 KB takes a quarter of a minute."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PLACE = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)$")


def read_toml(path: str | os.PathLike[str], *, error: type[InputError] = InputError) -> JsonObject:
    """Read a TOML file as a dictionary. Raises `error`, and nothing else, for whatever is wrong with it."""
    return parse_toml(read_whole(path, error=error, most=LARGEST, wanted="a TOML file"), path, error=error)


def parse_toml(content: bytes, path: str | os.PathLike[str], *, error: type[InputError] = InputError) -> JsonObject:
    """Parse the bytes of a TOML file; `path` is only named in errors."""
    if content.startswith(_BYTE_ORDER_MARK):
        raise file_error(error, "starts with a byte order mark; save it as plain UTF-8 without one", path)
    if len(content) > LARGEST:
        raise file_error(error, f"holds more than {LARGEST // 2**20} MiB; such a file must be smaller", path)
    text = decoded(content, path, error=error)
    if deep := _DEEP_KEY.search(text):
        at = text.count("\n", 0, deep.start()) + 1
        raise file_error(error, f"has a key of more than {DEEPEST} parts, nested too deeply to read", path, line=at)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise file_error(error, "has tables or arrays nested too deeply to read", path) from None
    except ValueError as problem:  # tomllib's own error is one; numbers too long to convert raise a bare one
        place = _PLACE.search(str(problem))
        line = int(place.group(1) or len(text.splitlines())) if place else None
        raise file_error(error, f"is not valid TOML: {_PLACE.sub('', str(problem))}", path, line=line) from None
