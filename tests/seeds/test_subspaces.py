"""Subspaces against scikit-learn, and on constructions with known answers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from biasgauge.analyses.seeds.subspaces import component_shares, mean_direction, pair_components


@pytest.fixture
def ends() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    return random.normal(size=(9, 15)) + 1.0, random.normal(size=(9, 15))


def test_components_are_those_of_scikit_learn(ends: tuple[np.ndarray, np.ndarray]) -> None:
    first, second = ends
    middle = (first + second) / 2
    theirs = PCA(n_components=9).fit(np.concatenate([first - middle, second - middle]))
    ours = pair_components(first, second)
    assert ours is not None
    np.testing.assert_allclose(ours.shares, theirs.explained_variance_ratio_, atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(ours.axes * theirs.components_, axis=1)), 1, atol=1e-9)
    np.testing.assert_allclose(component_shares((first - second) @ (first - second).T), ours.shares, atol=1e-12)


def test_pairs_along_one_axis_have_one_component() -> None:
    axis = np.array([3.0, 0, 4.0]) / 5
    middle = np.random.default_rng(0).normal(size=(6, 3))
    steps = np.array([1.0, 2, 3, 1, 5, 2])[:, None]
    found = pair_components(middle + steps * axis, middle - steps * axis)
    assert found is not None
    assert found.shares[0] == pytest.approx(1)
    np.testing.assert_allclose(found.axes[0], axis, atol=1e-9)


def test_the_sign_points_to_the_first_ends(ends: tuple[np.ndarray, np.ndarray]) -> None:
    first, second = ends
    one, other = pair_components(first, second), pair_components(second, first)
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(one.axes, -other.axes, atol=1e-9)
    assert ((first - second).sum(axis=0) @ one.axes.T >= 0).all()


def test_a_component_that_leans_to_neither_end_follows_the_first_pair() -> None:
    first = np.array([[1.0, 0], [-1, 0]])
    found = pair_components(first, np.zeros((2, 2)))
    assert found is not None
    assert found.axes[0].tolist() == [1, 0]


def test_subspaces_turn_with_the_vectors(ends: tuple[np.ndarray, np.ndarray]) -> None:
    turn = np.linalg.qr(np.random.default_rng(8).normal(size=(15, 15)))[0]
    one, turned = mean_direction(*ends), mean_direction(ends[0] @ turn, ends[1] @ turn)
    assert one is not None
    assert turned is not None
    np.testing.assert_allclose(one @ turn, turned, atol=1e-12)
    straight, rotated = pair_components(*ends), pair_components(ends[0] @ turn, ends[1] @ turn)
    assert straight is not None
    assert rotated is not None
    np.testing.assert_allclose(straight.axes @ turn, rotated.axes, atol=1e-8)
    np.testing.assert_allclose(straight.shares, rotated.shares, atol=1e-12)


def test_the_mean_difference_knows_no_pairing(ends: tuple[np.ndarray, np.ndarray]) -> None:
    one = mean_direction(*ends)
    other = mean_direction(ends[0], np.random.default_rng(0).permutation(ends[1]))
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(one, other, atol=1e-12)
    expected = ends[0].mean(axis=0) - ends[1].mean(axis=0)
    np.testing.assert_allclose(one, expected / np.linalg.norm(expected))


def test_sets_that_do_not_differ_have_no_direction(ends: tuple[np.ndarray, np.ndarray]) -> None:
    assert mean_direction(ends[0], ends[0][::-1]) is None
    assert pair_components(ends[0], ends[0]) is None
    assert pair_components(np.empty((0, 3)), np.empty((0, 3))) is None


def test_no_variance_has_no_share() -> None:
    assert component_shares(np.zeros((2, 2))).tolist() == [0, 0]
