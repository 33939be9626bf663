"""A null for tests of words in sentences: every word leans in its own way, and the sets are alike.

X and Y are drawn from one population of words, A and B too, so that a test at 5 % should reject in 5 % of the draws.
The sentences of a word share its lean: they are not independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from biasgauge.core import Estimate, Floats
from biasgauge.stats import wilson

WORDS, DIMENSIONS, SPREAD = 8, 12, 0.6
"""Words of each of the four sets, as in WEAT 6 and 7; dimensions; standard deviation of sentences around their word."""
LEVEL = 0.05


def null_vectors(random: np.random.Generator, sentences: int) -> dict[str, Floats]:
    """Vectors of the four sets: words × sentences × dimensions."""
    size = 4 * WORDS
    words = random.normal(size=(size, 1, DIMENSIONS))
    vectors = words + SPREAD * random.normal(size=(size, sentences, DIMENSIONS))
    return {role: vectors[WORDS * index : WORDS * (index + 1)] for index, role in enumerate("xyab")}


def rejections(p_values: Iterator[float]) -> Estimate:
    """Share of p-values below the level, with Wilson's interval over the simulated studies."""
    below = [p < LEVEL for p in p_values]
    return wilson(float(np.mean(below)), len(below), 0.95, over="simulated studies")


def simulated(runs: int, sentences: int, seed: int, p_value: Callable[[dict[str, Floats]], float]) -> Estimate:
    """Rejection rate of a test over simulated studies of the null."""
    random = np.random.default_rng([seed, sentences])
    return rejections(p_value(null_vectors(random, sentences)) for _ in range(runs))
