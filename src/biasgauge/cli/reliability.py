"""`biasgauge reliability`: do the scores in a store agree with themselves?"""

from __future__ import annotations

from pathlib import Path

from biasgauge import analyses
from biasgauge import scores as score_stores
from biasgauge.cli.command import DRAW, FigureOptions, Level, Outcome, command
from biasgauge.cli.files import check_stores
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_names

EXAMPLES = """\
SCORES is a folder that `biasgauge score` made of several replicates: models
trained alike but for the random seed or the sample of the corpus.

Test–retest: do scores hold when the model is trained again? Inter-rater: do
measures agree? Internal consistency: do the words of a query (and the pairs)
measure one thing? 1 is perfect, about 0 no better than chance. Bands: Koo & Li
2016 for ICCs (.5 moderate, .75 good, above .9 excellent), Nunnally 1978 for
alpha (.7 acceptable). Components say what scores vary with, and how many
replicates and pairs would be enough for --target, with what --assurance.

Examples:
  biasgauge score seed*.bin --words google10k --out scores
  biasgauge reliability scores
  biasgauge reliability scores --lists occ16,occ18 --queries du2021_queries
  biasgauge reliability scores --figures figures
  biasgauge reliability scores --json > reliability.json
"""


@command(examples=EXAMPLES, terms="replicate ICC", checks={"scores": check_stores})
def reliability(
    scores: Path,
    /,
    *,
    lists: str | None = None,
    queries: str | None = None,
    min_coverage: float = 0.8,
    level: Level = 0.95,
    target: Rare[float] = 0.8,
    assurance: Rare[float] = 0.8,
    options: FigureOptions = DRAW,
) -> Outcome:
    """Estimate test–retest, inter-rater and internal reliability of bias scores.

    Args:
        scores: folder of scores that biasgauge score wrote
        lists: word lists, separated by commas; by default the shipped ones that the scores cover
        queries: lexicons whose sets stand for one concept each, or NAME:SET, separated by commas
        min_coverage: share of the words of a list or query that must have scores
        target: reliability of a word's mean score that a design should reach
        assurance: share of the draws of the components in which it must reach it
    """
    store = score_stores.ScoreStore.open(scores)
    with progress(options, "agreement") as report:
        result = analyses.reliability.reliability(
            store,
            lists=None if lists is None else typed_names(lists),
            queries=None if queries is None else typed_names(queries),
            min_coverage=min_coverage,
            level=level,
            target=target,
            assurance=assurance,
            random_state=options.seed,
            progress=report,
        )
    return Outcome(result, settings={"store": scores})
