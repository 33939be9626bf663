"""Tables of any result's JSON: numbers with their intervals, and the reason where there is no number.

A study's page shows results of every kind, also of kinds that a stranger added, so that it reads their JSON: `x_low`,
`x_high`, `x_interval` and `x_reason` belong to `x` (or `x_value`); `low`, `high` and `interval` alone to what the row
is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from biasgauge.core import Estimate, JsonMapping, JsonObject
from biasgauge.results import (
    SECOND,
    Chart,
    Column,
    Shown,
    Table,
    altair,
    interval_text,
    level_text,
    number_text,
    with_right_labels,
    zero_line,
)

Row = JsonObject

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
_DIGITS = 3
_LOST = 12
_LONGEST = 6
"""A list of more parts than that is no cell."""
_MOST_ROWS = 300
"""A table of more rows than that is cut; the CSV has them all."""
_MOST_POINTS = 40


def tidy(row: JsonMapping) -> Row:
    """A row of a result with each interval beside its number; the order of its keys does not matter.

    Long lists and nested tables are left out: they have tables of their own, or are in the JSON.
    """
    cells = {name: _plain(value) for name, value in row.items() if _owner(name) is None and _fits(value)}
    if isinstance(row.get("by"), dict):
        cells["by"] = ", ".join(f"{name} {value}" for name, value in row["by"].items()) or "all"
    main = next((name for name in _MAIN if name in cells), None)
    for name, value in row.items():
        base = _owner(name)
        owner = main if base == "" else next((cell for cell in (base, f"{base}_value") if cell in cells), None)
        if base is not None and owner is not None:
            cells[owner] = _with_ends(cells[owner], name, value)
    reason = cells.pop("reason", None)
    numeric = next((name for name in cells if name == main or isinstance(cells[name], Estimate)), None)
    if reason and numeric is not None and not _defined(cells[numeric]):
        cells[numeric] = Estimate(value=None, level=0.0, reason=str(reason))
    elif reason and numeric is None:
        cells["reason"] = reason
    return cells


def _owner(name: str) -> str | None:
    """The number that an interval belongs to: empty for what the row is about, None for what is no interval."""
    for ending in ("low", "high", "interval", "reason"):
        if name == ending:
            return None if ending == "reason" else ""  # that of the whole row
        if name.endswith(f"_{ending}"):
            return name.removesuffix(f"_{ending}")
    return None


def _with_ends(owner: object, name: str, value: object) -> object:
    estimate = owner if isinstance(owner, Estimate) else Estimate(value=_finite(owner), level=0.0)
    if isinstance(value, dict):
        level, method = value.get("level") or 0.0, value.get("method") or ""
        low, high = _finite(value.get("low")), _finite(value.get("high"))
        return replace(estimate, low=low, high=high, level=level, method=method)
    if name.endswith("reason"):
        return replace(estimate, reason=str(value)) if value else owner
    if name.endswith("interval"):  # how it was found, or nothing
        return replace(estimate, method=value) if isinstance(value, str) else owner
    end = _finite(value)
    return replace(estimate, low=end) if name.endswith("low") else replace(estimate, high=end)


def _fits(value: object) -> bool:
    if isinstance(value, dict):
        return {"asked", "found", "lost"} <= value.keys() or {"value", "low", "high"} <= value.keys()
    if isinstance(value, list):
        return len(value) <= _LONGEST and all(isinstance(item, str | int | float) for item in value)
    return True


def _plain(value: object) -> object:
    if isinstance(value, dict) and {"value", "low"} <= value.keys():
        low, high = _finite(value["low"]), _finite(value["high"])
        return Estimate(value=_finite(value["value"]), low=low, high=high, level=0.0, reason=value.get("reason"))
    if isinstance(value, dict):  # a coverage
        lost = [word for words in value["lost"].values() for word in words]
        more = f" … and {len(lost) - _LOST:,} more" if len(lost) > _LOST else ""
        remark = f"not in the vocabulary: {', '.join(lost[:_LOST])}{more}" if lost else ""
        return Shown(value["found"], f"{value['found']:,} of {value['asked']:,}", remark)
    return _finite(value) if isinstance(value, float) else value


def _finite(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


def _defined(value: object) -> bool:
    return value.defined if isinstance(value, Estimate) else value is not None


def estimates_of(row: Row) -> dict[str, Estimate]:
    """The numbers of a row that have an interval; an exact one has none to speak of."""
    return {
        name: cell for name, cell in row.items() if isinstance(cell, Estimate) and cell.low not in (None, cell.high)
    }


def table_of(title: str, rows: Sequence[Row]) -> Table:
    """Rows of `tidy` as a table: what they are of, then numbers, then the rest.

    Columns without any value are left out; what all of several rows say alike stands in the title.
    """
    cut = f"; the first {_MOST_ROWS:,} of {len(rows):,} rows, all are in the files" if len(rows) > _MOST_ROWS else ""
    methods = {_method(estimate) for row in rows for estimate in estimates_of(row).values()}
    intervals = f"; intervals: {', '.join(sorted(methods - {''}))}" if methods - {""} else ""
    rows = rows[:_MOST_ROWS]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns_shown = [name for name in names if any(_has_content(row.get(name)) for row in rows)]
    alike = [name for name in columns_shown if len(rows) > 1 and _alike([row.get(name) for row in rows], name)]
    if alike and len(alike) < len(columns_shown):
        title += f" ({', '.join(f'{name} {rows[0][name]}' for name in alike)})".replace("_", " ")
        columns_shown = [name for name in columns_shown if name not in alike]
    columns_shown.sort(key=lambda name: _rank(name, [row[name] for row in rows if row.get(name) is not None]))
    columns = [_column(name, [row.get(name) for row in rows]) for name in columns_shown]
    cells = [
        [_cell(row.get(name), column) for name, column in zip(columns_shown, columns, strict=True)] for row in rows
    ]
    return Table.of(title, f"{title}{intervals}{cut}", columns, cells)


def _method(estimate: Estimate) -> str:
    return f"{level_text(estimate.level)} {estimate.method}".strip() if estimate.level else estimate.method


def _column(name: str, values: Sequence[object]) -> Column:
    head = name.replace("_", " ")
    if any(isinstance(value, Estimate) for value in values):
        return Column(head, "estimate", _DIGITS)
    if any(isinstance(value, str | list) for value in values):
        return Column(head)
    if name in {"p", "p_value"}:
        return Column(head, "p")
    return Column(head, "number", _DIGITS)


def _cell(value: Any, column: Column) -> Any:  # noqa: ANN401 - of any kind
    if column.kind == "estimate" and value is not None and not isinstance(value, Estimate):
        return Estimate(value=_finite(value), level=0.0)
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _rank(name: str, values: Sequence[object]) -> int:
    """Position of a column: names of the row first, then its number, other numbers, counts, everything else."""
    if name in _FIRST and not all(map(_is_number, values)):
        return _FIRST.index(name)
    if name in _NUMBERS:
        return len(_FIRST) + _NUMBERS.index(name)
    kinds = (
        any(isinstance(value, Estimate) for value in values),
        any(isinstance(value, float) for value in values),
        all(map(_is_number, values)),
    )
    return len(_FIRST) + len(_NUMBERS) + next((rank for rank, kind in enumerate(kinds) if kind), len(kinds))


def _is_number(value: object) -> bool:
    return isinstance(value, Estimate) or (isinstance(value, int | float) and not isinstance(value, bool))


def _has_content(value: object) -> bool:
    if isinstance(value, Estimate):
        return value.defined or bool(value.reason)
    return value not in (None, "", [])


def _alike(values: Sequence[object], name: str) -> bool:
    return (isinstance(values[0], str) or name == "level") and all(value == values[0] for value in values)


def chart_of(title: str, rows: Sequence[Row]) -> Chart | None:
    """Numbers with their intervals, a line for each row; None where they are too many, too few, or of several kinds."""
    estimated = [(row, *next(iter(estimates_of(row).items()))) for row in rows if estimates_of(row)]
    bounded = [(row, name, estimate) for row, name, estimate in estimated if estimate.high is not None]
    if not 1 < len(bounded) <= _MOST_POINTS or len({name for _, name, _ in bounded}) > 1:
        return None
    labels = _labels([{name: cell for name, cell in row.items() if isinstance(cell, str)} for row, _, _ in bounded])
    if labels is None:
        return None
    name = bounded[0][1].replace("_", " ")
    points = [
        {"row": label, "value": estimate.value, "low": estimate.low, "high": estimate.high}
        for label, (_, _, estimate) in zip(labels, bounded, strict=True)
    ]
    claim = f"{name} ({title}), with intervals"
    return Chart("numbers", claim, "Point and line: number and interval", lambda: _draw(name, points))


def _labels(texts: Sequence[Mapping[str, str]]) -> list[str] | None:
    """Labels that distinguish rows, from as few of their columns as possible; None where nothing does."""
    telling = [name for name in texts[0] if len({text.get(name) for text in texts}) > 1]
    for count in range(1, len(telling) + 1):
        labels = [" · ".join(text[name] for name in telling[:count] if text.get(name)) for text in texts]
        if len(set(labels)) == len(labels):
            return labels
    return None


def _draw(name: str, points: list[Row]) -> Any:  # noqa: ANN401 - an Altair chart
    """A dot for each number and a line for its interval, the numbers at the right, 0 where it is near."""
    import pandas as pd

    alt = altair()
    frame = pd.DataFrame(points)
    order = frame["row"].tolist()
    base = alt.Chart(frame).encode(
        y=alt.Y("row:N", sort=order, title=None, axis=alt.Axis(labelLimit=300, grid=True)),
        tooltip=["row:N", "value:Q", "low:Q", "high:Q"],
    )
    near = _near_zero(points)
    low = alt.X("low:Q", title=name, scale=alt.Scale(zero=near))
    layers = [zero_line()] if near else []
    layers.append(base.mark_rule(color=SECOND, strokeWidth=2).encode(x=low, x2="high:Q"))
    layers.append(base.mark_point(filled=True, size=60, color=SECOND, opacity=1).encode(x="value:Q"))
    labels = {
        row["row"]: f"{number_text(row['value'], _DIGITS)} {interval_text(row['low'], row['high'], _DIGITS)}"
        for row in points
    }
    chart = alt.layer(*layers, data=frame)
    return with_right_labels(chart, frame, "row", order, labels).properties(height=22 * len(points))


def _near_zero(points: Sequence[Row]) -> bool:
    """Return whether an axis that reaches 0 still separates the numbers."""
    low, high = min(row["low"] for row in points), max(row["high"] for row in points)
    return bool(low <= 0 <= high or min(abs(low), abs(high)) < 2 * (high - low))
