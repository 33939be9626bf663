"""Printed numbers of Badder Seeds (2022), the lists of its appendix, and the models that replace its own.

Numbers "read off" are from its figures, which print none; those of the notebooks are from the output that was released
with the code.
"""

from __future__ import annotations

from importlib.resources import files

from biasgauge.io import parse_toml
from biasgauge.papers.paper import Data, printed_numbers
from biasgauge.vectors import Embedding, load_default_replicates, load_models

PACKAGE = "biasgauge.papers.badderseeds2022"
PRINTED = printed_numbers(PACKAGE)
APPENDIX = parse_toml(files(PACKAGE).joinpath("appendix.toml").read_bytes(), "appendix.toml")
"""Lists by name; the file says what each is."""
CORPORA = ("nyt", "wikitext", "romance", "history")
REVIEWS = 500
"""Reviews of a book that were drawn, and that it must have at least."""
FEMALE_SETS = tuple(APPENDIX["figure3"]["history"])
"""The sets of Figure 3."""


SHIPPED = 3
"""How many of the replicates that ship are used: enough for an interval, few enough to be quick."""
OTHER_MODELS = (
    f"{SHIPPED} models that ship with biasgauge instead: English Wikipedia, skip-gram, 64 dimensions, 13,000 words"
)
NOT_RELEASED = "the authors' models were not released, so that models of your own need not agree to the digit"


def models_of(data: Data, name: str) -> tuple[list[Embedding], str]:
    """The models of a need, and in what they differ from the paper's; those that ship where there are none."""
    if paths := data.find_all(name):
        return data.once(("models", name), lambda: load_models(list(paths))), ""
    return data.once("shipped models", lambda: load_default_replicates()[:SHIPPED]), OTHER_MODELS
