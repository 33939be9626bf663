"""`biasgauge likelihood`: which of two sentences a language model prefers, for the user's own pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.pair_scores import COVERAGE, MEASURES, MODEL, SCORES, SCORES_OPTION, START, run_pairs, sources
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.cli.options import Options
    from biasgauge.cli.outcome import Outcome

EXAMPLES = """\
PAIRS is a CSV file with a header and the columns first and second, two
sentences each; where there are any: id (by which results know a pair), cluster
(pairs that are not independent, such as those of one template) and group
(pairs that get numbers of their own).

Several models are replicates: intervals then hold for other replicates too.
Sentences are never printed.

Examples:
  biasgauge likelihood FOLDER --pairs pairs.csv
  biasgauge likelihood FOLDER --pairs pairs.csv --measures cps,aul
  biasgauge likelihood seed1 seed2 seed3 --pairs pairs.csv --cluster template
  biasgauge likelihood model.gguf --pairs pairs.csv --scores scores.csv --json
"""


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Score the pairs."""
    from biasgauge.analyses.likelihood import score_pairs

    return run_pairs(score_pairs, sources(arguments), options)


app = command(
    "analyses.likelihood:score_pairs",
    name="likelihood",
    arguments="model",
    options="pairs measures cluster group start ties min_coverage level scores",
    examples=EXAMPLES,
    terms="replicate",
    changes={
        "model": replace(MODEL, default=Option().default),  # an argument: at least one
        "pairs": Option("CSV file with the columns first and second", type=Path),
        "measures": MEASURES,
        "start": START,
        "cluster": Option("column that says which pairs are not independent"),
        "group": Option("column that says which pairs get numbers of their own"),
        "ties": Option("what two equal scores count as: undefined, left out; or as published, not preferred"),
        "min_coverage": COVERAGE,
        "scores": SCORES_OPTION,
    },
    call=run,
    recorded="model pairs",
    figures=True,
    outputs=(SCORES,),
)
