"""`biasgauge score`: a score tensor into a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.cli.from_function import FORCE, Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import progress
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
Prints each word's mean over pairs with its interval and the share of pairs that
agree with its direction, for each model, and keeps all scores in a folder, one
file per model. Run again after an interruption, it computes only the models
that are not there yet.

Examples:
  biasgauge score vectors.bin --pairs du2021 --words occ16
  biasgauge score seed1.bin seed2.bin --words full --measures nbm --k 100
  biasgauge score vectors.bin --words nurse,surgeon --csv scores.csv
  biasgauge score vectors.bin --words nurse,surgeon --pairs my.toml --force
  biasgauge score vectors.bin --as-published du2021 --out published
  biasgauge score vectors.bin --words full --device cuda
"""


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Score into the folder; nothing but one model at a time is in memory."""
    from biasgauge.io import csv_text, write_text
    from biasgauge.scores import score_to_store, word_scores

    folder, csv, force = (arguments.pop(name) for name in ("out", "csv", "force"))
    with progress(options, "scoring") as report:
        vectors = list(arguments.pop("vectors"))
        store = score_to_store(folder, vectors, replace=force, progress=report, **arguments)
    result = word_scores(store)
    written = {"scores": folder}
    if csv is not None:
        write_text(csv, csv_text(result.to_frame()))
        written["table"] = csv
    return Outcome(result, written=written)


app = command(
    "scores:score",
    arguments="vectors",
    options="out csv pairs words measures k pool as_published case_fallback device n_jobs force",
    examples=EXAMPLES,
    terms="replicate DB/WA RIPA NBM",
    changes={
        "vectors": Option("vector files: one model, replicates, or models to compare", type=list[Path]),
        "out": Option(
            "folder for the scores; one that holds the same words, pairs and measures is continued",
            type=Path,
            default=Path("biasgauge-scores"),
        ),
        "csv": Option("file for the table: a row for each word, measure and model", type=Path | None, default=None),
        "force": Option(FORCE, type=bool, default=False),
        "pairs": Option(default="du2021"),
        "words": Option(
            'as in weat: a lexicon, NAME:SET, words separated by commas, a file; or "full" for all words',
            default="occ16",
        ),
        "measures": Option("measures separated by commas: dbwa, ripa, ripa_unit, nbm, nbm_du2021, nbm_zhang2020"),
    },
    call=run,
    saves=False,
    outputs=(Output("out", "continued"), Output("csv")),
)
