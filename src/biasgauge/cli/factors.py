"""`biasgauge factors`: which properties of words, algorithms and corpora go with reliable scores."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.inputs import check_named, check_stores
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import progress
from biasgauge.core import JsonObject
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

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
"""


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Gather the features of words into one table, then regress."""
    from biasgauge.analyses import reliability as agreement
    from biasgauge.analyses.reliability.regression import read_counts, stored_counts
    from biasgauge.io import csv_text, write_text
    from biasgauge.scores import ScoreStore

    named = [_named_store(typed) for typed in arguments.pop("sources")]
    files = dict(_corpus_and_file(typed) for typed in arguments.pop("counts"))
    if unknown := sorted(files.keys() - {corpus for _, corpus, _ in named}):
        raise ParameterError(f"--counts names the corpus {unknown[0]!r}, but no store is of it.")
    counts = {corpus: read_counts(path) for corpus, path in files.items()}
    models_in, out, n_jobs = (arguments.pop(name) for name in ("models_in", "out", "n_jobs"))
    sources = []
    for algorithm, corpus, folder in named:
        store = ScoreStore.open(folder)
        known = counts.get(corpus) or stored_counts(store, models_in)
        sources.append(agreement.FactorSource(algorithm, corpus, store, models_in=models_in, counts=known))
    shared = {name: arguments[name] for name in ("outcome", "standardize")}
    with progress(options, "finding features") as report:
        table = agreement.factor_table(sources, n_jobs=n_jobs, progress=report, **shared)
    result = agreement.factors(table, random_state=options.seed, **arguments)
    if out is not None:
        write_text(out, csv_text(table))
    recorded = {"sources": [f"{algorithm}:{corpus}={folder}" for algorithm, corpus, folder in named]}
    return Outcome(result, settings=recorded, written={} if out is None else {"rows": out})


def _named_store(typed: str) -> tuple[str, str, Path]:
    names, equals, folder = typed.partition("=")
    algorithm, colon, corpus = names.partition(":")
    if not (equals and colon and algorithm and corpus and folder):
        raise ParameterError(f"A store must be named ALGORITHM:CORPUS=FOLDER, such as sgns:wiki=scores. Got {typed!r}.")
    return algorithm, corpus, Path(folder)


def check_sources(typed: Iterable[str]) -> None:
    """Refuse stores that are not named as such, or not there."""
    check_stores(folder for _, _, folder in map(_named_store, typed))


def _corpus_and_file(typed: str) -> tuple[str, Path]:
    corpus, equals, path = typed.partition("=")
    if not (equals and corpus and path):
        raise ParameterError(f"--counts takes CORPUS=FILE, such as wiki=vocab.txt. Got {typed!r}.")
    return corpus, Path(path)


app = command(
    "analyses.reliability:factors",
    arguments="sources",
    options="outcome counts models_in standardize level refits out n_jobs",
    examples=EXAMPLES,
    terms="replicate",
    changes={
        "sources": Option("scores of replicates, each as ALGORITHM:CORPUS=FOLDER", type=list[str], check=check_sources),
        "outcome": Option(
            "what is explained: agreement over replicates, or over measures",
            type=Literal["test-retest", "inter-rater"],
            default="test-retest",
            read=lambda typed: typed.replace("-", "_"),
        ),
        "counts": Option(
            "CORPUS=FILE with a word and its count on each line; repeat for several",
            type=tuple[str, ...],
            default=(),
            check=check_named,
        ),
        "models_in": Option(
            "folder with the models, if they are no longer where they were scored", type=Path | None, default=None
        ),
        "out": Option("a CSV file for the rows of the regression", type=Path | None, default=None),
    },
    call=run,
    saves=False,
    outputs=(Output("out"),),
)
