"""A bias direction from many pairs, direct and indirect bias, each against a slow computation of another kind."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.errors import ParameterError
from biasgauge.metrics import Direction, direct_bias, indirect_bias, pair_direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from biasgauge.metrics import Method

quick = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 10_000)
ALONG_X = Direction(np.array([1.0, 0.0]), None, "mean-difference")


def length(vector: Sequence[float]) -> float:
    return sqrt(sum(part * part for part in vector))


def unit(vector: Sequence[float]) -> list[float]:
    return [part / length(vector) for part in vector]


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(left * right for left, right in zip(one, other, strict=True))


def pairs(seed: int, count: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    shape = (count or int(random.integers(1, 9)), int(random.integers(2, 7)))
    return random.normal(size=shape) + 0.5, random.normal(size=shape) - 0.5


def principal_axes(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues, largest first, and eigenvectors of the covariance of the ends about the midpoints of their pairs."""
    dimensions = first.shape[1]
    covariance = np.zeros((dimensions, dimensions))
    for left, right in zip(first, second, strict=True):
        ends = np.array(unit(left)), np.array(unit(right))
        middle = (ends[0] + ends[1]) / 2
        for end in ends:
            covariance += np.outer(end - middle, end - middle)
    values, vectors = np.linalg.eigh(covariance / (2 * len(first)))
    return values[::-1], vectors[:, ::-1].T


@quick
@given(seed=seeds)
def test_principal_component_is_that_of_the_covariance(seed: int) -> None:
    first, second = pairs(seed)
    found = pair_direction(first, second)
    values, axes = principal_axes(first, second)
    if values[0] - values[1] > 1e-6:
        assert abs(found.vector @ axes[0]) == pytest.approx(1, abs=1e-9)
    assert found.explained is not None
    shares = np.zeros(len(values))
    shares[: len(found.explained)] = found.explained[: len(values)]
    np.testing.assert_allclose(shares, values / values.sum(), atol=1e-12)
    assert sum(found.explained) == pytest.approx(1)
    assert list(found.explained) == sorted(found.explained, reverse=True)
    assert found.method == "pca"


@quick
@given(seed=seeds)
def test_mean_difference(seed: int) -> None:
    first, second = pairs(seed)
    count = len(first)
    means = [[sum(column) / count for column in zip(*map(unit, side), strict=True)] for side in (first, second)]
    expected = unit([left - right for left, right in zip(*means, strict=True)])
    found = pair_direction(first, second, "mean-difference")
    np.testing.assert_allclose(found.vector, expected, atol=1e-12)
    assert found.explained is None
    assert found.method == "mean-difference"


@pytest.mark.parametrize("method", ["pca", "mean-difference"])
@quick
@given(seed=seeds)
def test_direction_has_length_one_and_points_to_the_first_ends(method: Method, seed: int) -> None:
    first, second = pairs(seed)
    found = pair_direction(first, second, method)
    mean = np.mean([np.array(unit(a)) - np.array(unit(b)) for a, b in zip(first, second, strict=True)], axis=0)
    assert length(found.vector.tolist()) == pytest.approx(1)
    assert found.vector @ mean > 0
    np.testing.assert_allclose(pair_direction(second, first, method).vector, -found.vector, atol=1e-9)


@pytest.mark.parametrize("method", ["pca", "mean-difference"])
@quick
@given(seed=seeds)
def test_direction_does_not_depend_on_lengths(method: Method, seed: int) -> None:
    first, second = pairs(seed)
    factors = np.exp(np.random.default_rng(seed).normal(size=(2, len(first), 1)))
    found = pair_direction(first * factors[0], second * factors[1], method)
    np.testing.assert_allclose(found.vector, pair_direction(first, second, method).vector, atol=1e-9)


def test_pairs_that_differ_in_one_direction_only() -> None:
    """Ends c ± t·d of length 1 with d at right angles to every c: all variance lies along d."""
    direction = np.array(unit([1, 2, 0, 2]))
    first, second = [], []
    for center, part in (((2, -1, 5, 0), 0.3), ((0, 1, 1, -1), 0.6), ((2, -1, -3, 0), 0.1)):
        across = np.array(unit(center)) * sqrt(1 - part**2)
        first.append(across + part * direction)
        second.append(across - part * direction)
    found = pair_direction(np.array(first), np.array(second))
    np.testing.assert_allclose(found.vector, direction, atol=1e-12)
    np.testing.assert_allclose(np.array(found.explained), [1, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(
        pair_direction(np.array(first), np.array(second), "mean-difference").vector, direction, atol=1e-12
    )


def test_two_directions_by_hand() -> None:
    """Halves ±(1, 0) and ±(0, 0.6): variances 1 and 0.36."""
    first = np.array([[1, 0], [0.8, 0.6]])
    second = np.array([[-1, 0], [0.8, -0.6]])
    found = pair_direction(first, second)
    np.testing.assert_allclose(found.vector, [1, 0], atol=1e-12)
    np.testing.assert_allclose(np.array(found.explained), [1 / 1.36, 0.36 / 1.36])
    np.testing.assert_allclose(pair_direction(first, second, "mean-difference").vector, unit([1, 0.6]))


def test_one_pair_gives_its_own_difference_by_either_method() -> None:
    first, second = np.array([[3.0, 4.0]]), np.array([[0.0, 2.0]])
    for method in ("pca", "mean-difference"):
        found = pair_direction(first, second, method)
        np.testing.assert_allclose(found.vector, unit([0.6, 0.8 - 1]))


@pytest.mark.parametrize("method", ["pca", "mean-difference"])
@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ([], [], "A direction needs pairs of two ends. Got 0 first and 0 second."),
        ([[1, 0]], [[1, 0], [0, 1]], "A direction needs pairs of two ends. Got 1 first and 2 second."),
        ([[1, 0]], [[0, 0]], "A direction cannot be found: an end of a pair is a zero vector."),
        ([[0, 0]], [[1, 0]], "A direction cannot be found: an end of a pair is a zero vector."),
        ([[1, 2]], [[1, 2]], "A direction cannot be found: the two ends of the pairs do not differ."),
        ([[0.1, 0.2, 0.3]], [[0.3, 0.6, 0.9]], "A direction cannot be found: the two ends of the pairs do not differ."),
    ],
)
def test_no_direction(method: Method, first: list[Any], second: list[Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        pair_direction(np.array(first, float), np.array(second, float), method)
    assert str(refusal.value) == sentence


def test_differences_that_cancel() -> None:
    there_and_back = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ParameterError, match="do not differ"):
        pair_direction(*there_and_back, "mean-difference")
    assert abs(pair_direction(*there_and_back).vector @ unit([1, -1])) == pytest.approx(1)


def test_unknown_method() -> None:
    with pytest.raises(ParameterError, match=r"Got 'median'\.$"):
        pair_direction(np.eye(2)[:1], np.eye(2)[1:], "median")  # type: ignore[arg-type]  # that is the point


WORDS = np.array([[2, 0], [-5, 0], [3, 4], [-3, 4], [0, 7], [0, 0]], dtype=float)


@pytest.mark.parametrize(
    ("c", "expected"),
    [
        (0, [1, 1, 1, 1, 0, np.nan]),
        (0.5, [1, 1, sqrt(0.6), sqrt(0.6), 0, np.nan]),
        (1, [1, 1, 0.6, 0.6, 0, np.nan]),
        (2, [1, 1, 0.36, 0.36, 0, np.nan]),
    ],
)
def test_direct_bias_by_hand(c: float, expected: list[float]) -> None:
    np.testing.assert_allclose(direct_bias(WORDS, ALONG_X, c), expected, atol=1e-12)


def test_direct_bias_without_strictness_sees_no_component_in_rounding() -> None:
    """A word from which the direction was taken out has none left, whatever the last bit says."""
    random = np.random.default_rng(0)
    direction = pair_direction(*pairs(3, 5))
    words = random.normal(size=(50, len(direction.vector)))
    left = words - np.outer(words @ direction.vector, direction.vector)
    assert np.any(left @ direction.vector != 0)
    np.testing.assert_array_equal(direct_bias(left, direction, 0), np.zeros(50))
    np.testing.assert_array_equal(direct_bias(words, direction, 0), np.ones(50))


def test_negative_strictness() -> None:
    with pytest.raises(ParameterError, match=r"'c' .* Got -1\.$"):
        direct_bias(WORDS, ALONG_X, -1)


def slow_indirect(word: Sequence[float], other: Sequence[float], direction: Sequence[float]) -> float:
    """β(w, v) = (w·v − w⊥·v⊥ / (‖w⊥‖ ‖v⊥‖)) / w·v for unit w and v, w⊥ = w − (w·g) g; Bolukbasi et al. 2016, §5.3."""
    units = [unit(word), unit(other)]
    across = [[part - dot(one, direction) * axis for part, axis in zip(one, direction, strict=True)] for one in units]
    similarity = dot(*units)
    return (similarity - dot(*across) / (length(across[0]) * length(across[1]))) / similarity


@quick
@given(seed=seeds)
def test_indirect_bias_is_the_formula_of_the_paper(seed: int) -> None:
    random = np.random.default_rng(seed)
    dimensions = int(random.integers(3, 8))
    word, other = random.normal(size=(2, dimensions))
    direction = Direction(np.array(unit(random.normal(size=dimensions).tolist())), None, "pca")
    expected = slow_indirect(word.tolist(), other.tolist(), direction.vector.tolist())
    assert indirect_bias(word, other, direction) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert indirect_bias(5 * other, 3 * word, direction) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_indirect_bias_by_hand() -> None:
    direction = Direction(np.array([1.0, 0.0, 0.0]), None, "pca")
    along_and_up, along_and_aside = np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0])
    assert indirect_bias(along_and_up, along_and_aside, direction) == pytest.approx(1), "only the direction is shared"
    upright = np.array([0.0, 3.0, 4.0])
    assert indirect_bias(upright, np.array([0.0, 4.0, 3.0]), direction) == pytest.approx(0), (
        "the direction plays no part"
    )
    # Similarity 1/2 + 1/2 = 1 of which the rest is 1 as well.
    assert indirect_bias(along_and_up, along_and_up, direction) == pytest.approx(0)
    # At right angles to each other: there is nothing to take a share of.
    assert indirect_bias(along_and_up, np.array([-1.0, 1.0, 0.0]), direction) is None


@pytest.mark.parametrize(
    ("word", "other"),
    [((0, 0), (1, 1)), ((1, 1), (0, 0)), ((3, 0), (1, 1)), ((1, 1), (-2, 0)), ((1, 1), (1, -1))],
)
def test_indirect_bias_undefined(word: tuple[float, float], other: tuple[float, float]) -> None:
    assert indirect_bias(np.array(word), np.array(other), ALONG_X) is None


def test_inputs_are_left_as_they_are() -> None:
    first, second = pairs(1)
    words = WORDS.copy()
    before = first.copy(), second.copy(), words.copy()
    direction = pair_direction(first, second)
    direct_bias(words, ALONG_X)
    indirect_bias(first[0], second[0], direction)
    for was, array in zip(before, (first, second, words), strict=True):
        np.testing.assert_array_equal(array, was)
