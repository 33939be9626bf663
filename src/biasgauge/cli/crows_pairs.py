"""`biasgauge crows-pairs`: CrowS-Pairs by a language model, or from scores of its pairs."""

from __future__ import annotations

from pathlib import Path

from biasgauge import analyses
from biasgauge.cli.command import DRAW, FigureOptions, Level, Outcome, command
from biasgauge.cli.files import check_models
from biasgauge.cli.likelihood import SCORES, Coverage, Measures, Models, ScoresFile, Start, pair_outcome
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_names

EXAMPLES = """\
Percent of pairs in which the more stereotypical sentence is preferred; 50 is
neither. Intervals are over the writers of the pairs. A pair without a score of
both sentences, and a tie, are undefined and left out. Sentences are never
printed: pairs are known by their ids.

Measures of masked models: cps (the default), sss, aul, aula, pll; of causal
models: causal-sum, causal-mean, causal-word. --as-published computes them as
released codes do, with scores rounded to 3 decimals.

Examples:
  biasgauge crows-pairs --data crows_pairs_anonymized.csv --model FOLDER
  biasgauge crows-pairs --data crows_pairs_anonymized.csv --model model.gguf
    --measures causal-sum,causal-mean --scores scores.csv
  biasgauge crows-pairs --data crows_pairs_anonymized.csv
    --predictions scores.csv --json
"""


@command(examples=EXAMPLES, terms="replicate", checks={"model": check_models}, outputs=(SCORES,))
def crows_pairs(
    *,
    data: Path,
    model: Models = (),
    predictions: tuple[Path, ...] = (),
    measures: Measures = None,
    as_published: bool = False,
    start: Start = None,
    min_coverage: Coverage = 0.8,
    level: Level = 0.95,
    scores: ScoresFile = None,
    options: FigureOptions = DRAW,
) -> Outcome:
    """Score CrowS-Pairs with a language model or from predictions, with intervals over writers.

    Args:
        data: crows_pairs_anonymized.csv, compressed or not
        predictions: CSV file with id, sent_more_score and sent_less_score, in the place of a model
        as_published: as released codes do: their own measures, rounding, ties left in the denominator
    """
    with progress(options, "scoring sentences") as report:
        result = analyses.likelihood.crows_pairs(
            data,
            model=list(model) or None,
            predictions=list(predictions) or None,
            measures=None if measures is None else typed_names(measures),
            as_published=as_published,
            start=start,
            min_coverage=min_coverage,
            level=level,
            progress=report,
        )
    return pair_outcome(result, scores, {"data": data, "model": model, "predictions": predictions})
