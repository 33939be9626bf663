"""JSON files of ours that are read again: each ends with the checksum of everything before it.

Lists of a folder's files, recipes, saved results.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from biasgauge.core import JsonMapping
from biasgauge.errors import InputError, file_error
from biasgauge.io.json_file import JSONProblem, parse_json, read_json
from biasgauge.io.text_file import read_whole, utf8

CHECKSUM_KEY = "own_sha256"
"""Key of the checksum of the file's bytes without this key."""
_LAST_KEY = re.compile(rb',\s*"own_sha256": "([0-9a-f]{64})"(?=\s*\}\s*\Z)')


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
