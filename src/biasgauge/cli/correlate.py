"""`biasgauge correlate`: does an intrinsic number track an extrinsic one?"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from biasgauge import analyses
from biasgauge.cli.command import DRAW, FigureOptions, Level, Outcome, command
from biasgauge.cli.files import check_nothing
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.typed_values import typed_names

EXAMPLES = """\
POINTS is a table with a header, one row for each embedding that was measured:
comma, tab or semicolon, gzipped or not. --by makes strata of the values of some
columns; all points together are always there.

One gap often stands beside several intrinsic numbers (WEAT 6, 7 and 8). Such
points are not independent: --unit names the column that says which belong
together. --seed-column says with which random seed the task was trained; y
becomes the mean over seeds, and its reliability bounds every correlation.

Examples:
  biasgauge correlate points.csv --x WEAT --y Gap --by Metric,Method
  biasgauge correlate points.csv --x WEAT --y Gap --by Metric --unit Name
  biasgauge correlate points.csv --x WEAT --y Gap --drop 'Name=[6-9]|all'
  biasgauge correlate runs.csv --x WEAT --y Gap --seed-column seed
  biasgauge correlate points.csv --x WEAT --y Gap --method spearman --json
  biasgauge correlate points.csv --x WEAT --y Gap --by Test,Metric,Method
    --figures figures
"""


@command(examples=EXAMPLES, terms="WEAT", checks={"drop": check_nothing})
def correlate(
    points: Path,
    /,
    *,
    x: str,
    y: str,
    by: str = "",
    method: Literal["pearson", "spearman"] = "pearson",
    drop: tuple[str, ...] = (),
    duplicates: Rare[Literal["keep", "drop"]] = "keep",
    unit: str | None = None,
    seed_column: Rare[str | None] = None,
    power_of: Rare[float] = 0.5,
    interval: Rare[Literal["bca", "percentile"]] = "bca",
    level: Level = 0.95,
    resamples: Rare[int] = 2000,
    options: FigureOptions = DRAW,
) -> Outcome:
    """Correlate an intrinsic number with an extrinsic one.

    Args:
        points: a table of points: a CSV file, gzipped or not
        x: column of the intrinsic number
        y: column of the extrinsic number
        by: columns whose values make strata, separated by commas
        method: which coefficient is r: "pearson" or "spearman"; both are always computed
        drop: COLUMN=REGEX: leave out rows with a match anywhere in the cell; repeat for several
        duplicates: rows that repeat another in every cell are reported; "keep" counts them, "drop" does not
        unit: column that says which points belong together, such as the embedding
        seed_column: column with the random seed of the task model
        power_of: the true correlation whose chance to be seen is reported
        interval: kind of bootstrap interval, over points or units; Fisher's is in --json too
        resamples: bootstrap samples
    """
    strata = typed_names(by)
    result = analyses.correlate.correlate(
        points,
        x,
        y,
        strata,
        method=method,
        drop=drop,
        duplicates=duplicates,
        unit=unit,
        seed_column=seed_column,
        power_of=power_of,
        interval=interval,
        level=level,
        resamples=resamples,
        random_state=options.seed,
    )
    return Outcome(result, settings={"points": points, "x": x, "y": y, "by": strata})
