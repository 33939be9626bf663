"""`biasgauge score`: a score tensor into a store."""

from __future__ import annotations

from pathlib import Path

from biasgauge import core, io, scores
from biasgauge.cli.command import WRITE, CaseFallback, Jobs, Outcome, WriteOptions, command
from biasgauge.cli.files import Output
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_names, typed_words

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


@command(examples=EXAMPLES, terms="replicate DB/WA RIPA NBM", outputs=(Output("out", "continued"), Output("csv")))
def score(
    vectors: list[Path],
    /,
    *,
    out: Path = Path("biasgauge-scores"),
    csv: Path | None = None,
    pairs: str = "du2021",
    words: str = "occ16",
    measures: str = "dbwa,ripa,nbm",
    k: Rare[int] = 100,
    pool: Rare[str | None] = None,
    as_published: Rare[str | None] = None,
    case_fallback: CaseFallback = False,
    device: Rare[str] = "cpu",
    n_jobs: Jobs = None,
    options: WriteOptions = WRITE,
) -> Outcome:
    """Score words against base pairs: mean, interval, and how many pairs agree.

    Args:
        vectors: vector files: one model, replicates, or models to compare
        out: folder for the scores; one that holds the same words, pairs and measures is continued
        csv: file for the table: a row for each word, measure and model
        pairs: a lexicon of pairs, or your own TOML file
        words: as in weat: a lexicon, NAME:SET, words separated by commas, a file; or "full" for all words
        measures: measures separated by commas: dbwa, ripa, ripa_unit, nbm, nbm_du2021, nbm_zhang2020, and those that
            installed packages add
        k: how many neighbors vote in a neighborhood measure
        pool: which words may be neighbors, more than k: a lexicon or words; the whole vocabulary when none
        as_published: "du2021" or "zhang2020": the measures as those papers' code computed them
        device: "cpu", or "cuda" for a GPU through PyTorch; the same scores within single precision
    """
    with progress(options, "scoring") as report:
        store = scores.score_to_store(
            out,
            list(vectors),
            replace=options.force,
            pairs=pairs,
            words=typed_words(words),
            measures=typed_names(measures) if "," in measures else measures,
            k=k,
            pool=typed_words(pool),
            as_published=as_published,
            policy=core.WordPolicy(case="fallback" if case_fallback else "exact"),
            device=device,
            n_jobs=n_jobs,
            progress=report,
        )
    result = scores.word_scores(store)
    written = {"scores": out}
    if csv is not None:
        io.write_text(csv, io.csv_text(result.to_frame()))
        written["table"] = csv
    return Outcome(result, written=written)
