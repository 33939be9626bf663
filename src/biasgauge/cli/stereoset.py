"""`biasgauge stereoset`: StereoSet from scores of its sentences, or from a language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.pair_scores import MODEL, START, UNDEFINED, sources
from biasgauge.cli.screen import progress
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
lms: percent of comparisons in which a meaningful sentence beats the unrelated
one. ss: percent in which the stereotype beats the anti-stereotype; 50 is
neither. icat joins both. All are means over targets, and so are the intervals.

A sentence without a score is undefined: what it takes part in is left out and
listed by id. Sentences are never printed. Several files of predictions, or
several models, are replicates: the intervals then hold for other replicates.

Examples:
  biasgauge stereoset --data dev.json --predictions predictions_gpt2.json
  biasgauge stereoset --data dev.json.xz --predictions seed1.json seed2.json
  biasgauge stereoset --data dev.json --model FOLDER --measure causal-mean
  biasgauge stereoset --data dev.json --predictions scores.json --json
"""


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Score, and leave with 2 where nothing is defined."""
    from biasgauge.analyses.likelihood import stereoset

    with progress(options, "scoring sentences") as report:
        result = stereoset(**sources(arguments), progress=report)
    defined = result.overall.ss.defined or result.intrasentence.ss.defined or result.intersentence.ss.defined
    return Outcome(result, exit_code=0 if defined else UNDEFINED)


app = command(
    "analyses.likelihood:stereoset",
    options="data predictions model measure start ties min_coverage level",
    examples=EXAMPLES,
    terms="replicate",
    changes={
        "data": Option("StereoSet's dev.json, compressed or not"),
        "predictions": Option(
            "scores of the sentences by id, in the layout of the authors' predictions", type=tuple[Path, ...],
            default=(),
        ),
        "model": MODEL,
        "start": START,
        "measure": Option("which likelihood measure scores the sentences of a model", type=str | None, default=None),
        "min_coverage": Option("share of comparisons that must be defined for a number to be"),
        "ties": Option("what two equal scores count as: as published, not preferred; or undefined, left out"),
    },
    call=run,
    recorded="data predictions model",
    figures=True,
)  # fmt: skip
