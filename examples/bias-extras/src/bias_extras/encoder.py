"""An encoder: vectors of the words of a lexicon, drawn at random; "random:weat7" are those of weat7."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from biasgauge.lexicons import words_of
from biasgauge.vectors import Embedding
from biasgauge.vectors.encoders import Encoder

DIMENSIONS = 20


def encode(source: str) -> Embedding:
    """One vector a word, the same every time."""
    words = tuple(dict.fromkeys(word for name in source.split("+") for word in words_of(name).words))
    seeds = [int.from_bytes(sha256(word.encode()).digest()[:8], "big") for word in words]
    vectors = np.array([np.random.default_rng(seed).normal(size=DIMENSIONS) for seed in seeds], np.float32)
    return Embedding(words=words, vectors=vectors, name=f"random {source}", source=source, format="random")


ENCODER = Encoder("random", "random vectors of the words of lexicons, as a baseline", encode)
