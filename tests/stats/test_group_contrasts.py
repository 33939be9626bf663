"""Contrasts of groups against SciPy, statsmodels, a crossed bootstrap, and simulations with a known answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from biasgauge.errors import ParameterError
from biasgauge.metrics import weat_from_similarities
from biasgauge.stats import (
    compare_effect_sizes,
    compare_groups,
    contrast_estimate,
    slope_over_groups,
    slope_weights,
    welch,
)
from biasgauge.stats.group_contrasts import ONE_MODEL, group_parts

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats

TWO = np.repeat([0, 1], 8)
SPREADS = {"targets": 0.05, "attributes": 0.05, "cells": 0.05, "by model": 0.02}


def simulated(
    random: np.random.Generator,
    draws: int,
    models: tuple[int, ...],
    changes: tuple[float, ...],
    *,
    moves: float = 0.02,
    runs: float = 0.016,
) -> list[Floats]:
    """Stacks × models × 16 × 16 by group: words lean alike in all groups, and by `moves` each in its own way.

    `changes` is the true contrast of each group: X with A is that much larger; `runs` is by how much models of a group
    differ in it.
    """
    words = 16
    shared = SPREADS["targets"] * random.standard_normal((draws, 1, words, 1))
    shared = shared + SPREADS["attributes"] * random.standard_normal((draws, 1, 1, words))
    shared = shared + SPREADS["cells"] * random.standard_normal((draws, 1, words, words))
    signs = np.where(TWO == 0, 1.0, -1.0)
    pattern = np.outer(signs, signs) / 4
    found = []
    for count, change in zip(models, changes, strict=True):
        own = moves * random.standard_normal((draws, 1, words, 1)) * signs
        own = own + moves * random.standard_normal((draws, 1, 1, words)) * signs[:, None]
        run = runs * random.standard_normal((draws, count, 1, 1)) * pattern
        run = run + SPREADS["by model"] * random.standard_normal((draws, count, words, words))
        found.append(shared + own + run + change * pattern)
    return found


def per_model(table: Floats) -> Floats:
    """The contrast of each model, written out."""
    x, y = table[:, TWO == 0], table[:, TWO == 1]
    a, b = TWO == 0, TWO == 1
    found: Floats = (
        x[:, :, a].mean((1, 2)) - x[:, :, b].mean((1, 2)) - y[:, :, a].mean((1, 2)) + y[:, :, b].mean((1, 2))
    )
    return found


def test_for_these_words_it_is_the_test_of_welch() -> None:
    first, second = (stack[0] for stack in simulated(np.random.default_rng(1), 1, (6, 6), (0.1, 0.05)))
    found = compare_groups([first, second], TWO, TWO).these_words
    expected = stats.ttest_ind(per_model(second), per_model(first), equal_var=False)
    ends = expected.confidence_interval(0.95)
    assert found.value == pytest.approx(per_model(second).mean() - per_model(first).mean())
    assert (found.p, found.df) == pytest.approx((expected.pvalue, expected.df))
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))


def test_unequal_groups_have_no_more_degrees_of_freedom_than_equal_ones() -> None:
    first, second = (stack[0] for stack in simulated(np.random.default_rng(1), 1, (2, 8), (0.1, 0.05)))
    found = compare_groups([first, second], TWO, TWO).these_words
    expected = stats.ttest_ind(per_model(second), per_model(first), equal_var=False)
    assert found.df is not None
    assert found.df == pytest.approx(min(expected.df, 2))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(expected.statistic), found.df))


def test_with_one_attribute_a_list_it_is_a_paired_test_over_words() -> None:
    first, second = (stack[0] for stack in simulated(np.random.default_rng(2), 1, (1, 1), (0.1, 0.05)))
    columns = np.array([0, 1])
    tables = [table[:, :, [0, 15]] for table in (first, second)]
    found = compare_groups(tables, TWO, columns).other_words
    change = (tables[1] - tables[0])[0] @ np.array([1.0, -1.0])
    expected = stats.ttest_ind(change[TWO == 0], change[TWO == 1], equal_var=False)
    ends = expected.confidence_interval(0.95)
    assert (found.p, found.low, found.high) == pytest.approx((expected.pvalue, ends.low, ends.high))


def test_with_one_model_each_it_is_the_contrast_of_the_difference() -> None:
    first, second = (stack[0] for stack in simulated(np.random.default_rng(3), 1, (1, 1), (0.1, 0.05)))
    found = compare_groups([first, second], TWO, TWO)
    expected = contrast_estimate(second - first, TWO, TWO)
    assert (found.other_words.value, found.other_words.se, found.other_words.p) == pytest.approx(
        (expected.value, expected.se, expected.p)
    )
    assert found.unreplicated
    assert found.these_words.reason == ONE_MODEL
    assert found.these_words.low is None


def test_one_group_alone_is_its_contrast() -> None:
    (table,) = (stack[0] for stack in simulated(np.random.default_rng(4), 1, (6,), (0.1,)))
    found = compare_groups([table], TWO, TWO, group_weights=[1.0]).other_words
    expected = contrast_estimate(table, TWO, TWO)
    assert (found.value, found.se) == pytest.approx((expected.value, expected.se))
    assert found.df == pytest.approx(expected.df)


def test_a_slope_is_that_of_each_word_by_least_squares() -> None:
    positions = [1950.0, 1970.0, 1980.0, 2000.0]
    stacks = simulated(np.random.default_rng(5), 1, (1, 1, 1, 1), (0.0, 0.1, 0.1, 0.2))
    tables = [stack[0][:, :, [0, 15]] for stack in stacks]
    associations = np.stack([table[0] @ np.array([1.0, -1.0]) for table in tables])
    slopes = np.array([sm.OLS(word, sm.add_constant(positions)).fit().params[1] for word in associations.T])
    expected = stats.ttest_ind(slopes[TWO == 0], slopes[TWO == 1], equal_var=False)
    found = compare_groups(tables, TWO, np.array([0, 1]), group_weights=slope_weights(positions).tolist()).other_words
    assert (found.value, found.p) == pytest.approx((slopes[:8].mean() - slopes[8:].mean(), expected.pvalue))


def test_the_scatter_of_groups_is_that_of_statsmodels() -> None:
    positions, means = [1.0, 2.0, 4.0, 7.0, 8.0], [0.3, 0.1, 0.25, -0.05, 0.0]
    fit = sm.OLS(means, sm.add_constant(positions)).fit()
    found = slope_over_groups(positions, means, level=0.9)
    assert (found.value, found.se, found.p) == pytest.approx((fit.params[1], fit.bse[1], fit.pvalues[1]))
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int(0.1)[1]))
    assert slope_over_groups([1.0, 2.0], [0.0, 1.0]).reason is not None
    assert slope_over_groups([1.0, 2.0, 3.0], [0.0, 1.0, 2.0]).reason == "all groups lie on one line"


def crossed_bootstrap(tables: list[Floats], random: np.random.Generator, draws: int) -> float:
    """Standard error from drawing targets and attributes (within their lists) and models (within groups) again."""

    def again(groups: Any) -> Any:  # noqa: ANN401 - places
        return np.concatenate([random.choice(np.flatnonzero(groups == one), (groups == one).sum()) for one in (0, 1)])

    values = []
    for _ in range(draws):
        rows, columns = again(TWO), again(TWO)
        means = []
        for table in tables:
            models = random.integers(len(table), size=len(table))
            means.append(per_model(table[models][:, rows][:, :, columns]).mean())
        values.append(means[1] - means[0])
    return float(np.std(values, ddof=1))


def test_the_standard_error_is_near_that_of_a_crossed_bootstrap() -> None:
    random = np.random.default_rng(6)
    ratios = []
    for _ in range(6):
        tables = [stack[0] for stack in simulated(random, 1, (8, 8), (0.1, 0.05), moves=0.04)]
        ratios.append((compare_groups(tables, TWO, TWO).other_words.se or 0.0) / crossed_bootstrap(tables, random, 800))
    assert 0.85 < np.mean(ratios) < 1.12  # the bootstrap counts what words and models have in common twice


def shares(random: np.random.Generator, change: float, models: tuple[int, int], **spreads: float) -> dict[str, float]:
    draws = 3_000
    stacks = simulated(random, draws, models, (0.1, 0.1 + change), **spreads)
    parts = group_parts(stacks, TWO, TWO)
    asked = {"these": [parts.these_words], "other": [parts.other_words, parts.these_words]}  # the wider of the two
    told = {}
    for name, several in asked.items():
        defined = [one for one in several if not one.reason]
        if not defined:
            continue
        margin = np.max([stats.t.ppf(0.975, one.df) * one.se for one in defined], axis=0)
        rejects = np.max([one.p for one in defined], axis=0) < 0.05
        assert np.array_equal(rejects, np.abs(defined[0].value) > margin)
        told[f"{name} rejects"] = float(rejects.mean())
        told[f"{name} covers"] = float((np.abs(defined[0].value - change) <= margin).mean())
    return told


def test_stacks_are_compared_as_one_by_one() -> None:
    stacks = simulated(np.random.default_rng(16), 12, (2, 3), (0.1, 0.12))
    parts = group_parts(stacks, TWO, TWO)
    for draw in range(12):
        found = compare_groups([stack[draw] for stack in stacks], TWO, TWO)
        both = parts.other_words.p[draw], parts.these_words.p[draw]
        assert (found.other_words.p, found.these_words.p) == pytest.approx((max(both), both[1]))
        ends = [(one.low, one.high) for one in (found.other_words, found.these_words)]
        assert ends[0][0] <= ends[1][0] < ends[1][1] <= ends[0][1]  # type: ignore[operator]


ERROR = 3 * (0.05 * 0.95 / 3_000) ** 0.5


@pytest.mark.parametrize("models", [(2, 2), (4, 4), (2, 8)])
def test_without_a_change_it_is_found_no_more_often_than_it_should(models: tuple[int, int]) -> None:
    told = shares(np.random.default_rng(7), 0.0, models)
    assert told["other rejects"] <= 0.05 + ERROR
    alone = shares(np.random.default_rng(8), 0.0, models, moves=0.0)  # no word moves: true for these words too
    assert alone["these rejects"] <= 0.05 + ERROR
    assert alone["other rejects"] <= 0.05 + ERROR


def test_one_model_a_group_is_right_about_words_and_knows_nothing_of_runs() -> None:
    assert shares(np.random.default_rng(7), 0.0, (1, 1), runs=0.0)["other rejects"] <= 0.05 + ERROR
    assert shares(np.random.default_rng(7), 0.0, (1, 1), runs=0.06)["other rejects"] > 0.2  # hence the warning


def test_a_planted_change_is_held_and_found() -> None:
    words = 2 * (2 * 0.02) ** 2 * (1 / 8 + 1 / 8)  # targets and attributes move on their own in either group …
    runs = 0.016**2 / 4 + 0.02**2 * 4 / 64 / 4  # … and so do models
    error = (2 * (words + runs)) ** 0.5
    for change in (0.08, 0.16):
        told = shares(np.random.default_rng(9), change, (4, 4))
        known = stats.norm.sf(1.96 - change / error)  # power if the error were known
        assert told["other covers"] >= 0.94
        assert known - 0.12 < told["other rejects"] <= known + 0.02


def test_words_that_lean_alike_in_both_groups_cancel() -> None:
    random = np.random.default_rng(10)
    first, second = (stack[0] for stack in simulated(random, 1, (4, 4), (0.1, 0.1)))
    lean = random.standard_normal((1, 16, 16))  # large, and the same in both
    plain, leaning = (compare_groups([first + more, second + more], TWO, TWO) for more in (0.0, lean))
    assert leaning.other_words.value == pytest.approx(plain.other_words.value)
    assert leaning.other_words.se == pytest.approx(plain.other_words.se)
    assert leaning.these_words.p == pytest.approx(plain.these_words.p)


def test_swapping_groups_turns_the_sign() -> None:
    tables = [stack[0] for stack in simulated(np.random.default_rng(11), 1, (3, 5), (0.1, 0.0))]
    found, swapped = compare_groups(tables, TWO, TWO), compare_groups(tables[::-1], TWO, TWO)
    assert swapped.other_words.value == pytest.approx(-(found.other_words.value or 0.0))
    assert swapped.other_words.low == pytest.approx(-(found.other_words.high or 0.0))
    assert swapped.other_words.p == pytest.approx(found.other_words.p)
    assert swapped.these_words.p == pytest.approx(found.these_words.p)


def test_p_and_interval_never_disagree() -> None:
    random = np.random.default_rng(12)
    for _ in range(50):
        tables = [stack[0] for stack in simulated(random, 1, (3, 3), (0.0, 0.04))]
        found = compare_groups(tables, TWO, TWO, level=0.9)
        for asked in (found.other_words, found.these_words):
            assert ((asked.p or 0.0) < 0.1) is asked.excludes()


def test_bootstrap_samples_hold_the_error_of_the_text() -> None:
    """Documents are drawn once; samples of them tell how far another text would have moved the contrast."""
    random = np.random.default_rng(13)
    documents, models, draws = 60, 20, 300
    held = {True: 0, False: 0}
    pattern = np.outer(np.where(TWO == 0, 1.0, -1.0), np.where(TWO == 0, 1.0, -1.0))
    for _ in range(draws):
        tables = []
        for _ in range(2):
            text = 0.3 * random.standard_normal(documents)
            means = text[random.integers(documents, size=(models, documents))].mean(axis=1)
            noise = 0.002 * random.standard_normal((models, 16, 16))
            tables.append(means[:, None, None] * pattern / 4 + noise)
        for sampled in held:
            found = compare_groups(tables, TWO, TWO, bootstrap=[sampled] * 2).these_words
            held[sampled] += bool(found.low is not None and found.high is not None and found.low <= 0 <= found.high)
    assert held[True] / draws > 0.9
    assert held[False] / draws < 0.6  # as if more samples made the text larger


def dealt(random: np.random.Generator, draws: int, parts: int, run: float) -> Floats:
    """Contrasts (as tables of one cell a block) of parts of one text, dealt `draws` times; documents are normal.

    The text has 64 documents, whose mean is the contrast; every model adds training noise of `run`.
    """
    documents = random.standard_normal(64)
    found = np.empty((draws, parts, 1, 2))
    for draw in range(draws):
        members = random.permutation(64).reshape(parts, -1)
        contrast = documents[members].mean(axis=1) + run * random.standard_normal(parts)
        found[draw, :, 0, 0], found[draw, :, 0, 1] = contrast / 2, -contrast / 2
    return found


@pytest.mark.parametrize(("draws", "parts", "run"), [(4, 2, 0.0), (4, 2, 0.3), (8, 2, 0.1), (3, 4, 0.2), (1, 8, 0.2)])
def test_draws_of_one_text_are_not_taken_for_independent_texts(draws: int, parts: int, run: float) -> None:
    """Documents are counted once, however often they are dealt; training noise as in one draw."""
    random = np.random.default_rng(8)
    variances, values, rejected = [], [], []
    for _ in range(1_500):
        groups = [dealt(random, draws, parts, run) for _ in range(2)]
        found = compare_groups(groups, [0], [0, 1], [[1.0, -1.0]]).these_words
        assert found.se is not None
        assert found.value is not None
        variances.append(found.se**2)
        values.append(found.value)
        rejected.append((found.p or 1.0) < 0.05)
    assert np.var(values) == pytest.approx(2 * (1 / 64 + run**2 / (draws * parts)), rel=0.15)
    assert np.mean(variances) == pytest.approx(2 * (1 / 64 + run**2 / parts), rel=0.15)
    assert np.mean(rejected) < 0.05 + 3 * (0.05 * 0.95 / 1_500) ** 0.5


def test_one_draw_is_no_draw() -> None:
    random = np.random.default_rng(9)
    first, second = (random.standard_normal((5, 16, 16)) for _ in range(2))
    plain = compare_groups([first, second], TWO, TWO)
    drawn = compare_groups([first[None], second[None]], TWO, TWO, models="documents")
    assert drawn.other_words.se == plain.other_words.se
    assert drawn.other_words.over == "targets and attributes and documents"
    sized = [compare_effect_sizes(each, TWO, TWO) for each in ([first, second], [first[None], second[None]])]
    assert sized[0].other_words.se == sized[1].other_words.se


def test_a_change_of_one_word_is_that_of_welch() -> None:
    first, last = np.array([0.1, 0.2, 0.15]), np.array([0.4, 0.3, 0.35])
    found = welch(first, last, (False, False), 0.95)
    ends = stats.ttest_ind(last, first, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
    assert welch(first[:1], last, (False, False), 0.95).reason == ONE_MODEL


def test_effect_sizes_are_those_of_weat() -> None:
    tables = [stack[0] for stack in simulated(np.random.default_rng(14), 1, (3, 3), (0.1, 0.2))]

    def d(table: Floats) -> float:
        a, b = table[:, :8], table[:, 8:]
        return weat_from_similarities(a[:8], b[:8], a[8:], b[8:], interval=None, samples=1, max_exact=0).value or 0.0

    means = [np.mean([d(model) for model in table]) for table in tables]
    found = compare_effect_sizes(tables, TWO, TWO)
    assert found.other_words.value == pytest.approx(means[1] - means[0])
    stretched = compare_effect_sizes([tables[0], 3 * tables[1]], TWO, TWO)
    assert stretched.other_words.value == pytest.approx(found.other_words.value)
    assert stretched.other_words.se == pytest.approx(found.other_words.se)
    welch_p = stats.ttest_ind([d(m) for m in tables[1]], [d(m) for m in tables[0]], equal_var=False).pvalue
    assert found.these_words.p == pytest.approx(welch_p)


def test_the_jackknife_of_effect_sizes_leaves_each_word_out() -> None:
    """One model a group: the variance is the sum of the jackknife variances of the four lists, by loops."""
    tables = [stack[0] for stack in simulated(np.random.default_rng(16), 1, (1, 1), (0.1, 0.2))]

    def difference(**without: int) -> float:
        kept = {side: [at for at in range(16) if at != without.get(f"side{side}")] for side in (0, 1)}
        sizes = []
        for (table,) in tables:
            cut, (rows, columns) = table[np.ix_(kept[0], kept[1])], (TWO[kept[0]], TWO[kept[1]])
            associations = cut[:, columns == 0].mean(axis=1) - cut[:, columns == 1].mean(axis=1)
            means = [associations[rows == group].mean() for group in (0, 1)]
            sizes.append((means[0] - means[1]) / associations.std())
        return float(sizes[1] - sizes[0])

    variance = 0.0
    for side in (0, 1):
        for members in (range(8), range(8, 16)):
            values = np.array([difference(**{f"side{side}": member}) for member in members])
            variance += 7 / 8 * float(((values - values.mean()) ** 2).sum())
    found = compare_effect_sizes(tables, TWO, TWO).other_words
    assert found.value == pytest.approx(difference())
    assert found.se == pytest.approx(variance**0.5)


def test_effect_sizes_reject_no_more_often_than_they_should() -> None:
    random = np.random.default_rng(15)
    draws = 300
    stacks = simulated(random, draws, (2, 2), (0.1, 0.1))
    rejected = [
        (compare_effect_sizes([stack[draw] for stack in stacks], TWO, TWO).other_words.p or 1.0) < 0.05
        for draw in range(draws)
    ]
    assert np.mean(rejected) <= 0.05 + 3 * (0.05 * 0.95 / draws) ** 0.5


def test_what_cannot_be_compared_is_said() -> None:
    table = np.zeros((2, 16, 16))
    with pytest.raises(ParameterError, match="same rows and columns"):
        compare_groups([table, table[:, :8]], TWO, TWO)
    with pytest.raises(ParameterError, match="needs a weight"):
        compare_groups([table, table], TWO, TWO, group_weights=[1.0])
    with pytest.raises(ParameterError, match="finite similarities"):
        compare_groups([table, np.full_like(table, np.nan)], TWO, TWO)
    same = compare_groups([table, table], TWO, TWO)
    assert same.other_words.p is None
    assert same.other_words.reason
