"""`biasgauge calibrate`: limits of detection in vectors that are trained on this text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from biasgauge import analyses, audits, text
from biasgauge.cli.command import DRAW, FigureOptions, Outcome, command
from biasgauge.cli.corpus_bias import Documents
from biasgauge.cli.files import Output
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import console, progress
from biasgauge.cli.typed_values import read_settings, typed_field, typed_names, typed_numbers, typed_words
from biasgauge.errors import ParameterError
from biasgauge.text import training

EXAMPLES = """\
Plants associations of known strength on words of your text, trains on it as
your vectors were trained, and says from which strength on each measure and
test sees them: the limit of detection. Planted texts and models are kept in
--work; run again after an interruption, it goes on where it was. --out keeps
the result: audit --calibration FILE.json then tells scores as odds ratios.
Limits hold for new plantings of this text; with calibrations of other texts
(--set calibrations=FILE.json,...) those of measures hold for a text that is new.

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
  biasgauge calibrate corpus.txt --set calibrations=novels.json,reviews.json
  biasgauge audit models/*.safetensors --calibration calibration.json
"""
READING = {"layout": str, "tokenizer": str, "field": typed_field}
SETTINGS = {
    "recipe": str,
    "blanks": int,
    "bootstrap": int,
    "shuffled": int,
    "others": int,
    "window": int,
    "tests": typed_names,
    "level": float,
    "n_jobs": int | None,
    "calibrations": typed_names,
    **READING,
}


@command(examples=EXAMPLES, settings=SETTINGS, outputs=(Output("work", "continued"),))
def calibrate(
    corpus: list[Path],
    /,
    *,
    work: Path = Path("biasgauge-calibration"),
    pairs: str | None = None,
    language: str = "en",
    planting: Rare[Literal["mentions", "mixture"]] = "mentions",
    doses: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    carriers: Rare[str | None] = None,
    per_dose: int = 25,
    plantings: int = 3,
    seeds: int = 2,
    measures: str | None = None,
    sizes: Rare[str] = "4,8,16,25",
    algorithm: str = "sgns",
    dim: int | None = None,
    epochs: int | None = None,
    documents: Documents | None = None,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Plant known bias in your text, train on it, and say what the measures can see.

    Args:
        corpus: text files or folders of them, compressed or not; or a tokenized corpus
        work: folder for planted texts and models, found again after an interruption
        pairs: a lexicon of pairs, or your own TOML file; the base pairs of the language by default
        language: code of the text's language, or the file of a language of your own; English by default
        planting: mentions: which end is mentioned beside a word; mixture: a word takes places of the ends
        doses: log odds ratios (shares for mixture), separated by commas; by default those of 2, 4, 10 to either side
        carriers: words to plant on: a lexicon, words separated by commas, or a file; drawn by default
        per_dose: carriers that get each dose but 0
        plantings: planted texts
        seeds: random seeds that each text is trained with
        measures: measures, separated by commas; all by default
        sizes: numbers of words in sets, separated by commas
        algorithm: sgns, cbow, fasttext or glove
        dim: numbers in a vector; 100 by default
        epochs: readings of the text; 5 by default, 15 for glove
        documents: in plain lines, what is a document
    """
    numbers = None if doses is None else typed_numbers(doses, "--doses")
    reading = {name: further.pop(name) for name in READING if name in further}
    if documents is not None:
        reading["documents"] = documents
    joined = further.pop("calibrations", ())
    parts = further.pop("recipe", {})
    if not isinstance(parts, dict):
        raise ParameterError(f"Settings of the training are set one by one, as recipe.window=8. Got recipe={parts!r}.")
    recipe = {"algorithm": algorithm, "dim": dim, "epochs": epochs}
    recipe = {name: value for name, value in recipe.items() if value is not None}
    recipe |= read_settings([f"{name}={value}" for name, value in parts.items()], {}, "train", open_ended=True)
    training.check_extra()
    work.mkdir(parents=True, exist_ok=True)
    with progress(options, "reading text") as report:
        source = corpus[0] if len(corpus) == 1 else corpus
        tokens = text.corpus_of(source, out=work / "corpus", progress=report, **reading)
    screen = console(options, aside=True)
    with progress(options, "calibrating") as report:
        result = analyses.calibrate.calibrate(
            tokens,
            recipe,
            pairs=pairs,
            language=language,
            planting=planting,
            doses=numbers,
            carriers=typed_words(carriers),
            per_dose=per_dose,
            plantings=plantings,
            seeds=seeds,
            measures=None if measures is None else typed_names(measures),
            sizes=[round(number) for number in typed_numbers(sizes, "--sizes")],
            out=work,
            verdicts=audits.verdict_rates,
            random_state=options.seed,
            progress=report,
            tell=None if options.quiet else lambda plan: screen.print(plan, soft_wrap=True, markup=False),
            **further,
        )
    if joined:
        others = {Path(path).stem: analyses.calibrate.load_calibration(path) for path in joined}
        result = analyses.calibrate.join_calibrations({corpus[0].name.partition(".")[0]: result, **others})
    return Outcome(result, written={"planted texts and models": work})
