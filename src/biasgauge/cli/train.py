"""`biasgauge train`: a corpus to replicates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import console, progress
from biasgauge.cli.words import typed_field, typed_names
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
Tokenizes the text once, then trains one model for each algorithm, bootstrap
sample and seed. The same recipe and seed give the same bytes. Run again after
an interruption, it trains only the models that are not there yet. The recipe
of each model lies beside it. Settings of the algorithm go by --set: negative,
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
_OF_PLANS = ("like", "as_published", "algorithm", "min_count", "unknown", "tokenizer")
_OF_TEXT = ("layout", "field", "documents")
_OF_TRAINING = ("seeds", "bootstrap", "precision", "subwords", "n_jobs_per_model", "n_jobs", "device")


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Settle the settings, tokenize, train."""
    from biasgauge.text import read_corpus
    from biasgauge.text.training import check_extra, train, training_plan

    corpus, out = arguments.pop("corpus"), arguments.pop("out")
    plans, text, training = (
        {name: arguments.pop(name) for name in names if name in arguments}
        for names in (_OF_PLANS, _OF_TEXT, _OF_TRAINING)
    )
    plan = training_plan(**plans, **arguments)
    check_extra()
    out.mkdir(parents=True, exist_ok=True)
    with progress(options, "reading text") as report:
        tokens = read_corpus(corpus, out=out / "corpus", tokenizer=plan.tokenizer, progress=report, **text)
    with progress(options, "training") as report:
        result = train(
            tokens,
            out=out,
            algorithm=plan.algorithms,
            random_state=options.seed,
            min_count=plan.min_count,
            unknown=plan.unknown,
            remove=plan.remove,
            progress=report,
            say=lambda plan: None if options.quiet else console(options, aside=True).print(plan),
            **training,
            **plan.settings,
        )
    return Outcome(result, settings=plan.to_dict(), warnings=plan.remarks, written={"models": out})


def _default(about: str) -> Option:
    """A number that the algorithm or the paper decides, unless it is typed."""
    return Option(about, type=int | None, default=None)


app = command(
    "text.training:train",
    arguments="corpus",
    options="out algorithm seeds bootstrap dim window epochs min_count like as_published layout tokenizer field "
    "documents device n_jobs",
    examples=EXAMPLES,
    terms="replicate",
    sources=("text:read_corpus", "text.training:training_plan"),
    changes={
        "corpus": Option("text files or folders of them, compressed or not", type=list[Path]),
        "out": Option("folder for the models and the tokenized text", type=Path, default=Path("biasgauge-models")),
        "algorithm": Option(
            "sgns, cbow, fasttext, glove, or several separated by commas; sgns by default",
            type=str | None,
            default=None,
            read=typed_names,
        ),
        "seeds": Option("how many random seeds; the first is that of --seed"),
        "dim": _default("numbers in a vector; 100 by default"),
        "window": _default("context words on each side; 5 by default, 15 for glove"),
        "epochs": _default("readings of the text; 5 by default, 15 for glove"),
        "min_count": _default("leave out words that occur less often; 5 by default"),
        "like": Option("settings of a paper: du2021, badder_seeds2022, goldfarb_tarrant2021_wiki or _twitter"),
        "as_published": Option("with --like, what the paper's released code does where it differs from the paper"),
        "layout": Option(
            "lines, paragraphs (lines joined up to a blank one), wikitext, tsv, csv, jsonl; by the file's ending if "
            "not given"
        ),
        "tokenizer": Option(
            "words (lower-case letters), ascii-words, whitespace, lower-whitespace, twitter, spacy:en",
            type=str | None,
            default=None,
        ),
        "field": Option(
            "column that holds the text, by its name or, without a header, by its number; or field of JSON lines",
            read=typed_field,
        ),
        "documents": Option(
            "in plain lines, what is a document: what a bootstrap sample draws",
            type=Literal["line", "blank-line", "file"],
        ),
        "device": Option("cpu, or cuda: all models side by side on a GPU, the same bytes", type=Literal["cpu", "cuda"]),
        "n_jobs": Option("models at a time; all cores by default"),
    },
    call=run,
    saves=False,
    outputs=(Output("out", "continued"),),
    fixed="source remove say",
)
