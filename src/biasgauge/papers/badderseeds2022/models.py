"""Which bootstrap models the numbers of Badder Seeds are computed on: the user's, or those that ship with biasgauge."""

from __future__ import annotations

from biasgauge.embeddings import Embedding, load_default_replicates, load_models
from biasgauge.papers.badderseeds2022.tables import CORPORA
from biasgauge.papers.data import Data, Need

SHIPPED = 3
"""How many of the replicates that ship are used: enough for an interval, few enough to be quick."""
OTHER_MODELS = (
    f"{SHIPPED} models that ship with biasgauge instead: English Wikipedia, skip-gram, 64 dimensions, 13,000 words"
)
NOT_RELEASED = "the authors' models were not released, so that models of your own need not agree to the digit"

_TRAIN = (
    "The models were not released: train 20 on bootstrap samples of the documents, as the released code does (CBOW, "
    "100 dimensions), with: biasgauge train {text} --like badder_seeds2022 --as-published --bootstrap 20 --seed 42 "
    "--min-count {count} --out {folder}. Put the folder into the data folder. {about}"
)
_TEXT = {
    "nyt": ("nyt.txt", "nyt.txt has one article of the New York Times corpus (see nyt) a line."),
    "wikitext": ("wiki.train.tokens", "The text is that of WikiText-103 (see wikitext)."),
    "romance": ("romance.txt", "romance.txt has one review (see romance) a line."),
    "history": ("history.txt", "history.txt has one review (see history) a line."),
}


def need(corpus: str, min_count: int) -> Need:
    """Bootstrap models of one corpus, with words that occur so often."""
    name = models_named(corpus, min_count)
    text, about = _TEXT[corpus]
    return Need(
        name,
        f"bootstrap models of {CORPORA[corpus]}, words that occur at least {max(min_count, 1)} times",
        _TRAIN.format(text=text, count=max(min_count, 1), folder=name, about=about),
        tuple(f"{name}/*.{ending}" for ending in ("safetensors", "bin", "txt", "vec", "npz")),
    )


def models_named(corpus: str, min_count: int) -> str:
    """How the need, and the folder, of such models is called."""
    return f"{corpus}_min{min_count}"


def models_of(data: Data, name: str) -> tuple[list[Embedding], str]:
    """The models of a need, and in what they differ from the paper's; those that ship where there are none."""
    if there := data.find_all(name):
        return data.once(("models", name), lambda: load_models(list(there))), ""
    return data.once("shipped models", lambda: load_default_replicates()[:SHIPPED]), OTHER_MODELS
