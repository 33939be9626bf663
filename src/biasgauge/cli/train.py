"""`biasgauge train`: a corpus to replicates."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from biasgauge import text
from biasgauge.cli.command import OPTIONS, Options, Outcome, command
from biasgauge.cli.corpus_bias import Documents
from biasgauge.cli.files import Output
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import console, progress
from biasgauge.cli.typed_values import typed_field, typed_names
from biasgauge.core import JsonObject
from biasgauge.text import training

EXAMPLES = """\
Tokenizes the text once, then trains one model for each algorithm, bootstrap
sample and seed. The same recipe and seed give the same bytes. Run again after
an interruption, it trains only the models that are not there yet. The recipe
of each model lies beside it. Random seeds tell what training does; to compare
corpora take --bootstrap, which also tells what other documents would do, or
"biasgauge compare --corpus". Settings of the algorithm go by --set: negative,
alpha, min_alpha, subsample, exponent, min_n, max_n, x_max, eta.

Examples:
  biasgauge train corpus.txt --seeds 8 --out models
  biasgauge train wiki/*.txt.xz --documents blank-line --bootstrap 20
  biasgauge train corpus.txt.gz --algorithm sgns,glove,fasttext --seeds 8
  biasgauge train tweets.tsv --field text --tokenizer twitter --min-count 10
  biasgauge train corpus.txt --dim 300 --set negative=10 --set precision=float16
  biasgauge train wiki.txt --like du2021 --seeds 32
  biasgauge train wiki.txt --bootstrap 50 --seeds 4 --device cuda
  biasgauge audit models/*.safetensors
"""
TRAINING = {"precision": str, "subwords": bool, "n_jobs_per_model": int}


@command(
    examples=EXAMPLES,
    terms="replicate",
    settings={"unknown": str | None, **TRAINING},
    open_ended=True,
    outputs=(Output("out", "continued"),),
)
def train(
    corpus: list[Path],
    /,
    *,
    out: Path = Path("biasgauge-models"),
    algorithm: str | None = None,
    seeds: int = 1,
    bootstrap: int = 0,
    dim: int | None = None,
    window: int | None = None,
    epochs: int | None = None,
    min_count: int | None = None,
    like: Rare[str | None] = None,
    as_published: Rare[bool] = False,
    layout: Rare[str] = "auto",
    tokenizer: str | None = None,
    field: str | None = None,
    documents: Documents = "line",
    device: Literal["cpu", "cuda"] = "cpu",
    n_jobs: int | None = None,
    options: Options = OPTIONS,
    **further: Any,
) -> Outcome:
    """Train replicates of an embedding on your own text.

    Args:
        corpus: text files or folders of them, compressed or not
        out: folder for the models and the tokenized text
        algorithm: sgns, cbow, fasttext, glove, or several separated by commas; sgns by default
        seeds: how many random seeds; the first is that of --seed
        bootstrap: samples of documents, drawn with replacement, each trained with each seed: the replicates for
            comparing corpora; 0: the corpus itself
        dim: numbers in a vector; 100 by default
        window: context words on each side; 5 by default, 15 for glove
        epochs: readings of the text; 5 by default, 15 for glove
        min_count: leave out words that occur less often; 5 by default
        like: settings of a paper: du2021, badder_seeds2022, goldfarb_tarrant2021_wiki or _twitter
        as_published: with --like, what the paper's released code does where it differs from the paper
        layout: lines, paragraphs (up to a blank line), wikitext, tsv, csv, jsonl; auto goes by the file's ending
        tokenizer: words (lower-case letters), ascii-words, whitespace, lower-whitespace, twitter, reddit, spacy:en
        field: column that holds the text, by its name or, without a header, by its number; or field of JSON lines
        documents: in plain lines, what is a document: what a bootstrap sample draws
        device: cpu, or cuda: all models side by side on a GPU, the same bytes
        n_jobs: models at a time; all cores by default
    """
    execution = {name: further.pop(name) for name in TRAINING if name in further}
    numbers: JsonObject = {"dim": dim, "window": window, "epochs": epochs}
    numbers = {name: value for name, value in numbers.items() if value is not None}
    plan = training.training_plan(
        like,
        as_published=as_published,
        algorithm=None if algorithm is None else typed_names(algorithm),
        min_count=min_count,
        tokenizer=tokenizer,
        **numbers,
        **further,
    )
    training.check_extra()
    out.mkdir(parents=True, exist_ok=True)
    with progress(options, "reading text") as report:
        tokens = text.read_corpus(
            corpus,
            out=out / "corpus",
            layout=layout,
            tokenizer=plan.tokenizer,
            field=typed_field(field),
            documents=documents,
            replaceable=not training.holds_models(out),
            progress=report,
        )
    with progress(options, "training") as report:
        result = training.train(
            tokens,
            out=out,
            algorithm=plan.algorithms,
            seeds=seeds,
            bootstrap=bootstrap,
            random_state=options.seed,
            min_count=plan.min_count,
            unknown=plan.unknown,
            remove=plan.remove,
            n_jobs=n_jobs,
            device=device,
            progress=report,
            say=lambda plan: None if options.quiet else console(options, aside=True).print(plan),
            **execution,
            **plan.settings,
        )
    advice = "to compare corpora, train with --bootstrap 20: random seeds stand for no other documents"
    then = advice if seeds > 1 and not bootstrap else ""
    return Outcome(result, settings=plan.to_dict(), warnings=plan.remarks, written={"models": out}, then=then)
