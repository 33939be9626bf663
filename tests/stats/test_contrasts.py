"""Contrasts of similarities: the closed form as slow loops, its invariances, and how often its interval holds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from biasgauge.core import WEAT_WEIGHTS
from biasgauge.errors import ParameterError
from biasgauge.stats import Contrast, TableSide, contrast_estimate, contrast_parts, plan_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.core.arrays import Floats, Integers

FOUR = ((1.0, -1.0), (-1.0, 1.0))
STEREOTYPES = tuple(tuple(1 / 3 if one == other else -1 / 6 for other in range(3)) for one in range(3))


def groups(*sizes: int) -> Integers:
    return np.repeat(np.arange(len(sizes)), sizes)


def table(seed: int, *shape: int) -> Floats:
    random = np.random.default_rng(seed)
    made: Floats = (
        random.normal(0.1, 0.2, shape)
        + random.normal(0, 0.3, (*shape[:-1], 1))
        + random.normal(0, 0.2, (*shape[:-2], 1, shape[-1]))
    )
    return made


def classic(xa: Floats, xb: Floats, ya: Floats, yb: Floats) -> dict[str, float]:
    """METHODS 7.5, word by word: variances of s over targets and of r over attributes, less the interaction."""
    s = {"x": [], "y": []}  # type: dict[str, list[float]]
    for name, to_a, to_b in (("x", xa, xb), ("y", ya, yb)):
        for own_a, own_b in zip(to_a, to_b, strict=True):
            s[name].append(sum(own_a) / len(own_a) - sum(own_b) / len(own_b))
    r = {"a": [], "b": []}  # type: dict[str, list[float]]
    for name, from_x, from_y in (("a", xa.T, ya.T), ("b", xb.T, yb.T)):
        for own_x, own_y in zip(from_x, from_y, strict=True):
            r[name].append(sum(own_x) / len(own_x) - sum(own_y) / len(own_y))

    def variance(values: list[float]) -> float:
        mean = sum(values) / len(values)
        return sum((value - mean) ** 2 for value in values) / (len(values) - 1)

    pieces = [(variance(values) / len(values), len(values) - 1) for values in (*s.values(), *r.values())]
    targets, attributes = pieces[0][0] + pieces[1][0], pieces[2][0] + pieces[3][0]
    both = 0.0
    for block in (xa, xb, ya, yb):
        n, m = block.shape
        squares = 0.0
        for i, j in product(range(n), range(m)):
            row = sum(block[i, k] for k in range(m)) / m
            column = sum(block[k, j] for k in range(n)) / n
            squares += (block[i, j] - row - column + sum(block.ravel()) / (n * m)) ** 2
        both += squares / ((n - 1) * (m - 1)) / (n * m)
    total = max(targets + attributes - both, targets, attributes)
    df = sum(part for part, _ in pieces) ** 2 / sum(part**2 / freedom for part, freedom in pieces)
    value = sum(s["x"]) / len(s["x"]) - sum(s["y"]) / len(s["y"])
    margin = float(stats.t.ppf(0.975, df)) * total**0.5
    return {
        "value": value, "se": total**0.5, "df": df, "low": value - margin, "high": value + margin,
        "p": float(2 * stats.t.sf(abs(value) / total**0.5, df)), "targets": targets, "attributes": attributes,
        "both": both,
    }  # fmt: skip


@pytest.mark.parametrize("sizes", [(8, 8, 8, 8), (3, 7, 5, 4), (2, 2, 2, 9)])
@pytest.mark.parametrize("seed", range(4))
def test_the_closed_form_as_slow_loops(sizes: tuple[int, ...], seed: int) -> None:
    n_x, n_y, n_a, n_b = sizes
    whole = table(seed, n_x + n_y, n_a + n_b)
    found = contrast_estimate(whole, groups(n_x, n_y), groups(n_a, n_b))
    expected = classic(whole[:n_x, :n_a], whole[:n_x, n_a:], whole[n_x:, :n_a], whole[n_x:, n_a:])
    for name in ("value", "se", "df", "low", "high", "p"):
        assert getattr(found, name) == pytest.approx(expected[name], abs=1e-12, rel=1e-11), name
    assert found.variances == pytest.approx(
        {name: expected[name] for name in ("targets", "attributes", "both")}, abs=1e-12
    )
    assert found.words == ((n_x, n_y), (n_a, n_b))
    assert (found.over, found.n, found.k) == ("targets and attributes", n_x + n_y, n_a + n_b)


def slow_three_ways(tables: Floats, rows: Integers, columns: Integers, pattern: Sequence[Sequence[float]]) -> Any:  # noqa: ANN401 - numbers by name
    """Models × rows × columns by explicit residuals of the contrast's own parts, one word and one model at a time."""
    models = len(tables)
    parts = dict.fromkeys(
        ("targets", "attributes", "both", "targets × replicates", "attributes × replicates", "all"), 0.0
    )
    pieces = []
    value = [
        sum(
            weight * np.mean(one[np.ix_(rows == i, columns == j)])
            for i, line in enumerate(pattern)
            for j, weight in enumerate(line)
        )
        for one in tables
    ]
    sides = (
        ("targets", rows, columns, tables, pattern),
        ("attributes", columns, rows, tables.transpose(0, 2, 1), list(zip(*pattern, strict=True))),
    )
    for side, own, other, cells, weights in sides:
        for group, line in enumerate(weights):
            words = np.flatnonzero(own == group)
            lean = np.array(
                [
                    [sum(w * np.mean(one[word, other == j]) for j, w in enumerate(line)) for word in words]
                    for one in cells
                ]
            )
            over_models = [float(np.mean(lean[:, at])) for at in range(len(words))]
            part = float(np.var(over_models, ddof=1)) / len(words)
            parts[side] += part
            pieces.append((part, len(words) - 1))
            left = 0.0
            for at, model in product(range(len(words)), range(models)):
                left += (lean[model, at] - np.mean(lean[model]) - np.mean(lean[:, at]) + np.mean(lean)) ** 2
            if models > 1:
                parts[f"{side} × replicates"] += left / ((models - 1) * (len(words) - 1)) / (len(words) * models)
    for i, line in enumerate(pattern):
        for j, weight in enumerate(line):
            block = tables[:, rows == i][:, :, columns == j]
            n, m = block.shape[1:]
            mean = block.mean(axis=0)
            two = three = 0.0
            for a, b in product(range(n), range(m)):
                two += (mean[a, b] - mean[a].mean() - mean[:, b].mean() + mean.mean()) ** 2
                for c in range(models):
                    three += (
                        block[c, a, b]
                        - block[c, a].mean() - block[c, :, b].mean() - block[:, a, b].mean()
                        + block[c].mean() + block[:, a].mean() + block[:, :, b].mean() - block.mean()
                    ) ** 2  # fmt: skip
            parts["both"] += weight**2 * two / ((n - 1) * (m - 1)) / (n * m)
            if models > 1:
                parts["all"] += weight**2 * three / ((n - 1) * (m - 1) * (models - 1)) / (n * m * models)
    parts["replicates"] = float(np.var(value, ddof=1)) / models if models > 1 else 0.0
    pieces.append((parts["replicates"], max(models - 1, 1)))
    whole = (
        parts["targets"] + parts["attributes"] + parts["replicates"] - parts["both"]
        - parts["targets × replicates"] - parts["attributes × replicates"] + parts["all"]
    )  # fmt: skip
    floor = (
        parts["targets"] + parts["attributes"] - parts["both"],
        *(parts[one] for one in ("targets", "attributes", "replicates")),
    )
    df = sum(part for part, _ in pieces) ** 2 / sum(part**2 / freedom for part, freedom in pieces)
    return {"value": float(np.mean(value)), "se": max(whole, *floor) ** 0.5, "df": df, "parts": parts}


@pytest.mark.parametrize(
    ("rows", "columns", "weights"),
    [
        (groups(4, 3), groups(3, 5), WEAT_WEIGHTS),
        (groups(3, 4, 2), groups(5, 2, 3), STEREOTYPES),
        (groups(6), groups(5), ((1.0,),)),
        (groups(3, 4), groups(6), ((1.0,), (-1.0,))),
    ],
)
@pytest.mark.parametrize("models", [1, 2, 5])
@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_replicates_are_a_third_way(
    rows: Integers, columns: Integers, weights: Sequence[Sequence[float]], models: int, shared: float
) -> None:
    tables = shared * table(1, len(rows), len(columns)) + 0.3 * table(2, models, len(rows), len(columns))
    found = contrast_estimate(tables, rows, columns, weights)
    expected = slow_three_ways(tables, rows, columns, weights)
    for name in ("value", "se", "df"):
        assert getattr(found, name) == pytest.approx(expected[name], abs=1e-12, rel=1e-11), name
    assert found.variances == pytest.approx({name: expected["parts"][name] for name in found.variances}, abs=1e-12)
    assert len(found.variances) == (7 if models > 1 else 3)
    assert found.over == "targets and attributes" + (" and replicates" if models > 1 else "")


def test_a_column_taken_as_given_leaves_the_one_sample_t() -> None:
    """With one attribute nothing is left but Student's interval of the mean of the targets."""
    values = np.random.default_rng(3).normal(0.2, 0.4, 9)
    found = contrast_estimate(values[:, None], groups(9), groups(1), ((1.0,),), level=0.9)
    low, high = stats.t.interval(0.9, 8, values.mean(), stats.sem(values))
    assert (found.value, found.low, found.high) == pytest.approx((values.mean(), low, high), abs=1e-12)
    assert found.p == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=1e-12)
    assert found.over == "targets"


def test_attributes_taken_as_given_leave_welchs_t() -> None:
    random = np.random.default_rng(4)
    x, y = random.normal(0, 1, 7), random.normal(0.4, 3, 12)
    found = contrast_estimate(np.concatenate([x, y])[:, None], groups(7, 12), groups(1), ((1.0,), (-1.0,)))
    welch = stats.ttest_ind(x, y, equal_var=False)
    assert (found.p, found.df) == pytest.approx((welch.pvalue, welch.df), abs=1e-12)
    turned = contrast_estimate(np.concatenate([x, y])[None, :], groups(1), groups(7, 12), ((1.0, -1.0),))
    assert (turned.value, turned.se) == pytest.approx((found.value, found.se))
    assert turned.over == "attributes"


@given(st.integers(0, 10_000), st.floats(-1, 1))
def test_p_and_interval_are_one_thing(seed: int, shift: float) -> None:
    whole = table(seed, 9, 7)
    whole[:4, :3] += shift
    found = contrast_estimate(whole, groups(4, 5), groups(3, 4))
    assert found.p is not None
    if not 1e-6 < found.p < 1 - 1e-6:  # 1 − p has too few digits left of a smaller one
        return
    ends = found.at(1 - found.p)
    assert ends.low is not None
    assert ends.high is not None
    assert min(abs(ends.low), abs(ends.high)) == pytest.approx(0.0, abs=1e-9)
    assert (found.p <= 0.05) == found.excludes(0.0)
    assert found.at(0.5).level == 0.5
    assert found.at(found.level) == found


@given(st.integers(0, 10_000), st.sampled_from([1, 3]))
def test_contrasts_follow_their_similarities(seed: int, models: int) -> None:
    whole, rows, columns = table(seed, models, 9, 7), groups(4, 5), groups(3, 4)
    random = np.random.default_rng(seed)
    found = contrast_estimate(whole, rows, columns)
    numbers = (found.value, found.se, found.df, found.p)
    minus = contrast_estimate(-whole, rows, columns)
    assert (-(minus.value or 0), minus.se, minus.df, minus.p) == pytest.approx(numbers, rel=1e-8)
    assert (minus.low, minus.high) == pytest.approx((-(found.high or 0), -(found.low or 0)), rel=1e-8)
    swapped = contrast_estimate(whole, 1 - rows, columns)
    assert (-(swapped.value or 0), swapped.se, swapped.df, swapped.p) == pytest.approx(numbers, rel=1e-8)
    larger = contrast_estimate(7 * whole + 2, rows, columns)
    assert ((larger.value or 0) / 7, (larger.se or 0) / 7, larger.df, larger.p) == pytest.approx(numbers, rel=1e-6)
    row, column, model = (random.permutation(size) for size in (9, 7, models))
    mixed = contrast_estimate(whole[model][:, row][:, :, column], rows[row], columns[column])
    assert (mixed.value, mixed.se, mixed.df, mixed.p) == pytest.approx(numbers, rel=1e-8)
    assert mixed.variances == pytest.approx(found.variances, rel=1e-8, abs=1e-15)
    turned = contrast_estimate(whole.transpose(0, 2, 1), columns, rows)
    assert (turned.value, turned.se, turned.df, turned.p) == pytest.approx(numbers, rel=1e-8)


def test_stacks_are_one_at_a_time() -> None:
    stack, rows, columns = table(5, 6, 3, 9, 8), groups(2, 4, 3), groups(3, 2, 3)
    together = contrast_parts(stack, rows, columns, STEREOTYPES)
    for place, one in enumerate(stack):
        alone = contrast_estimate(one, rows, columns, STEREOTYPES)
        for name in ("value", "se", "df", "p"):
            assert getattr(together, name)[place] == pytest.approx(getattr(alone, name), rel=1e-10)
        assert {name: part[place] for name, part in together.variances.items()} == pytest.approx(alone.variances)


@pytest.mark.parametrize(
    ("rows", "columns", "value", "reason"),
    [
        (groups(1, 4), groups(3, 3), None, "a list has a single word, so that its spread is unknown"),
        (groups(2, 2), groups(4, 1), None, "a list has a single word, so that its spread is unknown"),
        (groups(1, 1), groups(1, 1), None, "a list has a single word, so that its spread is unknown"),
        (groups(2, 2), groups(2, 2), 0.3, "all similarities of a list are the same"),
    ],
)
def test_what_cannot_be_known_says_why(rows: Integers, columns: Integers, value: float | None, reason: str) -> None:
    whole = table(6, len(rows), len(columns)) if value is None else np.full((len(rows), len(columns)), value)
    found = contrast_estimate(whole, rows, columns)
    assert found.reason == reason
    assert (found.low, found.high, found.se, found.df, found.p) == (None,) * 5
    means = [[whole[np.ix_(rows == i, columns == j)].mean() for j in (0, 1)] for i in (0, 1)]
    assert found.value == pytest.approx(means[0][0] - means[0][1] - means[1][0] + means[1][1])
    assert found.at(0.5).low is None


@pytest.mark.parametrize(
    ("similarities", "rows", "columns", "sentence"),
    [
        (np.ones((4, 4)), groups(2, 1), groups(2, 2), r"shape \(4, 4\) for 3 rows and 4 columns"),
        (np.full((4, 4), np.nan), groups(2, 2), groups(2, 2), "finite similarities"),
        (np.ones((4, 4)), groups(4), groups(2, 2), "Every group from 0 to 1 needs a word"),
        (np.ones((0, 4, 4)), groups(2, 2), groups(2, 2), "similarities of rows × columns"),
    ],
)
def test_impossible_tables_get_a_sentence(
    similarities: Floats, rows: Integers, columns: Integers, sentence: str
) -> None:
    with pytest.raises(ParameterError, match=sentence):
        contrast_estimate(similarities, rows, columns)
    with pytest.raises(ParameterError, match="level"):
        contrast_estimate(np.eye(4), groups(2, 2), groups(2, 2), level=1.5)


class World:
    """Words are vectors drawn around the centers of their topics, so that targets and attributes interact.

    Similarities are products, and the contrast of the topics is known: (X − Y) · (A − B) of their centers.
    """

    def __init__(
        self, contrast: float, *, pool: bool = False, models: int = 1, heavy: bool = False, spread: float = 1.0
    ) -> None:
        self.contrast, self.models, self.heavy, self.spread = contrast, models, heavy, spread
        self.dim = 6
        random = np.random.default_rng(1)
        self.targets = random.normal(0, 1, (2, self.dim))
        self.attributes = random.normal(0, 1, (2, self.dim))
        if pool:
            self.attributes[1] = self.attributes[0]
        else:
            apart = self.targets[0] - self.targets[1]
            self.attributes[1] = self.attributes[0] - contrast * apart / (apart @ apart)

    def draw(self, random: np.random.Generator, sizes: Sequence[int], count: int) -> Floats:
        """Stacks × models × targets × attributes."""

        def words(centers: Floats, own: Sequence[int]) -> Floats:
            shape = (count, 1, sum(own), self.dim)
            noise = random.standard_t(4, shape) / 2**0.5 if self.heavy else random.normal(0, 1, shape)
            made: Floats = centers[groups(*own)] + self.spread * noise
            if self.models > 1:
                made = made + random.normal(0, 0.5, (count, self.models, sum(own), self.dim))
                shift = random.normal(0, 0.3, (count, self.models, len(own), self.dim))
                made = made + shift[:, :, groups(*own)]
            return made

        targets, attributes = words(self.targets, sizes[:2]), words(self.attributes, sizes[2:])
        return np.asarray(targets @ attributes.swapaxes(-1, -2))


WORLDS = {
    "real contrast": (World(0.8), (8, 8, 8, 8)),
    "real contrast, long lists": (World(0.8), (25, 25, 25, 25)),
    "unequal lists": (World(0.8), (6, 20, 12, 7)),
    "A and B from one pool": (World(0.0, pool=True), (8, 8, 8, 8)),
    "A and B from one pool, long lists": (World(0.0, pool=True), (25, 25, 25, 25)),
    "heavy tails": (World(0.8, heavy=True), (8, 8, 8, 8)),
    "replicates": (World(0.8, models=5), (8, 8, 8, 8)),
    "replicates, unequal lists, one pool": (World(0.0, pool=True, models=4), (8, 14, 10, 7)),
    "replicates, heavy tails": (World(0.8, models=8, heavy=True), (8, 8, 8, 8)),
}


def coverage(name: str, draws: int, level: float = 0.95) -> float:
    world, sizes = WORLDS[name]
    tables = world.draw(np.random.default_rng(2), sizes, draws)
    found = contrast_parts(tables, groups(*sizes[:2]), groups(*sizes[2:]))
    margin = stats.t.ppf((1 + level) / 2, found.df) * found.se
    return float(np.mean(np.abs(found.value - world.contrast) <= margin))


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_intervals_cover_over_targets_attributes_and_replicates(name: str) -> None:
    error = (0.95 * 0.05 / 400) ** 0.5
    assert coverage(name, 400) >= 0.95 - 3 * error


@pytest.mark.slow
@pytest.mark.calibration
@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("name", sorted(WORLDS))
def test_intervals_cover_in_many_worlds(name: str, level: float) -> None:
    error = (level * (1 - level) / 4_000) ** 0.5
    assert level - 0.01 - 3 * error <= coverage(name, 4_000, level)


def test_an_interval_over_targets_alone_would_be_too_narrow() -> None:
    """The simulation can fail: with the attributes taken as given, intervals hold the truth far less often."""
    world, sizes = WORLDS["A and B from one pool"]
    tables = world.draw(np.random.default_rng(2), sizes, 400)
    rows, columns = groups(*sizes[:2]), groups(*sizes[2:])
    lean = tables[..., columns == 0].mean(axis=-1) - tables[..., columns == 1].mean(axis=-1)
    found = contrast_parts(lean[..., None], rows, groups(1), ((1.0,), (-1.0,)))
    assert np.mean(found.p <= 0.05) > 0.2


def true_contrast(size: float, n: int, m: int, targets: float, attributes: float, both: float) -> Contrast:
    """As if it had been measured with n and m words in each list of two and two, its variances without error."""
    shared = 4 * both / (n * m)
    parts = {"targets": 4 * targets / n + shared, "attributes": 4 * attributes / m + shared, "both": shared}
    variance = parts["targets"] + parts["attributes"] - shared
    return Contrast(
        value=size, low=0.0, high=0.0, over="targets and attributes", se=variance**0.5, df=1e9, p=0.5,
        variances=parts, words=((n, n), (m, m)),
    )  # fmt: skip


def drawn_power(size: float, n: int, m: int, sds: tuple[float, float, float], alpha: float) -> float:
    """Share of 400 data sets, drawn with these standard deviations, in which the contrast is seen."""
    random, rows, columns = np.random.default_rng(5), groups(n, n), groups(m, m)
    lean = random.normal(0, sds[0], (400, 1, 2 * n, 2))[..., columns]  # a target leans to each attribute list anew
    draw = random.normal(0, sds[1], (400, 1, 2, 2 * m))[:, :, rows]
    whole = lean + draw + random.normal(0, sds[2], (400, 1, 2 * n, 2 * m))
    whole += size / 4 * np.outer(1 - 2 * rows, 1 - 2 * columns)
    return float(np.mean(contrast_parts(whole, rows, columns).p <= alpha))


@pytest.mark.parametrize("sds", [(0.1, 0.1, 0.15), (0.15, 0.05, 0.3), (0.05, 0.2, 0.1)])
@pytest.mark.parametrize(("power", "alpha"), [(0.8, 0.05), (0.5, 0.01)])
def test_planned_words_reach_the_power(sds: tuple[float, float, float], power: float, alpha: float) -> None:
    size = 0.12
    truth = true_contrast(size, 8, 8, *(sd**2 for sd in sds))
    plan = plan_words(truth, power=power, alpha=alpha, assurance=0.5)
    assert plan.both is not None
    assert drawn_power(size, plan.both, plan.both, sds, alpha) == pytest.approx(power, abs=0.05)
    assert plan.now == pytest.approx(drawn_power(size, 8, 8, sds, alpha), abs=0.06)
    for words, lists in ((plan.targets, (plan.targets, 8)), (plan.attributes, (8, plan.attributes))):
        if words is not None and words < 400:
            assert drawn_power(size, lists[0] or 0, lists[1] or 0, sds, alpha) == pytest.approx(power, abs=0.06)


@given(st.floats(0.02, 0.5), st.floats(0.05, 0.9), st.floats(0.001, 0.2), st.floats(0.3, 0.95), st.integers(0, 1000))
def test_more_is_never_had_for_fewer_words(
    size: float, power: float, alpha: float, assurance: float, seed: int
) -> None:
    found = contrast_estimate(table(seed, 16, 16), groups(8, 8), groups(8, 8))
    plan = plan_words(found, size, power=power, alpha=alpha, assurance=assurance)
    asks = {
        "power": plan_words(found, size, power=power + 0.05, alpha=alpha, assurance=assurance),
        "size": plan_words(found, size * 0.8, power=power, alpha=alpha, assurance=assurance),
        "alpha": plan_words(found, size, power=power, alpha=alpha / 2, assurance=assurance),
        "assurance": plan_words(found, size, power=power, alpha=alpha, assurance=min(0.99, assurance + 0.04)),
    }
    for more in asks.values():
        for side in ("targets", "attributes", "both"):
            fewer, many = getattr(plan, side), getattr(more, side)
            assert many is None or (fewer is not None and fewer <= many)


def test_no_number_of_targets_mends_few_attributes() -> None:
    """Eight attributes a list leave 4 · .2² / 8 of variance, however many targets there are."""
    truth = true_contrast(0.05, 8, 8, 0.01, 0.04, 0.01)
    plan = plan_words(truth)
    assert plan.targets is None
    assert plan.attributes is None  # the targets' share alone is too much as well
    assert plan.both is not None
    assert plan.both > 8
    noise = contrast_estimate(table(1, 2, 9, 7) * [[[1]], [[-1]]], groups(4, 5), groups(3, 4))
    assert noise.variances["replicates"] > 0
    assert plan_words(noise, 1e-3).both is None  # nor do words mend what differs between models


@pytest.mark.parametrize("copies", [2, 3])
def test_lists_of_repeated_words_take_as_many_times_more_words(copies: int) -> None:
    """Every target several times: as many effective words as before, so that a plan asks for that many times more."""
    random = np.random.default_rng(5)
    leans = random.normal(0.05, 0.1, (20, 1)) * np.repeat([1.0, -1.0], 10)[:, None]
    table = leans * np.repeat([0.5, -0.5], 12) + random.normal(0, 1e-4, (20, 24))
    columns = groups(12, 12)
    once = contrast_estimate(table, groups(10, 10), columns)
    rows = TableSide(np.repeat(groups(10, 10), copies), effective=np.array([10.0, 10.0]))
    repeated = contrast_estimate(np.repeat(table, copies, axis=0), rows, columns)
    assert repeated.se == pytest.approx(once.se, rel=0.01)
    plan, longer = (plan_words(found, 0.05) for found in (once, repeated))
    assert plan.targets is not None
    assert longer.targets is not None
    assert (longer.targets - 1) // copies + 1 == pytest.approx(plan.targets, abs=1)
    assert longer.now == pytest.approx(plan.now, abs=0.01)
    assert plan.effective_targets == 1.0
    assert longer.effective_targets == pytest.approx(1 / copies)
    assert longer.effective_attributes == 1.0
    assert plan.remark == ""
    assert longer.remark.startswith(f"if the share of effective words stays at {100 // copies}")


def test_a_plan_by_hand_has_the_degrees_of_freedom_of_effective_words() -> None:
    """Two target lists of which 40 % count, and attributes that hardly matter: Satterthwaite over the two lists."""
    variances = {"targets": 0.01, "attributes": 1e-12, "both": 0.0}
    sizes: Any = {"words": ((10, 10), (8, 8)), "effective": ((4.0, 4.0), (8.0, 8.0)), "over": "targets and attributes"}
    found = Contrast(value=0.2, se=0.1, df=6.0, p=0.1, variances=variances, **sizes)
    plan = plan_words(found, 0.2, assurance=0.5)
    inflation = 6 / stats.chi2.median(6)

    def power(words: int) -> float:
        df = 2 * (0.4 * words - 1)
        se = (0.01 * 10 / words * inflation) ** 0.5
        return float(stats.nct.sf(stats.t.ppf(0.975, df), df, 0.2 / se))

    assert plan.targets is not None
    assert power(plan.targets - 1) < 0.8 <= power(plan.targets)
    in_full = plan_words(replace(found, effective=()), 0.2, assurance=0.5)
    assert in_full.targets is not None
    assert in_full.targets <= plan.targets


def test_a_side_taken_as_given_is_not_planned() -> None:
    values = np.random.default_rng(3).normal(0.2, 0.4, 9)
    found = contrast_estimate(values[:, None], groups(9), groups(1), ((1.0,),))
    plan = plan_words(found, 0.2, assurance=0.5)
    assert (plan.attributes, plan.both) == (None, None)
    assert plan.targets is not None
    sd = float(values.std(ddof=1)) * (8 / stats.chi2.median(8)) ** 0.5
    powers = [
        float(stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, 0.2 * n**0.5 / sd))
        for n in (plan.targets - 1, plan.targets)
    ]
    assert powers[0] < 0.8 <= powers[1]  # the textbook's one-sample t


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"power": 1.0}, "power"),
        ({"alpha": 0}, "alpha"),
        ({"assurance": 2}, "assurance"),
        ({"size": 0.0}, "other than 0"),
    ],
)
def test_impossible_plans_get_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    found = contrast_estimate(table(1, 9, 7), groups(4, 5), groups(3, 4))
    with pytest.raises(ParameterError, match=sentence):
        plan_words(found, **settings)
    with pytest.raises(ParameterError, match="with a standard error"):
        plan_words(replace(found, se=None), 0.1)


def test_a_contrast_survives_json() -> None:
    found = contrast_estimate(table(1, 3, 9, 7), groups(4, 5), groups(3, 4))
    assert Contrast.from_dict(found.to_dict()) == found
