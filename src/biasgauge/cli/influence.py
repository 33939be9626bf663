"""`biasgauge influence`: documents of a text that carry an association."""

from __future__ import annotations

from typing import Any

from biasgauge.analyses import calibrate
from biasgauge.cli.command import DRAW, FigureOptions, Outcome, command
from biasgauge.cli.corpus_bias import READING, WORDS_IN_TEXT, Reading, TextFiles, WordsInText
from biasgauge.cli.screen import progress
from biasgauge.core import WordPolicy

EXAMPLES = """\
Takes each document out of the counts, exactly, and says how much the log odds
ratio changes without it. Documents are named by their numbers; no text is
shown. --check trains models without sets of documents and correlates the change
of the vectors with the change that the counts predict.

Examples:
  biasgauge influence text.txt --words nurse --a he --b she
  biasgauge influence wiki.txt.xz --documents blank-line --test weat7 --top 20
  biasgauge influence models/corpus --words nurse --pairs du2021 --check 12
    --set dim=50 --set epochs=3
"""
COUNTING = {"min_count": int, "level": float, "min_coverage": float, "case_fallback": bool | None}
RETRAINING = {"share": float, "seeds": int, "algorithm": str, "n_jobs": int | None}


@command(examples=EXAMPLES, settings={**COUNTING, **RETRAINING}, open_ended=True)
def influence(
    corpus: TextFiles,
    /,
    *,
    words: WordsInText = WORDS_IN_TEXT,
    top: int = 10,
    check: int = 0,
    reading: Reading = READING,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Find the documents of a text that carry an association.

    Args:
        top: how many documents to list, of those that carry the number and of those against it
        check: number of random sets of documents without which to train again; 0 for none
    """
    counting = {name: further.pop(name) for name in COUNTING if name in further}
    policy = WordPolicy.from_options(counting.pop("min_coverage", None), counting.pop("case_fallback", None))
    question = words.read()
    tokens = reading.read(corpus, options)
    with progress(options, "counting") as report:
        result = calibrate.influence(tokens, **question, top=top, policy=policy, progress=report, **counting)
    also = {}
    if check:
        with progress(options, "training") as report:
            also["check"] = calibrate.check_influence(
                result, tokens, removals=check, random_state=options.seed, progress=report, **further
            )
    return Outcome(result, also=also)
