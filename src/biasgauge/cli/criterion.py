"""`biasgauge criterion`: do scores follow what is known about the words?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from biasgauge.cli.corpus_bias import words_or_word
from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.screen import progress
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
Correlates bias scores of occupations with the share of women in them, raw and
corrected for the scores' own error (disattenuated by their reliability: over
replicates where several models are given, else over pairs). With --first and
--second, two lists such as names: how well do scores tell them apart (AUC)?
--corpus asks the same of a text instead of vectors.

Examples:
  biasgauge criterion vectors.bin
  biasgauge criterion seed1.bin seed2.bin seed3.bin --truth winobias
  biasgauge criterion vectors.bin --truth my_numbers.toml --end first
  biasgauge criterion vectors.bin --first male_names.txt --second female_names.txt
  biasgauge criterion --corpus models/corpus --truth bls2015 --json
"""


def run(arguments: dict[str, Any], options: Options) -> Outcome:
    """Score the vectors, or count the text, and compare."""
    from biasgauge.analyses.corpus_bias import corpus_bias
    from biasgauge.analyses.criterion import criterion, truth_of

    vectors, corpus = list(arguments.pop("vectors")), arguments.pop("corpus")
    if bool(vectors) == (corpus is not None):
        raise ParameterError("Name vector files, or a text by --corpus; one of them, not both.")
    text = {name: arguments.pop(name) for name in ("documents", "window")}
    lists: dict[str, Any] = {
        name: words_or_word(arguments.pop(name)) for name in ("first", "second") if arguments.get(name)
    }
    arguments = {name: value for name, value in arguments.items() if name not in ("first", "second")}
    scores: Any = vectors
    with progress(options, "counting" if corpus else "scoring") as report:
        if corpus is not None:
            known = truth_of(arguments.get("truth"), **lists)
            pairs = known.pairs(arguments["pairs"])
            scores = corpus_bias(corpus, words=list(known.values), pairs=pairs, progress=report, **text)
        return Outcome(criterion(scores, random_state=options.seed, progress=report, **arguments, **lists))


app = command(
    "analyses.criterion:criterion",
    arguments="vectors",
    options="truth first second end pairs measures k reliability corpus documents window level case_fallback",
    examples=EXAMPLES,
    terms="replicate DB/WA RIPA NBM",
    sources=("analyses.corpus_bias:corpus_bias",),
    changes={
        "vectors": Option("vector files: one model, or replicates", type=list[Path], default=()),
        "truth": Option(
            "what is known: bls2015, winobias, winogender, or your own TOML file of kind values or test",
            type=str,
            default="bls2015",
        ),
        "first": Option(
            "words of the first end, with --second: a file, a lexicon, commas", type=str | None, default=None
        ),
        "second": Option("words of the second end", type=str | None, default=None),
        "pairs": Option(
            "a lexicon of pairs, or your own TOML file; by default the base pairs of the truth's language",
            type=str | None,
            default=None,
        ),
        "measures": Option("measures separated by commas"),
        "corpus": Option("a text, or a tokenized corpus, in the place of vectors", type=Path | None, default=None),
        "documents": Option(
            "of --corpus, in plain lines: what is a document", type=Literal["line", "blank-line", "file"]
        ),
    },
    call=run,
    figures=True,
    fixed="words a b x y test weighting min_count interval min_coverage layout tokenizer field as_published",
)
