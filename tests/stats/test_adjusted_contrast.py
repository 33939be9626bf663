"""Contrasts at equal covariates, and effective numbers of words, against slow references and other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from biasgauge.core import Floats, Places
from biasgauge.stats import (
    TableSide,
    contrast_estimate,
    contrast_parts,
    effective_words,
    means_at_equal_covariates,
    near_groups,
)

WEAT = np.array([[1.0, -1.0], [-1.0, 1.0]])


def covariates(side: TableSide) -> np.ndarray:
    assert side.covariates is not None
    return side.covariates


def value_of(*arguments: Any) -> float:  # noqa: ANN401 - those of contrast_estimate
    value = contrast_estimate(*arguments).value
    assert value is not None
    return value


def p_of(*arguments: Any) -> float:  # noqa: ANN401 - those of contrast_estimate
    p = contrast_estimate(*arguments).p
    assert p is not None
    return p


def drawn_side(random: np.random.Generator, sizes: tuple[int, int], powers: int = 2) -> TableSide:
    groups = np.repeat([0, 1], sizes)
    frequency = random.normal(groups * 0.7, 1.0)
    return TableSide(groups, np.stack([frequency**power for power in range(1, powers + 1)], axis=1))


def reference(table: np.ndarray, rows: TableSide, columns: TableSide) -> tuple[float, float, float, float]:
    """Value and components of the variance, from one regression of all cells on products of columns, and loops."""
    designs = []
    for side in (rows, columns):
        members = np.stack([side.groups == group for group in range(2)], axis=1).astype(float)
        designs.append(np.hstack([members, covariates(side) - covariates(side).mean(axis=0)]))
    r, c = designs
    products = np.einsum("ip,jq->ijpq", r, c).reshape(table.size, -1)
    fitted = np.linalg.lstsq(products, table.ravel(), rcond=None)[0].reshape(r.shape[1], c.shape[1])
    value = float((WEAT * fitted[:2, :2]).sum())
    r_inverse, c_inverse = np.linalg.inv(r.T @ r) @ r.T, np.linalg.inv(c.T @ c) @ c.T
    h, k = np.diag(r @ r_inverse), np.diag(c @ c_inverse)
    weights = r_inverse[:2].T @ WEAT @ c_inverse[:2]
    residual = table - r @ r_inverse @ table - table @ (c @ c_inverse).T + r @ fitted @ c.T
    targets = attributes = both = 0.0
    row_residuals = table @ c_inverse.T - r @ fitted
    column_residuals = table.T @ r_inverse.T - c @ fitted.T
    for i in range(len(table)):
        addend = sum((r_inverse[:2].T @ WEAT)[i, g] * row_residuals[i, g] for g in range(2))
        targets += addend**2 / (1 - h[i])
    for j in range(table.shape[1]):
        addend = sum((WEAT @ c_inverse[:2])[g, j] * column_residuals[j, g] for g in range(2))
        attributes += addend**2 / (1 - k[j])
    for i in range(len(table)):
        for j in range(table.shape[1]):
            both += (weights[i, j] * residual[i, j]) ** 2 / ((1 - h[i]) * (1 - k[j]))
    return value, targets, attributes, both


@pytest.mark.parametrize("sizes", [((8, 8), (8, 8)), ((5, 12), (9, 6))])
def test_it_is_the_least_squares_fit_of_all_cells_by_products_of_both_designs(
    sizes: tuple[tuple[int, int], tuple[int, int]],
) -> None:
    random = np.random.default_rng(3)
    rows, columns = (drawn_side(random, side) for side in sizes)
    table = random.normal(size=(len(rows.groups), len(columns.groups)))
    value, targets, attributes, both = reference(table, rows, columns)
    estimate = contrast_estimate(table, rows, columns)
    assert estimate.value == pytest.approx(value, rel=1e-9)
    expected = {"targets": targets, "attributes": attributes, "both": both}
    assert dict(estimate.variances) == pytest.approx(expected, rel=1e-9)


def test_along_one_attribute_it_is_ordinary_regression_with_robust_errors() -> None:
    random = np.random.default_rng(5)
    rows = drawn_side(random, (14, 11))
    lean = random.normal(size=25)
    estimate = contrast_estimate(lean[:, None], rows, [0], ((1.0,), (-1.0,)))
    design = sm.add_constant(np.column_stack([rows.groups == 0, covariates(rows)]).astype(float))
    fit = sm.OLS(lean, design).fit(cov_type="HC2")
    assert estimate.value == pytest.approx(fit.params[1], rel=1e-9)
    assert estimate.se == pytest.approx(fit.bse[1], rel=1e-9)


def test_what_the_covariates_do_to_any_words_is_taken_out() -> None:
    random = np.random.default_rng(7)
    rows, columns = drawn_side(random, (20, 20)), drawn_side(random, (15, 15))
    f, g = covariates(rows)[:, 0], covariates(columns)[:, 0]
    noise = random.normal(0, 1e-6, (40, 30))
    table = np.outer(f, g) + f[:, None] ** 2 - 0.3 * np.outer(f**2, g) + noise
    assert abs(value_of(table, rows.groups, columns.groups)) > 0.05
    assert value_of(table, rows, columns) == pytest.approx(0.0, abs=1e-5)


def test_an_added_contrast_stays() -> None:
    random = np.random.default_rng(8)
    rows, columns = drawn_side(random, (20, 20)), drawn_side(random, (15, 15))
    table = random.normal(size=(40, 30))
    signs = np.where(rows.groups == 0, 0.5, -0.5)[:, None] * np.where(columns.groups == 0, 0.5, -0.5)
    moved = value_of(table + 0.4 * signs, rows, columns)
    assert moved - value_of(table, rows, columns) == pytest.approx(0.4)


def test_lists_that_the_covariate_separates_have_no_contrast() -> None:
    groups = np.repeat([0, 1], 6)
    rows = TableSide(groups, groups[:, None].astype(float))
    estimate = contrast_estimate(np.random.default_rng(0).normal(size=(12, 12)), rows, groups)
    assert estimate.value is None
    assert "separate" in str(estimate.reason)


@pytest.mark.parametrize("powers", [0, 1, 2])
@pytest.mark.parametrize("sizes", [(1, 7), (6, 4), (30, 20)])
def test_means_without_each_word_are_those_of_the_shorter_side(sizes: tuple[int, int], powers: int) -> None:
    """Least squares anew without the word; one word far from all others makes the rest collinear where it is left."""
    random = np.random.default_rng(3)
    side = drawn_side(random, sizes, 2)
    known = covariates(side)[:, :powers]
    known[-1:] *= 40
    side = TableSide(side.groups, known if powers else None)
    scores = random.standard_normal((sum(sizes), 2))
    differences = np.einsum("gk,wgk->w", WEAT, side.means_without_each(scores))
    for word, difference in enumerate(differences):
        left = np.arange(sum(sizes)) != word
        rest = TableSide(side.groups[left] if sizes[0] > 1 or word else side.groups[left] - 1, known[left])
        if len(rest.sizes) < 2 or (powers and rest.collinear):
            assert np.isnan(difference)
            continue
        design = np.column_stack([np.eye(2)[rest.groups], known[left] - known[left].mean(axis=0)])
        fit = np.linalg.lstsq(design, scores[left], rcond=None)[0]
        assert difference == pytest.approx((WEAT * fit[:2]).sum(), rel=1e-8)


def test_means_at_equal_covariates_are_those_of_every_side_by_itself() -> None:
    random = np.random.default_rng(4)
    sides = [drawn_side(random, (7, 5)) for _ in range(3)]
    scores = random.standard_normal((3, 2, 12))
    means = means_at_equal_covariates(scores, sides[0].groups, np.stack([covariates(side) for side in sides]))
    for found, score, side in zip(means, scores, sides, strict=True):
        np.testing.assert_allclose(found, score @ side.inverse[:2].T, rtol=1e-12)


def test_blocks_of_residuals_change_nothing() -> None:
    random = np.random.default_rng(11)
    rows, columns = drawn_side(random, (6, 7)), drawn_side(random, (8, 5))
    tables = random.normal(size=(5, 3, 13, 13))
    one, other = (contrast_parts(tables, rows, columns, block=block) for block in (1, 2**24))
    np.testing.assert_allclose(one.se, other.se, rtol=1e-12)


def test_groups_of_the_same_word_count_once() -> None:
    cosines = np.kron(np.eye(5), np.ones((3, 3)))
    cosines[cosines == 0] = 0.2
    assert effective_words(cosines) == pytest.approx(5)


def test_words_of_one_topic_count_in_full_however_near_the_topic_is() -> None:
    random = np.random.default_rng(2)
    vectors = random.normal(size=(40, 50)) + 2.0
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert effective_words(vectors @ vectors.T) > 36


def test_pairs_of_near_words_count_whichever_way_they_are_ordered() -> None:
    """Two groups of two among eight words: n² / (n + Σ r) with r = (.8 − .2) / (1 − .2) for two pairs, both ways."""
    cosines = np.full((8, 8), 0.2)
    cosines[0, 1] = cosines[1, 0] = cosines[2, 3] = cosines[3, 2] = 0.8
    np.fill_diagonal(cosines, 1.0)
    order = np.random.default_rng(0).permutation(8)
    for table in (cosines, cosines[np.ix_(order, order)]):
        assert effective_words(table) == pytest.approx(64 / (8 + 4 * 0.75))


@pytest.mark.parametrize("words", [1, 2, 3])
def test_three_words_or_fewer_count_in_full(words: int) -> None:
    assert effective_words(np.ones((words, words))) == words


def grouped_words(random: np.random.Generator, groups: int, size: int, share: float) -> Floats:
    """Cosines of words of one topic; those of a group share a part of the variance that the topic leaves."""
    centers = np.repeat(random.normal(size=(groups, 25)), size, axis=0)
    words = random.normal(size=25) + np.sqrt(share) * centers
    words = words + np.sqrt(1 - share) * random.normal(size=words.shape)
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    return np.asarray(words @ words.T)


def test_few_groups_of_near_words_count_for_fewer_though_they_raise_what_is_usual() -> None:
    """Three groups of eight words that share .4 of their variance: 24 / (1 + 7 × .4) = 6.3 words."""
    random = np.random.default_rng(1)
    numbers = [effective_words(grouped_words(random, 3, 8, 0.4)) for _ in range(40)]
    assert 6 < np.mean(numbers) < 14  # by pairs alone: 20
    assert np.mean([effective_words(grouped_words(random, 3, 8, 0.0)) for _ in range(40)]) > 22


def test_a_few_words_far_from_the_topic_do_not_make_a_group_of_all_others() -> None:
    random = np.random.default_rng(3)
    words = random.normal(size=(25, 40))
    words[:22] += 2 * random.normal(size=40)
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    assert effective_words(words @ words.T) > 24


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_those_of_the_largest_mean_silhouette(seed: int) -> None:
    """Silhouettes word by word, from their definition; groups of average linkage from SciPy."""
    cosines = grouped_words(np.random.default_rng(seed), 4, 4, 0.5)
    distances = 1 - cosines
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), "average")
    best: tuple[float, Places] = (-1.0, np.zeros(16, np.intp))
    for number in range(2, 9):
        labels = fcluster(tree, number, "maxclust")
        widths = []
        for word, label in enumerate(labels.tolist()):
            others = {
                other: np.mean([distances[word, w] for w in np.flatnonzero(labels == other) if w != word] or [0.0])
                for other in np.unique(labels).tolist()
            }
            same = others.pop(label)
            nearest = min(others.values())
            widths.append(0.0 if (labels == label).sum() == 1 else (nearest - same) / max(nearest, same))
        if np.mean(widths) > best[0]:
            best = float(np.mean(widths)), labels.astype(np.intp)
    groups = near_groups(cosines)
    assert groups is not None
    np.testing.assert_array_equal(groups[:, None] == groups, best[1][:, None] == best[1])


@pytest.mark.parametrize("words", [1, 4, 5])
def test_lists_too_short_for_groups_have_none(words: int) -> None:
    assert near_groups(np.eye(words)) is None


def test_lists_with_a_word_without_direction_have_no_groups() -> None:
    cosines = np.eye(8)
    cosines[3] = cosines[:, 3] = np.nan
    assert near_groups(cosines) is None


def test_words_as_far_from_each_other_as_from_all_have_no_groups() -> None:
    assert near_groups(np.ones((12, 12))) is None


@pytest.mark.calibration
@pytest.mark.parametrize(("groups", "size"), [(8, 2), (4, 4), (3, 8)])
def test_size_holds_where_words_come_in_groups(groups: int, size: int) -> None:
    """Words of a group share .6 of the variance of what they lean to; vectors have cosines to match."""
    random = np.random.default_rng([groups, size])
    rejected = {"plain": 0, "effective": 0}
    draws = 500
    for _ in range(draws):
        sides, vectors = [], []
        for _ in range(2):
            centers = np.repeat(random.normal(size=(2 * groups, 100)), size, axis=0)
            words = np.sqrt(0.6) * centers + np.sqrt(0.4) * random.normal(size=(2 * groups * size, 100))
            words /= np.linalg.norm(words, axis=1, keepdims=True)
            labels = np.repeat([0, 1], groups * size)
            numbers = np.array([effective_words(some @ some.T) for some in (words[labels == 0], words[labels == 1])])
            sides.append(TableSide(labels, effective=numbers))
            vectors.append(words)
        table = vectors[0] @ vectors[1].T
        rejected["effective"] += p_of(table, *sides) < 0.05
        rejected["plain"] += p_of(table, sides[0].groups, sides[1].groups) < 0.05
    assert rejected["effective"] <= draws * (0.05 + 2 * np.sqrt(0.05 * 0.95 / draws))
    assert rejected["plain"] > 1.5 * rejected["effective"]
