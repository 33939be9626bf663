"""`correlate`: correlation of an intrinsic with an extrinsic number over versions of embeddings.

Goldfarb-Tarrant et al. 2021 correlate WEAT with performance gaps over embeddings that were debiased or overbiased. The
same for any table of points: stratum by stratum and pooled, with intervals, power, and the reliability of the extrinsic
number.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from biasgauge.analyses.correlate.influence import influence
from biasgauge.analyses.correlate.point_table import Points, as_points
from biasgauge.analyses.correlate.result import CorrelationGroup, CorrelationResult, level_sentences
from biasgauge.analyses.correlate.seeds import SeedReliability, seed_reliability
from biasgauge.core import Floats, FrameLike, Places, check_choice
from biasgauge.errors import ParameterError
from biasgauge.results import share_text
from biasgauge.stats import (
    FEWEST,
    BootstrapMethod,
    Coefficient,
    Kind,
    Resampling,
    bootstrap_settings,
    coefficient,
    correlation_power,
    detectable_r,
    holm,
    levels,
    why_undefined,
)

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
    resampling = bootstrap_settings(
        "correlate", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    check_choice(get_args(Kind), method=method)
    check_choice(("keep", "drop"), duplicates=duplicates)
    correlation_power(FEWEST, power_of)
    by = (by,) if isinstance(by, str) else tuple(by)
    columns = [x, y, *by, *([] if seed_column is None else [seed_column])]
    if len(set(columns)) != len(columns):
        raise ParameterError(f"Each column may be used once as x, y, by or seed. Got {', '.join(columns)}.")
    table = as_points(points)
    for column in (*columns, *([] if unit is None else [unit])):
        table.at(column)
    table, notes = _select_rows(table, drop, duplicates)
    data = _read_data(table, x, y, by, unit, seed_column, notes)
    strata_codes, keys = _code_strata(data)

    def correlate_rows(labels: dict[str, str], rows: Places) -> CorrelationGroup:
        return _correlate_rows(data, labels, rows, method, power_of, resampling)

    strata = [
        correlate_rows(dict(zip(data.labels, key, strict=True)), np.flatnonzero(strata_codes == code))
        for code, key in enumerate(keys)
    ]
    adjusted = holm([group.p for group in strata])
    strata = [replace(group, p_holm=p) for group, p in zip(strata, adjusted, strict=True)]
    pooled = correlate_rows({}, np.arange(len(data.x)))
    by_level = None
    if pooled.r is not None and len(strata) > 1:
        by_level = levels(data.x, data.y, strata_codes, data.units, resampling)
    by_unit = influence(data.x, data.y, data.unit_names, (x, y), resampling)
    readings = [] if by_level is None else level_sentences(pooled.pearson, by_level, strata)
    readings += [by_unit.reading] if by_unit is not None and by_unit.reading else []
    readings += filter(None, [_power_sentence((pooled, *strata), power_of)])
    readings += [] if pooled.reliability is None else [pooled.reliability.reading]
    dependence = _dependence_warning(data, unit)
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
        points={x: data.x, y: data.y, **{name: list(texts) for name, texts in data.labels.items()}, **data.texts},
        independent=not dependence,
        influence=by_unit,
    )


@dataclass(frozen=True)
class _PointData:
    """Points as numbers.

    Attributes:
        names: of x and y.
        x, y: of each point.
        labels: texts of the columns of strata.
        texts: those of every other column.
        runs: with a column of seeds, y by seed for each point.
        units: code of each point's unit; None where each unit has one point.
        unit_names: name of each point's unit; None where no column names units.
    """

    names: tuple[str, str]
    x: Floats
    y: Floats
    labels: dict[str, tuple[str, ...]]
    texts: dict[str, list[str]]
    runs: tuple[Mapping[str, float], ...] | None = None
    units: Places | None = None
    unit_names: Sequence[str] | None = None


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
    numbers = points.numbers(x), points.numbers(y)
    missing = np.isnan(numbers[0]) | np.isnan(numbers[1])
    if missing.any():
        lines = points.name_lines(np.flatnonzero(missing).tolist())
        notes.append(f"{missing.sum():,} points lack a number and were left out: {lines}")
        complete = np.flatnonzero(~missing).tolist()
        points, numbers = points.take(complete), (numbers[0][complete], numbers[1][complete])
    if not len(points):
        raise ParameterError(f"{points.name} has no points left with numbers in {x!r} and {y!r}.")
    runs = None
    texts = {name: points.texts(name) for name in points.columns if name and name not in {x, y, *by}}
    if seed_column is not None:
        groups = _rows_of_points(points, (x, y, *by), unit, seed_column)
        points, numbers, runs = _average_seeds(points, numbers, groups, seed_column, notes)
        for name, cells in texts.items():
            texts[name] = [", ".join(dict.fromkeys(cells[row] for row in rows)) for rows in groups]
    units = unit_names = None
    if unit is not None:
        unit_names = points.texts(unit)
        distinct, codes = np.unique(unit_names, return_inverse=True)
        units = codes if len(distinct) < len(points) else None
    labels = {name: tuple(points.texts(name)) for name in by}
    return _PointData((x, y), *numbers, labels, texts, runs, units, unit_names)


def _rows_of_points(points: Points, columns: tuple[str, ...], unit: str | None, seed_column: str) -> list[list[int]]:
    """Rows of each point: those that differ in nothing but seed and y, or, with a unit, have the same unit and x."""
    x, y, *by = columns
    keys = [x, *by, unit] if unit is not None else [name for name in points.columns if name not in {y, seed_column}]
    other_columns = [points.texts(name) for name in points.columns if name not in {y, seed_column, *keys}]
    seeds = points.texts(seed_column)
    groups = [
        rows
        for same_key in _group_rows(range(len(points)), [points.texts(name) for name in keys])
        for rows in _separate_seeds(same_key, seeds, other_columns)
    ]
    for rows in groups:
        if _has_repeated_seed(rows, seeds):
            repeated = next(row for index, row in enumerate(rows) if seeds[row] in [seeds[r] for r in rows[:index]])
            raise ParameterError(
                f"{points.name}, {points.name_lines([repeated])}: the seed {seeds[repeated]!r} occurs twice for one "
                "point; name the columns that tell points apart with by, or drop duplicates."
            )
    if all(len(rows) == 1 for rows in groups):
        raise ParameterError(
            f"No two rows of {points.name} differ only in {seed_column!r} and {y!r}: points are told apart by "
            f"{', '.join(keys)}. Name the column that says which embedding a row is of as the unit."
        )
    return groups


def _average_seeds(
    points: Points, numbers: tuple[Floats, Floats], groups: list[list[int]], seed_column: str, notes: list[str]
) -> tuple[Points, tuple[Floats, Floats], tuple[Mapping[str, float], ...]]:
    """Points with the mean of y over seeds, x and the mean of y, and y by seed for each point."""
    seeds = points.texts(seed_column)
    firsts = [rows[0] for rows in groups]
    runs = tuple(
        {seeds[row]: float(numbers[1][row]) for row in sorted(rows, key=lambda row: _numbers_first(seeds[row]))}
        for rows in groups
    )
    counts = sorted({len(run) for run in runs})
    number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    notes.append(f"{len(points):,} rows are {len(firsts):,} points: y is the mean over {number} task seeds")
    means = np.array([np.mean(list(run.values())) for run in runs])
    return points.take(firsts), (numbers[0][firsts], means), runs


def _group_rows(rows: Sequence[int], columns: Sequence[Sequence[str]]) -> list[list[int]]:
    """Rows that have the same text in every column, in order of their first."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        groups.setdefault(tuple(texts[row] for texts in columns), []).append(row)
    return list(groups.values())


def _has_repeated_seed(rows: Sequence[int], seeds: Sequence[str]) -> bool:
    return len({seeds[row] for row in rows}) < len(rows)


def _separate_seeds(rows: list[int], seeds: Sequence[str], columns: Sequence[Sequence[str]]) -> list[list[int]]:
    """Split rows of one unit and x so that each seed occurs once: two tests may give a version the same WEAT, often ±2.

    By the one column that leaves the fewest groups, by all of them where none does.
    """
    if not _has_repeated_seed(rows, seeds):
        return [rows]
    splits = [_group_rows(rows, [texts]) for texts in columns]
    clean = [groups for groups in splits if not any(_has_repeated_seed(group, seeds) for group in groups)]
    return min(clean, key=len) if clean else _group_rows(rows, columns)


def _code_strata(data: _PointData) -> tuple[Places, list[tuple[str, ...]]]:
    """Code of each point's stratum, and the labels of each stratum, in order."""
    labels = list(zip(*data.labels.values(), strict=True)) if data.labels else []
    keys = sorted(set(labels), key=lambda key: [_numbers_first(label) for label in key])
    codes = {key: code for code, key in enumerate(keys)}
    return np.array([codes[key] for key in labels], np.intp), keys


def _correlate_rows(
    data: _PointData, labels: dict[str, str], rows: Places, method: Kind, power_of: float, resampling: Resampling
) -> CorrelationGroup:
    """Correlation of some of the points."""
    x, y = data.x[rows], data.y[rows]
    units = None if data.units is None else np.unique(data.units[rows], return_inverse=True)[1]
    number = len(rows) if units is None else int(units.max()) + 1
    reason = why_undefined(x, y, data.names)
    pearson, spearman = (
        Coefficient(value=None, n=len(rows), reason=reason) if reason else coefficient(kind, x, y, units, resampling)
        for kind in get_args(Kind)
    )
    enough = number >= FEWEST
    return CorrelationGroup(
        by=labels,
        n=len(rows),
        units=number,
        pearson=pearson,
        spearman=spearman,
        method=method,
        power=correlation_power(number, power_of, alpha=ALPHA) if enough else None,
        detectable=detectable_r(number, power=POWER, alpha=ALPHA) if enough else None,
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


def _dependence_warning(data: _PointData, unit: str | None) -> str:
    """Warning when the same y occurs beside several x, and no unit says so."""
    distinct = len(set(zip(data.y.tolist(), *data.labels.values(), strict=True)))
    if unit is not None or distinct > _MOSTLY_DISTINCT * len(data.y):
        return ""
    return (
        f"{len(data.y):,} points have only {distinct:,} different values of {data.names[1]!r}: if one measurement "
        "occurs in several rows, points are not independent, intervals are too narrow and p is too small; name the "
        "column that says which belong together as the unit"
    )
