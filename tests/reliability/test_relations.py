"""Correlations and the comparison of singular and plural against SciPy; bands; what cannot be trusted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from biasgauge.analyses.reliability import BANDS, SOURCES, band, reliability, verdict
from biasgauge.analyses.reliability.reliabilities import correlation, singular_plural
from biasgauge.analyses.reliability.reliability_table import alpha_bands, bands, lower_whisker
from biasgauge.lexicons import lexicon

if TYPE_CHECKING:
    from biasgauge.scores import ScoreTensor

Make = Any
LABELS: dict[str, Any] = {"of": "pair", "a": "one", "b": "other", "list": None}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_correlation_against_scipy(seed: int, level: float) -> None:
    random = np.random.default_rng(seed)
    x = random.normal(size=23)
    y = seed * 0.4 * x + random.normal(size=23)
    theirs = stats.pearsonr(x, y)
    interval = theirs.confidence_interval(level)
    found = correlation(np.append(x, np.nan), np.append(y, 1.0), level, **LABELS)
    assert (found.n, found.method) == (23, "Fisher z")
    assert [found.value, found.p] == pytest.approx([theirs.statistic, theirs.pvalue], rel=1e-9)
    assert [found.low, found.high] == pytest.approx([interval.low, interval.high], rel=1e-9)


def test_correlations_without_a_value() -> None:
    x = np.arange(5.0)
    assert "does not vary" in str(correlation(x, np.full(5, 0.1), 0.95, **LABELS).reason)
    assert "fewer than 4" in str(correlation(x[:3], x[:3], 0.95, **LABELS).reason)
    perfect = correlation(x, 3 - x, 0.95, **LABELS)
    assert (perfect.value, perfect.low, perfect.p, perfect.reason) == (-1, None, 0, "the correlation is perfect")


def test_the_eight_pairs_of_the_paper() -> None:
    """METHODS 1.4: boy, brother, father, male, man, nephew, son, uncle."""
    matched = singular_plural(lexicon("du2021").pairs)  # type: ignore[attr-defined]  # a lexicon of pairs
    assert [one[0] for one, _ in matched] == ["boy", "brother", "father", "male", "man", "nephew", "son", "uncle"]
    assert (("man", "woman"), ("men", "women")) in matched


def test_other_plurals() -> None:
    pairs = [("husband", "wife"), ("husbands", "wives"), ("guy", "lady"), ("guys", "ladies"), ("his", "her")]
    assert singular_plural(pairs) == (
        (("husband", "wife"), ("husbands", "wives")),
        (("guy", "lady"), ("guys", "ladies")),
    )


@pytest.fixture(scope="module")
def scores(tensor: Make) -> ScoreTensor:
    made: ScoreTensor = tensor(lexicon("occ18").words, models=6, seed=5)
    return made


def test_singular_against_plural_is_a_paired_t_test_of_medians(scores: ScoreTensor) -> None:
    found = reliability(scores)
    pairs = singular_plural(scores.pairs)
    for one in found.forms:
        rows = getattr(found, one.reliability)

        def middle(pair: tuple[str, str], rows: Any = rows) -> float:  # noqa: ANN401 - bound for each
            return float(np.median(rows.where(of="pair", name="~".join(pair), list="occ18").value))

        theirs = stats.ttest_rel([middle(a) for a, _ in pairs], [middle(b) for _, b in pairs])
        interval = theirs.confidence_interval(0.95)
        assert one.df == 7
        assert [one.t, one.p] == pytest.approx([theirs.statistic, theirs.pvalue], rel=1e-9)
        assert [one.low, one.high] == pytest.approx([interval.low, interval.high], rel=1e-9)
    assert {one.reliability for one in found.forms} == {"test_retest", "inter_rater"}


def test_plurals_with_more_noise_are_found_out(scores: ScoreTensor) -> None:
    plural = [scores.pairs.index(many) for _, many in singular_plural(scores.pairs)]
    noise = np.random.default_rng(0).normal(size=scores.values[:, plural].shape) * scores.values.std()
    values = scores.values.copy()
    values[:, plural] += noise.astype(np.float32)
    found = reliability(replace(scores, values=values))
    first = found.forms[0]
    assert first.reliability == "test_retest"
    assert first.p is not None
    assert first.p < 0.001
    assert first.value is not None
    assert first.value > 0.1
    assert any("Singular pairs are more reliable" in one for one in found.verdicts)


def test_no_comparison_without_plurals(scores: ScoreTensor) -> None:
    assert reliability(scores.select(pair=[("he", "she"), ("man", "woman")])).forms == ()
    two = [("man", "woman"), ("men", "women")]
    assert "fewer than two pairs" in str(reliability(scores.select(pair=two)).forms[0].reason)


def test_reliabilities_correlate_over_pairs_and_words(scores: ScoreTensor) -> None:
    found = reliability(scores)
    rows = {one.of: one for one in found.relations}
    names = ["~".join(pair) for pair in scores.pairs]
    over_models = [np.median(found.test_retest.where(of="pair", name=name).value) for name in names]
    over_measures = [found.inter_rater.where(of="pair", name=name).value[0] for name in names]
    assert rows["pair"].value == pytest.approx(stats.pearsonr(over_models, over_measures).statistic, rel=1e-9)
    assert (rows["pair"].n, rows["word"].n) == (23, 76)


def test_measures_correlate_over_words(scores: ScoreTensor) -> None:
    found = {(one.a, one.b): one for one in reliability(scores).measures}
    means = scores.values.astype(np.float64).mean(axis=(1, 3))
    assert found["dbwa", "nbm"].value == pytest.approx(stats.pearsonr(means[0], means[2]).statistic, rel=1e-6)
    by_cell = scores.values.astype(np.float64).mean(axis=3).reshape(3, -1).std(axis=1, ddof=1)
    assert found["dbwa", "nbm"].spread_ratio == pytest.approx(by_cell[2] / by_cell[0], rel=1e-6)


class TestBands:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (-3, "poor"),
            (0.499, "poor"),
            (0.5, "moderate"),
            (0.75, "good"),
            (0.9, "good"),
            (0.901, "excellent"),
            (1, "excellent"),
        ],
    )
    def test_koo_and_li(self, value: float, expected: str) -> None:
        """Koo & Li: below .5, between .5 and .75, between .75 and .9, greater than .9."""
        assert band(value) == expected
        assert bands(np.array([value, np.nan])).tolist() == [expected, None]

    def test_of_an_interval(self) -> None:
        assert verdict(0.8, 0.95) == "good to excellent"
        assert verdict(0.6, 0.7) == "moderate"
        assert verdict(None, 0.7) == verdict(np.nan, 0.7) == "undefined"
        assert band(None) is None

    def test_nunnally(self) -> None:
        assert alpha_bands(np.array([0.7, 0.69, np.nan])).tolist() == ["acceptable", "low", None]

    def test_sources_are_named(self) -> None:
        assert "Koo & Li 2016" in SOURCES["icc"]
        assert "Nunnally 1978" in SOURCES["alpha"]
        assert BANDS == ("poor", "moderate", "good", "excellent")


@pytest.fixture(scope="module")
def planted(tensor: Make) -> ScoreTensor:
    """Words that are noisy, that tell no pairs apart, and that move with whole models."""
    words = [f"w{number}" for number in range(60)]
    made: ScoreTensor = tensor(words, models=8, noise=0.3, seed=9)
    random = np.random.default_rng(1)
    values, scale = made.values.copy(), np.array([0.1, 0.3, 1.0])[:, None, None]
    values[:, :, 0] += 4 * scale * random.normal(size=values[:, :, 0].shape)  # noisy
    values[:, :, 1] = scale * (values[:, :, 1] * 0.01 + 0.3 * random.normal(size=values[:, :, 1].shape))  # flat
    values[:, :, 2] += 5 * scale * random.normal(size=(1, 1, 8))  # whole models shift
    return replace(made, values=values.astype(np.float32))


class TestUntrusted:
    """A planted word of each kind is found, and for the right reason."""

    def test_reasons(self, planted: ScoreTensor) -> None:
        found = [one for one in reliability(planted).untrusted if one.reliability == "test_retest" and one.of == "word"]
        assert {one.name for one in found if one.kind == "poor"} == {"w0", "w1", "w2"}
        told = {one.name: one.because for one in found if one.measure == "nbm"}
        assert "move from model to model" in told["w0"]
        assert "times the usual" in told["w0"]
        assert "hardly tells pairs apart" in told["w1"]
        assert "whole models shift" in told["w2"]
        assert all(one.value < 0.5 for one in found if one.kind == "poor")

    def test_no_word_twice_in_overlapping_lists(self, planted: ScoreTensor) -> None:
        found = reliability(planted, lists={"a": planted.words[:40], "b": planted.words[:50]}).untrusted
        words = [(one.name, one.measure) for one in found if one.of == "word" and one.reliability == "test_retest"]
        assert len(words) == len(set(words))

    def test_outliers_are_below_the_lower_whisker(self, planted: ScoreTensor) -> None:
        result = reliability(planted)
        rows = result.test_retest.where(of="word", measure="dbwa")
        low, high = np.quantile(rows.value, [0.25, 0.75])
        assert lower_whisker(rows.value) == pytest.approx(low - 1.5 * (high - low))
        expected = set(rows.name[(rows.value < low - 1.5 * (high - low)) | (rows.value < 0.5)])
        listed = {one.name for one in result.untrusted if (one.of, one.measure) == ("word", "dbwa")}
        assert listed == expected

    def test_queries_below_seven_tenths(self, planted: ScoreTensor) -> None:
        random = np.random.default_rng(0)
        values = planted.values.copy()
        values[:, :, 10:14] = random.normal(size=values[:, :, 10:14, :1].shape).astype(np.float32)
        found = reliability(replace(planted, values=values), queries={"mess": planted.words[10:14]})
        listed = [one for one in found.untrusted if one.of == "query"]
        assert {one.name for one in listed} == {"mess"}
        assert "no one concept" in listed[0].because
        assert any("Below an alpha of .7: mess" in one for one in found.verdicts)
