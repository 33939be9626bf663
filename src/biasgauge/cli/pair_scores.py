"""What commands that score sentences share: options, the file of scores by id, an exit code for nothing defined."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.cli.from_function import Option
from biasgauge.cli.inputs import check_models
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import progress
from biasgauge.cli.words import typed_names
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.analyses.likelihood import PairPreferences
    from biasgauge.cli.options import Options

UNDEFINED = 2
"""Exit code where no number is defined."""
SCORES = Output("scores", "file")
SCORES_OPTION = Option(
    "CSV file for the scores of every pair by id: measure, model, first_score, second_score",
    type=Path | None,
    default=None,
)
MODEL = Option(
    "a language model: a folder or a GGUF file; several for replicates",
    type=tuple[Path, ...],
    default=(),
    check=check_models,
)
MEASURES = Option("likelihood measures, separated by commas", type=str | None, default=None, read=typed_names)
START = Option("token that a causal model reads first, such as '<|endoftext|>'; by default what parts documents")
COVERAGE = Option("share of pairs that must be defined for a number to be")


def sources(arguments: JsonObject) -> JsonObject:
    """Arguments with models and predictions as lists; None where none was typed."""
    named: JsonObject = {name: list(arguments[name]) or None for name in ("predictions", "model") if name in arguments}
    return {**arguments, **named}


def run_pairs(function: Callable[..., PairPreferences], arguments: JsonObject, options: Options) -> Outcome:
    """Score pairs, and write their scores where that was asked for."""
    place = arguments.pop("scores", None)
    with progress(options, "scoring sentences") as report:
        result = function(**arguments, progress=report)
    written = {}
    if place is not None:
        from biasgauge.io import csv_text, write_text

        write_text(place, csv_text(result.scores_frame()))
        written["scores"] = place
    defined = any(row.preferred.defined for row in result.measures)
    return Outcome(result, written=written, exit_code=0 if defined else UNDEFINED)
