"""`biasgauge train`: a corpus to replicates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, print_table, progress
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from biasgauge.training import TrainedModels

EPILOGUE = """\
Tokenises the text once, then trains one model for each algorithm, bootstrap
sample and seed. The same recipe and seed give the same bytes. Run again after
an interruption, it trains only the models that are not there yet. The recipe
of each model lies beside it.

Examples:
  biasgauge train corpus.txt --seeds 8 --out models
  biasgauge train wiki/*.txt.xz --documents blank-line --bootstrap 20
  biasgauge train corpus.txt.gz --algorithm sgns,glove,fasttext --seeds 8
  biasgauge train tweets.tsv --field text --tokeniser twitter --min-count 10
  biasgauge train wiki.txt --like du2021 --seeds 32
  biasgauge audit models/*.safetensors
"""

app = App(name="train", help_epilogue=EPILOGUE)


@app.default
def train(
    corpus: Path,
    /,
    *more: Path,
    out: Path = Path("biasgauge-models"),
    algorithm: str | None = None,
    seeds: int = 1,
    bootstrap: int = 0,
    dim: int | None = None,
    window: int | None = None,
    epochs: int | None = None,
    min_count: int | None = None,
    unknown: str | None = None,
    like: str | None = None,
    as_published: bool = False,
    set: tuple[str, ...] = (),  # noqa: A002 - the name of the option
    layout: str = "auto",
    tokeniser: str | None = None,
    field: str | None = None,
    documents: Literal["line", "blank-line", "file"] = "line",
    precision: Literal["float32", "float16"] = "float32",
    drop_subwords: bool = False,
    jobs: int | None = None,
    threads: int = 1,
    options: Options = DEFAULTS,
) -> None:
    """Train replicates of an embedding on your own text.

    Args:
        corpus: a text file or a folder of them, compressed or not
        more: further files or folders
        out: folder for the models and the tokenised text
        algorithm: sgns, cbow, fasttext, glove, or several separated by commas; sgns by default
        seeds: how many seeds; the first is that of --seed
        bootstrap: how many samples of documents, drawn with replacement; each is trained with each seed
        dim: numbers in a vector; 100 by default
        window: context words on each side; 5 by default, 15 for glove
        epochs: readings of the text; 5 by default, 15 for glove
        min_count: leave out words that occur less often; 5 by default
        unknown: a word that stands for the rare ones instead of leaving them out, e.g. "<unk>"
        like: settings of a paper: du2021, badder_seeds2022, goldfarb_tarrant2021_wiki, goldfarb_tarrant2021_twitter
        as_published: with --like, what the paper's released code does where it differs from the paper
        set: a further setting of the algorithm, NAME=NUMBER, repeat for several: negative, alpha, min_alpha,
            subsample, exponent, min_n, max_n, x_max, eta
        layout: lines, paragraphs (lines joined up to a blank one), wikitext, tsv, csv, jsonl; by the file's ending if
            not given
        tokeniser: words (lower-case letters), ascii-words, whitespace, lower-whitespace, twitter, spacy:en
        field: column that holds the text, by its name or, without a header, by its number; or field of JSON lines
        documents: in plain lines, what is a document: what a bootstrap sample draws
        precision: of the numbers in the files
        drop_subwords: leave fastText's n-grams out of the files: smaller, but unseen words cannot be built
        jobs: models at a time; all cores by default
        threads: threads within a model: faster, and not deterministic
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute

    asked: dict[str, Any] = {"dim": dim, "window": window, "epochs": epochs, **_settings(set)}
    plan = bg.training_plan(
        like,
        as_published=as_published,
        algorithm=algorithm.split(",") if algorithm else None,
        min_count=min_count,
        unknown=unknown,
        tokeniser=tokeniser,
        **asked,
    )
    out.mkdir(parents=True, exist_ok=True)
    with progress(options, "reading text") as report:
        text = bg.read_corpus(
            [corpus, *more],
            out=out / "corpus",
            layout=layout,
            tokeniser=plan.tokeniser,
            field=int(field) if field is not None and field.isdecimal() else field,
            documents=documents,
            progress=report,
        )
    with progress(options, "training") as report:
        result = bg.train(
            text,
            out=out,
            algorithm=plan.algorithms,
            seeds=seeds,
            bootstrap=bootstrap,
            random_state=options.seed,
            min_count=plan.min_count,
            unknown=plan.unknown,
            remove=plan.remove,
            precision=precision,
            subwords=not drop_subwords,
            threads=threads,
            n_jobs=jobs,
            progress=report,
            **plan.settings,
        )
    if options.json:
        print_json(options, result.to_dict(), settings=plan.to_dict(), warnings=plan.remarks)
    else:
        for remark in plan.remarks:
            console(options).print(f"note: {remark}", markup=False)
        _show(result, console(options))
    if not options.quiet:
        console(options).print(f"\nThe models: {out.resolve()}", soft_wrap=True)


def _settings(given: tuple[str, ...]) -> dict[str, float]:
    settings: dict[str, float] = {}
    for one in given:
        name, _, value = one.partition("=")
        try:
            settings[name.replace("-", "_")] = int(value) if value.lstrip("-").isdigit() else float(value)
        except ValueError:
            raise ParameterError(f"--set takes NAME=NUMBER, for example negative=10. Got {one!r}.") from None
    return settings


def _show(result: TrainedModels, screen: Console) -> None:
    about = result.to_dict()["corpus"]
    screen.print(
        f"{about['documents']:,} documents of {about['mean_length']:,.0f} words in the mean; "
        f"{about['tokens']:,} words, {about['words']:,} different ones\n"
    )
    rows: list[tuple[str | int, ...]] = []
    for model in result.models:
        recipe = model.recipe
        sample = "–" if recipe.sample is None else str(recipe.sample)
        time = "was there" if model.reused else f"{model.seconds:,.1f} s"
        loss = f"{model.losses[-1]:.4f}"
        rows.append((recipe.algorithm, sample, str(recipe.seed), model.words, loss, time, model.path.stem))
    print_table(screen, ("algorithm", "sample", "seed", "words", "loss", "time", "model"), rows)
    for model in result.models:
        if model.remark:
            screen.print(f"note: {model.remark}", markup=False)
    if not all(model.recipe.deterministic for model in result.models):
        screen.print("note: several threads within a model: no other run gives the same bytes")
