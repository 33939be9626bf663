"""How values look: one rule for numbers, p-values, shares, intervals and word lists, in every medium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biasgauge.results.summary import Column

MISSING = "–"
NUMERIC = frozenset({"number", "count", "share", "p", "estimate"})
"""Kinds of columns that stand on the right."""
_SMALLEST_P = 0.001


def cell_text(value: Any, column: Column, most_words: int | None = None) -> str:  # noqa: ANN401, PLR0911 - a line a kind
    """A cell in words; an interval stands behind its number, a reason in the place of one that is undefined."""
    if value is None:
        return MISSING
    if hasattr(value, "text"):  # a look of its own
        return str(value.text)
    if column.kind == "estimate":
        return estimate_text(value, column.digits)
    if column.kind == "p":
        return p_text(value)
    if column.kind == "share":
        return f"{100 * value:.{max(column.digits - 2, 0)}f} %"
    if column.kind == "words":
        return words_text(value, most_words)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return number_text(value, column.digits) if isinstance(value, float) else str(value)


def number_text(value: float, digits: int = 2) -> str:
    """A number with fixed decimals; numbers too small for them keep two figures."""
    if not isfinite(value):
        return MISSING
    if value != 0 and abs(value) < 0.5 * 10**-digits:
        return f"{value:.1e}"
    shown = f"{value:,.{digits}f}"
    return shown.replace("-", "−") if float(f"{value:.{digits}f}") else shown.lstrip("-")


def estimate_text(estimate: Any, digits: int = 2) -> str:  # noqa: ANN401 - an Estimate: this room sees results only
    """A number and its interval, or why there is none."""
    if estimate.value is None:
        return f"undefined: {estimate.reason}"
    return f"{number_text(estimate.value, digits)}{interval_text(estimate.low, estimate.high, digits)}"


def interval_text(low: float | None, high: float | None, digits: int = 2) -> str:
    """[low, high], with a space before it; an open end is named; nothing where there is no interval."""
    if low is None and high is None:
        return ""
    ends = [MISSING if end is None else number_text(end, digits) for end in (low, high)]
    return f" [{', '.join(ends)}]"


def p_text(p: float) -> str:
    """A p-value as papers print it."""
    return "< .001" if p < _SMALLEST_P else f"{p:.3f}".lstrip("0") if p < 1 else "1"


def words_text(words: Sequence[str] | Mapping[str, Sequence[str]], most: int | None = None) -> str:
    """Words in a row, of all sets where they are given by set; past `most`, how many more there are."""
    if isinstance(words, Mapping):
        words = [word for members in words.values() for word in members]
    if not words:
        return MISSING
    if most is None or len(words) <= most:
        return ", ".join(words)
    return f"{', '.join(words[:most])} … and {len(words) - most:,} more"
