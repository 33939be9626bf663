"""`biasgauge stereoset`: StereoSet from scores of its sentences, or from a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from biasgauge import analyses
from biasgauge.cli.command import DRAW, UNDEFINED, FigureOptions, Level, Outcome, command
from biasgauge.cli.files import check_models
from biasgauge.cli.likelihood import Models, Start
from biasgauge.cli.screen import progress

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


@command(examples=EXAMPLES, terms="replicate", checks={"model": check_models})
def stereoset(
    *,
    data: Path,
    predictions: tuple[Path, ...] = (),
    model: Models = (),
    measure: str | None = None,
    start: Start = None,
    ties: Literal["published", "undefined"] = "published",
    min_coverage: float = 0.8,
    level: Level = 0.95,
    options: FigureOptions = DRAW,
) -> Outcome:
    """Score StereoSet from predictions or a language model, with intervals over targets.

    Args:
        data: StereoSet's dev.json, compressed or not
        predictions: scores of the sentences by id, in the layout of the authors' predictions
        measure: which likelihood measure scores the sentences of a model
        ties: what two equal scores count as: as published, not preferred; or undefined, left out
        min_coverage: share of comparisons that must be defined for a number to be
    """
    with progress(options, "scoring sentences") as report:
        result = analyses.likelihood.stereoset(
            data,
            list(predictions) or None,
            model=list(model) or None,
            measure=measure,
            start=start,
            min_coverage=min_coverage,
            ties=ties,
            level=level,
            progress=report,
        )
    defined = result.overall.ss.defined or result.intrasentence.ss.defined or result.intersentence.ss.defined
    settings = {"data": data, "predictions": predictions, "model": model}
    return Outcome(result, settings=settings, exit_code=0 if defined else UNDEFINED)
