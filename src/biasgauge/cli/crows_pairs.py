"""`biasgauge crows-pairs`: CrowS-Pairs by a language model, or from scores of its pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.pair_scores import COVERAGE, MEASURES, MODEL, SCORES, SCORES_OPTION, START, run_pairs, sources
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.cli.options import Options
    from biasgauge.cli.outcome import Outcome

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


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Score the pairs."""
    from biasgauge.analyses.likelihood import crows_pairs

    return run_pairs(crows_pairs, sources(arguments), options)


app = command(
    "analyses.likelihood:crows_pairs",
    options="data model predictions measures as_published start min_coverage level scores",
    examples=EXAMPLES,
    terms="replicate",
    changes={
        "data": Option("crows_pairs_anonymized.csv, compressed or not"),
        "model": MODEL,
        "predictions": Option(
            "CSV file with id, sent_more_score and sent_less_score, in the place of a model",
            type=tuple[Path, ...],
            default=(),
        ),
        "measures": MEASURES,
        "start": START,
        "as_published": Option("as released codes do: their own measures, rounding, ties left in the denominator"),
        "min_coverage": COVERAGE,
        "scores": SCORES_OPTION,
    },
    call=run,
    recorded="data model predictions",
    figures=True,
    outputs=(SCORES,),
)
