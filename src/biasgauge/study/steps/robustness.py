"""Do conclusions survive another base pair, word form or measure? `robustness`."""

from biasgauge.lexicons import lexicon_names
from biasgauge.study.kind import Kind, some_pairs, some_words
from biasgauge.study.results import analysis
from biasgauge.study.step import Step

KINDS = (
    Kind(
        "robustness",
        needs="model",
        step="robustness",
        functions=("robustness:robustness",),
        checks={"pairs": some_pairs, "words": some_words},
        unasked=lexicon_names(),
    ),
)
STEP = Step("robustness", 1, analysis(KINDS[0]), "do conclusions survive another choice?")
