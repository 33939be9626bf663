"""Null simulations: against the definition, against R's own random numbers, against theory, against chance."""

from __future__ import annotations

import json
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from biasgauge.analyses.posterior import NullModel, NullSimulation, simulate_null
from biasgauge.analyses.posterior.null_simulation import PUBLISHED
from biasgauge.analyses.posterior.null_tests import run_weat, weat_numbers
from biasgauge.errors import ParameterError
from biasgauge.metrics import mac_change, mac_from_similarities, weat_from_similarities
from biasgauge.papers.dobrzeniecka2023 import r_normal

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats

SETTINGS = {"random_state": 0, "ddof": 0, "alternative": "two-sided", "permutations": 199}
FAR = 4.0
"""Standard errors beyond which a simulated share is wrong: one test in 16,000 would fail by chance."""


def agrees(hits: int, trials: int, share: float, other_trials: float = np.inf) -> bool:
    """Whether a share of `trials` may be `share`, itself known from `other_trials` (endlessly many: exactly)."""
    error = sqrt(share * (1 - share) * (1 / trials + 1 / other_trials))
    return abs(hits / trials - share) <= FAR * error


def quarters(table: Floats, n_x: int, n_a: int) -> tuple[Floats, Floats, Floats, Floats]:
    return table[:n_x, :n_a], table[:n_x, n_a:], table[n_x:, :n_a], table[n_x:, n_a:]


@pytest.fixture(scope="module")
def published() -> NullSimulation:
    return simulate_null(random_state=1)


def two_sided(found: NullSimulation) -> dict[str, Any]:
    return {one.quantity: one.two_sided for one in found.comparisons}


def test_the_papers_own_random_numbers_give_its_figures() -> None:
    """R, seed 123456: .0083 (ddof 0) and .0056 (ddof 1) as defined, .3845 with the fault, .0148 for the statistic."""
    tables = (0.08 * r_normal(123_456, 10_000 * 256)).reshape(10_000, 16, 16)
    zero, one = (weat_numbers(tables, NullModel(), ddof) for ddof in (0, 1))
    assert np.mean(np.abs(zero.effect_size) >= 1.267195) == 0.0083
    assert np.mean(np.abs(one.effect_size) >= 1.267195) == 0.0056
    assert np.mean(np.abs(zero.published) >= 1.267195) == 0.3845
    assert np.mean(np.abs(zero.statistic) >= 0.386222) == 0.0148
    assert np.mean(zero.statistic >= 0.386222) == 0.0072


def test_our_random_numbers_agree_with_those_of_r(published: NullSimulation) -> None:
    for of, share in PUBLISHED.items():
        ours = two_sided(published)[of]
        assert agrees(ours.hits, ours.trials, share, 10_000), of
    figures = {one.quantity: one.published for one in published.comparisons}
    assert figures == {"effect size": 0.0083, "effect size as published": 0.3845, "statistic": 0.0148}
    reasons = {one.quantity: one.reason for one in published.comparisons}
    assert "mean() uses the first alone" in str(reasons["effect size as published"])


@pytest.mark.parametrize(
    ("asked", "ddof"), [({}, 0), ({}, 1), ({"n_x": 5, "n_y": 9, "n_a": 3, "n_b": 6}, 0), ({"n_x": 3, "n_y": 3}, 1)]
)
def test_shares_are_those_of_theory(asked: dict[str, Any], ddof: int) -> None:
    """The squared correlation of a contrast of n independent Normal numbers is Beta(1/2, (n − 2)/2)."""
    found = simulate_null(**asked, ddof=ddof, observed=0.9, observed_statistic=0.3, simulations=40_000, permutations=0)
    sizes = NullModel(**asked)
    n, x, y = sizes.targets, sizes.n_x, sizes.n_y
    square = {"effect size": 0.81 * x * y / (n * (n - ddof)), "effect size as published": 0.81 / (2 * (n - 1))}
    expected = {of: stats.beta.sf(one, 0.5, (n - 2) / 2) for of, one in square.items()}
    expected["statistic"] = 2 * stats.norm.sf(0.3 / (0.08 * sqrt(n / sizes.n_a + n / sizes.n_b)))
    for of, share in two_sided(found).items():
        assert share.theory == pytest.approx(expected[of], rel=1e-9)
        assert agrees(share.hits, share.trials, expected[of]), of


def test_spreads_are_those_of_theory() -> None:
    found = simulate_null(simulations=40_000, random_state=3)
    assert found.effect_size is not None
    # E d² = 4 E r² = 4 / 15 for eight and eight words; statistic: 16 associations of variance 2 · .08² / 8
    assert found.effect_size.sd == pytest.approx(sqrt(4 / 15), rel=0.02)
    assert found.statistic.sd == pytest.approx(0.16, rel=0.02)
    assert found.effect_size.mean == pytest.approx(0, abs=0.012)
    assert found.effect_size.quantiles["0.975"] == pytest.approx(2 * sqrt(stats.beta.isf(0.05, 0.5, 7)), rel=0.02)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(("n_x", "n_y"), [(8, 8), (6, 4), (4, 6), (1, 3)])
def test_each_data_set_is_the_registered_test(alternative: Any, n_x: int, n_y: int) -> None:  # noqa: ANN401 - a Literal
    """Vectorized against WEAT as the room `association` computes it, one data set at a time."""
    model = NullModel(n_x=n_x, n_y=n_y, n_a=3, n_b=5)
    found = simulate_null(n_x=n_x, n_y=n_y, n_a=3, n_b=5, simulations=12, alternative=alternative, random_state=5)
    assert found.p_values is not None
    assert found.effect_size is not None
    for at, table in enumerate(next(model.tables(12, 5))):
        expected = weat_from_similarities(*quarters(table, n_x, 3), alternative=alternative, interval=None)
        assert found.p_values.values[at] == pytest.approx(expected.p_value, rel=1e-12)
        assert found.statistic.values[at] == pytest.approx(expected.statistic, abs=1e-14)
        assert found.effect_size.values[at] == pytest.approx(expected.effect_size, abs=1e-12)


def test_p_agrees_with_scipy() -> None:
    found = simulate_null(n_x=5, n_y=6, simulations=4, alternative="greater")
    assert found.p_values is not None
    for at, table in enumerate(next(NullModel(n_x=5, n_y=6).tables(4, 0))):
        s = table[:, :8].mean(axis=1) - table[:, 8:].mean(axis=1)
        theirs = stats.permutation_test(
            (s[:5], s[5:]), lambda x, y: np.mean(x) - np.mean(y), alternative="greater", n_resamples=10**6
        )
        assert found.p_values.values[at] == pytest.approx(theirs.pvalue, rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_random_permutations_agree_with_exact_ones(alternative: str) -> None:
    asked = {**SETTINGS, "simulations": 60, "alternative": alternative, "permutations": 4_000}
    exact, drawn = (run_weat(NullModel(), asked, most_splits=most) for most in (20_000, 0))
    assert (exact.method, drawn.method) == ("exact permutation", "random permutations")
    true = exact.values["p"]
    error = np.sqrt(true * (1 - true) / 4_000) + 1 / 4_000
    assert (np.abs(drawn.values["p"] - true) <= FAR * error).all()
    assert not np.array_equal(drawn.values["p"], true)


def test_random_permutations_never_give_nought_and_keep_the_level() -> None:
    found = run_weat(NullModel(), {**SETTINGS, "simulations": 4_000, "permutations": 19}, most_splits=0)
    assert found.values["p"].min() == 1 / 20
    assert agrees(int((found.values["p"] <= 0.05).sum()), 4_000, 1 / 20)
    without = run_weat(NullModel(), {**SETTINGS, "simulations": 5, "permutations": 0}, most_splits=0)
    assert without.reason == "permutations were not asked for"


@pytest.mark.calibration
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_p_is_uniform_and_rejects_as_often_as_it_says(alternative: Any) -> None:  # noqa: ANN401 - a Literal
    found = simulate_null(simulations=4_000, alternative=alternative, random_state=8)
    assert found.p_values is not None
    assert found.rejection is not None
    assert stats.kstest(found.p_values.values, "uniform").pvalue > 0.001
    assert agrees(found.rejection.hits, found.rejection.trials, 0.05)
    assert "no false confidence is seen" in found.reading


def test_the_published_fault_fails_where_the_corrected_effect_size_passes(published: NullSimulation) -> None:
    """Both turned into p by the theory of the corrected one, which must give uniform numbers."""
    assert published.corrected is not None
    assert published.published is not None
    p = {
        name: stats.beta.sf(np.minimum(1, one.values**2 / 4), 0.5, 7)
        for name, one in (("right", published.corrected), ("wrong", published.published))
    }
    assert stats.kstest(p["right"], "uniform").pvalue > 0.001
    assert stats.kstest(p["wrong"], "uniform").pvalue < 1e-50


def test_as_published_shows_the_fault_and_keeps_both() -> None:
    right, wrong = (simulate_null(simulations=2_000, as_published=flag) for flag in (False, True))
    assert wrong.effect_size is not None
    assert right.published is not None
    assert np.array_equal(wrong.effect_size.values, right.published.values)
    assert right.comparisons == wrong.comparisons
    assert wrong.to_dict()["effect_size"]["sd"] > 2 * right.to_dict()["effect_size"]["sd"]


@pytest.mark.parametrize("part", ["word_sd", "attribute_sd"])
def test_what_all_attributes_or_all_words_share_cancels(part: str) -> None:
    plain = simulate_null(simulations=3_000)
    shared = simulate_null(simulations=3_000, **{part: 0.2})  # type: ignore[arg-type]
    assert plain.p_values is not None
    assert shared.p_values is not None
    np.testing.assert_allclose(shared.p_values.values, plain.p_values.values, rtol=1e-12)


@pytest.mark.parametrize(("family_sd", "words"), [(0.04, 8), (0.08, 8), (0.04, 6)])
def test_words_of_one_topic_make_p_falsely_confident(family_sd: float, words: int) -> None:
    """Set means vary by sd²/n + family²; a t test knows of sd²/n alone, and permutation p is close to a t test."""
    found = simulate_null(family_sd=family_sd, n_x=words, n_y=words, simulations=6_000)
    assert found.rejection is not None
    freedom, ratio = 2 * words - 2, 1 + words * (family_sd / 0.08) ** 2
    expected = 2 * stats.t.sf(stats.t.isf(0.025, freedom) / sqrt(ratio), freedom)
    assert found.rejection.value == pytest.approx(expected, abs=0.03)
    assert found.rejection.low > 0.15  # type: ignore[operator]
    assert "times as often as p promises" in found.reading
    assert two_sided(found)["effect size"].theory is None


def test_families_of_one_word_are_no_families() -> None:
    found = simulate_null(family_sd=0.08, family_size=1, simulations=4_000)
    assert found.rejection is not None
    assert agrees(found.rejection.hits, found.rejection.trials, 0.05)
    assert NullModel(n_x=5, n_y=4, family_size=2).families.tolist() == [0, 0, 1, 1, 2, 3, 3, 4, 4]
    assert NullModel(n_x=2, n_y=3).families.tolist() == [0, 0, 1, 1, 1]


def test_parts_of_a_null_model_have_the_variances_they_should() -> None:
    model = NullModel(n_x=20, n_y=20, n_a=10, n_b=10, sd=0.1, word_sd=0.2, attribute_sd=0.3, family_sd=0.4)
    table = np.concatenate(list(model.tables(3_000, 0)))
    first = table[:, 0, 0]

    def shared(one: Floats) -> float:
        return float(np.mean(first * one))

    assert shared(first) == pytest.approx(0.01 + 0.04 + 0.09 + 0.16, rel=0.1)
    assert shared(table[:, 0, 1]) == pytest.approx(0.04, abs=0.02)  # the same word
    assert shared(table[:, 39, 0]) == pytest.approx(0.09, abs=0.02)  # the same attribute, another family
    assert shared(table[:, 1, 0]) == pytest.approx(0.09 + 0.16, abs=0.03)  # the same attribute and family
    assert shared(table[:, 39, 19]) == pytest.approx(0, abs=0.02)


def test_mac_is_the_registered_test_and_its_t_test_is_manzinis() -> None:
    model = NullModel(n_x=3, n_y=2, n_a=4, n_b=3)
    found = simulate_null("mac", n_x=3, n_y=2, n_a=4, n_b=3, simulations=10, random_state=2)
    assert found.p_values is not None
    for at, (before, after) in enumerate(zip(next(model.tables(10, 2, 0)), next(model.tables(10, 2, 1)), strict=True)):
        macs = [mac_from_similarities([one[:, :4], one[:, 4:]], interval=None) for one in (before, after)]
        assert found.statistic.values[at] == pytest.approx(macs[0].value, abs=1e-14)
        assert found.p_values.values[at] == pytest.approx(mac_change(*macs).p_value, rel=1e-9)


def test_mac_under_the_null() -> None:
    found = simulate_null("mac", observed=0.99, simulations=20_000)
    assert found.statistic.mean == pytest.approx(1, abs=2e-4)
    spread = 0.08 / sqrt(256)
    assert found.statistic.sd == pytest.approx(spread, rel=0.02)
    (compared,) = found.comparisons
    assert compared.two_sided is not None
    assert compared.question == "|statistic − 1| ≥ 0.01"
    assert agrees(compared.two_sided.hits, 20_000, 2 * stats.norm.sf(0.01 / spread))
    assert agrees(compared.less.hits, 20_000, stats.norm.sf(0.01 / spread))
    assert found.rejection is not None
    assert agrees(found.rejection.hits, 20_000, 0.05)
    assert found.effect_size is None
    assert found.to_dict()["effect_size"]["reason"] == "MAC has one number, see statistic"


@pytest.mark.parametrize("part", ["word_sd", "attribute_sd"])
def test_the_t_test_of_mac_is_falsely_confident_when_pairs_share_words(part: str) -> None:
    found = simulate_null("mac", simulations=3_000, **{part: 0.04})  # type: ignore[arg-type]
    assert found.rejection is not None
    assert found.rejection.low > 0.1  # type: ignore[operator]
    assert "although they share words" in found.reading


def test_cosines_of_random_vectors() -> None:
    tables = np.concatenate(list(NullModel(dimensions=156).tables(400, 0)))
    assert tables.std() == pytest.approx(1 / sqrt(156), rel=0.02)
    found = simulate_null(dimensions=20, simulations=3_000)
    assert found.rejection is not None
    assert agrees(found.rejection.hits, 3_000, 0.05)
    assert found.settings["sd"] == 1 / sqrt(20)
    assert NullModel().vector_dimensions == 156


def test_intervals_agree_with_scipy(published: NullSimulation) -> None:
    assert published.rejection is not None
    for share in (*two_sided(published).values(), published.rejection):
        theirs = stats.binomtest(share.hits, share.trials).proportion_ci(method="exact")
        assert (share.low, share.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
        assert share.value == share.hits / share.trials


def test_one_sided_shares_are_counts(published: NullSimulation) -> None:
    effect = published.comparisons[0]
    values = published.to_frame()["effect_size"]
    assert effect.greater.hits == (values >= 1.267195).sum()
    assert effect.less.hits == (values <= 1.267195).sum()
    assert effect.two_sided is not None
    assert effect.two_sided.hits == effect.greater.hits + (values <= -1.267195).sum()


@pytest.mark.parametrize("asked", [{"family_sd": 0.03}, {"n_x": 10, "n_y": 10}, {"dimensions": 9}])
def test_blocks_do_not_matter(asked: dict[str, Any]) -> None:
    settings = {**SETTINGS, "simulations": 50}
    whole, blocks = (run_weat(NullModel(**asked), settings, block_numbers=size) for size in (1 << 19, 1_000))
    assert whole.values.keys() == blocks.values.keys()
    for name, values in whole.values.items():
        np.testing.assert_allclose(blocks.values[name], values, rtol=1e-12)


def test_seeds_and_progress() -> None:
    told: list[tuple[int, int]] = []
    first = simulate_null(simulations=3_000, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3_000, 3_000)
    assert len(told) > 1
    assert first.to_frame().equals(simulate_null(simulations=3_000).to_frame())
    assert not first.to_frame().equals(simulate_null(simulations=3_000, random_state=1).to_frame())


def test_results_can_be_written(published: NullSimulation) -> None:
    for found in (published, simulate_null("mac", simulations=50), simulate_null("rnd", simulations=5, permutations=0)):
        shape = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert sum(shape["statistic"]["histogram"]["counts"]) == len(found.to_frame())
        assert found.reading.split(",")[0] in found._repr_html_()
    shares = published.summary().tables[1].rows
    assert shares[0][1].value == two_sided(published)["effect size"].value
    assert len(shares) == 4


def test_sizes_that_allow_no_finding_are_pointed_out() -> None:
    found = simulate_null(n_x=3, n_y=3, simulations=200)
    assert found.rejection is not None
    assert found.rejection.hits == 0
    assert found.warnings == ("20 splits allow no p below 0.1: the test cannot reject at 0.05",)
    assert simulate_null(n_x=4, n_y=4, simulations=20).warnings == ()


def test_other_sizes_have_no_published_figure() -> None:
    found = simulate_null(n_a=9, simulations=100)
    assert [one.published for one in found.comparisons] == [None, None]
    assert all(one.published is None for one in simulate_null(observed=1.0, simulations=100).comparisons)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"test": "weet"}, "must be one of ect, mac, nas"),
        ({"n_x": 0}, "'n_x' parameter must be a whole number of at least 1. Got 0"),
        ({"n_b": 2.5}, "'n_b' parameter must be a whole number"),
        ({"sd": 0.0}, "'sd' parameter must be a number above 0"),
        ({"word_sd": -1.0}, "'word_sd' parameter must be a number of at least 0"),
        ({"dimensions": 5, "word_sd": 0.1}, "random vectors"),
        ({"simulations": 0}, "'simulations' parameter must be a whole number of at least 1"),
        ({"alpha": 5}, "'alpha' parameter must be a number strictly between 0 and 1"),
        ({"ddof": 2}, "'ddof' parameter must be one of 0, 1"),
        ({"alternative": "both"}, "'alternative' parameter must be one of"),
        ({"observed": float("nan")}, "must be a finite number"),
        ({"test": "mac", "as_published": True}, "are of weat alone"),
        ({"test": "rnd", "word_sd": 0.1}, "rnd needs vectors"),
        ({"test": "set_ripa", "n_x": 3}, "n_x must equal n_y"),
        ({"test": "ect", "n_a": 1, "simulations": 9}, "No data set has a value of ect"),
    ],
)
def test_mistakes_get_one_sentence(asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence.replace("(", r"\(")):
        simulate_null(**asked)


def test_what_was_asked_is_recorded(published: NullSimulation) -> None:
    assert published.settings["sd"] == 0.08
    assert published.settings["observed"] == {
        "effect size": 1.267195,
        "effect size as published": 1.267195,
        "statistic": 0.386222,
    }
    assert replace(published.model, n_x=9) != published.model


def test_the_default_draws_enough_to_know_the_share() -> None:
    """The corrected share of the paper's example: .0083 on its own random numbers, .0084 in theory."""
    found = simulate_null()
    assert found.settings["simulations"] == 50_000
    (share,) = (one.two_sided for one in found.comparisons if one.quantity == "effect size")
    assert share is not None
    assert share.value == pytest.approx(0.0084, abs=4 * (0.0084 * (1 - 0.0084) / 50_000) ** 0.5)
    assert simulate_null("rnd", permutations=0).settings["simulations"] == 2_000
