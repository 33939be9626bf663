"""The engine against slow loops, on every awkward kind of model, and against itself in other company."""

from __future__ import annotations

from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge import registry
from biasgauge.core.geometry import unit_singles
from biasgauge.metrics import Linear
from biasgauge.scores import engine, neighbors
from biasgauge.scores.engine import Pool, compute

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from tests.scores.conftest import Slow, Worlds

    from biasgauge.scores.engine import ScoringTask


def _bytes(task: ScoringTask, **settings: Any) -> bytes:  # noqa: ANN401 - settings of the engine
    return compute(task, **settings).tobytes()


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_slow_loops(
    kind: str, seed: int, worlds: Worlds, slow: Slow, same_scores: Callable[..., None]
) -> None:
    task = worlds(kind, seed)
    same_scores(compute(task), slow.scores(task), task)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["random", "clustered", "zero vectors", "tiny pool"], indirect=True)
def test_equal_to_slow_loops_in_double_precision_throughout(
    kind: str, seed: int, worlds: Worlds, slow: Slow, same_scores: Callable[..., None]
) -> None:
    """Where no two neighbors are nearly as near, single-precision unit vectors have the same order."""
    task = worlds(kind, seed)
    same_scores(compute(task), slow.scores(task, single=False), task)


def test_every_kind_of_score_is_reached(worlds: Worlds, slow: Slow) -> None:
    """Ties, undefined scores and both signs do occur in the models that the engine is tested on."""
    ties = slow.scores(worlds("between the ends"))
    nbm, zhang = ([one.name for one in worlds("random").measures].index(name) for name in ("nbm", "nbm_zhang2020"))
    assert np.any(ties[nbm] != ties[zhang])
    assert np.isnan(slow.scores(worlds("zero vectors"))).any(axis=(1, 2)).all()
    assert np.isnan(slow.scores(worlds("pool too small"))[nbm]).all()
    assert np.isfinite(slow.scores(worlds("tiny pool"))).all()
    single, double = (slow.scores(worlds("near duplicates"), single=precision)[nbm] for precision in (True, False))
    assert np.isfinite(single).all()
    assert np.isfinite(double).all()


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_number_of_threads_does_not_matter(n_jobs: int, kind: str, worlds: Worlds) -> None:
    task = replace(worlds(kind), block_rows=16, block_bytes=1)
    assert _bytes(task, n_jobs=n_jobs) == _bytes(task, n_jobs=1)


def test_other_words_beside_a_word_do_not_matter(kind: str, worlds: Worlds) -> None:
    task = worlds(kind)
    whole = compute(task)
    random = np.random.default_rng(1)
    for size in (1, 2, 3, 7, 16, 33, len(task.rows)):
        chosen = random.choice(len(task.rows), size, replace=False)
        part = compute(replace(task, rows=task.rows[chosen]))
        assert part.tobytes() == np.ascontiguousarray(whole[:, :, chosen]).tobytes(), size


@pytest.mark.parametrize("dimensions", [2, 50, 100, 300])
@pytest.mark.parametrize("pairs", [1, 2, 5, 23])
def test_a_word_alone_scores_as_it_does_among_thousands(dimensions: int, pairs: int) -> None:
    random = np.random.default_rng(dimensions + pairs)
    vectors = random.normal(size=(3_000, dimensions)).astype(np.float32)
    ends = random.permutation(len(vectors))[: 2 * pairs]
    names = ("dbwa", "ripa", "ripa_unit")
    task = engine.ScoringTask(
        vectors, np.arange(len(vectors)), ends[::2], ends[1::2], [registry.get("measure", name) for name in names], k=1
    )
    whole = compute(task)
    order = random.permutation(len(vectors))
    np.testing.assert_array_equal(compute(replace(task, rows=order)), whole[:, :, order])
    for row in (0, 1, 1_023, 1_024, 2_999):
        np.testing.assert_array_equal(compute(replace(task, rows=np.array([row])))[:, :, 0], whole[:, :, row])


def _move_to_midpoint(word: NDArray[np.float32], direction: NDArray[np.float64]) -> None:
    """Change the last entries of a word until its product with a direction is halfway between two scores."""
    word[-3:] = 0
    score = np.float32(word.astype(np.float64) @ direction)
    midpoint = (float(score) + float(np.nextafter(score, np.float32(np.inf)))) / 2
    for entry in (-3, -2, -1):  # each brings the product nearer by the 24 bits of its own precision
        products = word.astype(np.float64) * direction  # exact: two factors of 24 bits
        word[entry] = -fsum([*products, -midpoint]) / direction[entry]


@pytest.mark.parametrize("pairs", [1, 5, 23])
def test_products_that_the_last_bit_rounds_are_summed_in_one_order(pairs: int) -> None:
    """Any two orders of summing them in double precision would round some of these scores to different numbers."""
    random = np.random.default_rng(pairs)
    vectors = random.normal(size=(2 * 23 + 600, 300)).astype(np.float32)
    ends, words = np.arange(2 * pairs), np.arange(2 * 23, len(vectors))
    measure = registry.get("measure", "ripa")
    assert isinstance(measure, Linear)
    task = engine.ScoringTask(vectors, words, ends[::2], ends[1::2], [measure], k=1)
    directions = task.directions(measure).astype(np.float32).astype(np.float64)
    for row in words:
        _move_to_midpoint(vectors[row], directions[row % pairs])
    scores = compute(task)
    order = random.permutation(len(words))
    np.testing.assert_array_equal(compute(replace(task, rows=words[order])), scores[:, :, order])
    one_pair = [compute(replace(task, first=ends[:1], second=ends[1:2], rows=words[at : at + 1])) for at in range(600)]
    np.testing.assert_array_equal(np.concatenate(one_pair, axis=2), scores[:, :1])


def test_a_word_asked_for_twice_scores_the_same(worlds: Worlds) -> None:
    task = worlds("random")
    twice = compute(replace(task, rows=np.concatenate([task.rows, task.rows[::-1]])))
    np.testing.assert_array_equal(twice[:, :, : len(task.rows)], twice[:, :, len(task.rows) :][:, :, ::-1])


@pytest.mark.parametrize(("rows", "block"), [(1, 1), (7, 4_000), (64, 10_000), (10_000, 2**40)])
def test_size_of_blocks_does_not_matter(rows: int, block: int, kind: str, worlds: Worlds) -> None:
    task = worlds(kind)
    assert _bytes(replace(task, block_rows=rows, block_bytes=block)) == _bytes(task)


def test_blocks_are_bounded() -> None:
    assert neighbors.block_rows(200_000) * 200_000 * 4 <= 2**26
    assert neighbors.block_rows(10**9) == 16
    assert neighbors.block_rows(0) == neighbors.block_rows(1) == 4_096


def test_order_and_repeats_of_the_pool_do_not_matter(worlds: Worlds) -> None:
    task = worlds("tiny pool")
    assert task.pool is not None
    for pool in (task.pool[::-1], np.unique(task.pool), np.tile(task.pool, 3)):
        assert _bytes(replace(task, pool=pool)) == _bytes(task)


def test_whole_vocabulary_as_a_pool_is_no_pool(worlds: Worlds) -> None:
    task = worlds("random")
    assert _bytes(replace(task, pool=np.arange(len(task.vectors)))) == _bytes(task)


def test_progress_tells_of_every_block(worlds: Worlds) -> None:
    told: list[tuple[int, int]] = []
    compute(replace(worlds("random"), block_bytes=1), progress=lambda done, total: told.append((done, total)))
    assert len(told) > 3
    assert told == [(number, len(told)) for number in range(1, len(told) + 1)]


def test_no_words_and_no_pairs(worlds: Worlds) -> None:
    task = worlds("random")
    none = np.array([], np.intp)
    assert compute(replace(task, rows=none)).shape == (len(task.measures), 5, 0)
    assert compute(replace(task, first=none, second=none)).shape == (len(task.measures), 0, len(task.rows))


def test_pool_leaves_zero_vectors_out(worlds: Worlds) -> None:
    task = worlds("zero vectors")
    pool = Pool.from_task(task)
    zero = ~task.vectors.any(axis=1)
    assert zero.any()
    np.testing.assert_array_equal(pool.pool_index == -1, zero)
    np.testing.assert_array_equal(pool.rows, np.flatnonzero(~zero))
    np.testing.assert_array_equal(pool.pool_index[pool.rows], np.arange(len(pool.rows)))
    np.testing.assert_array_equal(pool.unit, unit_singles(task.vectors[~zero]))
