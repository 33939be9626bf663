"""`biasgauge likelihood`: preferences of a language model between two sentences, for the user's own pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from biasgauge import analyses, io
from biasgauge.cli.command import DRAW, UNDEFINED, FigureOptions, Level, Outcome, command
from biasgauge.cli.files import Output, check_models
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_names
from biasgauge.core import JsonMapping

if TYPE_CHECKING:
    from biasgauge.analyses.likelihood import PairPreferences

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
SCORES = Output("scores", "file")
Models = Annotated[
    tuple[Path, ...], Parameter(help="a language model: a folder or a GGUF file; several for replicates")
]
Measures = Annotated[str | None, Parameter(help="likelihood measures, separated by commas")]
Start = Annotated[
    str | None,
    Parameter(help="token that a causal model reads first, such as '<|endoftext|>'; by default what parts documents"),
]
Coverage = Annotated[float, Parameter(help="share of pairs that must be defined for a number to be")]
ScoresFile = Annotated[
    Path | None,
    Parameter(help="CSV file for the scores of every pair by id: measure, model, first_score, second_score"),
]


def pair_outcome(result: PairPreferences, scores: Path | None, settings: JsonMapping) -> Outcome:
    """Write the scores of pairs where that was asked for; leave with 2 where no number is defined."""
    if scores is not None:
        io.write_text(scores, io.csv_text(result.scores_frame()))
    defined = any(row.preferred.defined for row in result.measures)
    written = {} if scores is None else {"scores": scores}
    return Outcome(result, settings=settings, written=written, exit_code=0 if defined else UNDEFINED)


@command(examples=EXAMPLES, terms="replicate", checks={"model": check_models}, outputs=(SCORES,))
def likelihood(
    model: Models,
    /,
    *,
    pairs: Path,
    measures: Measures = None,
    cluster: str | None = None,
    group: str | None = None,
    start: Start = None,
    ties: Literal["published", "undefined"] = "undefined",
    min_coverage: Coverage = 0.8,
    level: Level = 0.95,
    scores: ScoresFile = None,
    options: FigureOptions = DRAW,
) -> Outcome:
    """Find which of two sentences a language model prefers, for your own pairs.

    Args:
        pairs: CSV file with the columns first and second
        cluster: column that says which pairs are not independent
        group: column that says which pairs get numbers of their own
        ties: what two equal scores count as: undefined, left out; or as published, not preferred
    """
    with progress(options, "scoring sentences") as report:
        result = analyses.likelihood.score_pairs(
            list(model),
            pairs,
            measures=None if measures is None else typed_names(measures),
            cluster=cluster,
            group=group,
            start=start,
            ties=ties,
            min_coverage=min_coverage,
            level=level,
            progress=report,
        )
    return pair_outcome(result, scores, {"model": model, "pairs": pairs})
