"""`biasgauge criterion`: do scores follow what is known about the words?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from biasgauge import analyses
from biasgauge.cli.command import DRAW, CaseFallback, FigureOptions, Level, Outcome, command
from biasgauge.cli.corpus_bias import Documents, read_words
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_names
from biasgauge.core import WordPolicy
from biasgauge.errors import ParameterError

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


@command(examples=EXAMPLES, terms="replicate DB/WA RIPA NBM", settings={"min_contexts": int, "resamples": int})
def criterion(
    vectors: Sequence[Path] = (),
    /,
    *,
    truth: str = "bls2015",
    first: str | None = None,
    second: str | None = None,
    end: Rare[Literal["first", "second"]] = "second",
    pairs: str | None = None,
    measures: str = "dbwa,ripa,nbm",
    k: Rare[int] = 100,
    reliability: Rare[float | None] = None,
    corpus: Path | None = None,
    documents: Documents = "line",
    window: int = 5,
    level: Level = 0.95,
    case_fallback: CaseFallback = False,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Correlate scores of words with what is known about them, such as the share of women.

    Args:
        vectors: vector files: one model, or replicates
        truth: what is known: bls2015, winobias, winogender, or your own TOML file of kind values or test
        first: words of the first end, with --second: a file, a lexicon, commas
        second: words of the second end
        end: which end large numbers of the truth belong to: "second" for the share of women, with pairs (male, female)
        pairs: a lexicon of pairs, or your own TOML file; by default the base pairs of the truth's language
        measures: measures separated by commas
        k: neighbors of a neighborhood measure
        reliability: of the scores; by default estimated over replicates, pairs, or (of a text) from standard errors
        corpus: a text, or a tokenized corpus, instead of vectors
        documents: of --corpus, in plain lines: what is a document
        window: tokens on each side
    """
    if bool(vectors) == (corpus is not None):
        raise ParameterError("Name vector files, or a text by --corpus; one of them, not both.")
    lists = {"first": read_words(first or None), "second": read_words(second or None)}
    scores: Any = list(vectors)
    with progress(options, "counting" if corpus else "scoring") as report:
        if corpus is not None:
            true_values = analyses.criterion.criterion_values(truth, **lists)
            scores = analyses.corpus_bias.corpus_bias(
                corpus,
                words=list(true_values.values),
                pairs=true_values.pairs(pairs),
                window=window,
                documents=documents,
                progress=report,
            )
        result = analyses.criterion.criterion(
            scores,
            truth,
            **lists,
            end=end,
            pairs=pairs,
            measures=typed_names(measures),
            k=k,
            reliability=reliability,
            level=level,
            policy=WordPolicy.from_options(case_fallback=case_fallback),
            random_state=options.seed,
            progress=report,
            **further,
        )
    return Outcome(result)
