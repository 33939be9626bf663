"""Folders of ours: the JSON file that says what one holds, and its files of numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

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


def map_array(
    path: Path, dtype: DTypeLike, shape: tuple[int, ...], *, again: str, error: type[InputError] = InputError
) -> NDArray[Any]:
    """Map a NumPy file into memory; it must hold numbers of this type and shape.

    Raises:
        InputError: it is missing, damaged, or holds something else; ends with `again`, what to do about it.
    """
    try:
        numbers = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError, EOFError) as problem:
        raise error(f"{path}: cannot be read ({problem}); {again}") from problem
    if numbers.shape != shape or numbers.dtype != np.dtype(dtype):
        expected = f"{np.dtype(dtype)} of shape {shape}"
        raise error(f"{path}: holds {numbers.dtype} of shape {numbers.shape}, expected {expected}; {again}")
    return numbers
