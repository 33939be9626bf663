"""`biasgauge influence`: which documents of a text carry an association."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.cli.corpus_bias import TEXT, read_arguments
from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.screen import progress

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


def run(arguments: dict[str, Any], options: Options) -> Outcome:
    """Leave out each document; train again where that was asked for."""
    from biasgauge.calibration import check_influence, influence

    removals, algorithm, seeds = (arguments.pop(name) for name in ("check", "algorithm", "seeds"))
    own = {name: arguments.pop(name) for name in list(arguments) if name not in _OF_INFLUENCE}
    given = read_arguments(arguments, options)
    corpus = given.pop("corpus")
    with progress(options, "counting") as report:
        result = influence(corpus, progress=report, **given)
    also = {}
    if removals:
        with progress(options, "training") as report:
            also["check"] = check_influence(
                result, corpus, removals=removals, algorithm=algorithm, seeds=seeds, random_state=options.seed,
                progress=report, **own,
            )  # fmt: skip
    return Outcome(result, also=also)


_OPTIONS = (
    "words a b pairs test x y top window weighting min_count level check algorithm seeds documents layout tokenizer "
    "field case_fallback min_coverage"
)
_OF_INFLUENCE = {"corpus", *_OPTIONS.split()}

app = command(
    "calibration:influence",
    arguments="corpus",
    options=_OPTIONS,
    examples=EXAMPLES,
    sources=("calibration:check_influence",),
    changes={
        **TEXT,
        "check": Option("train again without so many random sets of documents; 0 for none", type=int, default=0),
        "algorithm": Option("with --check: sgns, cbow, fasttext or glove"),
        "seeds": Option("with --check: random seeds"),
    },
    call=run,
    figures=True,
    fixed="result removals out",
)
