"""Exact nearest neighbors: ties, near ties, and samples that mislead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.core.geometry import unit_singles
from biasgauge.scores import Workspace, nearest, neighbors
from biasgauge.scores.neighbors import ROUNDING, drop_nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


def slow_nearest(queries: Vectors, pool: Vectors, k: int, own: NDArray[np.intp]) -> list[set[int]]:
    """Sort everything in double precision, equal ones by their row."""
    found = []
    for query, self_row in zip(queries.astype(np.float64), own.tolist(), strict=True):
        keys = [(-round(float(query @ one), 12), row) for row, one in enumerate(pool.astype(np.float64))]
        found.append({row for _, row in sorted(key for key in keys if key[1] != self_row)[:k]})
    return found


def found_nearest(queries: Vectors, pool: Vectors, k: int, own: NDArray[np.intp]) -> list[set[int]]:
    found = nearest(queries, pool, k, own)
    assert found.shape == (len(queries), k)
    return [set(row) for row in found.tolist()]


def nobody(queries: Vectors) -> NDArray[np.intp]:
    return np.full(len(queries), -1, np.intp)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    size=st.integers(3, 120),
    k=st.integers(1, 40),
    spread=st.sampled_from([0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-3, 1.0]),
    centers=st.integers(1, 6),
)
def test_equal_to_full_sorting(seed: int, size: int, k: int, spread: float, centers: int) -> None:
    random = np.random.default_rng(seed)
    dimensions = int(random.integers(1, 20))
    center = random.normal(size=(centers, dimensions))[random.integers(0, centers, size)]
    pool = unit_singles(center + spread * random.normal(size=(size, dimensions)))
    own = np.where(random.random(size) < 0.7, np.arange(size), -1)
    k = min(k, size - 1)
    assert found_nearest(pool, pool, k, own) == slow_nearest(pool, pool, k, own)


def fan(angles: NDArray[np.float64]) -> Vectors:
    """Unit vectors at these angles from (1, 0)."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.mark.parametrize("seed", range(5))
def test_near_ties_are_settled_in_double_precision(seed: int) -> None:
    """Thirty vectors whose similarities differ by far less than single precision can tell apart in a product."""
    random = np.random.default_rng(seed)
    far = random.normal(size=(200, 40)) - 3
    query = np.full(40, 1.0)
    near = query + 0.3 * random.normal(size=40) + 2e-7 * random.normal(size=(30, 40))
    pool = unit_singles(np.concatenate([far, near])[random.permutation(230)])
    queries = unit_singles(query[None])
    exact = np.sort(pool.astype(np.float64) @ queries[0].astype(np.float64))[::-1]
    assert exact[0] - exact[29] < ROUNDING
    assert exact[29] - exact[30] > 0.1
    for k in (1, 5, 15, 29):
        assert found_nearest(queries, pool, k, nobody(queries)) == slow_nearest(queries, pool, k, nobody(queries))


def test_of_equal_vectors_the_lower_rows_win() -> None:
    one, other = [1.0, 0.0], [0.0, 1.0]
    pool = unit_singles(np.array([other, one, one, other, one, one, one, other] * 3))
    queries = unit_singles(np.array([[2.0, 1.0]]))
    copies = [row for row in range(24) if row % 8 in (1, 2, 4, 5, 6)]
    for k in range(1, 16):
        assert found_nearest(queries, pool, k, nobody(queries)) == [set(copies[:k])]
        assert found_nearest(queries, pool, k, np.array([copies[0]])) == [set(copies[1 : k + 1])] or k == 15


def test_vectors_of_other_length_are_equal_once_scaled() -> None:
    vector = np.random.default_rng(0).normal(size=300)
    pool = unit_singles(np.concatenate([-np.ones((4, 300)), vector * np.array([[4.0], [1.0], [0.25], [1024.0]])]))
    queries = unit_singles((vector + 0.5)[None])
    assert found_nearest(queries, pool, 2, nobody(queries)) == [{4, 5}]


def misleading_pool(near: int, *, size: int = 20_480, dimensions: int = 8) -> tuple[Vectors, Vectors]:
    """A query whose nearest vectors all lie in columns of the sample, which takes every tenth one."""
    random = np.random.default_rng(0)
    query = np.eye(dimensions)[0]
    pool = random.normal(size=(size, dimensions))
    pool[:, 0] = -np.abs(pool[:, 0])
    pool[: 10 * near : 10] = query + 0.01 * random.normal(size=(near, dimensions))
    return unit_singles(query[None]), unit_singles(pool)


def test_sample_that_misleads() -> None:
    """The sample sees 25 near vectors and takes them for a hundredth of all; there are no more."""
    queries, pool = misleading_pool(25)
    k = 50
    similarities = queries @ pool.T
    sample = similarities[:, :: len(pool) // neighbors.SAMPLE]
    passed = np.count_nonzero(similarities >= neighbors.thresholds(sample, k, len(pool))[:, None])
    assert 0 < passed < k, "the sample must mislead, or this tests nothing"
    assert found_nearest(queries, pool, k, nobody(queries)) == slow_nearest(queries, pool, k, nobody(queries))


def test_sample_that_misleads_some_rows_only() -> None:
    queries, pool = misleading_pool(25)
    queries = np.concatenate([unit_singles(-np.eye(8)[:2]), queries, unit_singles(np.eye(8)[3:5])])
    own = np.array([-1, 3, 0, -1, 17])
    assert found_nearest(queries, pool, 50, own) == slow_nearest(queries, pool, 50, own)


def test_sample_without_any_near_vector() -> None:
    """All near vectors hide between the columns of the sample: nearly all of the pool passes, and is sorted out."""
    queries, pool = misleading_pool(0)
    hidden = np.flatnonzero(np.arange(len(pool)) % 10)[:60]
    pool[hidden] = queries[0]
    assert found_nearest(queries, pool, 50, nobody(queries)) == [set(hidden[:50].tolist())]


@pytest.mark.parametrize(("sample", "least"), [(1, 1), (2, 1), (8, 2), (16, 3), (10_000, 12)])
def test_any_sample_gives_the_same(sample: int, least: int) -> None:
    random = np.random.default_rng(3)
    pool = unit_singles(np.round(random.normal(size=(203, 3)), 1) + 0.01)
    own = np.arange(203)
    expected = slow_nearest(pool, pool, 9, own)
    found = nearest(pool, pool, 9, own, sample=sample, least_rank=least)
    assert [set(row) for row in found.tolist()] == expected


def test_pool_of_just_enough() -> None:
    pool = fan(np.linspace(0, 3, 6))
    assert found_nearest(pool, pool, 5, np.arange(6)) == [set(range(6)) - {row} for row in range(6)]
    assert found_nearest(pool, pool, 5, nobody(pool)) == slow_nearest(pool, pool, 5, nobody(pool))


def test_what_was_in_the_workspace_does_not_matter() -> None:
    random = np.random.default_rng(5)
    pool = unit_singles(random.normal(size=(40, 5)))
    workspace = Workspace(30, 40)
    workspace.similarities[:], workspace.passed[:] = 7, True
    for rows in (slice(0, 30), slice(30, 40), slice(5, 6)):
        own = np.arange(40)[rows]
        expected = slow_nearest(pool[rows], pool, 3, own)
        assert [set(row) for row in nearest(pool[rows], pool, 3, own, workspace).tolist()] == expected


@pytest.mark.parametrize("block", [1, 3_000, 2**26])
def test_first_hit_goes(block: int) -> None:
    pool = fan(np.array([0.0, 0.5, 0.5, 1.0, 2.0, 3.0]))
    queries = pool[[0, 2, 4]]
    found = np.array([[3, 1, 0], [2, 1, 0], [3, 4, 5]])
    kept = [set(row) for row in drop_nearest(queries, pool, found, block).tolist()]
    assert kept == [{1, 3}, {0, 2}, {3, 5}], "itself; the first of two equals; itself"
