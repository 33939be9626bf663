"""Do intervals of gaps hold the truth as often as they say, and is p uniform where groups do not matter?"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from biasgauge.applications import compare_gaps, gaps
from biasgauge.applications.confusion import Rate, rate_fraction, rate_from_fraction, rate_values
from biasgauge.stats import Resampling, bootstrap_values, estimate_from_draws, exact_p, left_out_values, shuffled_p


def exact(rate: Rate, a: Any, b: Any) -> float:  # noqa: ANN401 - counts
    """P of a gap, shuffling the items that a rate is about."""
    return exact_p(rate_fraction(rate, a), rate_fraction(rate, b), partial(rate_from_fraction, rate.metric))


pytestmark = pytest.mark.calibration

RECALL, F1, PRECISION = Rate("recall", 1, 1), Rate("f1", 1, 1), Rate("precision", 1, 1)


def chances(base: float, recall: float, false_positives: float) -> Any:  # noqa: ANN401 - an array
    """Chances of (label, prediction)."""
    rates = [[1 - false_positives, false_positives], [1 - recall, recall]]
    return np.array(rates) * np.array([[1 - base], [base]])


def drawn(random: np.random.Generator, items: int, of: Any) -> Any:  # noqa: ANN401 - arrays
    return random.multinomial(items, of.ravel()).reshape(of.shape)


def truth(rate: Rate, of: Any) -> float:  # noqa: ANN401 - an array
    return float(rate_values(rate, np.round(of * 10**12).astype(np.int64), zeros=False))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_hold_the_truth(method: Any) -> None:  # noqa: ANN401 - a method
    random = np.random.default_rng(0)
    a, b = chances(0.3, 0.8, 0.1), chances(0.2, 0.65, 0.15)
    rates = (RECALL, F1, PRECISION)
    held = np.zeros(3)
    for world in range(400):
        cells = np.stack([drawn(random, 200, a), drawn(random, 250, b)])

        def gap(some: Any, place: int) -> Any:  # noqa: ANN401 - arrays
            both = (rate_values(rates[place], some[..., side, :, :], zeros=False) for side in (0, 1))
            return next(both) - next(both)

        values = bootstrap_values(cells, lambda some: np.stack([gap(some, at) for at in range(3)], -1), 400, world)
        for at, rate in enumerate(rates):
            around = estimate_from_draws(
                float(gap(cells, at)),
                values[:, at],
                lambda cells=cells, at=at: left_out_values(cells, lambda some: gap(some, at), [0, 1]),  # type: ignore[misc]
                Resampling(method),
                "items",
            )
            assert around.low is not None
            assert around.high is not None
            held[at] += around.low <= truth(rate, a) - truth(rate, b) <= around.high
    assert (held / 400 > 0.95 - 3.5 * 0.011).all(), held / 400
    assert (held / 400 < 0.95 + 3.5 * 0.011).all(), held / 400


EQUAL = {
    "recall": (chances(0.5, 0.7, 0.1), chances(0.05, 0.7, 0.4)),
    "precision": (np.array([[0.5, 0.1], [0.1, 0.3]]), np.array([[0.9, 0.02], [0.02, 0.06]])),
    "f1": (np.array([[0.5, 0.05], [0.15, 0.3]]), np.array([[0.9, 0.03], [0.01, 0.06]])),
}
"""Two groups in which labels occur unevenly often, but the rate is the same."""


@pytest.mark.parametrize("rate", [RECALL, PRECISION, F1], ids=lambda rate: rate.metric)
def test_exact_p_is_uniform_though_labels_are_spread_unevenly(rate: Rate) -> None:
    random = np.random.default_rng(1)
    a, b = EQUAL[rate.metric]
    assert truth(rate, a) == pytest.approx(truth(rate, b))
    p: list[float] = []
    while len(p) < 1_000:
        cells = drawn(random, 150, a), drawn(random, 900, b)
        if all(np.isfinite(rate_values(rate, one, zeros=False)) for one in cells):
            p.append(exact(rate, *cells))
    for level in (0.05, 0.2, 0.5):
        share = np.mean(np.array(p) <= level)
        error = 3.5 * (level * (1 - level) / 1_000) ** 0.5
        assert 0.6 * level - error < share < level + error  # a discrete p may only err on the large side


def test_shuffling_everyone_is_wrong_where_labels_are_spread_unevenly() -> None:
    """Why "within" is the default: the same world, groups shuffled among all items, rejects far too often."""
    random = np.random.default_rng(2)
    a, b = chances(0.05, 0.7, 0.1), chances(0.5, 0.7, 0.1)
    both = {"exact": 0, "all": 0}
    for _ in range(300):
        cells = drawn(random, 300, a), drawn(random, 300, b)
        both["exact"] += exact(RECALL, *cells) <= 0.05
        both["all"] += shuffled_p(*cells, partial(rate_values, RECALL, zeros=False), 199, [0]) <= 0.05
    assert both["exact"] / 300 < 0.05 + 3.5 * 0.0126
    assert both["all"] / 300 > 0.15


def test_shuffled_p_is_uniform_where_groups_do_not_matter() -> None:
    random = np.random.default_rng(3)
    of = np.array([[0.3, 0.05, 0.02], [0.08, 0.25, 0.05], [0.05, 0.05, 0.15]])
    rate = partial(rate_values, Rate("precision", "weighted", None), zeros=False)
    p = np.array([
        shuffled_p(drawn(random, 90, of), drawn(random, 140, of), rate, 199, [world])
        for world in range(400)
    ])  # fmt: skip
    counts = np.histogram(p, bins=10, range=(0, 1))[0]
    assert ((counts - 40) ** 2 / 40).sum() < 27.9  # chi-squared, 9 degrees of freedom, one in a thousand


def paired(random: np.random.Generator, items: int, second_recall: float) -> Any:  # noqa: ANN401 - arrays
    """Two classifiers that err on the same hard items more often than not."""
    groups = random.choice(["a", "b"], items)
    labels = random.integers(0, 2, items)
    hard = random.random(items)
    first = np.where(0.7 * hard + 0.3 * random.random(items) < 0.7, labels, 1 - labels)
    edge = np.where((groups == "a") & (labels == 1), second_recall, 0.7)
    second = np.where(0.7 * hard + 0.3 * random.random(items) < edge, labels, 1 - labels)
    return labels, first, second, groups


def test_swapping_predictions_is_uniform_where_they_do_not_differ() -> None:
    random = np.random.default_rng(4)
    p = []
    for world in range(300):
        found = compare_gaps(*paired(random, 240, 0.7), resamples=99, random_state=world)
        p.append(next(one.p_value for one in found.changes if (one.metric, one.positive_class) == ("recall", 1)))
    for level in (0.05, 0.2, 0.5):
        error = 3.5 * (level * (1 - level) / 300) ** 0.5
        assert 0.5 * level - error < np.mean(np.array(p) <= level) < level + error


def test_paired_intervals_hold_the_truth_and_are_narrower_than_unpaired_ones() -> None:
    random = np.random.default_rng(5)
    labels, first, second, groups = paired(random, 400_000, 0.5)
    right = {group: [one[(groups == group) & (labels == 1)].mean() for one in (first, second)] for group in ("a", "b")}
    true = (right["a"][1] - right["b"][1]) - (right["a"][0] - right["b"][0])
    held, ratios = 0, []
    for world in range(160):
        items = paired(random, 400, 0.5)
        found = compare_gaps(*items, resamples=300, random_state=world)
        around = next(one for one in found.changes if (one.metric, one.positive_class) == ("recall", 1))
        assert around.low is not None
        assert around.high is not None
        held += around.low <= true <= around.high
        if world >= 20:
            continue
        apart = [gaps(items[0], one, items[3], resamples=300).gap("recall") for one in items[1:3]]
        widths = [(one.high or 0) - (one.low or 0) for one in apart]
        ratios.append((around.high - around.low) / float(np.linalg.norm(widths)))
    assert abs(held / 160 - 0.95) < 3.5 * 0.0172
    assert np.mean(ratios) < 0.9
