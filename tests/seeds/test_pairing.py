"""Pairs as they stand, shuffled and held out, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.seeds import seeds
from biasgauge.analyses.seeds.pairing import _first_without_each, held_out_accuracy, shuffled_shares
from biasgauge.analyses.seeds.subspaces import pair_components
from biasgauge.analyses.seeds.word_pairs import PairRows

MEN = ["he", "man", "his", "boy", "father", "son"]
WOMEN = ["she", "woman", "her", "girl", "mother", "daughter"]


@pytest.mark.parametrize("pairs", [7, 30])
def test_shuffles_are_those_of_pairs_formed_one_by_one(pairs: int) -> None:
    """Also with more pairs than dimensions."""
    random = np.random.default_rng(2)
    first, second = random.normal(size=(2, pairs, 12))
    orders = np.stack([random.permutation(pairs) for _ in range(20)])
    for order, shares in zip(orders, shuffled_shares(first, second, orders), strict=True):
        slow = pair_components(first, second[order])
        assert slow is not None
        np.testing.assert_allclose(shares, slow.shares, atol=1e-10)


def slow_accuracy(first_rows: np.ndarray, second_rows: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    right = []
    for held in range(len(first)):
        own = {first_rows[held], second_rows[held]}
        others = [place for place in range(len(first)) if not own & {first_rows[place], second_rows[place]}]
        found = pair_components(first[others], second[others])
        if found is not None:
            right.append(float((first[held] - second[held]) @ found.axes[0] > 0))
    return float(np.mean(right))


@pytest.mark.parametrize("dim", [10, 4])
def test_held_out_pairs_are_judged_by_the_others_alone(dim: int) -> None:
    """Also with more pairs than dimensions."""
    random = np.random.default_rng(4)
    for _ in range(20):
        vectors = random.normal(size=(16, dim))
        vectors[:8, 0] += 0.8
        first_rows, second_rows = random.integers(0, 8, 7), random.integers(8, 16, 7)  # words recur in pairs
        rows = PairRows(first_rows, second_rows, first_rows, second_rows)
        ends = vectors[first_rows], vectors[second_rows]
        found = held_out_accuracy(rows, *ends)
        assert found == pytest.approx(slow_accuracy(first_rows, second_rows, *ends))


@pytest.mark.parametrize("dim", [10, 4])
def test_first_shares_without_each_pair(dim: int) -> None:
    first, second = np.random.default_rng(1).normal(size=(2, 7, dim))
    expected = []
    for left in range(7):
        slow = pair_components(np.delete(first, left, axis=0), np.delete(second, left, axis=0))
        assert slow is not None
        expected.append(slow.shares[0])
    assert _first_without_each(first - second).tolist() == pytest.approx(expected)


def test_two_pairs_with_a_word_in_common_judge_nothing() -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 4))
    first, second = np.array([0, 0]), np.array([1, 2])
    rows = PairRows(first[:1], second, first, second)
    assert np.isnan(held_out_accuracy(rows, vectors[first], vectors[second]))


def test_order_matters_where_pairs_share_a_meaning(model: bg.Embedding) -> None:
    about = seeds(model, MEN, WOMEN, shuffles=300)[0].pairing
    assert about.pairs == 6
    assert about.first.value is not None
    assert about.first.value > 0.9  # pairs differ in nothing but one axis and noise
    assert about.shuffled_first.high is not None
    assert about.shuffled_first.high < about.first.value
    # Of 720 permutations one is the order itself: all shuffles but those are weaker.
    assert about.p_value is not None
    assert about.p_value < 0.02
    assert about.random.value is not None
    assert about.random.value < about.shuffled[0]
    assert about.accuracy.value == 1
    assert about.shuffles == 300
    assert sum(about.explained) == pytest.approx(1)
    assert sum(about.shuffled) == pytest.approx(1)


def test_random_sets_have_no_order(model: bg.Embedding) -> None:
    about = seeds(model, [f"w{row}" for row in range(10)], [f"w{row}" for row in range(10, 20)])[0].pairing
    assert about.p_value is not None
    assert about.p_value > 0.05
    assert len(about.explained) == 10


def test_the_mean_of_replicates_and_its_interval(replicates: list[bg.Embedding]) -> None:
    whole = seeds(replicates, MEN, WOMEN, shuffles=40)[0].pairing
    singles = [seeds(one, MEN, WOMEN, shuffles=0)[0].pairing for one in replicates]
    shares = np.array([one.first.value for one in singles])
    assert whole.first.value == pytest.approx(shares.mean())
    interval = whole.first
    assert interval is not None
    assert interval.method == "t over models"
    reach = 3.182446305284263 * shares.std(ddof=1) / 2  # t quantile of .975 with 3 degrees of freedom, from a table
    assert interval.low == pytest.approx(shares.mean() - reach)
    assert interval.high == pytest.approx(shares.mean() + reach)
    assert whole.shuffles == 40


def test_copies_of_a_model_say_no_more_than_the_model(model: bg.Embedding) -> None:
    """A shuffle is one pairing, the same in all models."""
    mixed = [*MEN[:3], *reversed(MEN[3:])]
    single = seeds(model, mixed, WOMEN, shuffles=200)[0].pairing
    copies = [bg.Embedding(model.words, model.vectors, name=f"copy {number}") for number in range(3)]
    assert seeds(copies, mixed, WOMEN, shuffles=200)[0].pairing.p_value == single.p_value


def test_p_over_replicates_is_that_of_the_mean_share(replicates: list[bg.Embedding]) -> None:
    about = seeds(replicates, MEN, WOMEN, shuffles=60, random_state=4)[0].pairing
    name = [*about_name(replicates)]
    orders = None
    shares, drawn = [], []
    for place, model in enumerate(replicates):
        stream = np.random.default_rng([4, place, *name])
        if orders is None:
            orders = [stream.permutation(len(MEN)) for _ in range(60)]
        first, second = (np.asarray([model[word] for word in words], float) for words in (MEN, WOMEN))
        own = pair_components(first, second)
        assert own is not None
        shares.append(own.shares[0])
        turned = [pair_components(first, second[order]) for order in orders]
        drawn.append([one.shares[0] for one in turned if one is not None])
    extreme = (np.mean(drawn, axis=0) >= np.mean(shares) - 1e-12).sum()
    assert about.p_value == pytest.approx((1 + extreme) / 61)


def about_name(models: list[bg.Embedding]) -> list[int]:
    card = seeds(models, MEN, WOMEN, shuffles=0)[0]
    return [*card.a.encode(), 0, *card.b.encode()]


def test_one_pair_has_one_component_and_nothing_to_hold_out(model: bg.Embedding) -> None:
    about = seeds(model, ["he"], ["she"])[0].pairing
    assert about.explained == (1.0,)
    assert about.shuffled == ()
    assert about.p_value is None
    assert about.accuracy.value is None
    assert about.accuracy.reason == "there are fewer than two pairs without a word in common"


def test_models_of_other_dimensions_are_compared_in_the_components_that_both_have(model: bg.Embedding) -> None:
    narrow = bg.Embedding(model.words, model.vectors[:, :3], name="narrow")
    both = seeds([model, narrow], MEN, WOMEN, shuffles=10)[0]
    one, other = (seeds(it, MEN, WOMEN, shuffles=0)[0].explained_variance for it in (model, narrow))
    assert both.explained_variance == pytest.approx([(a + b) / 2 for a, b in zip(one, other, strict=False)])
    assert len(both.explained_variance_shuffled) == 3


def test_pairs_of_the_same_word(model: bg.Embedding) -> None:
    about = seeds(model, ["he", "man"], ["he", "man"])[0].pairing
    assert about.reason == "the two words of every pair are the same"


def test_the_jackknife_over_pairs_of_one_model(model: bg.Embedding) -> None:
    about = seeds(model, MEN, WOMEN, shuffles=0)[0].pairing
    left = np.array(
        [
            seeds(model, MEN[:row] + MEN[row + 1 :], WOMEN[:row] + WOMEN[row + 1 :], shuffles=0)[0].explained_variance[
                0
            ]
            for row in range(6)
        ]
    )
    spread = (5 / 6 * ((left - left.mean()) ** 2).sum()) ** 0.5
    assert about.first.value is not None
    assert about.first.low == pytest.approx(about.first.value - 2.5705818366147395 * spread)  # t, 5 df
    assert about.first.method == "jackknife over pairs"
