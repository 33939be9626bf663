"""The vectors that ship with the package, so that it works without a file and without a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.embeddings.load import load

if TYPE_CHECKING:
    from biasgauge.embeddings.embedding import Embedding

DEFAULT_PATH = Path(__file__).with_name("data") / "glove-6b-100d-subset.safetensors"
"""Part of Stanford's GloVe 6B, 100 dimensions (public domain); `scripts/make_default_vectors.py` makes it."""

DEFAULT_NAME = "GloVe 6B 100d (subset)"

REPLICATES = 8
"""How many replicates ship."""


def load_default(limit: int | None = None) -> Embedding:
    """Load the vectors that ship with biasgauge: GloVe 6B, 100 dimensions, half precision, lower case.

    They hold every word of the shipped English lexicons that GloVe has, and the most frequent words. Neighbourhood
    measures see only these words: for research, load the whole file. `limit` keeps the first so many.
    """
    return load(DEFAULT_PATH, limit=limit, name=DEFAULT_NAME)


def replicate_path(seed: int) -> Path:
    """Where the shipped replicate of a seed lies."""
    return Path(__file__).parent / "data" / "replicates" / f"sgns-64d-enwiki-seed{seed}.safetensors"


def load_default_replicates() -> list[Embedding]:
    """Load the replicates that ship with biasgauge: skip-gram, 64 dimensions, half precision, lower case, seeds 0 to 7.

    They differ by nothing but their seed. They were trained by `scripts/make_default_replicates.py` on 30 million
    words of English Wikipedia, and hold the words of the shipped English lexicons and the most frequent words: 13,000
    in all.
    """
    return [load(replicate_path(seed), name=f"SGNS enwiki, seed {seed}") for seed in range(REPLICATES)]
