"""Which bootstrap models the numbers of Badder Seeds are computed on: the user's, or those that ship with biasgauge."""

from __future__ import annotations

from biasgauge.papers.data import Data
from biasgauge.vectors import Embedding, load_default_replicates, load_models

SHIPPED = 3
"""How many of the replicates that ship are used: enough for an interval, few enough to be quick."""
OTHER_MODELS = (
    f"{SHIPPED} models that ship with biasgauge instead: English Wikipedia, skip-gram, 64 dimensions, 13,000 words"
)
NOT_RELEASED = "the authors' models were not released, so that models of your own need not agree to the digit"


def models_of(data: Data, name: str) -> tuple[list[Embedding], str]:
    """The models of a need, and in what they differ from the paper's; those that ship where there are none."""
    if there := data.find_all(name):
        return data.once(("models", name), lambda: load_models(list(there))), ""
    return data.once("shipped models", lambda: load_default_replicates()[:SHIPPED]), OTHER_MODELS
