"""Frames to CSV that a spreadsheet cannot mistake for formulas."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_text(frame: pd.DataFrame) -> str:
    """CSV with Unix line ends; text that starts a formula and is no number gets a quote before it.

    Spreadsheets show text after such a quote as it is.
    """
    safe = frame.copy()
    for column in safe.columns:
        safe[column] = safe[column].map(_neutral)
    return str(safe.to_csv(index=False, lineterminator="\n"))


def _neutral(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) and not _number(cell) else cell


def _number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
