"""`correlate`: does an intrinsic number say anything about the application?

Goldfarb-Tarrant et al. 2021 correlate WEAT with performance gaps over embeddings that were debiased or overbiased. The
same for any table of points: stratum by stratum and pooled, with intervals, power, and how far the extrinsic number can
be trusted in the first place.
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
        points: a CSV file (comma, tab or semicolon; gzipped or not), a data frame, or what `read_points` gave.
        x: the intrinsic number.
        y: the extrinsic one.
        by: columns whose values make strata, such as test, metric, embedding and method.
        method: which coefficient is `r`: "pearson" or "spearman"; both are always computed.
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
    how = bootstrap_settings("correlate", method=interval, level=level, resamples=resamples, random_state=random_state)
    check_choice(get_args(Kind), method=method)
    check_choice(("keep", "drop"), duplicates=duplicates)
    correlation_power(FEWEST, power_of)
    by = (by,) if isinstance(by, str) else tuple(by)
    named = [x, y, *by, *([] if seed_column is None else [seed_column])]
    if len(set(named)) != len(named):
        raise ParameterError(f"Each column may be used once as x, y, by or seed. Got {', '.join(named)}.")
    table = as_points(points)
    for column in (*named, *([] if unit is None else [unit])):
        table.at(column)
    table, notes = _chosen(table, drop, duplicates)
    data = _data(table, x, y, by, unit, seed_column, notes)
    work = _Work(data, method, power_of, how)
    strata = work.strata()
    pooled = work.group({}, np.arange(len(data.x)))
    apart = None
    if pooled.r is not None and len(strata) > 1:
        apart = levels(data.x, data.y, work.codes, data.units, how)
    by_unit = influence(data.x, data.y, data.unit_names, (x, y), how)
    readings = [] if apart is None else level_sentences(pooled.pearson, apart, strata)
    readings += [by_unit.reading] if by_unit is not None and by_unit.reading else []
    readings += filter(None, [_power_sentence((pooled, *strata), power_of)])
    readings += [] if pooled.reliability is None else [pooled.reliability.reading]
    shared = _shared_y(data, unit)
    return CorrelationResult(
        x=x,
        y=y,
        by=by,
        groups=(pooled, *strata),
        levels=apart,
        power_of=power_of,
        readings=tuple(readings),
        warnings=(*notes, *filter(None, [shared])),
        settings={
            "method": method,
            "drop": list(drop),
            "duplicates": duplicates,
            "unit": unit,
            "seed_column": seed_column,
            "power_of": power_of,
            **how.to_settings(),
        },
        points={x: data.x, y: data.y, **{name: list(texts) for name, texts in data.labels.items()}, **data.others},
        independent=not shared,
        influence=by_unit,
    )


@dataclass(frozen=True)
class _Data:
    """Points as numbers; `labels` and `others` are texts by column, `runs` the values of y by point and its seeds.

    `units` is None where each unit has one point, `unit_names` where no column names units.
    """

    names: tuple[str, str]
    x: Floats
    y: Floats
    labels: dict[str, tuple[str, ...]]
    units: Places | None
    runs: tuple[Mapping[str, float], ...] | None
    others: dict[str, list[str]]
    unit_names: Sequence[str] | None


def _chosen(points: Points, drop: Sequence[str], duplicates: str) -> tuple[Points, list[str]]:
    """The rows that are not dropped, and notes about them."""
    notes = []
    for condition in drop:
        kept = points.without(condition)
        if len(kept) == len(points):
            notes.append(f"no row matches {condition!r}; nothing was dropped by it")
        points = kept
    repeated = points.repeated()
    if repeated:
        again, first = repeated[0]
        repeat = f"{points.place} {points.lines[again]} repeats {points.place} {points.lines[first]} in every cell"
        repeats = repeat if len(repeated) == 1 else f"{len(repeated):,} rows repeat another, such as {repeat}"
        counted = "counted as often as it stands there" if duplicates == "keep" else "counted once"
        notes.append(f"{repeats}: {counted}")
        if duplicates == "drop":
            gone = {place for place, _ in repeated}
            points = points.take([place for place in range(len(points)) if place not in gone])
    return points, notes


def _data(
    points: Points, x: str, y: str, by: tuple[str, ...], unit: str | None, seed_column: str | None, notes: list[str]
) -> _Data:
    numbers = points.numbers(x), points.numbers(y)
    gaps = np.isnan(numbers[0]) | np.isnan(numbers[1])
    lacking = np.flatnonzero(gaps).tolist()
    if lacking:
        notes.append(f"{len(lacking):,} points lack a number and were left out: {points.told(lacking)}")
        kept = np.flatnonzero(~gaps).tolist()
        points, numbers = points.take(kept), (numbers[0][kept], numbers[1][kept])
    if not len(points):
        raise ParameterError(f"{points.name} has no points left with numbers in {x!r} and {y!r}.")
    names, runs = (x, y), None
    others = {name: points.texts(name) for name in points.columns if name and name not in {x, y, *by}}
    if seed_column is not None:
        points, numbers, runs, places = _means_over_seeds(points, numbers, (x, y, *by), unit, seed_column, notes)
        for name, texts in others.items():
            others[name] = [", ".join(dict.fromkeys(texts[row] for row in rows)) for rows in places]
    units = unit_names = None
    if unit is not None:
        unit_names = points.texts(unit)
        names_of, codes = np.unique(unit_names, return_inverse=True)
        units = codes if len(names_of) < len(points) else None
    labels = {name: tuple(points.texts(name)) for name in by}
    return _Data(names, *numbers, labels, units, runs, others, unit_names)


def _means_over_seeds(
    points: Points,
    numbers: tuple[Floats, Floats],
    columns: tuple[str, ...],
    unit: str | None,
    seed_column: str,
    notes: list[str],
) -> tuple[Points, tuple[Floats, Floats], tuple[Mapping[str, float], ...], list[list[int]]]:
    """Points that differ in nothing but seed and y as one, with the mean of y; then the rows of each."""
    x, y, *by = columns
    apart = [x, *by, unit] if unit is not None else [name for name in points.columns if name not in {y, seed_column}]
    rest = [points.texts(name) for name in points.columns if name not in {y, seed_column, *apart}]
    seeds = points.texts(seed_column)
    places = [
        piece
        for several in _split(range(len(points)), [points.texts(name) for name in apart])
        for piece in _one_each(several, seeds, rest)
    ]
    for several in places:
        if _twice(several, seeds):
            own = [seeds[place] for place in several]
            again = next(place for at, place in enumerate(several) if seeds[place] in own[:at])
            raise ParameterError(
                f"{points.name}, {points.told([again])}: the seed {seeds[again]!r} stands there twice for one point; "
                "name the columns that tell points apart with by, or drop duplicates."
            )
    if all(len(several) == 1 for several in places):
        raise ParameterError(
            f"No two rows of {points.name} differ only in {seed_column!r} and {y!r}: points are told apart by "
            f"{', '.join(apart)}. Name the column that says which embedding a row is of as the unit."
        )
    firsts = [several[0] for several in places]
    runs = tuple(
        {seeds[place]: float(numbers[1][place]) for place in sorted(several, key=lambda at: _numbers_first(seeds[at]))}
        for several in places
    )
    counts = sorted({len(run) for run in runs})
    told = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    notes.append(f"{len(points):,} rows are {len(firsts):,} points: y is the mean over {told} task seeds")
    means = np.array([np.mean(list(run.values())) for run in runs])
    return points.take(firsts), (numbers[0][firsts], means), runs, places


def _split(rows: Sequence[int], columns: Sequence[Sequence[str]]) -> list[list[int]]:
    """Rows that have the same text in every column, in order of their first."""
    pieces: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        pieces.setdefault(tuple(texts[row] for texts in columns), []).append(row)
    return list(pieces.values())


def _twice(rows: Sequence[int], seeds: Sequence[str]) -> bool:
    return len({seeds[row] for row in rows}) < len(rows)


def _one_each(rows: list[int], seeds: Sequence[str], rest: Sequence[Sequence[str]]) -> list[list[int]]:
    """Rows of one unit and x, each seed once: two tests may give a version the same WEAT (often ±2).

    Told apart by the one column that leaves the fewest pieces, by all of them where none does.
    """
    if not _twice(rows, seeds):
        return [rows]
    ways = [_split(rows, [texts]) for texts in rest]
    clean = [pieces for pieces in ways if not any(_twice(piece, seeds) for piece in pieces)]
    return min(clean, key=len) if clean else _split(rows, rest)


class _Work:
    """Correlations of some of the points."""

    def __init__(self, data: _Data, method: Kind, power_of: float, how: Resampling) -> None:
        self.data, self.method, self.power_of, self.how = data, method, power_of, how
        keys = list(zip(*data.labels.values(), strict=True)) if data.labels else []
        self.keys = sorted(set(keys), key=lambda key: [_numbers_first(label) for label in key])
        codes = {key: place for place, key in enumerate(self.keys)}
        self.codes = np.array([codes[key] for key in keys], np.intp)

    def strata(self) -> list[CorrelationGroup]:
        """Each stratum, with p corrected for their number."""
        groups = [
            self.group(dict(zip(self.data.labels, key, strict=True)), np.flatnonzero(self.codes == place))
            for place, key in enumerate(self.keys)
        ]
        corrected = holm([group.p for group in groups])
        return [replace(group, p_holm=p) for group, p in zip(groups, corrected, strict=True)]

    def group(self, by: dict[str, str], places: Places) -> CorrelationGroup:
        x, y = self.data.x[places], self.data.y[places]
        units = None
        if self.data.units is not None:
            _, units = np.unique(self.data.units[places], return_inverse=True)
        number = len(places) if units is None else int(units.max()) + 1
        reason = why_undefined(x, y, self.data.names)
        both = [
            Coefficient(value=None, n=len(places), reason=reason)
            if reason
            else coefficient(kind, x, y, units, self.how)
            for kind in ("pearson", "spearman")
        ]
        enough = number >= FEWEST
        return CorrelationGroup(
            by=by,
            n=len(places),
            units=number,
            pearson=both[0],
            spearman=both[1],
            method=self.method,
            power=correlation_power(number, self.power_of, alpha=ALPHA) if enough else None,
            detectable=detectable_r(number, power=POWER, alpha=ALPHA) if enough else None,
            reliability=self._reliability(places),
            reason=reason,
        )

    def _reliability(self, places: Places) -> SeedReliability | None:
        """Of y over seeds; values of a unit that stand beside several x are one measurement, and count once."""
        runs, units = self.data.runs, self.data.units
        if runs is None:
            return None
        own = [runs[place] for place in places]
        if units is not None:
            once = {(int(units[place]), *runs[place].items()): runs[place] for place in places}
            own = list(once.values())
        values, seeds = [list(run.values()) for run in own], [list(run) for run in own]
        return seed_reliability(values, self.data.names[1], seeds=seeds, level=self.how.level)


def _numbers_first(text: str) -> tuple[int, float, str]:
    """Order of labels: numbers by size, then text."""
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)


def _power_sentence(groups: Sequence[CorrelationGroup], power_of: float) -> str:
    """How often a correlation would be seen with all points, and in the smallest stratum."""
    known = [group for group in groups if group.power is not None and group.detectable is not None]
    if not known:
        return ""
    most, least = known[0], min(known, key=lambda group: group.units)
    what = "points" if all(group.units == group.n for group in groups) else "units"
    seen = there = ""
    if least.units < most.units:
        seen, there = f"; with the {least.units} of the smallest stratum, {share_text(least.power)}", " there"
    return (
        f"With {most.units} {what} a true r of {power_of:g} would be seen (p ≤ {ALPHA:g}) {share_text(most.power)} of "
        f"the time{seen}. To be seen {share_text(POWER)} of the time, a true r must "
        f"be {least.detectable:.2f} or more{there}."
    )


def _shared_y(data: _Data, unit: str | None) -> str:
    """A note when the same y stands beside several x, and no unit says so."""
    distinct = len(set(zip(data.y.tolist(), *data.labels.values(), strict=True)))
    if unit is not None or distinct > _MOSTLY_DISTINCT * len(data.y):
        return ""
    return (
        f"{len(data.y):,} points have only {distinct:,} different values of {data.names[1]!r}: if one measurement "
        "stands in several rows, points are not independent, intervals are too narrow and p is too small; name the "
        "column that says which belong together as the unit"
    )
