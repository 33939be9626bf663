"""Analyses of a corpus itself: what its counts say, and which documents say it."""

from __future__ import annotations

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
STEP = (
    analysis(CORPUS_BIAS, "what a text itself says about words"),
    analysis(INFLUENCE, "which documents of a text carry an association"),
)
