"""`biasgauge calibrate`: what can be seen in vectors that are trained on this text?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from biasgauge.cli.corpus_bias import READING
from biasgauge.cli.from_function import Option, command, further_settings
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import console, progress
from biasgauge.cli.words import typed_names, typed_words
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
Plants associations of known strength on words of your text, trains on it as
your vectors were trained, and says from which strength on each measure and
test sees them: the limit of detection. Planted texts and models are kept in
--work; run again after an interruption, it goes on where it was. --out keeps
the result: audit --calibration FILE.json then tells scores as odds ratios.

Doses are log odds ratios (0.69 is an odds ratio of 2) and hold 0; with
--planting mixture they are shares of a word's places. Settings of the training
go by --set recipe.NAME=VALUE: window, min_count, negative, and the like.

Examples:
  biasgauge calibrate corpus.txt --out calibration.json
  biasgauge calibrate wiki/*.txt.xz --documents blank-line --dim 64
  biasgauge calibrate corpus.txt --doses -1.4,-0.7,0,0.7,1.4 --seeds 4
  biasgauge calibrate corpus.txt --planting mixture --pairs my_pairs.toml
  biasgauge calibrate corpus_es.txt --language es
  biasgauge calibrate corpus.txt --set recipe.window=10 --set others=0
  biasgauge calibrate corpus.txt --carriers my_words.txt --per-dose 10
  biasgauge audit models/*.safetensors --calibration calibration.json
"""
_OF_TRAINING = ("algorithm", "dim", "epochs")


def run(arguments: dict[str, Any], options: Options) -> Outcome:
    """Read the text, tell the plan, calibrate."""
    from biasgauge.analyses.calibrate import calibrate
    from biasgauge.audits import verdict_rates
    from biasgauge.text import read_corpus
    from biasgauge.text.training import check_extra

    corpus, work = arguments.pop("corpus"), arguments.pop("work")
    text = {name: value for name in READING if (value := arguments.pop(name, None)) is not None}
    recipe = {name: value for name in _OF_TRAINING if (value := arguments.pop(name, None)) is not None}
    further = arguments.pop("recipe", {})
    if not isinstance(further, dict):
        raise ParameterError(
            f"Settings of the training are set one by one, as recipe.window=8. Got recipe={further!r}."
        )
    recipe |= further_settings([f"{name}={value}" for name, value in further.items()], {}, "train", open_ended=True)
    check_extra()
    work.mkdir(parents=True, exist_ok=True)
    with progress(options, "reading text") as report:
        tokens = read_corpus(corpus, out=work / "corpus", progress=report, **text)
    aside = console(options, aside=True)
    with progress(options, "calibrating") as report:
        result = calibrate(
            tokens,
            recipe or "sgns",
            out=work,
            verdicts=verdict_rates,
            random_state=options.seed,
            progress=report,
            tell=None if options.quiet else lambda plan: aside.print(plan, soft_wrap=True, markup=False),
            **arguments,
        )
    return Outcome(result, written={"planted texts and models": work})


def typed_numbers(typed: str) -> list[float]:
    """Numbers separated by commas."""
    try:
        return [float(number) for number in typed_names(typed)]
    except ValueError as problem:
        raise ParameterError(f"Numbers must be separated by commas. Got {typed!r}.") from problem


def _whole(about: str) -> Option:
    return Option(about, type=int | None, default=None)


app = command(
    "analyses.calibrate:calibrate",
    arguments="corpus",
    options="work pairs language planting doses carriers per_dose plantings seeds measures sizes algorithm dim epochs "
    "documents",
    examples=EXAMPLES,
    sources=("text:read_corpus",),
    changes={
        "corpus": Option("text files or folders of them, compressed or not", type=list[Path]),
        "work": Option(
            "folder for planted texts and models, found again after an interruption",
            type=Path,
            default=Path("biasgauge-calibration"),
        ),
        "pairs": Option(
            "a lexicon of pairs, or your own TOML file; the base pairs of the language by default",
            type=str | None,
            default=None,
        ),
        "language": Option(type=str, default="en"),
        "planting": Option(
            "mentions: which end is mentioned beside a word; mixture: a word takes places of the ends",
            type=Literal["mentions", "mixture"],
        ),
        "doses": Option(
            "log odds ratios, or shares for mixture, separated by commas; odds ratios of 2, 4, 10 to either side by "
            "default",
            type=str | None,
            default=None,
            read=typed_numbers,
            minus=True,
        ),
        "carriers": Option(
            "words to plant on: a lexicon, words separated by commas, or a file; drawn by default",
            type=str | None,
            default=None,
            read=typed_words,
        ),
        "measures": Option(
            "measures, separated by commas; all by default", type=str | None, default=None, read=typed_names
        ),
        "sizes": Option(
            "numbers of words in sets, separated by commas",
            type=str,
            default="4,8,16,25",
            read=lambda typed: tuple(round(number) for number in typed_numbers(typed)),
        ),
        "algorithm": Option("sgns, cbow, fasttext or glove", type=str, default="sgns"),
        "dim": _whole("numbers in a vector; 100 by default"),
        "epochs": _whole("readings of the text; 5 by default, 15 for glove"),
        "documents": Option(
            "in plain lines, what is a document",
            type=Literal["line", "blank-line", "file"] | None,
            default=None,
        ),
    },
    call=run,
    figures=True,
    outputs=(Output("work", "continued"),),
    fixed="trainer verdicts out other_pairs source",
)
