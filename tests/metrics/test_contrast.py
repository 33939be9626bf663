"""The contrast of an association test: three tests of one number, and the interval that is theirs together."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from biasgauge.metrics import contrast_test, weat_from_similarities
from biasgauge.metrics.contrast import frequency_powers
from biasgauge.metrics.weat import weat
from biasgauge.stats import Contrast, Resampling
from biasgauge.stats.contrasts import TableSide

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats


def groups(*sizes: int) -> Any:  # noqa: ANN401 - whole numbers
    return np.repeat(np.arange(len(sizes)), sizes)


def cosines(seed: int, *sizes: int, pull: float = 0.0) -> Floats:
    """Cosines of X + Y with A + B, of random vectors that lean to both sides of one direction."""
    random = np.random.default_rng(seed)
    signs = [*(1 - 2 * groups(*sizes[:2])), *(1 - 2 * groups(*sizes[2:]))]
    rows = random.normal(size=(sum(sizes), 12)) + pull * np.outer(signs, np.eye(12)[0])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    targets = sum(sizes[:2])
    return np.asarray(rows[:targets] @ rows[targets:].T)


def contrast_of(table: Floats, rows: Any, columns: Any) -> float:  # noqa: ANN401 - group of each word
    means = [[float(table[np.ix_(rows == i, columns == j)].mean()) for j in (0, 1)] for i in (0, 1)]
    return means[0][0] - means[0][1] - means[1][0] + means[1][1]


def brute_p(table: Floats, first: int, columns: Any) -> float:  # noqa: ANN401 - group of each word
    """Equal-tailed p of the contrast over every split of the rows."""
    own = contrast_of(table, groups(first, len(table) - first), columns)
    found = []
    for members in combinations(range(len(table)), first):
        rows = np.ones(len(table), int)
        rows[list(members)] = 0
        found.append(contrast_of(table, rows, columns))
    below, above = (sum(one <= own + 1e-12 for one in found), sum(one >= own - 1e-12 for one in found))
    return min(1.0, 2 * min(below, above) / len(found))


@pytest.mark.parametrize("sizes", [(4, 4, 4, 4), (3, 5, 4, 2), (5, 3, 3, 4)])
@pytest.mark.parametrize("pull", [0.0, 1.0, 3.0])
def test_each_side_is_split_and_the_largest_p_counts(sizes: tuple[int, ...], pull: float) -> None:
    table = cosines(3, *sizes, pull=pull)
    rows, columns = groups(*sizes[:2]), groups(*sizes[2:])
    found = contrast_test(table, rows, columns)
    assert found.value == pytest.approx(contrast_of(table, rows, columns), abs=1e-12)
    assert found.p_targets == pytest.approx(brute_p(table, sizes[0], columns), abs=1e-12)
    assert found.p_attributes == pytest.approx(brute_p(table.T, sizes[2], rows), abs=1e-12)
    assert found.contrast.p is not None
    assert found.p == max(found.contrast.p, found.p_targets or 0, found.p_attributes or 0)


@given(st.integers(0, 500), st.floats(0, 2), st.floats(0.5, 0.96))
def test_the_joint_interval_excludes_zero_exactly_where_p_is_small(seed: int, pull: float, level: float) -> None:
    table = cosines(seed, 5, 5, 5, 5, pull=pull)
    found = contrast_test(table, groups(5, 5), groups(5, 5))
    low, high = found.interval(level)
    assert found.p is not None
    assert low is not None
    assert high is not None
    if abs(found.p - (1 - level)) > 1e-9:
        assert (found.p <= 1 - level) == (low > 0 or high < 0)
    own = found.contrast.at(level)
    assert low <= (own.low or 0) <= found.value <= (own.high or 0) <= high


def test_replicates_are_split_by_their_mean() -> None:
    tables = np.stack([cosines(seed, 4, 4, 4, 4, pull=1.0) for seed in range(3)])
    found = contrast_test(tables, groups(4, 4), groups(4, 4))
    assert found.p_targets == pytest.approx(brute_p(tables.mean(axis=0), 4, groups(4, 4)), abs=1e-12)
    assert found.value == pytest.approx(np.mean([contrast_of(one, groups(4, 4), groups(4, 4)) for one in tables]))


def test_what_is_not_set_against_another_is_not_split() -> None:
    table = cosines(1, 3, 3, 4, 4)
    lean = contrast_test(table, groups(6), groups(8), ((1.0,),))
    assert (lean.p_targets, lean.p_attributes) == (None, None)
    assert lean.p == lean.contrast.p
    assert lean.interval(0.9) == (lean.contrast.at(0.9).low, lean.contrast.at(0.9).high)
    order = contrast_test(table, groups(3, 3), groups(8), ((1.0,), (-1.0,)))
    assert order.p_attributes is None
    assert order.p_targets is not None
    third = tuple(tuple(1 / 3 if one == other else -1 / 6 for other in range(3)) for one in range(3))
    several = contrast_test(table, groups(2, 2, 2), groups(3, 3, 2), third)
    assert (several.targets, several.attributes) == (None, None)


def test_too_few_splits_leave_no_interval() -> None:
    """Two and two have six splits, of which none can have p ≤ .05."""
    found = contrast_test(cosines(1, 2, 2, 6, 6, pull=3.0), groups(2, 2), groups(6, 6))
    assert found.p_targets == pytest.approx(1 / 3)
    assert found.interval(0.95) == (None, None)
    alone = contrast_test(cosines(1, 1, 3, 4, 4), groups(1, 3), groups(4, 4))
    assert (alone.p, alone.interval(0.9)) == (None, (None, None))
    assert alone.contrast.reason == "a list has a single word, so that its spread is unknown"


def test_relabeled_attributes_are_found_as_seldom_as_promised() -> None:
    """Topics lean alike: the split of targets alone finds attributes that mean nothing, all three together do not."""
    random = np.random.default_rng(2)
    targets_alone = together = 0
    for _ in range(400):
        topics = random.normal(size=(2, 30))
        targets = topics[groups(6, 6)] + random.normal(0, 0.7, (12, 30))
        attributes = random.normal(size=(12, 30))  # of one pool: which are A and which B says nothing
        table = (targets / np.linalg.norm(targets, axis=1)[:, None]) @ (
            attributes / np.linalg.norm(attributes, axis=1)[:, None]
        ).T
        found = contrast_test(table, groups(6, 6), groups(6, 6))
        assert found.p is not None
        assert found.p_targets is not None
        targets_alone += found.p_targets <= 0.05
        together += found.p <= 0.05
    assert targets_alone / 400 > 0.25
    assert together / 400 <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ddof", [0, 1])
def test_the_contrast_of_weat_is_its_difference_of_means(seed: int, ddof: int) -> None:
    random = np.random.default_rng(seed)
    sets: dict[str, Any] = {
        name: random.normal(size=(size, 9)) for name, size in zip("xyab", (5, 7, 4, 6), strict=True)
    }
    found = weat(**sets, ddof=ddof, interval=Resampling("percentile", 0.8, 50))
    unit = {name: [row / np.linalg.norm(row) for row in rows] for name, rows in sets.items()}

    def s(word: Floats) -> float:
        return float(np.mean([word @ a for a in unit["a"]]) - np.mean([word @ b for b in unit["b"]]))

    s_x, s_y = [s(word) for word in unit["x"]], [s(word) for word in unit["y"]]
    assert found.contrast is not None
    difference = float(np.mean(s_x) - np.mean(s_y))
    assert found.contrast.value == pytest.approx(difference, abs=1e-12)
    assert found.effect_size == pytest.approx(difference / np.std([*s_x, *s_y], ddof=ddof), abs=1e-12)
    assert found.contrast.level == 0.8
    t = float(stats.t.ppf(0.9, found.contrast.df or 0.0))
    ends = [difference + side * t * (found.contrast.se or 0) for side in (-1, 1)]
    assert (found.contrast.low, found.contrast.high) == pytest.approx(ends)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_p_over_attributes_by_brute_force(alternative: Any) -> None:  # noqa: ANN401 - one of three words
    table = cosines(5, 3, 4, 3, 4, pull=0.4)
    rows, columns = groups(3, 4), groups(3, 4)
    blocks = [table[np.ix_(rows == i, columns == j)] for i in (0, 1) for j in (0, 1)]
    found = weat_from_similarities(*blocks, alternative=alternative, interval=None)
    own = contrast_of(table, rows, columns)
    hits = 0
    splits = list(combinations(range(7), 3))
    for members in splits:
        split = np.array([0 if place in members else 1 for place in range(7)])
        value = contrast_of(table, rows, split)
        hits += {
            "greater": value >= own - 1e-12,
            "less": value <= own + 1e-12,
            "two-sided": abs(value) >= abs(own) - 1e-12,
        }[alternative]
    assert found.p_attributes == pytest.approx(hits / len(splits), abs=1e-12)
    assert found.p_attributes_method == "exact"
    assert found.p_attributes_interval is not None
    assert found.p_attributes_interval.low == found.p_attributes


def test_p_over_attributes_is_drawn_where_there_are_many() -> None:
    random = np.random.default_rng(3)
    sets: dict[str, Any] = {name: random.normal(size=(12, 9)) for name in "xyab"}
    drawn = weat(**sets, max_exact=1_000, samples=4_000, interval=None)
    whole = weat(**sets, interval=None)
    assert (drawn.p_attributes_method, whole.p_attributes_method) == ("monte-carlo", "monte-carlo")
    assert drawn.p_attributes_interval is not None
    assert drawn.p_attributes_interval.low is not None
    assert drawn.p_attributes_interval.high is not None
    assert drawn.p_attributes_interval.low <= (whole.p_attributes or 0) <= drawn.p_attributes_interval.high


def test_the_new_numbers_survive_json_and_are_absent_where_undefined() -> None:
    random = np.random.default_rng(3)
    sets: dict[str, Any] = {name: random.normal(size=(4, 9)) for name in "xyab"}
    found = weat(**sets)
    content = found.to_dict()
    assert content["contrast"]["variances"].keys() == {"targets", "attributes", "both"}
    assert content["contrast"]["words"] == [[4, 4], [4, 4]]
    written = json.loads(json.dumps(content, allow_nan=False))
    assert Contrast.from_dict(written["contrast"]) == found.contrast
    assert (written["p_attributes"], written["p_attributes_method"]) == (found.p_attributes, "exact")
    empty = weat(np.empty((0, 9)), sets["y"], sets["a"], sets["b"])
    assert (empty.contrast, empty.p_attributes) == (None, None)


@pytest.mark.parametrize("levels", [(468,), (468, 977)])
def test_words_of_few_different_frequencies_have_an_adjusted_contrast(levels: tuple[int, ...]) -> None:
    """Equal frequencies adjust nothing, though their standard deviation is 9e-16; the square of two adds nothing."""
    table, lists = cosines(5, 6, 6, 6, 6, pull=1.0), groups(6, 6)
    log = np.log(np.resize(np.array(levels, float), 12))
    side = TableSide(lists, frequency_powers(lists, log))
    adjusted = contrast_test(table, side, lists).contrast
    # Both lists hold as many words of each frequency, so that the adjusted contrast is the plain one.
    assert adjusted.value == pytest.approx(contrast_of(table, lists, lists), abs=1e-12)
    assert adjusted.low is not None


def test_a_few_very_frequent_words_do_not_make_log_frequency_and_its_square_one_covariate() -> None:
    """One word of each list is far more frequent: f and f² correlate at −1, and do not tell the lists apart."""
    random = np.random.default_rng(2)
    table, lists = cosines(5, 12, 12, 8, 8, pull=1.0), groups(12, 12)
    log = random.normal(7.0, 0.1, 24)
    log[[0, 12]] = 1.0, 1.2
    assert abs(np.corrcoef(log, (log - log.mean()) ** 2)[0, 1]) > 0.99
    side = TableSide(lists, frequency_powers(lists, log))
    adjusted = contrast_test(table, side, groups(8, 8)).contrast
    # Least squares with log frequency and its square as they are.
    design = np.column_stack([lists == 0, lists == 1, log, log**2]).astype(float)
    means = np.linalg.lstsq(design, table[:, :8].mean(axis=1) - table[:, 8:].mean(axis=1), rcond=None)[0]
    assert adjusted.value == pytest.approx(means[0] - means[1], abs=1e-9)
    assert adjusted.low is not None
    separated = TableSide(lists, frequency_powers(lists, np.where(lists == 0, 3.0, 8.0) + random.normal(0, 0.01, 24)))
    assert contrast_test(table, separated, groups(8, 8)).contrast.low is None
