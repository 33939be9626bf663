"""Mean similarity of two words: of a list of pairs, and of words drawn at random for comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Floats, Places, row_cosines
from biasgauge.stats import STUDENT, WordStatistic, mean_cosine, undefined_statistic
from biasgauge.vectors import ROWS, Embedding


def mean_of_listed(
    model: Embedding, items: Sequence[tuple[str, str, str]], rows: Mapping[str, int], level: float
) -> WordStatistic:
    """Mean cosine of the words with what is expected for them."""
    listed = [(x, expected) for _, x, expected in items if x in rows and expected in rows]
    cosines = cosines_of_rows(model, [rows[x] for x, _ in listed], [rows[expected] for _, expected in listed])
    return mean_cosine(cosines, [x for x, _ in listed], level)


def mean_of_random_pairs(model: Embedding, pool: Places, count: int, random_state: int, level: float) -> WordStatistic:
    """Mean cosine of two different words drawn at random."""
    directed = pool[np.concatenate([model.vectors[pool[i : i + ROWS]].any(axis=1) for i in range(0, len(pool), ROWS)])]
    if len(directed) < 2:
        return undefined_statistic(level, STUDENT)
    random = np.random.default_rng(random_state)
    first = random.integers(0, len(directed), count)
    second = (first + random.integers(1, len(directed), count)) % len(directed)
    cosines = cosines_of_rows(model, directed[first], directed[second])
    return mean_cosine(cosines, None, level, over="random pairs")


def cosines_of_rows(model: Embedding, first: ArrayLike, second: ArrayLike) -> Floats:
    """Cosines of rows, one by one."""
    left, right = np.asarray(first, np.intp), np.asarray(second, np.intp)
    cosines = np.empty(len(left))
    for start in range(0, len(left), ROWS):
        block = slice(start, start + ROWS)
        cosines[block] = np.clip(row_cosines(model.vectors[left[block]], model.vectors[right[block]]), -1, 1)
    return cosines
