"""`biasgauge reliability`: do the scores in a store agree with themselves?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.inputs import check_stores
from biasgauge.cli.words import typed_names

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


def _opened(folder: Path) -> Any:  # noqa: ANN401 - a ScoreStore, whose room is imported when it is needed
    from biasgauge.scores import ScoreStore

    return ScoreStore.open(folder)


app = command(
    "analyses.reliability:reliability",
    arguments="scores",
    options="lists queries min_coverage level target assurance",
    examples=EXAMPLES,
    terms="replicate ICC",
    doing="agreement",
    changes={
        "scores": Option("folder of scores that biasgauge score wrote", type=Path, read=_opened, check=check_stores),
        "lists": Option(
            "word lists, separated by commas; by default the shipped ones that the scores cover", read=typed_names
        ),
        "queries": Option(
            "lexicons whose sets stand for one concept each, or NAME:SET, separated by commas", read=typed_names
        ),
        "min_coverage": Option("share of the words of a list or query that must have scores"),
        "target": Option("reliability of a word's mean score that a design should reach"),
        "assurance": Option("share of the draws of the components in which it must reach it"),
    },
    recorded="store=scores",
    figures=True,
)
