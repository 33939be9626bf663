"""Do scores agree with themselves? `reliability`."""

from biasgauge.lexicons import lexicon_names
from biasgauge.study.kind import Kind, lists_of_words
from biasgauge.study.results import analysis
from biasgauge.study.step import Step

KINDS = (
    Kind(
        "reliability",
        needs="scores",
        step="reliability",
        functions=("reliability:reliability",),
        checks={"lists": lists_of_words},
        unasked=lexicon_names(),
    ),
)
STEP = Step("reliability", 1, analysis(KINDS[0]), "do scores agree with themselves?")
