"""JSON, parsed here and nowhere else, and manifests: JSON of ours that ends with the checksum of everything before it.

Whatever the bytes are, the outcome is a value or one error of ours. Manifests list a folder's files, and are recipes
and saved results.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from pathlib import Path
from typing import Any

from biasgauge.core import JsonMapping, JsonObject
from biasgauge.errors import InputError, file_error
from biasgauge.io.text_file import read_whole, utf8

DEEPEST = 100
"""Lists and objects inside one another; nothing of ours has more than fifteen."""
CHECKSUM_KEY = "own_sha256"
"""Key of the checksum of the file's bytes without this key."""
_LAST_KEY = re.compile(rb',\s*"own_sha256": "([0-9a-f]{64})"(?=\s*\}\s*\Z)')
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
"""Halves of surrogate pairs, escaped or as bytes; those that make a whole character together too."""


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
    options: JsonObject = {"parse_constant": _refuse, "parse_float": _finite} if finite else {}
    too_deep = f"lists or objects are nested more than {DEEPEST} deep"
    try:
        value = json.loads(content if isinstance(content, str) else content.decode("utf-8-sig"), **options)
    except RecursionError as problem:
        raise JSONProblem(too_deep) from problem
    except MemoryError as problem:
        raise JSONProblem("it is too large") from problem
    except ValueError as problem:  # also bytes that are no text, and numbers of too many digits
        raise JSONProblem(str(problem)) from problem
    if raw.count(b"[") + raw.count(b"{") > DEEPEST and _depth_exceeds(value, DEEPEST):
        raise JSONProblem(too_deep)
    if not halves and _HALF_PAIR.search(raw) and not _is_writable(value):
        raise JSONProblem("a text in it holds half of a surrogate pair, which is not text")
    return value


def _depth_exceeds(value: object, most: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    members = value.values() if isinstance(value, dict) else value
    return most == 0 or any(_depth_exceeds(member, most - 1) for member in members)


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


def read_json(path: str | os.PathLike[str], *, error: type[InputError] = InputError, again: str = "") -> Any:  # noqa: ANN401 - whatever it holds
    """Read a JSON file; `again` says what to do about a damaged one.

    Raises:
        InputError: it cannot be read, or is not JSON.
    """
    content = read_whole(path, error=error, wanted="a JSON file", again=again)
    try:
        return parse_json(content)
    except JSONProblem as problem:
        raise file_error(error, f"is not JSON ({problem}){f'; {again}' if again else ''}", path) from problem


def read_json_object(path: str | os.PathLike[str], *, error: type[InputError] = InputError) -> JsonObject:
    """Read a JSON file that must hold an object; an `error` as in `read_json`."""
    content = read_json(path, error=error)
    if not isinstance(content, dict):
        raise file_error(error, "must hold a JSON object", path)
    return content


def as_read_back(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return a value as JSON reads it back: tuples as lists, keys as text."""
    return json.loads(json.dumps(value))


def manifest_text(content: JsonMapping, *, indent: int | None = None, finite: bool = False) -> str:
    """Return the text of a manifest; `read_manifest` and `read_record` then notice a single altered bit.

    With `finite`, NaN and infinities in it are a `ValueError`.
    """
    text = json.dumps(_without_checksum(content), ensure_ascii=False, indent=indent, allow_nan=not finite)
    body = text.removesuffix("}").rstrip()
    before = "\n" + " " * indent if indent else " "
    after = "\n}\n" if indent else "}"
    digest = hashlib.sha256(utf8(body + after)).hexdigest()
    return f'{body},{before}"{CHECKSUM_KEY}": "{digest}"{after}'


def read_manifest(
    path: Path, expected: str, *, absent: str, again: str, error: type[InputError] = InputError
) -> dict[str, Any]:
    """Read a manifest whose key "format" must be `expected`.

    Args:
        path: the file.
        expected: the format that this version reads.
        absent: sentence for a folder without such a file, with the reason in the place of "{}".
        again: what to do about a damaged file.
        error: class of the error.

    Raises:
        InputError: there is no such file, it is damaged, or of another format.
    """
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise file_error(error, absent.format(problem.strerror), path.parent) from problem
    except ValueError as problem:  # a null byte in its name
        raise file_error(error, absent.format(problem), str(path.parent)[:200]) from problem
    try:
        manifest = parse_json(content, finite=True, halves=True)  # names of files need not be text
        version = manifest["format"]
    except (JSONProblem, TypeError, KeyError) as problem:
        raise file_error(error, f"is damaged ({problem}); {again}", path) from problem
    if version != expected:
        raise file_error(error, f"is of the format {version!r}, this version reads {expected!r}", path)
    return _verify(manifest, content, path, again, error)


def read_record(path: Path, *, again: str, error: type[InputError] = InputError) -> dict[str, Any]:
    """Read a file that `manifest_text` made, or an earlier version, which wrote no checksum.

    Raises:
        InputError: it cannot be read, or is damaged.
    """
    content = read_whole(path, error=error, wanted="a JSON file", again=again)
    try:
        record = parse_json(content, halves=True)
    except JSONProblem as problem:
        raise file_error(error, f"is damaged ({problem}); {again}", path) from problem
    return _verify(record, content, path, again, error)


def read_saved(path: str | os.PathLike[str], *, again: str = "") -> Any:  # noqa: ANN401 - whatever it holds
    """Read JSON that a user names: of a saved result, or any other, which has no checksum.

    Raises:
        InputError: it cannot be read, is not JSON, or was altered since it was saved.
    """
    content = read_json(path, again=again)
    if not isinstance(content, dict) or CHECKSUM_KEY not in content:
        return content
    altered = f"make it again or, if you changed it yourself, remove its key {CHECKSUM_KEY!r}"
    return _verify(content, read_whole(path), path, altered, InputError)


def _without_checksum(content: JsonMapping) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name != CHECKSUM_KEY}


def _verify(
    record: object, content: bytes, path: str | os.PathLike[str], again: str, error: type[InputError]
) -> dict[str, Any]:
    """Return the record without its checksum, which must match the bytes; files of earlier versions have none."""
    if not isinstance(record, dict):
        raise file_error(error, f"is damaged (it holds no JSON object); {again}", path)
    if CHECKSUM_KEY in record and not has_valid_checksum(content):
        raise file_error(error, f"is damaged (its checksum differs); {again}", path)
    return _without_checksum(record)


def has_valid_checksum(content: bytes) -> bool:
    """Tell whether bytes end with the checksum of those before it."""
    last = _LAST_KEY.search(content)
    if last is None:
        return False
    return hashlib.sha256(content[: last.start()] + content[last.end() :]).hexdigest() == last[1].decode()
