"""`biasgauge likelihood`: preferences of a language model between two sentences: your own pairs, and benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from biasgauge import analyses, io
from biasgauge.cli.command import DRAW, UNDEFINED, FigureOptions, Level, Outcome, command
from biasgauge.cli.files import Output, check_models
from biasgauge.cli.option_groups import Rare
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
STEREOSET_EXAMPLES = """\
lms: percent of comparisons in which a meaningful sentence beats the unrelated
one. ss: percent in which the stereotype beats the anti-stereotype; 50 is
neither. icat joins both. All are means over targets, and so are the intervals.

A sentence without a score is undefined: what it takes part in is left out and
listed by id. Sentences are never printed. Several files of predictions, or
several models, are replicates: the intervals then hold for other replicates.

Examples:
  biasgauge likelihood stereoset --data dev.json --predictions predictions_gpt2.json
  biasgauge likelihood stereoset --data dev.json.xz --predictions seed1.json seed2.json
  biasgauge likelihood stereoset --data dev.json --model FOLDER --measure causal-mean
  biasgauge likelihood stereoset --data dev.json --predictions scores.json --json
"""
CROWS_PAIRS_EXAMPLES = """\
Percent of pairs in which the more stereotypical sentence is preferred; 50 is
neither. Intervals are over the writers of the pairs. A pair without a score of
both sentences, and a tie, are undefined and left out. Sentences are never
printed: pairs are known by their ids.

Measures of masked models: cps (the default), sss, aul, aula, pll; of causal
models: causal-sum, causal-mean, causal-word. --as-published computes them as
released codes do, with scores rounded to 3 decimals.

Examples:
  biasgauge likelihood crows-pairs --data crows_pairs_anonymized.csv --model FOLDER
  biasgauge likelihood crows-pairs --data crows_pairs_anonymized.csv --model model.gguf
    --measures causal-sum,causal-mean --scores scores.csv
  biasgauge likelihood crows-pairs --data crows_pairs_anonymized.csv
    --predictions scores.csv --json
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
    start: Rare[Start] = None,
    ties: Rare[Literal["published", "undefined"]] = "undefined",
    min_coverage: Coverage = 0.8,
    level: Level = 0.95,
    scores: ScoresFile = None,
    options: FigureOptions = DRAW,
) -> Outcome:
    """Find which of two sentences a language model prefers; StereoSet and CrowS-Pairs.

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


@command(examples=STEREOSET_EXAMPLES, terms="replicate", checks={"model": check_models})
def stereoset(
    *,
    data: Path,
    predictions: tuple[Path, ...] = (),
    model: Models = (),
    measure: str | None = None,
    start: Rare[Start] = None,
    ties: Rare[Literal["published", "undefined"]] = "published",
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


@command(examples=CROWS_PAIRS_EXAMPLES, terms="replicate", checks={"model": check_models}, outputs=(SCORES,))
def crows_pairs(
    *,
    data: Path,
    model: Models = (),
    predictions: tuple[Path, ...] = (),
    measures: Measures = None,
    as_published: Rare[bool] = False,
    start: Rare[Start] = None,
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


likelihood.command(stereoset)
likelihood.command(crows_pairs)
