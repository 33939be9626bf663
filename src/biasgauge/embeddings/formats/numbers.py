"""Decimal numbers in text to an array: strict, and fast where there are many."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MANY = 200_000
"""From this many numbers on, importing pandas (0.4 s, once) costs less than its parser saves (4 times as fast)."""

_WIDE = 4096
"""Beyond this many numbers in a row its parser is the slower one, and in the end takes kilobytes a column."""

_ALWAYS_EXACT = "3.1"
"""From this version on pandas rounds correctly without being asked, and warns when it is."""


def is_number(field: bytes) -> bool:
    """Whether the field is one decimal number, `nan` and `inf` included; Python's `1_000` is not one."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def parse_rows(rows: Sequence[bytes], dim: int) -> NDArray[np.float32]:
    """Parse rows of exactly `dim` numbers separated by single spaces; ValueError when any row is not that."""
    if len(rows) * dim < _MANY or dim > _WIDE:
        return _parse_few(rows, dim)
    import pandas as pd  # noqa: PLC0415 - see _MANY

    with np.errstate(over="ignore"):
        frame = pd.read_csv(
            io.BytesIO(b"\n".join(rows)),
            sep=" ",
            header=None,
            names=range(dim),
            index_col=False,
            dtype=np.float32,
            na_filter=False,
            quoting=3,
            skip_blank_lines=False,
            float_precision="round_trip" if pd.__version__ < _ALWAYS_EXACT else None,
        )
    if len(frame) != len(rows):
        raise ValueError(f"{len(rows)} rows expected, {len(frame)} found")
    return np.ascontiguousarray(frame.to_numpy(), dtype=np.float32)


def _parse_few(rows: Sequence[bytes], dim: int) -> NDArray[np.float32]:
    together = b" ".join(rows)
    if b"_" in together:
        raise ValueError("an underscore is no part of a number")
    fields = together.split(b" ")
    parsed = np.fromiter(map(float, fields), np.float64, len(fields))
    with np.errstate(over="ignore"):
        return parsed.astype(np.float32).reshape(len(rows), dim)
