"""JSON of ours that is read again: it ends with the checksum of all that stands before.

Lists of what folders hold, recipes, results that were saved.
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

OWN = "own_sha256"
"""The key of the file's own checksum: of its bytes without this key."""
_CHANGED = f"make it again or, if you changed it yourself, remove its key {OWN!r}"
"""What to do about a result of ours whose checksum differs."""
_LAST = re.compile(rb',\s*"own_sha256": "([0-9a-f]{64})"(?=\s*\}\s*\Z)')


def manifest_text(content: JsonMapping, *, indent: int | None = None, finite: bool = False) -> str:
    """The text of such a file; `read_manifest` and `read_record` then notice a single altered bit.

    With `finite`, NaN and infinities in it are a `ValueError`.
    """
    body = (
        json.dumps(without_checksum(content), ensure_ascii=False, indent=indent, allow_nan=not finite)
        .removesuffix("}")
        .rstrip()
    )
    before = "\n" + " " * indent if indent else " "
    after = "\n}\n" if indent else "}"
    digest = hashlib.sha256(utf8(body + after)).hexdigest()
    return f'{body},{before}"{OWN}": "{digest}"{after}'


def read_manifest(
    path: Path, stated: str, *, absent: str, again: str, error: type[InputError] = InputError
) -> dict[str, Any]:
    """Read a manifest whose key "format" must be `stated`.

    Args:
        path: the file.
        stated: the format that this version reads.
        absent: what the folder is not when there is no such file, with what makes one after "{}".
        again: what to do about a damaged file.
        error: which error to raise.

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
        given = manifest["format"]
    except (JSONProblem, TypeError, KeyError) as problem:
        raise file_error(error, f"is damaged ({problem}); {again}", path) from problem
    if given != stated:
        raise file_error(error, f"is of the format {given!r}, this version reads {stated!r}", path)
    return _checked(manifest, content, path, again, error)


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
    return _checked(record, content, path, again, error)


def read_saved(path: str | os.PathLike[str], *, again: str = "") -> Any:  # noqa: ANN401 - whatever it holds
    """Read JSON that a user names: of a result that was saved, or any other, which has no checksum.

    Raises:
        InputError: it cannot be read, is no JSON, or was altered since it was saved.
    """
    content = read_json(path, again=again)
    if not isinstance(content, dict) or OWN not in content:
        return content
    return _checked(content, read_whole(path), path, _CHANGED, InputError)


def without_checksum(content: JsonMapping) -> dict[str, Any]:
    """What such a file held when it was written, from its JSON."""
    return {name: value for name, value in content.items() if name != OWN}


def _checked(
    record: object, content: bytes, path: str | os.PathLike[str], again: str, error: type[InputError]
) -> dict[str, Any]:
    """The record without its checksum, which must be that of the bytes; files of earlier versions have none."""
    if not isinstance(record, dict):
        raise file_error(error, f"is damaged (it holds no JSON object); {again}", path)
    if OWN in record and not _is_whole(content):
        raise file_error(error, f"is damaged (its checksum differs); {again}", path)
    return without_checksum(record)


def _is_whole(content: bytes) -> bool:
    """Whether the bytes end with the checksum of those that stand before."""
    last = _LAST.search(content)
    if last is None:
        return False
    return hashlib.sha256(content[: last.start()] + content[last.end() :]).hexdigest() == last[1].decode()
