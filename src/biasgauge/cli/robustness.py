"""`biasgauge robustness`: does a measurement survive another pair, word form or measure?"""

from __future__ import annotations

from typing import Any

from biasgauge import analyses
from biasgauge.cli.command import DRAW, FigureOptions, Jobs, Level, MinCoverage, Outcome, VectorFile, command
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import NONE, typed_names, typed_words
from biasgauge.core import WordPolicy

EXAMPLES = """\
Agreement is kappa: 1 is perfect, 0 no better than chance. A change of a score
is relevant when it is at least one standard deviation of the scores of frequent
words. The paper's table prints one minus the share of relevant changes; here it
is the share itself, and with --as-published both.

Examples:
  biasgauge robustness vectors.bin
  biasgauge robustness vectors.bin --pairs my_pairs.toml --words nurse,surgeon
  biasgauge robustness vectors.bin --forms plural,upper --truths bsri
  biasgauge robustness vectors.bin --as-published --json > robustness.json
  biasgauge robustness vectors.bin --analogies --figures figures
"""


@command(
    examples=EXAMPLES,
    terms="κ DB/WA RIPA NBM",
    settings={"frequent": int, "case_fallback": bool, "resamples": int},
)
def robustness(
    vectors: VectorFile,
    /,
    *,
    pairs: str = "zhang2020",
    words: str | None = None,
    truths: str | None = None,
    measures: str = "dbwa,ripa,nbm",
    forms: str | None = None,
    pair_forms: Rare[str] = "capitalized",
    k: Rare[int] = 100,
    pool: Rare[str] = "neutral",
    as_published: Rare[bool] = False,
    analogies: bool = False,
    min_coverage: MinCoverage = 0.8,
    level: Level = 0.95,
    n_jobs: Jobs = None,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Test whether scores survive another base pair, word form or measure.

    Args:
        pairs: a lexicon of pairs, or your own TOML file
        words: a lexicon, NAME:SET, words separated by commas, or a file with one word per line
        truths: lexicons of words whose direction is known, separated by commas; none for none; by default bsri and
            animals for pairs of male and female
        measures: measures separated by commas
        forms: forms of the words, separated by commas: plural, capitalized, upper, lower; none for none; NAME=FILE for
            your own, a TOML file of pairs (word, form)
        pair_forms: forms of the pairs, likewise
        k: how many neighbors vote in a neighborhood measure
        pool: which words may be neighbors: neutral (frequent words that do not name what the pairs are about), all, or
            as for --words
        as_published: as the paper's code has it
        analogies: look at the analogies of man and woman too
    """
    with progress(options, "scoring") as report:
        result = analyses.robustness.robustness(
            vectors,
            pairs=pairs,
            words=typed_words(words),
            truths=None if truths is None else _read_names(truths),
            measures=typed_names(measures),
            forms=None if forms is None else _read_forms(forms),
            pair_forms=_read_forms(pair_forms),
            k=k,
            pool={"neutral": "neutral", "all": None}.get(pool, typed_words(pool)),
            as_published=as_published,
            analogies=analogies,
            policy=WordPolicy.from_options(min_coverage, further.pop("case_fallback", False)),
            level=level,
            random_state=options.seed,
            n_jobs=n_jobs,
            progress=report,
            **further,
        )
    return Outcome(result)


def _read_names(typed: str) -> list[str]:
    """Split names separated by commas; "none" for none."""
    return [] if typed == NONE else typed_names(typed)


def _read_forms(typed: str) -> dict[str, str | None]:
    """Names of forms; NAME=FILE is a form of the user's own."""
    split = [name.partition("=") for name in _read_names(typed)]
    return {name: path or None for name, _, path in split}
