"""`correlate`: correlation of an intrinsic with an extrinsic number over versions of embeddings.

Goldfarb-Tarrant et al. 2021 correlate WEAT with performance gaps over embeddings that were debiased or overbiased. The
same for any table of points: stratum by stratum and pooled, with intervals, power, and the reliability of the extrinsic
number.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from biasgauge import stats
from biasgauge.analyses.correlate.influence import SeedReliability, influence, seed_reliability
from biasgauge.analyses.correlate.point_table import Points, as_points
from biasgauge.analyses.correlate.result import CorrelationGroup, CorrelationResult, level_sentences
from biasgauge.core import Floats, FrameLike, Places, check_choice
from biasgauge.errors import ParameterError
from biasgauge.results import share_text
from biasgauge.stats import FEWEST, BootstrapMethod, Coefficient, Kind, Resampling

if TYPE_CHECKING:
    import pandas as pd

POWER = 0.8
ALPHA = 0.05
_MOSTLY_DISTINCT = 0.6
"""Share of distinct values of y below which it seems that rows share measurements."""


def correlate(  # noqa: PLR0913 - a study has so many settings
    points: Points | FrameLike | str | os.PathLike[str],
    x: str,
    y: str,
    by: Sequence[str] = (),
    *,
    method: Kind = "pearson",
    drop: Sequence[str] = (),
    duplicates: Literal["keep", "drop"] = "keep",
    unit: str | None = None,
    seed_column: str | None = None,
    power_of: float = 0.5,
    interval: BootstrapMethod = "bca",
    level: float = 0.95,
    resamples: int = 2_000,
    random_state: int = 0,
) -> CorrelationResult:
    """Correlate two columns of a table, over all points and in every stratum.

    A correlation is undefined, with a reason, for fewer than 3 points and where a column does not vary. Points that
    lack a number are left out and counted.

    Args:
        points: a CSV file (comma, tab or semicolon; gzipped or not), a data frame, or the result of `read_points`.
        x: the intrinsic number.
        y: the extrinsic one.
        by: columns whose values make strata, such as test, metric, embedding and method.
        method: the coefficient `r`: "pearson" or "spearman"; both are always computed.
        drop: rows to leave out, each as COLUMN=REGEX, found anywhere in the cell.
        duplicates: rows that repeat another in every cell are reported; "keep" counts them, "drop" does not.
        unit: the column that says which points belong together, such as the embedding: one gap stands beside several
            WEATs. Whole units are then drawn again for intervals, and y is shuffled over units for p.
        seed_column: the column that says with which seed the task was trained. Points that differ in nothing but seed
            and y (or, with `unit`, that have the same unit, strata and x, and other columns only where a seed would
            else stand there twice) become one, with the mean of y, and its reliability is reported: each unit's seeds
            count once, however many x stand beside them.
        power_of: the true correlation whose chance to be seen is reported.
        interval: "bca" or "percentile", over points or units.
        level: nominal coverage of intervals.
        resamples: bootstrap samples.
        random_state: seed of the resampling.

    Raises:
        InputError: the file is no table, or a cell of x or y is no number; names the line.
        ParameterError: a column is missing or named twice, or a parameter cannot be used.
    """
    resampling = stats.bootstrap_settings(
        "correlate", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    check_choice(get_args(Kind), method=method)
    check_choice(("keep", "drop"), duplicates=duplicates)
    stats.correlation_power(FEWEST, power_of)
    by = (by,) if isinstance(by, str) else tuple(by)
    columns = [x, y, *by, *([] if seed_column is None else [seed_column])]
    if len(set(columns)) != len(columns):
        raise ParameterError(f"Each column may be used once as x, y, by or seed. Got {', '.join(columns)}.")
    table = as_points(points)
    for column in (*columns, *([] if unit is None else [unit])):
        table.at(column)
    table, notes = _select_rows(table, drop, duplicates)
    data = _read_data(table, x, y, by, unit, seed_column, notes)
    labels = [tuple(row) for row in data.frame[list(by)].itertuples(index=False)] if by else []
    keys = sorted(set(labels), key=lambda key: [_numbers_first(label) for label in key])
    codes = np.array([keys.index(key) for key in labels], np.intp)

    def correlate_rows(values: tuple[str, ...], rows: Places) -> CorrelationGroup:
        return _correlate_rows(data, dict(zip(by, values, strict=False)), rows, method, power_of, resampling)

    strata = [correlate_rows(key, np.flatnonzero(codes == code)) for code, key in enumerate(keys)]
    adjusted = stats.holm([group.p for group in strata])
    strata = [replace(group, p_holm=p) for group, p in zip(strata, adjusted, strict=True)]
    pooled = correlate_rows((), np.arange(len(data.x)))
    by_level = None
    if pooled.r is not None and len(strata) > 1:
        by_level = stats.levels(data.x, data.y, codes, data.units, resampling)
    unit_names = None if unit is None else data.frame[unit].tolist()
    by_unit = influence(data.x, data.y, unit_names, (x, y), resampling)
    readings = [] if by_level is None else level_sentences(pooled.pearson, by_level, strata)
    readings += [by_unit.reading] if by_unit is not None and by_unit.reading else []
    readings += filter(None, [_power_sentence((pooled, *strata), power_of)])
    readings += [] if pooled.reliability is None else [pooled.reliability.reading]
    dependence = _dependence_warning(data, by, unit)
    return CorrelationResult(
        x=x,
        y=y,
        by=by,
        groups=(pooled, *strata),
        levels=by_level,
        power_of=power_of,
        readings=tuple(readings),
        warnings=(*notes, *filter(None, [dependence])),
        settings={
            "method": method,
            "drop": list(drop),
            "duplicates": duplicates,
            "unit": unit,
            "seed_column": seed_column,
            "power_of": power_of,
            **resampling.to_settings(),
        },
        points={
            x: data.x,
            y: data.y,
            **{str(name): texts.tolist() for name, texts in data.frame.drop(columns=[x, y]).items()},
        },
        independent=not dependence,
        influence=by_unit,
    )


@dataclass(frozen=True)
class _PointData:
    """Points as numbers.

    Attributes:
        names: of x and y.
        x, y: of each point.
        frame: texts of all columns, those of strata first after x and y.
        runs: with a column of seeds, y by seed for each point.
        units: code of each point's unit; None where each unit has one point.
    """

    names: tuple[str, str]
    x: Floats
    y: Floats
    frame: pd.DataFrame
    runs: tuple[Mapping[str, float], ...] | None
    units: Places | None


def _select_rows(points: Points, drop: Sequence[str], duplicates: str) -> tuple[Points, list[str]]:
    """Rows that are not dropped, and notes about them."""
    notes = []
    for condition in drop:
        remaining = points.without(condition)
        if len(remaining) == len(points):
            notes.append(f"no row matches {condition!r}; nothing was dropped by it")
        points = remaining
    repeated = points.repeated()
    if repeated:
        again, first = (f"{points.line_word} {points.lines[row]}" for row in repeated[0])
        repeat = f"{again} repeats {first} in every cell"
        repeats = repeat if len(repeated) == 1 else f"{len(repeated):,} rows repeat another, such as {repeat}"
        counted = "counted as often as it occurs" if duplicates == "keep" else "counted once"
        notes.append(f"{repeats}: {counted}")
        if duplicates == "drop":
            dropped = {row for row, _ in repeated}
            points = points.take([row for row in range(len(points)) if row not in dropped])
    return points, notes


def _read_data(
    points: Points, x: str, y: str, by: tuple[str, ...], unit: str | None, seed_column: str | None, notes: list[str]
) -> _PointData:
    import pandas as pd

    numbers = points.numbers(x), points.numbers(y)
    complete = ~(np.isnan(numbers[0]) | np.isnan(numbers[1]))
    if not complete.all():
        lines = points.name_lines(np.flatnonzero(~complete).tolist())
        notes.append(f"{(~complete).sum():,} points lack a number and were left out: {lines}")
        points = points.take(np.flatnonzero(complete).tolist())
    if not len(points):
        raise ParameterError(f"{points.name} has no points left with numbers in {x!r} and {y!r}.")
    x_values, y_values = (column[complete] for column in numbers)
    columns = dict.fromkeys((x, y, *by, *filter(None, points.columns)))
    frame, runs, units = pd.DataFrame({name: points.texts(name) for name in columns}), None, None
    if seed_column is not None:
        groups = _rows_of_points(frame, points, (x, y, *by), unit, seed_column)
        seeds = frame[seed_column]
        runs = tuple(
            {seeds[row]: float(y_values[row]) for row in sorted(rows, key=lambda row: _numbers_first(seeds[row]))}
            for rows in groups
        )
        counts = sorted({len(run) for run in runs})
        number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        notes.append(f"{len(frame):,} rows are {len(groups):,} points: y is the mean over {number} task seeds")
        x_values = x_values[[rows[0] for rows in groups]]
        y_values = np.array([np.mean(list(run.values())) for run in runs])
        columns_of_points = {
            name: [", ".join(dict.fromkeys(texts[rows])) for rows in groups] for name, texts in frame.items()
        }
        frame = pd.DataFrame(columns_of_points)
    if unit is not None:
        distinct, codes = np.unique(frame[unit].to_numpy(str), return_inverse=True)
        units = codes if len(distinct) < len(frame) else None
    return _PointData((x, y), x_values, y_values, frame, runs, units)


def _rows_of_points(
    frame: pd.DataFrame, points: Points, columns: tuple[str, ...], unit: str | None, seed_column: str
) -> list[list[int]]:
    """Rows of each point: those that differ in nothing but seed and y, or, with a unit, have the same unit and x."""
    names = list(map(str, frame.columns))
    x, y, *by = columns
    keys = [x, *by, unit] if unit is not None else [name for name in names if name not in {y, seed_column}]
    other_columns = [name for name in names if name not in {y, seed_column, *keys}]
    parts = [
        rows
        for _, same_key in frame.groupby(keys, sort=False)
        for rows in _separate_seeds(same_key, seed_column, other_columns)
    ]
    for rows in parts:
        repeated = rows.index[rows[seed_column].duplicated()]
        if len(repeated):
            raise ParameterError(
                f"{points.name}, {points.name_lines([int(repeated[0])])}: the seed {rows[seed_column][repeated[0]]!r} "
                "occurs twice for one point; name the columns that tell points apart with by, or drop duplicates."
            )
    if all(len(rows) == 1 for rows in parts):
        raise ParameterError(
            f"No two rows of {points.name} differ only in {seed_column!r} and {y!r}: points are told apart by "
            f"{', '.join(keys)}. Name the column that says which embedding a row is of as the unit."
        )
    return [rows.index.tolist() for rows in parts]


def _separate_seeds(rows: pd.DataFrame, seed_column: str, columns: Sequence[str]) -> list[pd.DataFrame]:
    """Split rows of one unit and x so that each seed occurs once: two tests may give a version the same WEAT, often ±2.

    By the one column that leaves the fewest groups, by all of them where none does.
    """
    if not columns or not rows[seed_column].duplicated().any():
        return [rows]
    splits = ([part for _, part in rows.groupby(column, sort=False)] for column in columns)
    clean = [parts for parts in splits if not any(part[seed_column].duplicated().any() for part in parts)]
    return min(clean, key=len) if clean else [part for _, part in rows.groupby(list(columns), sort=False)]


def _correlate_rows(
    data: _PointData, labels: dict[str, str], rows: Places, method: Kind, power_of: float, resampling: Resampling
) -> CorrelationGroup:
    """Correlation of some of the points."""
    x, y = data.x[rows], data.y[rows]
    units = None if data.units is None else np.unique(data.units[rows], return_inverse=True)[1]
    number = len(rows) if units is None else int(units.max()) + 1
    reason = stats.why_undefined(x, y, data.names)
    undefined = Coefficient(value=None, n=len(rows), reason=reason)
    pearson, spearman = (
        undefined if reason else stats.coefficient(kind, x, y, units, resampling) for kind in get_args(Kind)
    )
    enough = number >= FEWEST
    return CorrelationGroup(
        by=labels,
        n=len(rows),
        units=number,
        pearson=pearson,
        spearman=spearman,
        method=method,
        power=stats.correlation_power(number, power_of, alpha=ALPHA) if enough else None,
        detectable=stats.detectable_r(number, power=POWER, alpha=ALPHA) if enough else None,
        reliability=_seed_reliability(data, rows, resampling.level),
        reason=reason,
    )


def _seed_reliability(data: _PointData, rows: Places, level: float) -> SeedReliability | None:
    """Reliability of y over seeds; values of a unit beside several x are one measurement, and count once."""
    if data.runs is None:
        return None
    runs = [data.runs[row] for row in rows]
    if data.units is not None:
        runs = list({(int(data.units[row]), *data.runs[row].items()): data.runs[row] for row in rows}.values())
    values, seeds = [list(run.values()) for run in runs], [list(run) for run in runs]
    return seed_reliability(values, data.names[1], seeds=seeds, level=level)


def _numbers_first(text: str) -> tuple[int, float, str]:
    """Sort key of labels: numbers by size, then text."""
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)


def _power_sentence(groups: Sequence[CorrelationGroup], power_of: float) -> str:
    """Power with all points, and in the smallest stratum."""
    defined = [group for group in groups if group.power is not None and group.detectable is not None]
    if not defined:
        return ""
    largest, smallest = defined[0], min(defined, key=lambda group: group.units)
    noun = "points" if all(group.units == group.n for group in groups) else "units"
    in_stratum = place_phrase = ""
    if smallest.units < largest.units:
        in_stratum = f"; with the {smallest.units} of the smallest stratum, {share_text(smallest.power)}"
        place_phrase = " there"
    return (
        f"With {largest.units} {noun} a true r of {power_of:g} would be detected (p ≤ {ALPHA:g}) "
        f"{share_text(largest.power)} of the time{in_stratum}. To be detected {share_text(POWER)} of the time, a true "
        f"r must be {smallest.detectable:.2f} or more{place_phrase}."
    )


def _dependence_warning(data: _PointData, by: Sequence[str], unit: str | None) -> str:
    """Warning when the same y occurs beside several x, and no unit says so."""
    distinct = len(set(zip(data.y.tolist(), *(data.frame[name] for name in by), strict=True)))
    if unit is not None or distinct > _MOSTLY_DISTINCT * len(data.y):
        return ""
    return (
        f"{len(data.y):,} points have only {distinct:,} different values of {data.names[1]!r}: if one measurement "
        "occurs in several rows, points are not independent, intervals are too narrow and p is too small; name the "
        "column that says which belong together as the unit"
    )
