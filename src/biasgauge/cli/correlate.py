"""`biasgauge correlate`: does an intrinsic number track an extrinsic one?"""

from __future__ import annotations

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.inputs import check_nothing
from biasgauge.cli.words import typed_names

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

app = command(
    "analyses.correlate:correlate",
    arguments="points",
    options="x y by method drop duplicates unit seed_column power_of interval level resamples",
    examples=EXAMPLES,
    terms="WEAT",
    changes={
        "points": Option("a table of points: a CSV file, gzipped or not"),
        "x": Option("column of the intrinsic number", type=str, read=str),
        "y": Option("column of the extrinsic number", type=str, read=str),
        "by": Option(
            "columns whose values make strata, separated by commas",
            type=str,
            default="",
            read=typed_names,
        ),
        "drop": Option(
            "COLUMN=REGEX: leave out rows with a match anywhere in the cell; repeat for several",
            type=tuple[str, ...],
            default=(),
            check=check_nothing,
        ),
        "seed_column": Option("column with the random seed of the task model"),
        "unit": Option("column that says which points belong together, such as the embedding"),
        "interval": Option("kind of bootstrap interval, over points or units; Fisher's is in --json too"),
    },
    recorded="points x y by",
    figures=True,
)
