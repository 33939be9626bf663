"""Analyses of a corpus itself: what its counts say, which documents say it, and what vectors trained on it can show."""

from __future__ import annotations

from biasgauge import registry
from biasgauge.lexicons import language_of
from biasgauge.study.kind import Kind, a_lexicon, some_pairs, some_words
from biasgauge.study.outcomes import analysis

_WORDS = dict.fromkeys(("words", "a", "b", "x", "y"), some_words)
_CHECKS = {**_WORDS, "pairs": some_pairs, "test": a_lexicon("test")}
_READING = ("layout", "tokenizer", "field", "documents")
CORPUS_BIAS = Kind(
    "corpus-bias",
    needs="corpus",
    functions=("calibration:corpus_bias",),
    checks=_CHECKS,
    hidden=_READING,
    tables={"sets.csv": "sets_to_frame"},
    about="Log odds ratio of words near one group against near the other, from counts: 0 is as likely near both.",
    shown=("sets", "words"),
    result="calibration:CorpusBias",
    answers=True,
)
INFLUENCE = Kind(
    "influence",
    needs="corpus",
    functions=("calibration:influence",),
    checks=_CHECKS,
    hidden=_READING,
    about="How much a log odds ratio changes without each document, counted exactly.",
    shown=("removals", "documents"),
    result="calibration:Influence",
)
CALIBRATE = Kind(
    "calibrate",
    needs="corpus",
    functions=("calibration:calibrate",),
    checks={
        "pairs": some_pairs,
        "other_pairs": some_pairs,
        "carriers": some_words,
        "language": lambda code: some_pairs(language_of(code).own_pairs()),
    },
    hidden=("trainer", "verdicts", "tell"),
    unasked=registry.names("lexicon"),
    about="What each measure and test reads of associations of known strength that were planted in the text: limits "
    "of detection, false positives, validity beside reliability.",
    shown=("limits", "false_positives"),
    result="calibration:Calibration",
    answers=True,
)
STEP = (
    analysis(CORPUS_BIAS, "what a text itself says about words"),
    analysis(INFLUENCE, "which documents of a text carry an association"),
    analysis(CALIBRATE, "what measures read of planted associations"),
)
