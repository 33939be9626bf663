"""A table of any result's rows: numbers with their intervals under them, reasons where there is no number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from biasgauge.report.page.section import Cell, Table, cell, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row = dict[str, Any]

_MAIN = ("value", "mean", "effect_size", "r", "variance", "difference", "estimate", "stability", "replicates")
"""What a row is about: the first of these that it has."""
_NUMBERS = (*_MAIN, "before", "after", "change")
"""Numbers that come first, in this order."""
_FIRST = (
    "for", "by", "variant", "part", "reliability", "name", "test", "model", "of", "a", "b", "word", "connection",
    "component", "outcome", "term", "metric", "group", "measure", "pair", "list", "form", "truth", "other", "first",
    "second",
)  # fmt: skip
"""Columns that say what a row is of, in this order."""
_LOST = 12
_LONGEST = 6
"""A list of more parts than that is no cell."""


@dataclass(frozen=True)
class Number:
    """A number with its interval.

    Attributes:
        value: None where it is undefined.
        low, high: ends of the interval; None where there is none.
        method: of the interval.
        reason: why it is undefined.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    method: str = ""
    reason: str = ""


def tidy(row: Mapping[str, Any]) -> Row:
    """A row of a result with each interval beside its number; the order of its keys does not matter.

    `x_low`, `x_high`, `x_interval` and `x_reason` belong to `x` (or `x_value`); `low`, `high` and `interval` alone to
    what the row is about. Long lists and nested tables are left out: they have tables of their own, or are in the JSON.
    """
    found = {name: _plain(value) for name, value in row.items() if _base(name) is None and _fits(value)}
    if isinstance(row.get("by"), dict):
        found["by"] = ", ".join(f"{name} {value}" for name, value in row["by"].items()) or "all"
    main = next((name for name in _MAIN if name in found), None)
    for name, value in row.items():
        base = _base(name)
        owner = main if base == "" else next((one for one in (base, f"{base}_value") if one in found), None)
        if base is not None and owner is not None:
            found[owner] = _with_ends(found[owner], name, value)
    return found


def table(caption: str, rows: Sequence[Row]) -> Table:
    """Rows of `tidy` as a table of the page: what they are of, then numbers, then the rest.

    Columns without any value are left out; what all of several rows say alike stands in the caption.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    kept = [name for name in names if name != "reason" and any(_told(row, name) for row in rows)]
    alike = [name for name in kept if len(rows) > 1 and _alike([row.get(name) for row in rows], name)]
    if alike and len(alike) < len(kept):
        caption += f" ({', '.join(f'{name} {rows[0][name]}' for name in alike)})".replace("_", " ")
        kept = [name for name in kept if name not in alike]
    kept.sort(key=lambda name: _rank(name, [row[name] for row in rows if row.get(name) is not None]))
    numbers = [name for name in kept if all(_is_number(row.get(name)) or row.get(name) is None for row in rows)]
    return Table(
        caption=caption,
        columns=tuple(name.replace("_", " ") for name in kept),
        rows=tuple(tuple(_cell(row, name, numbers) for name in kept) for row in rows),
        numbers=frozenset(name.replace("_", " ") for name in numbers),
    )


def numbers_of(row: Row) -> dict[str, Number]:
    """The numbers of a row that have an interval; an exact one has none to speak of."""
    return {name: one for name, one in row.items() if isinstance(one, Number) and one.low not in (None, one.high)}


def _rank(name: str, values: Sequence[object]) -> int:
    """Where a column stands: what the row is of, its number, other numbers, counts, the rest."""
    if name in _FIRST and not all(map(_is_number, values)):
        return _FIRST.index(name)
    if name in _NUMBERS:
        return len(_FIRST) + _NUMBERS.index(name)
    kinds = (
        any(isinstance(one, Number) for one in values),
        any(isinstance(one, float) for one in values),
        all(map(_is_number, values)),
    )
    return len(_FIRST) + len(_NUMBERS) + next((place for place, one in enumerate(kinds) if one), len(kinds))


def _base(name: str) -> str | None:
    """The number that an interval belongs to: empty for the one before it, None for what is no interval."""
    for ending in ("low", "high", "interval", "reason"):
        if name == ending:
            return None if ending == "reason" else ""  # that of the whole row
        if name.endswith(f"_{ending}"):
            return name.removesuffix(f"_{ending}")
    return None


def _with_ends(owner: object, name: str, value: object) -> object:
    one = owner if isinstance(owner, Number) else Number(owner if isinstance(owner, int | float) else None)
    if isinstance(value, dict):
        level = value.get("level")
        told = f"{100 * level:g} % {value.get('method') or ''}".strip() if level else str(value.get("method") or "")
        return replace(one, low=_finite(value.get("low")), high=_finite(value.get("high")), method=told)
    if name.endswith("reason"):
        return replace(one, reason=str(value)) if value else owner
    if name.endswith("interval"):  # how it was found, or nothing
        return replace(one, method=value) if isinstance(value, str) else owner
    return replace(one, low=_finite(value)) if name.endswith("low") else replace(one, high=_finite(value))


def _cell(row: Row, name: str, places: Sequence[str]) -> Cell:
    value = row.get(name)
    undefined = value is None or (isinstance(value, Number) and value.value is None)
    if undefined and row.get("reason") and name == next((one for one in places if one in row), None):
        return Cell("undefined", str(row["reason"]), mark="bad")
    if isinstance(value, Number):
        if value.value is None and value.reason:
            return Cell("undefined", value.reason, mark="bad")
        return cell(value.value, _ends(value))
    if isinstance(value, dict):  # a coverage
        lost = [word for words in value["lost"].values() for word in words]
        more = f" … and {len(lost) - _LOST:,} more" if len(lost) > _LOST else ""
        return Cell(
            f"{value['found']:,} of {value['asked']:,}", f"lost: {', '.join(lost[:_LOST])}{more}" if lost else ""
        )
    return cell(", ".join(cell(one).text for one in value) if isinstance(value, list) else value)


def _ends(one: Number) -> str:
    """An interval on one line; nothing for that of an exact number."""
    if one.low is None or one.low == one.high:
        return ""
    told = f"{shown(one.low)} or more" if one.high is None else f"{shown(one.low)} to {shown(one.high)}"
    return told.replace(" ", "\u00a0")


def _told(row: Row, name: str) -> bool:
    value = row.get(name)
    if isinstance(value, Number):
        return value.value is not None or bool(value.reason or row.get("reason"))
    return value not in (None, "", [])


def _alike(values: Sequence[object], name: str) -> bool:
    return (isinstance(values[0], str) or name == "level") and all(value == values[0] for value in values)


def _fits(value: object) -> bool:
    if isinstance(value, dict):
        return {"asked", "found", "lost"} <= value.keys() or {"value", "low", "high"} <= value.keys()
    if isinstance(value, list):
        return len(value) <= _LONGEST and all(isinstance(one, str | int | float) for one in value)
    return True


def _plain(value: object) -> object:
    if isinstance(value, dict) and {"value", "low"} <= value.keys():
        return Number(_finite(value["value"]), _finite(value["low"]), _finite(value["high"]))
    return _finite(value) if isinstance(value, float) else value


def _finite(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


def _is_number(value: object) -> bool:
    return isinstance(value, Number) or (isinstance(value, int | float) and not isinstance(value, bool))
