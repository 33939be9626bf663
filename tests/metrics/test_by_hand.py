"""The other tests on vectors so simple that the numbers follow by hand, and where each is undefined."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import expit

from biasgauge.errors import ParameterError
from biasgauge.metrics import fit_logistic, mac_change, mac_from_similarities, mac_of_sets
from biasgauge.metrics.ect import ect
from biasgauge.metrics.mac import mac
from biasgauge.metrics.nas import nas
from biasgauge.metrics.ripa import set_ripa
from biasgauge.metrics.rnd import rnd
from biasgauge.metrics.rnsb import rnsb, rnsb_of_words
from biasgauge.metrics.same import same
from biasgauge.metrics.semaxis import semaxis
from biasgauge.stats import Resampling

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats

EAST, NORTH, WEST, SOUTH = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]


def test_mac_counts_distance_over_targets_and_sets() -> None:
    result = mac([EAST], [NORTH], [EAST], [NORTH, WEST], interval=None)
    # East: 0 from A, (1 + 2) / 2 from B. North: 1 from A, (0 + 1) / 2 from B.
    assert np.array(result.distances) == pytest.approx(np.array([[0, 1.5], [1, 0.5]]))
    assert result.value == pytest.approx(0.75)


def test_mac_is_zero_one_and_two_where_it_should_be() -> None:
    assert mac([EAST], [EAST], [EAST], [EAST], interval=None).value == pytest.approx(0)
    assert mac([EAST], [EAST], [NORTH], [SOUTH], interval=None).value == pytest.approx(1)
    assert mac([EAST], [EAST], [WEST], [WEST], interval=None).value == pytest.approx(2)


def test_mac_takes_any_number_of_sets_each_with_the_same_weight() -> None:
    targets, sets = [EAST, NORTH], [[EAST], [NORTH, SOUTH, SOUTH], [WEST]]
    result = mac_of_sets(targets, sets)
    assert result.value == pytest.approx(np.mean([0, 1, 2, 1, (0 + 2 + 2) / 3, 1]))
    assert result.interval is not None
    assert result.interval.reason == "the set 'attributes 0' has fewer than two words to draw from again"
    assert mac_of_sets(targets, []).reason == "there are no attribute sets"
    assert mac_from_similarities([]).reason == "there are no similarities"
    assert mac_from_similarities([np.ones((2, 0))]).reason == "there are no similarities with one of the sets"
    with pytest.raises(ParameterError, match="each target word"):
        mac_from_similarities([np.ones((2, 3)), np.ones((3, 3))])


def test_mac_of_sets_and_mac_agree() -> None:
    random = np.random.default_rng(0)
    x, y, a, b = (random.normal(size=(4, 5)) for _ in range(4))
    assert mac_of_sets(np.concatenate([x, y]), [a, b]).value == pytest.approx(mac(x, y, a, b).value)


def test_mac_change_is_the_paired_t_test() -> None:
    random = np.random.default_rng(1)
    before, after = (mac_from_similarities(list(random.normal(size=(3, 6, 4)))) for _ in range(2))
    change = mac_change(before, after)
    oracle = stats.ttest_rel(np.ravel(before.distances), np.ravel(after.distances))
    assert (change.t, change.p_value, change.df) == pytest.approx((oracle.statistic, oracle.pvalue, 17))
    assert change.interval is not None
    theirs = oracle.confidence_interval()
    assert (change.interval.low, change.interval.high) == pytest.approx((theirs.low, theirs.high))


def test_mac_change_without_a_change_to_test() -> None:
    one = mac_from_similarities([[[0.5]]])
    assert mac_change(one, one).reason == "a t test needs at least two (target, set) pairs"
    two = mac_from_similarities([[[0.5], [0.25]]])
    constant = mac_change(two, mac_from_similarities([[[0.25], [0.0]]]))
    assert constant.value == pytest.approx(-0.25)
    assert constant.t is None
    assert constant.reason == "all differences are the same"
    assert mac_change(two, mac_from_similarities([])).reason == "there are no similarities"
    with pytest.raises(ParameterError, match="same targets and sets"):
        mac_change(one, two)
    with pytest.raises(ParameterError, match="'level'"):
        mac_change(two, two, level=1.0)


def test_rnd_sums_over_words_and_is_positive_when_they_are_nearer_to_y() -> None:
    result = rnd([EAST], [NORTH], [NORTH, NORTH], interval=None)
    assert result.value == pytest.approx(2 * sqrt(2))
    assert result.mean == pytest.approx(sqrt(2))
    assert rnd([EAST], [NORTH], [WEST, SOUTH], interval=None).value == pytest.approx(0)


def test_the_cosine_variant_has_the_opposite_sign() -> None:
    result = rnd([EAST], [NORTH], [NORTH, NORTH], distance="cosine", interval=None)
    assert result.value == pytest.approx(-2)
    with pytest.raises(ParameterError, match="'distance'"):
        rnd([EAST], [NORTH], [NORTH], distance="euclid")  # type: ignore[arg-type]


def test_rnd_scales_to_unit_vectors_unless_told_not_to() -> None:
    long = np.array([EAST, EAST]) * 3
    assert rnd(long, [NORTH], [NORTH], interval=None).value == pytest.approx(sqrt(2))
    assert rnd(long, [NORTH], [NORTH], unit_vectors=False, interval=None).value == pytest.approx(sqrt(10))


def test_rnd_of_a_mean_without_direction() -> None:
    assert rnd([EAST, WEST], [NORTH], [NORTH], interval=None).value == pytest.approx(1)  # distance from the origin
    undirected = rnd([EAST, WEST], [NORTH], [NORTH], distance="cosine")
    assert undirected.value is None
    assert "cancel out" in (undirected.reason or "")


def test_ect_is_spearmans_correlation() -> None:
    random = np.random.default_rng(2)
    x, y, a = random.normal(size=(3, 6)), random.normal(size=(4, 6)), random.normal(size=(9, 6))
    result = ect(x, y, a, interval=None)
    near = [a @ mean / np.linalg.norm(a, axis=1) for mean in (x.mean(axis=0), y.mean(axis=0))]
    assert result.value == pytest.approx(stats.spearmanr(*near).statistic)


def test_equal_similarities_share_their_rank() -> None:
    a = [EAST, EAST, [1.0, 1.0], NORTH, [-1.0, 2.0], [-1.0, 2.0]]
    result = ect([[1.0, 0.2]], [[1.0, 2.0]], a, interval=None)
    assert result.value == pytest.approx(stats.spearmanr(result.x_similarities, result.y_similarities).statistic)


def test_similarities_equal_but_for_rounding_have_no_order() -> None:
    random = np.random.default_rng(8)
    basis = np.linalg.qr(random.normal(size=(7, 7)))[0]
    around_the_first = basis[0] + 0.7 * basis[2:]
    result = ect(basis[:1], basis[1:2] + 0.3 * random.normal(size=(1, 7)), around_the_first)
    assert result.value is None
    assert "have no order" in (result.reason or "")


@pytest.mark.parametrize(
    ("sets", "reason"),
    [
        (([EAST], [NORTH], [EAST]), "at least two attribute words"),
        (([EAST, WEST], [NORTH], [EAST, NORTH]), "cancel out"),
        (([EAST], [[3.0, 0.0]], [EAST, NORTH]), "point the same way"),
        (([EAST], [NORTH], [EAST, EAST]), "have no order"),
    ],
)
def test_ect_is_undefined_where_there_is_nothing_to_compare(sets: Any, reason: str) -> None:  # noqa: ANN401 - three sets
    result = ect(*sets)
    assert result.value is None
    assert reason in (result.reason or "")


def test_set_ripa_by_hand() -> None:
    # Pairs point east (length 2) and north-west; the words are long.
    result = set_ripa([EAST, NORTH], [WEST, EAST], [[3.0, 0.0], [0.0, 2.0]], interval=None)
    expected = np.array([[3, -3 / sqrt(2)], [0, 2 / sqrt(2)]])
    assert result.word_means == pytest.approx(expected.mean(axis=1))
    assert result.word_sds == pytest.approx(expected.std(axis=1))
    assert result.value == pytest.approx(expected.mean())
    unit = set_ripa([EAST, NORTH], [WEST, EAST], [[3.0, 0.0], [0.0, 2.0]], unit_words=True, interval=None)
    assert unit.word_means == pytest.approx((expected / [[3], [2]]).mean(axis=1))


def test_set_ripa_pairs_are_kept_or_refused() -> None:
    with pytest.raises(ParameterError, match="Got 2 and 1 words"):
        set_ripa([EAST, NORTH], [WEST], [EAST])
    twin = set_ripa([EAST, NORTH], [WEST, NORTH], [EAST, SOUTH])
    assert twin.reason == "both words of pair 1 have the same vector"
    lonely = set_ripa([EAST], [WEST], [EAST, SOUTH])
    assert lonely.interval is not None
    assert lonely.interval.reason == "there are fewer than two pairs to draw from again"


def test_same_by_hand() -> None:
    # The direction from B to A is (1, -1) / sqrt(2), however long the words.
    result = same([EAST, NORTH, [-5.0, -5.0]], [[2.0, 0.0]], [[0.0, 7.0]], interval=None)
    half = 1 / sqrt(2)
    assert result.biases == pytest.approx((half, -half, 0), abs=1e-15)
    assert result.value == pytest.approx(2 * half / 3)
    assert result.skew == pytest.approx(0, abs=1e-15)
    assert result.stereotype == pytest.approx(sqrt(1 / 3))


def test_same_is_the_association_in_units_of_the_largest_possible() -> None:
    random = np.random.default_rng(3)
    x, a, b = (random.normal(size=(5, 4)) for _ in range(3))
    unit = {name: one / np.linalg.norm(one, axis=1, keepdims=True) for name, one in (("x", x), ("a", a), ("b", b))}
    s = (unit["x"] @ unit["a"].T).mean(axis=1) - (unit["x"] @ unit["b"].T).mean(axis=1)
    largest = np.linalg.norm(unit["a"].mean(axis=0) - unit["b"].mean(axis=0))
    assert same(x, a, b, interval=None).biases == pytest.approx(s / largest)
    assert same(x, a, b, interval=None).skew == pytest.approx((s / largest).mean())
    assert same((unit["a"].mean(axis=0) - unit["b"].mean(axis=0))[None], a, b, interval=None).value == pytest.approx(1)


def test_same_needs_two_different_sides() -> None:
    assert "nothing to lean to" in (same([EAST], [EAST, NORTH], [NORTH, [5.0, 0.0]]).reason or "")


@pytest.mark.parametrize(("ddof", "expected"), [(0, 2.0), (1, sqrt(3))])
def test_nas_by_hand(ddof: int, expected: float) -> None:
    # Cosines 1, 1 with A and 0, 0 with B: a gap of 1 over a standard deviation of 1/2 (or of 1/sqrt(3)).
    result = nas([EAST, [4.0, 0.0]], [EAST, EAST], [NORTH, SOUTH], ddof=ddof, interval=None)
    assert result.scores == pytest.approx((expected, expected))
    assert result.value == pytest.approx(expected)


def test_nas_of_a_word_as_near_to_everything() -> None:
    result = nas([EAST, [1.0, 1.0]], [EAST], [NORTH])
    assert result.value is None
    assert result.scores[0] == pytest.approx(2.0)
    assert result.scores[1] is None
    assert result.reason == "word 1 of the set 'x' is as near to every attribute word"
    with pytest.raises(ParameterError, match="'ddof'"):
        nas([EAST], [EAST], [NORTH], ddof=3)


def test_semaxis_by_hand() -> None:
    # The axis runs from (0, 3) to (1, 0).
    result = semaxis([EAST, NORTH], [EAST], [[0.0, 3.0]], interval=None)
    assert result.scores == pytest.approx((1 / sqrt(10), -3 / sqrt(10)))
    assert result.value == pytest.approx(-1 / sqrt(10))
    assert "there is no axis" in (semaxis([EAST], [EAST, WEST], [NORTH, SOUTH]).reason or "")
    tiny = 1e-9  # what counts as no axis is a matter of the vectors' own length
    assert semaxis([EAST], [[tiny, 0.0]], [[0.0, tiny]], interval=None).value == pytest.approx(0.5**0.5)


def rough_optimum(features: Floats, labels: Floats, weights: Floats, c: float, *, free: bool) -> Floats:
    """The same problem, handed to scipy's general minimizer."""

    def loss(point: Floats) -> float:
        margins = (2 * labels - 1) * (features @ point[:-1] + point[-1])
        shrunk = point[:-1] if free else point
        return float((shrunk**2).sum() / 2 + c * (weights * np.logaddexp(0, -margins)).sum())

    found = optimize.minimize(loss, np.zeros(features.shape[1] + 1), method="BFGS", options={"gtol": 1e-7})
    point: Floats = found.x
    return point


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("c", [0.1, 1.0, 20.0])
def test_the_logistic_regression_reaches_the_optimum(c: float, free: bool) -> None:  # noqa: FBT001 - a case
    random = np.random.default_rng(4)
    features = random.normal(size=(14, 3))
    labels = (features[:, 0] + random.normal(size=14) > 0).astype(np.float64)
    weights = random.integers(0, 4, size=(3, 14)).astype(np.float64)
    found = fit_logistic(features, labels, weights, c=c, penalize_intercept=not free)
    for row in range(3):
        expected = rough_optimum(features, labels, weights[row], c, free=free)
        assert found[row] == pytest.approx(expected, abs=2e-5)


def test_the_logistic_regression_does_not_run_away() -> None:
    # Whole Newton steps diverge here: two far words and hardly any penalty.
    random = np.random.default_rng(726)
    words, dimensions = int(random.integers(4, 20)), int(random.integers(1, 4))
    features = random.standard_cauchy(size=(words, dimensions))
    labels = (random.random(words) < 0.3).astype(np.float64)
    labels[:2] = 1, 0
    found = fit_logistic(features, labels, np.ones((1, words)), c=1e4, penalize_intercept=False)[0]
    slope = 1e4 * (expit(features @ found[:-1] + found[-1]) - labels)
    assert features.T @ slope + found[:-1] == pytest.approx(np.zeros(dimensions), abs=1e-6)
    assert slope.sum() == pytest.approx(0, abs=1e-6)
    # Nor does it beside another fit, whose steps are halved at other times.
    both = fit_logistic(
        features, labels, np.stack([np.ones(words), np.full(words, 0.1)]), c=1e4, penalize_intercept=False
    )
    assert both[0] == pytest.approx(found, rel=1e-6)


def test_rnsb_is_the_divergence_of_the_shares() -> None:
    random = np.random.default_rng(5)
    x, y, a, b = (random.normal(size=(5, 8)) for _ in range(4))
    result = rnsb(x, y, a, b, interval=None)
    assert len(result.probabilities) == 10
    assert result.shares == pytest.approx(np.array(result.probabilities) / sum(result.probabilities))
    assert result.value == pytest.approx(stats.entropy(result.shares, np.full(10, 0.1)))
    assert rnsb_of_words(np.concatenate([x, y]), a, b, interval=None).value == pytest.approx(result.value)


def test_rnsb_sees_which_words_are_negative() -> None:
    result = rnsb([EAST], [WEST], [EAST, [1.0, 0.1]], [WEST, [-1.0, 0.1]], c=10.0, interval=None)
    assert result.probabilities[0] < 0.2
    assert result.probabilities[1] > 0.8
    equal = rnsb([NORTH], [SOUTH], [EAST], [WEST], interval=None)
    assert equal.value == pytest.approx(0, abs=1e-12)
    assert equal.probabilities == pytest.approx((0.5, 0.5))
    certain = rnsb([EAST], [WEST], [EAST], [WEST], c=1e6, interval=None)
    assert certain.value == pytest.approx(log(2), abs=0.01)


def test_rnsb_intervals_say_what_they_generalize_over() -> None:
    random = np.random.default_rng(6)
    x, y, a, b = (random.normal(size=(5, 8)) for _ in range(4))
    settings = Resampling(resamples=200)
    kept = rnsb(x, y, a, b, refit=False, interval=settings).interval
    refitted = rnsb(x, y, a, b, interval=settings).interval
    assert kept is not None
    assert refitted is not None
    assert (kept.over, refitted.over) == ("target words", "words")
    assert kept.low != refitted.low
    many = random.normal(size=(50, 2))
    hundred = rnsb(x[:, :2], y[:, :2], many, -many, interval=Resampling(method="percentile", resamples=100))
    assert hundred.interval is not None
    assert hundred.interval.low is not None
    more = rnsb(x[:, :2], y[:, :2], many, -many[[*range(50), 0]], interval=settings)
    assert more.value is not None
    assert more.interval is not None
    assert "refitting with more than 100 attribute words takes too long; ask with refit=False" in str(
        more.interval.reason
    )


def test_rnsb_is_undefined_for_one_word_and_for_endless_fits() -> None:
    assert rnsb_of_words([EAST], [EAST], [WEST]).reason == "shares need at least two target words"
    # Which of the two happens to the second, a fit without end or one with no probability left, is up to the machine.
    endless = rnsb([[1e150, 0]], [[0, 1e150]], [[1e150, 0]], [[0, 1e150]])
    certain = rnsb([[0, 1e150]], [[0, 1e150]], [[1e150, -1e150]], 1e150 * np.array([[-1, 1], [0, -1], [1, 0], [1, 1]]))
    for unusable in (endless, certain):
        assert unusable.value is None
        assert unusable.reason == "the classifier finds no usable fit: the vectors are too long for the penalty"
    with pytest.raises(ParameterError, match="'c' parameter"):
        rnsb([EAST], [WEST], [EAST], [WEST], c=0)
