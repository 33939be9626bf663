"""The search that computes each similarity once gives the neighbors of the search that computes each twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge import registry
from biasgauge.scores import engine, nearest
from biasgauge.scores.engine import ScoringTask, compute
from biasgauge.scores.neighbors import AllPairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from tests.scores.conftest import Slow, Worlds

VOTING = ("nbm", "nbm_du2021", "nbm_zhang2020")


@pytest.fixture
def searches(room: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make the engine search in small tiles, with room for so many more than k; the list tells how often it did."""
    made: list[int] = []

    class Counted(AllPairs):
        def __init__(self, pool: NDArray[np.float32], k: int, *, exclude_self: bool) -> None:
            made.append(len(pool))
            super().__init__(pool, k, exclude_self=exclude_self, tile=16, room=k + room)

    monkeypatch.setattr(engine, "AllPairs", Counted)
    return made


@pytest.mark.parametrize("room", [1, 3, 64])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_equal_to_slow_loops(
    kind: str,
    seed: int,
    worlds: Worlds,
    slow: Slow,
    same_scores: Callable[..., None],
    searches: list[int],
) -> None:
    """With little room, rows are cut back and done again; with much, they are not: the scores are the same."""
    task = replace(worlds(kind, seed, VOTING), least_for_all_pairs=0)
    same_scores(compute(task, n_jobs=2), slow.scores(task), task)
    assert len(searches) == (0 if "pool" in kind else 2)  # one for each rule of leaving out the word itself


def neighbors(pool: NDArray[np.float32], k: int) -> NDArray[np.intp]:
    search = AllPairs(pool, k, exclude_self=True)
    for job in (*search.first_jobs(), *search.second_jobs()):
        job()
    parts = [search.neighbors(slice(start, min(start + 700, len(pool)))) for start in range(0, len(pool), 700)]
    return np.concatenate(parts)


def unit(vectors: NDArray[Any]) -> NDArray[np.float32]:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize("spread", [0.02, 0.3, 3.0])
def test_groups_side_by_side_do_not_mislead_it(spread: float) -> None:
    """Vectors sorted by group: a tile may hold more near ones than there is room for."""
    random = np.random.default_rng(3)
    groups = np.repeat(random.standard_normal((4, 12)), 1300, axis=0)
    pool = unit(groups + spread * random.standard_normal(groups.shape))
    found = neighbors(pool, 20)
    rows = random.choice(len(pool), 150, replace=False)
    expected = nearest(pool[rows], pool, 20, rows)
    np.testing.assert_array_equal(np.sort(found[rows], axis=1), np.sort(expected, axis=1))


def test_equal_vectors_go_by_their_row() -> None:
    random = np.random.default_rng(4)
    pool = unit(np.repeat(random.standard_normal((500, 6)), 12, axis=0))  # twelve copies of each, side by side
    found = neighbors(pool, 5)
    for row in (0, 11, 12, 3000, 5999):
        copies = [one for one in range(row // 12 * 12, row // 12 * 12 + 12) if one != row]
        assert sorted(found[row].tolist()) == copies[:5]


@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
def test_the_engine_gives_a_word_one_score_whichever_way_it_searches(share: float) -> None:
    random = np.random.default_rng(5)
    vectors = random.standard_normal((9000, 10)).astype(np.float32)
    rows = random.permutation(9000)[: round(share * 9000)]
    ends = np.arange(6)
    task = ScoringTask(
        vectors,
        rows,
        ends[::2],
        ends[1::2],
        [registry.get("measure", "nbm"), registry.get("measure", "nbm_du2021")],
        30,
    )
    some = slice(0, 40)
    alone = ScoringTask(vectors, rows[some], ends[::2], ends[1::2], task.measures, 30)
    assert compute(task)[:, :, some].tobytes() == compute(alone).tobytes()
