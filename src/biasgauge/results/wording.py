"""Formats of values in sentences, tables and figures: one rule for each kind.

Numbers have fixed decimals and a true minus sign; p-values alone drop the zero before the point, as papers print them;
shares are percent; a pair is written first–second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Sized
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol

from biasgauge.results.names import lexicon_name, registered_name

if TYPE_CHECKING:
    from biasgauge.results.tables import Column, Table

MISSING = "–"
NUMERIC = frozenset({"number", "count", "share", "p", "estimate"})
"""Kinds of columns that stand on the right."""
_SMALLEST_P = 0.001
_LARGEST_WHOLE = 1e9
_TOGETHER = re.compile(r"(?<=\d) (?=%)|(?<=\bp) (?=[=<>] )|(?<=\bp [=<>]) (?=\.?\d)")
"""Spaces at which no line may end: within 89 % and p = .034."""


class _Estimated(Protocol):
    """A number with the ends of its interval, or the reason why there is none: `stats.Estimate`, which stands above."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def reason(self) -> str | None: ...


def number_text(value: float | None, digits: int = 2) -> str:
    """A number with fixed decimals; numbers too small for them keep two figures."""
    if value is None or not isfinite(value):
        return MISSING
    if value != 0 and abs(value) < 0.5 * 10**-digits:
        return f"{value:.1e}".replace("-", "−")
    shown = f"{value:,.{digits}f}"
    return shown.replace("-", "−") if float(f"{value:.{digits}f}") else shown.lstrip("-")


def figures_text(value: float | None, figures: int = 3) -> str:
    """A number to a number of significant figures, whatever its size; whole numbers in full."""
    if value is None or not isfinite(value):
        return MISSING
    is_integer = float(value).is_integer() and abs(value) < _LARGEST_WHOLE
    return (f"{value:,.0f}" if is_integer else f"{value:.{figures}g}").replace("-", "−")


def signed_text(value: float | None, digits: int = 3) -> str:
    """A number whose sign matters, such as a contrast or a change: +0.084, −0.031."""
    text = number_text(value, digits)
    return text if value is None or not value > 0 else f"+{text}"


def share_text(share: float | None, digits: int = 0) -> str:
    """A share of 0 to 1 in percent."""
    return MISSING if share is None or not isfinite(share) else f"{100 * share:.{digits}f} %".replace("-", "−")


def shares_text(low: float | None, high: float | None, digits: int = 0) -> str:
    """The interval of a share in percent, beside it: [12, 34]; empty where there is none."""
    ends = [MISSING if end is None or not isfinite(end) else f"{100 * end:.{digits}f}" for end in (low, high)]
    text = ",\u00a0".join(ends).replace("-", "−")
    return "" if ends == [MISSING, MISSING] else f"[{text}]"


def level_text(level: float) -> str:
    """The coverage of an interval: 95 %, 99.9 %."""
    return f"{100 * level:.4g} %"


def p_text(p: float) -> str:
    """A p-value as papers print it."""
    if p < _SMALLEST_P:
        return "< .001"
    rounded = f"{p:.3f}"
    return rounded.removeprefix("0") if float(rounded) < 1 else "1" if p >= 1 else "> .999"


def p_phrase(p: float | None) -> str:
    """A p-value in a sentence: p = .034, p < .001."""
    text = "unknown" if p is None else p_text(p)
    return f"p {text}" if text[0] in "<>u" else f"p = {text}"


def interval_text(low: float | None, high: float | None, digits: int = 2, *, signed: bool = False) -> str:
    """[low, high]; an open end is shown as missing; empty where there is no interval."""
    if low is None and high is None:
        return ""
    write = signed_text if signed else number_text
    return f"[{', '.join(write(end, digits) for end in (low, high))}]"


def estimate_text(estimate: _Estimated, digits: int = 2, *, signed: bool = False) -> str:
    """A number and its interval, or why there is none."""
    if estimate.value is None:
        return f"undefined: {estimate.reason}"
    number = (signed_text if signed else number_text)(estimate.value, digits)
    return f"{number} {interval_text(estimate.low, estimate.high, digits, signed=signed)}".rstrip()


def unbroken(text: str) -> str:
    """The text with spaces at which no line ends within a share and a p-value."""
    return _TOGETHER.sub("\u00a0", text)


def count_of(count: int, total: int) -> str:
    """A count of a whole: 19 of 23; all 23."""
    return f"all {total:,}" if count == total else f"{count:,} of {total:,}"


def counted(things: int | Sized, noun: str, plural: str = "") -> str:
    """A number of things with its noun: 1 cell, 1,200 cells; 1 analysis, 3 analyses."""
    number = things if isinstance(things, int) else len(things)
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def pair_text(pair: Sequence[str]) -> str:
    """A pair of words: he–she."""
    return "–".join(pair)


def words_text(words: Sequence[str] | Mapping[str, Sequence[str]], most: int | None = None) -> str:
    """Words in a row, of all sets where they are given by set; past `most`, how many more there are."""
    if isinstance(words, Mapping):
        words = [word for members in words.values() for word in members]
    if not words:
        return MISSING
    if most is None or len(words) <= most:
        return ", ".join(words)
    return f"{', '.join(words[:most])} … and {len(words) - most:,} more"


def setting_text(value: object) -> str:
    """A setting as a reader would write it: lists with commas, tables as name and value."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {setting_text(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(setting_text, value))
    return "none" if value is None else str(value)


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
        return share_text(value, max(column.digits - 2, 0))
    if column.kind in ("name", "lexicon"):
        return (registered_name if column.kind == "name" else lexicon_name)(str(value))
    if column.kind == "words":
        return words_text(value, most_words)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return number_text(value, column.digits) if isinstance(value, float) else str(value)


def table_texts(table: Table) -> list[list[str]]:
    """Every cell of a table in words."""
    return [[cell_text(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]


def duration_text(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 1 or seconds == 0 else "< 1 s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"
