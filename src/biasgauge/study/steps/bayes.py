"""How far protected words lie from stereotypes, with uncertainty: `bayes`."""

from biasgauge.lexicons import lexicon_names
from biasgauge.study.kind import Kind, a_lexicon
from biasgauge.study.results import analysis
from biasgauge.study.step import Step

KINDS = (
    Kind(
        "bayes",
        needs="model",
        step="bayes",
        functions=("uncertainty:bayes",),
        checks={"lexicon": a_lexicon("stereotypes", "test")},
        unasked=lexicon_names(),
        required=("lexicon",),
        tables={"contrasts.csv": "contrasts_frame"},
    ),
)
STEP = Step("bayes", 1, analysis(KINDS[0]), "how far protected words lie from stereotypes")
