"""Scores of a few vectors in two dimensions, worked out on paper."""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge import registry
from biasgauge.errors import ParameterError
from biasgauge.scores.engine import ScoringTask, compute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

NEIGHBORHOODS = ("nbm", "nbm_du2021", "nbm_zhang2020")
RANGES = {"dbwa": (-2, 2), "ripa": (-inf, inf), "ripa_unit": (-1, 1), **dict.fromkeys(NEIGHBORHOODS, (-1, 1))}


def scored(
    name: str,
    vectors: Sequence[Sequence[float]],
    word: int,
    *,
    k: int = 1,
    pool: Sequence[int] | None = None,
    dtype: DTypeLike = np.float32,
) -> float:
    """Score of one row against the pair (row 0, row 1)."""
    table = np.array(vectors, dtype)
    rows = np.array([word]), np.array([0]), np.array([1])
    task = ScoringTask(table, *rows, [registry.get("measure", name)], k, None if pool is None else np.array(pool))
    return float(compute(task)[0, 0, 0])


AXES = ((1.0, 0.0), (0.0, 1.0))
UNEVEN = ((3.0, 0.0), (0.0, 4.0))


@pytest.mark.parametrize(
    ("name", "ends", "word", "expected"),
    [
        ("dbwa", AXES, (3, 4), 3 / 5 - 4 / 5),
        ("dbwa", UNEVEN, (3, 4), 3 / 5 - 4 / 5),  # only the directions of the ends count
        ("dbwa", ((1, 0), (-1, 0)), (7, 0), 2),  # as far to the first end as can be
        ("dbwa", ((1, 0), (-1, 0)), (-7, 0), -2),
        ("dbwa", AXES, (5, 5), 0),
        ("dbwa", ((2, 0), (5, 0)), (1, 1), 0),  # the ends lie in one direction: nothing is nearer to one
        ("ripa", AXES, (3, 4), (3 - 4) / sqrt(2)),
        ("ripa", UNEVEN, (3, 4), (3 * 3 - 4 * 4) / 5),  # the longer end turns the direction
        ("ripa", UNEVEN, (6, 8), 2 * (3 * 3 - 4 * 4) / 5),  # twice as long, twice the score
        ("ripa", ((2, 0), (5, 0)), (4, 1), -4),  # the direction points from the second end to the first
        ("ripa_unit", UNEVEN, (3, 4), (3 * 3 - 4 * 4) / 25),
        ("ripa_unit", UNEVEN, (6, 8), (3 * 3 - 4 * 4) / 25),
        ("ripa_unit", ((2, 0), (5, 0)), (-9, 0), 1),
    ],
)
def test_linear_measures(name: str, ends: Sequence[Sequence[float]], word: Sequence[float], expected: float) -> None:
    assert scored(name, [*ends, word], 2) == pytest.approx(expected, abs=1e-6)


# Rows: the ends; the word (1, 1); then neighbors. The nearest to (1, 1) by cosine come first.
CIRCLE = [
    (1.0, 0.0),
    (0.0, 1.0),
    (1.0, 1.0),
    (1.0, 0.9),  # nearer to the first end
    (0.8, 1.0),  # nearer to the second
    (1.0, 0.7),  # to the first
    (1.0, 0.5),  # to the first
]


@pytest.mark.parametrize("name", NEIGHBORHOODS)
@pytest.mark.parametrize(
    ("k", "votes"), [(1, [1]), (2, [1, -1]), (3, [1, -1, 1]), (4, [1, -1, 1, 1]), (6, [1, -1, 1, 1, 1, -1])]
)
def test_neighbors_vote_by_their_own_bias(name: str, k: int, votes: list[int]) -> None:
    assert scored(name, CIRCLE, 2, k=k) == pytest.approx(sum(votes) / k, abs=1e-7)


@pytest.mark.parametrize("name", NEIGHBORHOODS)
def test_only_the_pool_votes(name: str) -> None:
    assert scored(name, CIRCLE, 2, k=1, pool=[2, 4, 1]) == -1
    assert scored(name, CIRCLE, 2, k=2, pool=[6, 2, 4, 4, 1]) == 0


TIES = [
    ("axes", (1, 0), (0, 1), (2, 2), np.float32),
    ("turned", (1, 2), (2, -1), (3, 1), np.float32),  # of length √5 both, at right angles; (3, 1) is their sum
    ("half precision", (1, 2), (2, -1), (3, 1), np.float16),
    ("tenths", (0.1, 0.2), (0.2, -0.1), (0.3, 0.1), np.float64),  # in single precision they are no tenths
    ("uneven", (1, 2), (20, -10), (3, 1), np.float32),
    ("opposite", (3, 4), (-3, -4), (-4, 3), np.float32),
    ("in one direction", (1, 2), (3, 6), (5, -1), np.float32),
]


@pytest.mark.parametrize(
    ("first", "second", "between", "dtype"), [case[1:] for case in TIES], ids=[case[0] for case in TIES]
)
def test_a_neighbor_between_the_ends(
    first: Sequence[float], second: Sequence[float], between: Sequence[float], dtype: DTypeLike
) -> None:
    beside = [between[0] + 0.01, between[1] + 0.01]
    vectors = [first, second, between, beside]
    assert scored("nbm", vectors, 3, dtype=dtype) == 0, "counts for neither"
    assert scored("nbm_zhang2020", vectors, 3, dtype=dtype) == 1, "counts for the first"
    swapped = [second, first, between, beside]
    assert scored("nbm", swapped, 3, dtype=dtype) == 0
    assert scored("nbm_zhang2020", swapped, 3, dtype=dtype) == 1


def test_a_neighbor_nearly_between_the_ends_takes_its_side() -> None:
    for side in (1, -1):
        vectors = [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0 - side * 1e-9), (1.0, 1.1)]
        assert scored("nbm", vectors, 3, dtype=np.float64) == side
        assert scored("nbm_zhang2020", vectors, 3, dtype=np.float64) == side


def test_ties_count_among_the_k() -> None:
    vectors = [(1, 0), (0, 1), (1, 1), (3, 3), (1, 0.9), (1, 1.05)]
    # Neighbors of (1, 1.05) in order: (1, 1) and (3, 3) without bias, then (1, 0.9) to the first end.
    assert [scored("nbm", vectors, 5, k=k) for k in (2, 3)] == pytest.approx([0, 1 / 3])
    assert [scored("nbm_zhang2020", vectors, 5, k=k) for k in (2, 3)] == [1, 1]


def test_first_hit_leaves_out_the_nearest_whoever_it_is() -> None:
    # Rows 2 and 3 have one vector; the first hit of a search from row 3 is row 2, so row 3 votes on itself.
    vectors = [(1, 0), (0, 1), (1, 0.9), (1, 0.9), (0.5, 1)]
    assert scored("nbm", vectors, 3, k=1) == 1, "the other of the two"
    assert scored("nbm_du2021", vectors, 3, k=1) == 1, "itself"
    # With the word outside the pool the nearest word is lost, though it is another one.
    assert scored("nbm", vectors, 3, k=1, pool=[2, 4]) == 1
    assert scored("nbm_du2021", vectors, 3, k=1, pool=[2, 4]) == -1
    # Of many copies the first one in the pool goes, so that the others vote.
    copies = [(1, 0), (0, 1), *[(1, 0.9)] * 3, (0.2, 1)]
    assert scored("nbm", copies, 4, k=2) == 1
    assert scored("nbm_du2021", copies, 4, k=2) == 1
    assert scored("nbm_du2021", copies, 4, k=2, pool=[2, 3, 5]) == 0


@pytest.mark.parametrize("name", registry.names("measure"))
def test_zero_vectors_have_no_score(name: str) -> None:
    vectors = [(1, 0), (0, 1), (0, 0), (1, 2), (2, 1)]
    assert np.isnan(scored(name, vectors, 2))
    assert not np.isnan(scored(name, vectors, 3))
    assert np.isnan(scored(name, [(0, 0), *vectors[1:]], 3)), "the first end"
    assert np.isnan(scored(name, [vectors[0], (0, 0), *vectors[2:]], 3)), "the second end"


@pytest.mark.parametrize("name", NEIGHBORHOODS)
def test_zero_vectors_are_nobodys_neighbors(name: str) -> None:
    vectors = [(1, 0), (0, 1), (0, 0), (1, 2), (2, 1)]
    assert not np.isnan(scored(name, vectors, 3, k=3))
    assert np.isnan(scored(name, vectors, 3, k=4)), "three others have a direction"


@pytest.mark.parametrize("name", ["ripa", "ripa_unit"])
def test_equal_ends_have_no_direction(name: str) -> None:
    assert np.isnan(scored(name, [(1, 2), (1, 2), (3, 4)], 2))


def test_unknown_measure() -> None:
    names = ", ".join(registry.names("measure"))
    with pytest.raises(ParameterError, match=rf"^A measure must be one of {names}\. Got 'weat'\.$"):
        registry.get("measure", "weat")


def test_a_measure_is_handed_back_as_it_is() -> None:
    assert registry.get("measure", registry.get("measure", "nbm")) is registry.get("measure", "nbm")


def test_shipped_measures() -> None:
    assert registry.names("measure") == ("dbwa", "nbm", "nbm_du2021", "nbm_zhang2020", "ripa", "ripa_unit")


@pytest.mark.parametrize("name", registry.names("measure"))
def test_the_range_is_that_of_the_definition_and_both_ends_are_reached(name: str) -> None:
    """The ends of the pair lie opposite each other; the word at one of them, among neighbors that lean as it does."""
    assert (registry.get("measure", name).low, registry.get("measure", name).high) == RANGES[name]
    if isfinite(registry.get("measure", name).high):
        for end, side in ((registry.get("measure", name).high, 1.0), (registry.get("measure", name).low, -1.0)):
            near = [(side, 0.1), (side, 0.2), (side, 0.3), (-side, 0.1)]
            assert scored(name, [(1, 0), (-1, 0), (side, 0), *near], 2, k=2, pool=[3, 4, 5, 6]) == pytest.approx(end)
