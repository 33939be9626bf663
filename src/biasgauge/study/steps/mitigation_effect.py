"""What a mitigation did to bias, and what else: `mitigation_effect`."""

from biasgauge.lexicons import lexicon_names
from biasgauge.study.kind import Kind, some_lexicons
from biasgauge.study.results import analysis
from biasgauge.study.step import Step

KINDS = (
    Kind(
        "mitigation-effect",
        needs="change",
        step="mitigation-effect",
        functions=("mitigation:mitigation_effect",),
        checks={"lexicons": some_lexicons("test", "stereotypes"), "controls": some_lexicons()},
        unasked=lexicon_names(),
    ),
)
STEP = Step("mitigation-effect", 1, analysis(KINDS[0]), "what a mitigation did to bias, and what else")
