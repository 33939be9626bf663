"""Points of intrinsic and extrinsic numbers beside an audit: their columns by their usual names, correlated."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from biasgauge.analyses.correlate import CorrelationResult, Points, as_points, correlate
from biasgauge.errors import ParameterError

HOW_TO_GET = (
    "no points were given: measure several embeddings (biasgauge weat), train a task on each (biasgauge extrinsic), "
    "put one row for each into a table, and name it (biasgauge audit --points POINTS.csv)"
)
NAMES = {
    "x": ("weat", "effect size", "intrinsic", "x"),
    "y": ("gap", "performance gap", "extrinsic", "y"),
    "by": ("test", "metric", "method", "of", "a", "b", "task"),
    "unit": ("variant", "name", "embedding", "vectors", "model"),
    "seed": ("seed", "task seed"),
}
"""What columns are usually called, in lower case: the first that is there is taken, and all of `by`."""
POINTS = "points"


def track(
    points: object,
    x: str | None = None,
    y: str | None = None,
    by: Sequence[str] | None = None,
    unit: str | None = None,
    seed_column: str | None = None,
    *,
    random_state: int = 0,
) -> CorrelationResult:
    """Correlate two columns of a table as `correlate` does; columns that are not named are found by their usual names.

    Args:
        points: a file, a data frame, what `read_points` gave or anything with a `to_frame`; a result of `correlate` is
            handed back as it is.
        x: the intrinsic number; "weat" or alike by default.
        y: the extrinsic one; "gap" or alike by default.
        by: columns that make strata; by default those of test, metric, method, of, a, b and task with several values.
        unit: which points belong together; "variant", "name" or "embedding" by default, where there is one.
        seed_column: with which seed the task was trained; "seed" by default, where rows differ in nothing else.
        random_state: seed of the resampling.

    Raises:
        InputError: the file is no table, or a cell of x or y is no number; names the line.
        ParameterError: a column is missing, or cannot be told from the names.
    """
    if isinstance(points, CorrelationResult):
        return points
    table = as_points(points.to_frame() if hasattr(points, "to_frame") else points)  # type: ignore[arg-type]  # says so
    x, y = (_needed(table, column, axis) for column, axis in ((x, "x"), (y, "y")))
    if by is None:
        by = [name for name in _called(table, "by") if len(set(table.texts(name))) > 1 and name not in {x, y}]
    if unit is None:
        unit = next((name for name in _called(table, "unit") if name not in {x, y, *by}), None)
    if seed_column is None:
        seed_column = next((name for name in _called(table, "seed") if _repeats(table, name, x, y, by, unit)), None)
    found = correlate(table, x, y, by, unit=unit, seed_column=seed_column, random_state=random_state)
    named = Path(points).name if isinstance(points, (str, os.PathLike)) else POINTS
    return replace(found, settings={"points": named, **found.settings})


def _called(table: Points, role: str) -> list[str]:
    """Columns with a usual name, in the order in which the names are listed."""
    plain = {name.casefold().replace("_", " ").strip(): name for name in table.columns}
    return [plain[name] for name in NAMES[role] if name in plain]


def _needed(table: Points, given: str | None, role: str) -> str:
    if given is not None:
        table.at(given)
        return given
    found = _called(table, role)
    if not found:
        what = {"x": "intrinsic number", "y": "extrinsic number"}[role]
        raise ParameterError(
            f"{table.name} has no column called {' or '.join(NAMES[role])}: name the one of the {what} "
            f"(--points-{role}); its columns are {', '.join(table.columns)}."
        )
    return found[0]


def _repeats(table: Points, seed: str, x: str, y: str, by: Sequence[str], unit: str | None) -> bool:
    """Whether rows differ in nothing but the seed and y, so that there is something to average."""
    apart = [x, *by, unit] if unit is not None else [name for name in table.columns if name not in {y, seed}]
    return seed not in {x, y, *by, unit} and len(set(zip(*map(table.texts, apart), strict=True))) < len(table)
