"""A vocabulary too large for a second copy gives the same bytes as one that has it, in half of the memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.core.geometry import unit_singles
from biasgauge.scores.engine import Pool, compute
from biasgauge.scores.neighbors import UnitPool

if TYPE_CHECKING:
    from tests.scores.conftest import Worlds


@pytest.mark.parametrize("seed", range(3))
def test_scores_have_the_same_bytes_without_a_copy(kind: str, seed: int, worlds: Worlds) -> None:
    task = worlds(kind, seed)
    task = replace(task, pool=None, vectors=task.vectors.astype(np.float32))
    assert isinstance(Pool.from_task(task).unit, np.ndarray)
    assert compute(task).tobytes() == compute(replace(task, kept_bytes=0)).tobytes()


def test_and_where_the_neighbors_of_all_words_are_asked_for(worlds: Worlds) -> None:
    task = worlds("random")
    task = replace(task, pool=None, vectors=task.vectors.astype(np.float32), rows=np.arange(len(task.vectors)))
    task = replace(task, least_for_all_pairs=1)
    without = replace(task, kept_bytes=0)
    assert isinstance(Pool.from_task(without).unit, UnitPool)
    assert compute(task).tobytes() == compute(without).tobytes()


def test_rows_have_the_bits_of_a_copy() -> None:
    random = np.random.default_rng(0)
    vectors = (random.standard_normal((500, 30)) * random.uniform(1e-3, 1e3, (500, 1))).astype(np.float32)
    pool, copy = UnitPool.from_vectors(vectors, 0), unit_singles(vectors)
    assert pool is not None
    assert (len(pool), pool.shape) == (500, (500, 30))
    for places in (slice(10, 20), slice(None, None, 7), np.array([3, 400, 3]), np.array([[1, 2], [3, 4]])):
        np.testing.assert_array_equal(pool[places], copy[places])
    out = np.empty((5, 500), np.float32)
    np.testing.assert_allclose(
        pool.similarities(copy[:5], out), copy[:5].astype(float) @ copy.T.astype(float), atol=1e-6
    )


@pytest.mark.parametrize("scale", [0.0, 1e-20, 1e20])
def test_a_copy_is_made_where_division_would_lose_something(scale: float) -> None:
    vectors = np.ones((4, 3), np.float32)
    assert UnitPool.from_vectors(vectors, 0) is not None
    vectors[2] *= scale
    assert UnitPool.from_vectors(vectors, 0) is None
    assert UnitPool.from_vectors(np.ones((4, 3)), 0) is None  # double precision


def test_small_vocabularies_keep_a_copy() -> None:
    assert UnitPool.from_vectors(np.ones((4, 3), np.float32)) is None
