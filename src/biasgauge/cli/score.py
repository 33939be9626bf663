"""`biasgauge score`: a score tensor into a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge.cli.from_function import Option, Outcome, command
from biasgauge.cli.screen import progress

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
Shows each word's mean over pairs and how many pairs agree with its direction,
and writes all scores into a folder, one file per model. Run again after an
interruption, it computes only the models that are not there yet.

Examples:
  biasgauge score vectors.bin --pairs du2021 --words occ16
  biasgauge score seed1.bin seed2.bin --words full --measures nbm --k 100
  biasgauge score vectors.bin --words nurse,surgeon --pairs my_pairs.toml
  biasgauge score vectors.bin --as-published du2021 --out published
  biasgauge score vectors.bin --words full --device cuda
"""


def run(arguments: dict[str, Any], options: Options) -> Outcome:
    """Score into the folder; nothing but one model at a time is in memory."""
    from biasgauge.scores import score_to_store, word_scores

    folder = arguments.pop("out")
    with progress(options, "scoring") as report:
        store = score_to_store(folder, list(arguments.pop("vectors")), progress=report, **arguments)
    return Outcome(word_scores(store), written={"scores": folder})


app = command(
    "scores:score",
    arguments="vectors",
    options="out pairs words measures k pool as_published case_fallback device n_jobs",
    examples=EXAMPLES,
    changes={
        "vectors": Option("vector files: one model, replicates, or models to compare", type=list[Path]),
        "out": Option("folder for the scores", type=Path, default=Path("biasgauge-scores")),
        "pairs": Option(default="du2021"),
        "words": Option(
            'as in weat: a lexicon, NAME:SET, words separated by commas, a file; or "full" for all words',
            default="occ16",
        ),
        "measures": Option("measures separated by commas: dbwa, ripa, ripa_unit, nbm, nbm_du2021, nbm_zhang2020"),
    },
    call=run,
    saves=False,
)
