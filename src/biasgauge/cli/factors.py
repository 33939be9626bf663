"""`biasgauge factors`: properties of words, algorithms and corpora that go with reliable scores."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from biasgauge import io, scores
from biasgauge.analyses import reliability
from biasgauge.cli.command import WRITE, Jobs, Outcome, WriteOptions, command
from biasgauge.cli.files import Output, check_named, check_stores
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.errors import ParameterError

EXAMPLES = """\
Each store holds the scores of replicates of one algorithm on one corpus, and is
named ALGORITHM:CORPUS=FOLDER. Features of words are taken from the models that
were scored, from WordNet and from the Brown corpus; how often a word occurs,
from the models if they hold counts, or from --counts, a file with a word and
its count on each line.

Examples:
  biasgauge factors sgns:wiki=s1 glove:wiki=s2 sgns:news=s3 glove:news=s4
  biasgauge factors sgns:wiki=s1 glove:wiki=s2 --counts wiki=vocab.txt
  biasgauge factors sgns:wiki=s1 sgns:news=s2 --outcome inter-rater --json
  biasgauge factors sgns:wiki=s1 sgns:news=s2 --interactions measure:log_frequency
"""


def check_sources(typed: Iterable[str]) -> None:
    """Refuse stores that are not named as such, or missing."""
    check_stores(folder for _, _, folder in map(_split_store, typed))


@command(
    examples=EXAMPLES,
    terms="replicate",
    settings={"draws": int},
    checks={"sources": check_sources, "counts": check_named},
    outputs=(Output("out"),),
)
def factors(
    sources: list[str],
    /,
    *,
    outcome: Literal["test-retest", "inter-rater"] = "test-retest",
    counts: tuple[str, ...] = (),
    models_in: Rare[Path | None] = None,
    standardize: Rare[bool] = False,
    level: Rare[float] = 0.95,
    refits: Rare[int] = 200,
    interactions: tuple[str, ...] = (),
    out: Path | None = None,
    n_jobs: Jobs = None,
    options: WriteOptions = WRITE,
    **further: Any,
) -> Outcome:
    """Regress the reliability of words on properties of words, algorithms and corpora.

    Args:
        sources: scores of replicates, each as ALGORITHM:CORPUS=FOLDER
        outcome: what is explained: agreement over replicates, or over measures
        counts: CORPUS=FILE with a word and its count on each line; repeat for several
        models_in: folder with the models, if they are no longer where they were scored
        standardize: for "inter_rater", bring measures to one standard deviation first; as published, they are not
        level: of the intervals
        refits: draws on which models are fitted again, for the intervals of the R² drops
        interactions: two factors whose product is added, such as measure:log_frequency, or all; repeat for several
        out: a CSV file for the rows of the regression
    """
    stores = [_split_store(text) for text in sources]
    files = dict(_split_counts(text) for text in counts)
    if unknown := sorted(files.keys() - {corpus for _, corpus, _ in stores}):
        raise ParameterError(f"--counts names the corpus {unknown[0]!r}, but no store is of it.")
    words = {corpus: reliability.read_counts(path) for corpus, path in files.items()}
    scored = []
    for algorithm, corpus, folder in stores:
        store = scores.ScoreStore.open(folder)
        frequencies = words.get(corpus) or reliability.stored_counts(store, models_in)
        scored.append(reliability.FactorSource(algorithm, corpus, store, models_in=models_in, counts=frequencies))
    explained: Literal["test_retest", "inter_rater"] = "test_retest" if outcome == "test-retest" else "inter_rater"
    with progress(options, "finding features") as report:
        table = reliability.factor_table(
            scored, outcome=explained, standardize=standardize, n_jobs=n_jobs, progress=report
        )
    result = reliability.factors(
        table,
        outcome=explained,
        standardize=standardize,
        level=level,
        refits=refits,
        interactions="all" if interactions == ("all",) else interactions,
        random_state=options.seed,
        **further,
    )
    if out is not None:
        io.write_text(out, io.csv_text(table))
    names = [f"{algorithm}:{corpus}={folder}" for algorithm, corpus, folder in stores]
    return Outcome(result, settings={"sources": names}, written={} if out is None else {"rows": out})


def _split_store(typed: str) -> tuple[str, str, Path]:
    """Algorithm, corpus and folder of a store."""
    names, equals, folder = typed.partition("=")
    algorithm, colon, corpus = names.partition(":")
    if not (equals and colon and algorithm and corpus and folder):
        raise ParameterError(f"A store must be named ALGORITHM:CORPUS=FOLDER, such as sgns:wiki=scores. Got {typed!r}.")
    return algorithm, corpus, Path(folder)


def _split_counts(typed: str) -> tuple[str, Path]:
    """Corpus and file of its counts."""
    corpus, equals, path = typed.partition("=")
    if not (equals and corpus and path):
        raise ParameterError(f"--counts takes CORPUS=FILE, such as wiki=vocab.txt. Got {typed!r}.")
    return corpus, Path(path)
