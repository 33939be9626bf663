"""JSON files that say what a folder of ours holds, in which format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from biasgauge.errors import InputError


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
        manifest = json.loads(path.read_text(encoding="utf-8"))
        found = manifest["format"]
    except OSError as problem:
        raise error(f"{path.parent}: {absent.format(problem.strerror)}") from problem
    except (ValueError, TypeError, KeyError) as problem:
        raise error(f"{path}: is damaged ({problem}); {again}") from problem
    if found != stated:
        raise error(f"{path}: is of the format {found!r}, this version reads {stated!r}")
    return dict(manifest)
