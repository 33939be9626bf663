"""Tables of any result's JSON: numbers with their intervals, and the reason where there is no number.

A study's page puts results of several subjects side by side, also of kinds that another package added, so that it reads
their JSON: `x_low`, `x_high`, `x_interval` and `x_reason` belong to `x` (or `x_value`); `low`, `high`, `interval` and
`reason` alone to the main number of the row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from biasgauge.core import Estimate, JsonMapping, JsonObject
from biasgauge.results import (
    Chart,
    Column,
    Shown,
    Table,
    altair,
    estimate_text,
    interval_chart,
    level_text,
)

TableRow = JsonObject

_MAIN = ("value", "mean", "effect_size", "r", "variance", "difference", "estimate", "stability", "replicates")
"""The main number of a row: the first of these that it has."""
_NUMBERS = (*_MAIN, "before", "after", "change")
"""Numbers that come first, in this order."""
_FIRST = (
    "for", "by", "variant", "part", "reliability", "name", "test", "model", "of", "a", "b", "word", "connection",
    "component", "outcome", "term", "metric", "group", "measure", "pair", "list", "form", "truth", "other", "first",
    "second",
)  # fmt: skip
"""Columns that name a row, in this order."""
_BOUND = re.compile(r"(?:(?P<owner>.+)_)?(?P<bound>low|high|interval|reason)")
_DIGITS = 3
_MOST_LOST = 12
_LONGEST = 6
"""A list of more items than that is not a cell."""
_MOST_ROWS = 300
"""A table of more rows than that is cut; the CSV has them all."""
_MOST_POINTS = 40


def tidy(row: JsonMapping) -> TableRow:
    """A row of a result with each interval beside its number; the order of its keys does not matter.

    Long lists and nested tables are left out: they have tables of their own, or are in the JSON.
    """
    cells: TableRow = {}
    bounds: dict[str, JsonObject] = {}
    for name, value in row.items():
        if match := _BOUND.fullmatch(name):
            bounds.setdefault(match["owner"] or "", {})[match["bound"]] = value
        elif name == "by" and isinstance(value, dict):
            cells["by"] = ", ".join(f"{factor} {level}" for factor, level in value.items()) or "all"
        elif _fits(value):
            cells[name] = _cell_value(value)
    main = next((name for name in _MAIN if name in cells), None)
    reason = bounds.get("", {}).pop("reason", None)
    for base, of_number in bounds.items():
        candidates = [base, f"{base}_value"] if base else [main]
        owner = next((name for name in candidates if name in cells), None)
        if owner is not None:
            cells[owner] = _with_bounds(cells[owner], of_number)
    numeric = next((name for name in cells if name == main or isinstance(cells[name], Estimate)), None)
    if reason and numeric is None:
        cells["reason"] = reason
    elif reason and numeric is not None and _finite(getattr(cells[numeric], "value", cells[numeric])) is None:
        cells[numeric] = Estimate(value=None, level=0.0, reason=str(reason))
    return cells


def _fits(value: object) -> bool:
    if isinstance(value, dict):
        return {"asked", "found", "lost"} <= value.keys() or {"value", "low", "high"} <= value.keys()
    return not isinstance(value, list) or (
        len(value) <= _LONGEST and all(isinstance(item, str | int | float) for item in value)
    )


def _cell_value(value: object) -> object:
    """A number, an estimate, or the coverage of a word list with the words that are out of vocabulary."""
    if isinstance(value, dict) and "lost" in value:
        lost = [word for words in value["lost"].values() for word in words]
        more = f" … and {len(lost) - _MOST_LOST:,} more" if len(lost) > _MOST_LOST else ""
        remark = f"not in the vocabulary: {', '.join(lost[:_MOST_LOST])}{more}" if lost else ""
        return Shown(value["found"], f"{value['found']:,} of {value['asked']:,}", remark)
    if isinstance(value, dict):
        low, high = _finite(value["low"]), _finite(value["high"])
        return Estimate(value=_finite(value["value"]), low=low, high=high, level=0.0, reason=value.get("reason"))
    return _finite(value) if isinstance(value, float) else value


def _with_bounds(cell: object, bounds: JsonObject) -> object:
    """A number with its interval (a record, or ends and the name of its method) and the reason why it is undefined."""
    interval, reason = bounds.get("interval"), bounds.get("reason")
    if not (interval or reason or {"low", "high"} & bounds.keys()):
        return cell
    if not isinstance(interval, dict):
        interval = {**bounds, "method": interval if isinstance(interval, str) else ""}
    return replace(
        cell if isinstance(cell, Estimate) else Estimate(value=_finite(cell), level=0.0),
        low=_finite(interval.get("low")),
        high=_finite(interval.get("high")),
        level=interval.get("level") or 0.0,
        method=interval.get("method") or "",
        reason=str(reason) if reason else None,
    )


def _finite(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


def estimates_of(row: TableRow) -> dict[str, Estimate]:
    """The numbers of a row that have an interval with two different ends."""
    return {
        name: cell for name, cell in row.items() if isinstance(cell, Estimate) and cell.low not in (None, cell.high)
    }


def table_of(title: str, rows: Sequence[TableRow]) -> Table:
    """Rows of `tidy` as a table: names of the row, then numbers, then other columns.

    Columns without any value are left out; a value that all of several rows share stands in the title.
    """
    cut = f"; the first {_MOST_ROWS:,} of {len(rows):,} rows, all are in the files" if len(rows) > _MOST_ROWS else ""
    estimates = [estimate for row in rows for estimate in estimates_of(row).values()]
    levels = {f"{level_text(one.level)} {one.method}" if one.level else one.method for one in estimates}
    methods = sorted({level.strip() for level in levels} - {""})
    intervals = f"; intervals: {', '.join(methods)}" if methods else ""
    rows = rows[:_MOST_ROWS]
    columns = {name: [row.get(name) for row in rows] for row in rows for name in row}
    columns = {name: values for name, values in columns.items() if any(map(_has_content, values))}
    shared = {name for name, values in columns.items() if len(rows) > 1 and _is_shared(name, values)}
    if shared and len(shared) < len(columns):
        title += f" ({', '.join(f'{name} {columns[name][0]}' for name in columns if name in shared)})".replace("_", " ")
        columns = {name: values for name, values in columns.items() if name not in shared}
    names = sorted(columns, key=lambda name: _rank(name, [value for value in columns[name] if value is not None]))
    heads = [_column(name, columns[name]) for name in names]
    cells = [[_in_column(row.get(name), head) for name, head in zip(names, heads, strict=True)] for row in rows]
    return Table.of(title, f"{title}{intervals}{cut}", heads, cells)


def _column(name: str, values: Sequence[object]) -> Column:
    head = name.replace("_", " ")
    if any(isinstance(value, Estimate) for value in values):
        return Column(head, "estimate", _DIGITS)
    if any(isinstance(value, str | list) for value in values):
        return Column(head)
    return Column(head, "p") if name in {"p", "p_value"} else Column(head, "number", _DIGITS)


def _in_column(value: Any, column: Column) -> Any:  # noqa: ANN401 - of any kind
    if column.kind == "estimate" and value is not None and not isinstance(value, Estimate):
        return Estimate(value=_finite(value), level=0.0)
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _rank(name: str, values: Sequence[object]) -> int:
    """Position of a column: names of the row first, then its number, other numbers, counts, everything else."""
    are_numbers = all(isinstance(value, Estimate | int | float) and not isinstance(value, bool) for value in values)
    if name in _FIRST and not are_numbers:
        return _FIRST.index(name)
    if name in _NUMBERS:
        return len(_FIRST) + _NUMBERS.index(name)
    kinds = [*(any(isinstance(value, kind) for value in values) for kind in (Estimate, float)), are_numbers, True]
    return len(_FIRST) + len(_NUMBERS) + kinds.index(True)


def _has_content(value: object) -> bool:
    return value.defined or bool(value.reason) if isinstance(value, Estimate) else value not in (None, "", [])


def _is_shared(name: str, values: Sequence[object]) -> bool:
    return (isinstance(values[0], str) or name == "level") and all(value == values[0] for value in values)


def chart_of(title: str, rows: Sequence[TableRow]) -> Chart | None:
    """Numbers with their intervals, a line for each row; None where they are too many, too few, or of several kinds."""
    estimated = [(row, *next(iter(estimates_of(row).items()))) for row in rows if estimates_of(row)]
    bounded = [(row, name, estimate) for row, name, estimate in estimated if estimate.high is not None]
    if not 1 < len(bounded) <= _MOST_POINTS or len({name for _, name, _ in bounded}) > 1:
        return None
    labels = _labels([{name: cell for name, cell in row.items() if isinstance(cell, str)} for row, _, _ in bounded])
    if labels is None:
        return None
    name = bounded[0][1].replace("_", " ")
    estimates = dict(zip(labels, (estimate for _, _, estimate in bounded), strict=True))
    claim = f"{name} ({title}), with intervals"
    return Chart("numbers", claim, "Point and line: number and interval", lambda: _draw(name, estimates))


def _labels(texts: Sequence[Mapping[str, str]]) -> list[str] | None:
    """Labels that distinguish rows, from as few of their columns as possible; None where nothing does."""
    varying = [name for name in texts[0] if len({text.get(name) for text in texts}) > 1]
    for count in range(1, len(varying) + 1):
        labels = [" · ".join(text[name] for name in varying[:count] if text.get(name)) for text in texts]
        if len(set(labels)) == len(labels):
            return labels
    return None


def _draw(name: str, estimates: Mapping[str, Estimate]) -> Any:  # noqa: ANN401 - an Altair chart
    """A dot for each number and a line for its interval, the numbers at the right, 0 where it is near."""
    import pandas as pd

    rows = [{"what": label, "value": one.value, "low": one.low, "high": one.high} for label, one in estimates.items()]
    frame = pd.DataFrame(rows)
    low, high = float(frame["low"].min()), float(frame["high"].max())
    # An axis that reaches 0 must still separate the numbers.
    near_zero = low <= 0 <= high or min(abs(low), abs(high)) < 2 * (high - low)
    alt = altair()
    x = alt.X("value:Q", title=name, scale=alt.Scale(zero=near_zero))
    labels = {label: estimate_text(estimate, _DIGITS) for label, estimate in estimates.items()}
    return interval_chart(frame, x, lines=(0.0,) if near_zero else (), labels=labels)
