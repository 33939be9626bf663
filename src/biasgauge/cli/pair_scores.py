"""What commands that score pairs of sentences share: the file of scores by id, and an exit code for nothing defined."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge.cli.from_function import Option
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import progress

if TYPE_CHECKING:
    from biasgauge.cli.options import Options
    from biasgauge.likelihood import PairPreferences

UNDEFINED = 2
"""Exit code where no number is defined."""
SCORES = Output("scores", "file")
SCORES_OPTION = Option(
    "CSV file for the scores of every pair by id: measure, model, first_score, second_score",
    type=Path | None,
    default=None,
)


def run_pairs(function: Callable[..., PairPreferences], arguments: dict[str, Any], options: Options) -> Outcome:
    """Score pairs, and write their scores where that was asked for."""
    place = arguments.pop("scores", None)
    with progress(options, "scoring sentences") as report:
        result = function(**arguments, progress=report)
    written = {}
    if place is not None:
        from biasgauge._io.atomic import write_text
        from biasgauge.presentation.tables import csv_text

        write_text(place, csv_text(result.scores_frame()))
        written["scores"] = place
    defined = any(row.preferred.defined for row in result.measures)
    return Outcome(result, written=written, exit_code=0 if defined else UNDEFINED)
