"""`biasgauge influence`: which documents of a text carry an association."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING

from biasgauge.cli.corpus_bias import READING, TEXT, read_arguments
from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.screen import progress
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
Takes each document out of the counts, exactly, and says how much the log odds
ratio changes without it. Documents are named by their numbers; no text is
shown. --check trains models without sets of documents and correlates the change
of the vectors with the change that the counts predict.

Examples:
  biasgauge influence text.txt --words nurse --a he --b she
  biasgauge influence wiki.txt.xz --documents blank-line --test weat7 --top 20
  biasgauge influence models/corpus --words nurse --pairs du2021 --check 12
    --set dim=50 --set epochs=3
"""


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Leave out each document; train again where that was asked for."""
    from biasgauge.analyses.calibrate import check_influence, influence

    removals = arguments.pop("check")
    counting = {*READING, *signature(influence).parameters}
    own = {name: arguments.pop(name) for name in list(arguments) if name not in counting}
    given = read_arguments(arguments, options)
    corpus = given.pop("corpus")
    with progress(options, "counting") as report:
        result = influence(corpus, progress=report, **given)
    also = {}
    if removals:
        with progress(options, "training") as report:
            also["check"] = check_influence(
                result, corpus, removals=removals, random_state=options.seed, progress=report, **own
            )
    return Outcome(result, also=also)


app = command(
    "analyses.calibrate:influence",
    arguments="corpus",
    options="words a b pairs test x y top window weighting check documents layout tokenizer field",
    examples=EXAMPLES,
    sources=("analyses.calibrate:check_influence",),
    changes={
        **TEXT,
        "check": Option("train again without so many random sets of documents; 0 for none", type=int, default=0),
    },
    call=run,
    figures=True,
    fixed="result removals out",
)
