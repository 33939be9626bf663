"""JSON, parsed here and nowhere else. Whatever the bytes are, the outcome is a value or one error of ours."""

from __future__ import annotations

import json
import math
import os
import re
from typing import Any

import numpy as np

from biasgauge.core import JsonObject
from biasgauge.errors import InputError, file_error
from biasgauge.io.text_file import read_whole

DEEPEST = 100
"""Lists and objects inside one another; nothing of ours has more than fifteen."""
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""Strings; one without an end goes to the end of the file, so that no byte is scanned twice."""
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
"""Halves of surrogate pairs, escaped or as bytes; those that make a whole character together too."""
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class JSONProblem(ValueError):  # noqa: N818 - a sentence for whoever reads the file, who raises an error of their own
    """Reason why some bytes are not JSON of ours."""


def parse_json(content: bytes | str, *, finite: bool = False, halves: bool = False) -> Any:  # noqa: ANN401 - whatever it holds
    """Parse JSON in UTF-8.

    Args:
        content: the bytes or the text.
        finite: refuse NaN, infinities and numbers too large for a float, which our own files never hold.
        halves: accept halves of surrogate pairs, which cannot be written as text; for callers that check texts later.

    Raises:
        JSONProblem: it is not JSON, is nested more than `DEEPEST` deep, or holds text that cannot be written.
    """
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    if _depth_above(raw, DEEPEST):
        raise JSONProblem(f"lists or objects are nested more than {DEEPEST} deep")
    options: JsonObject = {"parse_constant": _refuse, "parse_float": _finite} if finite else {}
    try:
        value = json.loads(content if isinstance(content, str) else content.decode("utf-8-sig"), **options)
    except (RecursionError, MemoryError) as problem:
        raise JSONProblem("it is nested too deeply or too large") from problem
    except ValueError as problem:  # also bytes that are no text, and numbers of too many digits
        raise JSONProblem(str(problem)) from problem
    if not halves and _HALF_PAIR.search(raw) and not _is_writable(value):
        raise JSONProblem("a text in it holds half of a surrogate pair, which is not text")
    return value


def read_json(
    path: str | os.PathLike[str], *, error: type[InputError] = InputError, again: str = "", finite: bool = False
) -> Any:  # noqa: ANN401 - whatever it holds
    """Read a JSON file.

    Args:
        path: the file.
        error: class of the error.
        again: what to do about a damaged file.
        finite: refuse NaN and infinities.

    Raises:
        InputError: it cannot be read, or is not JSON.
    """
    content = read_whole(path, error=error, wanted="a JSON file", again=again)
    try:
        return parse_json(content, finite=finite)
    except JSONProblem as problem:
        hint = f"; {again}" if again else ""
        raise file_error(error, f"is not JSON ({problem}){hint}", path) from problem


def read_json_object(
    path: str | os.PathLike[str], *, error: type[InputError] = InputError, again: str = "", finite: bool = False
) -> JsonObject:
    """Read a JSON file that must hold an object; arguments as in `read_json`."""
    content = read_json(path, error=error, again=again, finite=finite)
    if not isinstance(content, dict):
        hint = f"; {again}" if again else ""
        raise file_error(error, f"must hold a JSON object{hint}", path)
    return content


def as_read_back(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return a value as JSON reads it back: tuples as lists, keys as text."""
    return json.loads(json.dumps(value))


def _depth_above(raw: bytes, most: int) -> bool:
    if raw.count(b"[") + raw.count(b"{") <= most:
        return False
    brackets = np.frombuffer(_STRINGS.sub(b"", raw).translate(None, _NOT_BRACKETS), np.uint8)
    steps = np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1)
    return bool(len(steps)) and int(np.cumsum(steps).max()) > most


def _is_writable(value: object) -> bool:
    """Tell whether all text in a value can be written: halves of surrogate pairs cannot."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number
