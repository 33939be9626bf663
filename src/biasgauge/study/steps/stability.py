"""How much of a word's meaning survives training again: `stability`."""

from biasgauge.study.kind import Kind
from biasgauge.study.results import analysis
from biasgauge.study.step import Step

KINDS = (
    Kind(
        "stability",
        needs="models",
        step="stability",
        functions=("embeddings:stability",),
        fewest=2,
        tables={"pairs.csv": "pairs_to_frame"},
    ),
)
STEP = Step("stability", 1, analysis(KINDS[0]), "how much of a word's meaning survives training again")
