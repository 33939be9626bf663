"""What a change of vectors did to distances, with uncertainty: `bayes_change`."""

from biasgauge.lexicons import lexicon_names
from biasgauge.study.kind import Kind, a_lexicon
from biasgauge.study.results import analysis
from biasgauge.study.step import Step

KINDS = (
    Kind(
        "bayes-change",
        needs="change",
        step="bayes-change",
        functions=("uncertainty:bayes_change", "uncertainty:distances"),
        checks={"lexicon": a_lexicon("stereotypes", "test")},
        unasked=lexicon_names(),
        hidden=("reference", "name"),
        required=("lexicon",),
    ),
)
STEP = Step("bayes-change", 1, analysis(KINDS[0]), "what a change did to distances")
