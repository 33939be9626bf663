"""`biasgauge correlate`: does an intrinsic number track an extrinsic one?"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from cyclopts import App

from biasgauge.cli.correlate_tables import show
from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json

EPILOGUE = """\
POINTS is a table with a header, one row for each embedding that was measured:
comma, tab or semicolon, gzipped or not. --by makes strata of the values of some
columns; all points together are always there.

One gap often stands beside several intrinsic numbers (WEAT 6, 7 and 8). Such
points are not independent: --unit names the column that says which belong
together. --seed-column says with which seed the task was trained; y becomes the
mean over seeds, and its reliability bounds every correlation.

Examples:
  biasgauge correlate points.csv --x WEAT --y Gap --by Metric,Method
  biasgauge correlate points.csv --x WEAT --y Gap --by Metric --unit Name
  biasgauge correlate points.csv --x WEAT --y Gap --drop 'Name=[6-9]|all'
  biasgauge correlate runs.csv --x WEAT --y Gap --seed-column seed
  biasgauge correlate points.csv --x WEAT --y Gap --method spearman --json
  biasgauge correlate points.csv --x WEAT --y Gap --by Test,Metric,Method
    --figures figures
"""

app = App(name="correlate", help_epilogue=EPILOGUE)


@app.default
def correlate(
    points: Path,
    /,
    *,
    x: str,
    y: str,
    by: str | None = None,
    method: Literal["pearson", "spearman"] = "pearson",
    drop: tuple[str, ...] = (),
    duplicates: Literal["keep", "drop"] = "keep",
    unit: str | None = None,
    seed_column: str | None = None,
    power_of: float = 0.5,
    interval: Literal["bca", "percentile"] = "bca",
    level: float = 0.95,
    resamples: int = 2000,
    figures: Path | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Correlate two columns of a table, over all points and in every stratum.

    Args:
        points: a table of points
        x: column of the intrinsic number
        y: column of the extrinsic number
        by: columns whose values make strata, separated by commas
        method: the coefficient that is called r; both are computed
        drop: COLUMN=REGEX: leave out rows with a match anywhere in the cell; repeat for several
        duplicates: rows that repeat another in every cell: count them (keep) or not (drop); they are reported
        unit: column that says which points belong together, such as the embedding
        seed_column: column with the seed of the task model
        power_of: the true correlation whose chance to be seen is reported
        interval: kind of bootstrap interval; Fisher's is in --json too
        level: of the intervals
        resamples: bootstrap samples
        figures: a folder for figures, SVG and PNG
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute

    found = bg.correlate(
        points,
        x,
        y,
        [name.strip() for name in (by or "").split(",") if name.strip()],
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
    if figures is not None:
        bg.save_figures(bg.figures(found), figures)
    if options.json:
        content = found.to_dict()
        settings = {"points": str(points), "x": x, "y": y, "by": list(found.by), **content.pop("settings")}
        print_json(options, content, settings=settings, warnings=content.pop("warnings"))
    else:
        show(found, console(options))
