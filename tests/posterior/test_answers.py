"""What is read off the draws: estimates, contrasts, predictions, frames; each against plain arithmetic on the draws."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from biasgauge.analyses.posterior import CONNECTIONS, ConnectionContrast, Posterior, Priors, bayes, distance_table
from biasgauge.analyses.posterior.predictive import check_predictions
from biasgauge.analyses.posterior.table import cells_of
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable


@pytest.fixture(scope="module")
def posterior(table: DistanceTable) -> Posterior:
    return bayes(table, interval="percentile", prob=0.8, rope=0.05)


def test_estimates_are_those_of_the_draws(posterior: Posterior) -> None:
    assert [one.connection for one in posterior.groups] == list(CONNECTIONS)
    for at, one in enumerate(posterior.groups):
        draws = posterior.draws.group[:, at]
        low, high = np.quantile(draws, [0.1, 0.9])
        assert (one.mean, one.low, one.high) == pytest.approx((draws.mean(), low, high), abs=1e-12)
        assert one.sd == pytest.approx(draws.std(ddof=1), abs=1e-12)
    assert len(posterior.words) == 4 * 5
    for at, one in enumerate(posterior.words):
        assert one.mean == pytest.approx(posterior.draws.word[:, at].mean(), abs=1e-12)
        cells = next(cell for cell in cells_of(posterior.table) if cell.connection == one.connection)
        mine = cells.words.tolist().index(posterior.table.words.index(str(one.word)))
        assert abs(one.mean - cells.mean[mine]) < 0.1  # the label belongs to the column


def test_contrasts_are_those_of_the_draws(posterior: Posterior) -> None:
    groups = [one for one in posterior.contrasts if one.word is None]
    assert [(one.a, one.b) for one in groups] == [
        ("associated", "different"), ("associated", "human"), ("associated", "neutral"),
        ("different", "human"), ("different", "neutral"), ("human", "neutral"),
    ]  # fmt: skip
    for one in groups:
        draws = posterior.draws.group[:, CONNECTIONS.index(one.a)] - posterior.draws.group[:, CONNECTIONS.index(one.b)]
        assert one.mean == pytest.approx(draws.mean(), abs=1e-12)
        assert (one.low, one.high) == pytest.approx(tuple(np.quantile(draws, [0.1, 0.9])), abs=1e-12)
        assert one.p_direction == max((draws > 0).mean(), (draws < 0).mean())
        assert one.p_equivalent == (np.abs(draws) <= 0.05).mean()
    by_word = [one for one in posterior.contrasts if one.word == "imam"]
    assert len(by_word) == 6
    labels = [(one.connection, one.word) for one in posterior.words]
    first = by_word[0]
    draws = (
        posterior.draws.word[:, labels.index((first.a, "imam"))]
        - posterior.draws.word[:, labels.index((first.b, "imam"))]
    )
    assert first.mean == pytest.approx(draws.mean(), abs=1e-12)


def test_words_without_a_connection_have_no_contrast_with_it() -> None:
    rows = [("imam", f"a{at}", "m", "associated", 0.8 + 0.01 * at) for at in range(3)]
    rows += [(word, f"h{at}", "human", "human", 0.9 + 0.01 * at) for word in ("imam", "rabbi") for at in range(3)]
    found = bayes(distance_table("holes", rows), draws=400)
    assert [(one.connection, one.word) for one in found.words] == [
        ("associated", "imam"), ("human", "imam"), ("human", "rabbi"),
    ]  # fmt: skip
    assert [one.word for one in found.contrasts] == [None, "imam"]


def test_the_default_region_of_equivalence(table: DistanceTable) -> None:
    within = sum(one.within for one in cells_of(table)) / sum(one.df_within for one in cells_of(table))
    assert bayes(table, draws=100).rope == pytest.approx(0.1 * within**0.5, rel=1e-12)
    for wrong in (-0.1, np.inf, np.nan):
        with pytest.raises(ParameterError, match="'rope' parameter"):
            bayes(table, rope=wrong)


def test_json_holds_the_contract(posterior: Posterior) -> None:
    shape = json.loads(json.dumps(posterior.to_dict(), allow_nan=False))
    assert shape["groups"][0].keys() == {"connection", "mean", "low", "high", "sd"}
    assert shape["words"][0].keys() == {"connection", "word", "mean", "low", "high", "sd"}
    assert {"a", "b", "word", "mean", "low", "high", "p_direction"} <= shape["contrasts"][0].keys()
    assert shape["contrasts"][0]["word"] is None
    assert shape["ppc"].keys() == {"within_50", "within_89"}
    assert {"rhat_max", "ess_min", "ok"} <= shape["diagnostics"].keys()
    assert shape["interval"] == {"method": "percentile", "level": 0.8}
    assert shape["distances"]["rows"] == len(posterior.table)


@pytest.mark.parametrize("asked", [{}, {"variant": "crossed", "interval": "percentile", "prob": 0.5}])
def test_json_there_and_back(table: DistanceTable, asked: dict[str, Any]) -> None:
    """Draws and distances stay behind; every number, sentence and table is there again."""
    found = bayes(table, draws=400, priors={"between": "halfnormal(0.2)"}, **asked)
    again = Posterior.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert again.to_dict() == found.to_dict()
    assert (again.groups, again.words, again.contrasts) == (found.groups, found.words, found.contrasts)
    assert (again.priors, again.credible, again.diagnostics) == (found.priors, found.credible, found.diagnostics)
    ours, theirs = again.summary(), found.summary()
    assert (ours.headline, ours.sentences, ours.warnings) == (theirs.headline, theirs.sentences, theirs.warnings)
    assert [chart.name for chart in ours.charts] == ["groups", "contrasts", "words"]
    pd.testing.assert_frame_equal(again.to_frame(), found.to_frame())
    assert not len(again.draws)
    assert not len(again.table)
    with pytest.raises(ParameterError, match="'imam'"):
        again.figures(word="imam")


def test_frames_are_tidy(posterior: Posterior) -> None:
    frame = posterior.to_frame()
    assert list(frame) == ["connection", "word", "mean", "low", "high", "sd"]
    assert (frame["word"] == "*").sum() == 4
    assert len(posterior.contrasts_frame()) == 6 + 6 * 5
    one = posterior.word_frame("rabbi")
    assert one["cosine_distance"].is_monotonic_increasing
    assert set(one["protected_word"]) == {"rabbi"}
    density = posterior.density_frame(bins=20)
    step = density["distance"][1] - density["distance"][0]
    assert (density["observed"].sum() * step, density["simulated"].sum() * step) == pytest.approx((1, 1))
    assert "small world" in posterior._repr_html_()


@pytest.mark.parametrize("variant", ["per-connection", "crossed"])
def test_predictions_row_by_row(roomy_table: DistanceTable, variant: Any) -> None:  # noqa: ANN401
    """Simulate every row from every draw with plain loops, and count."""
    table = roomy_table
    found = bayes(table, variant=variant)
    assert found.predictive is not None
    random = np.random.default_rng(0)
    frame = table.to_frame()
    labels = [(one.connection, one.word) for one in found.words]
    names = list(found.draws.connections)
    effects = found.draws.attributes
    inside = {0.5: 0, 0.89: 0}
    means = []
    for row in frame.itertuples():
        mean = found.draws.word[:, labels.index((str(row.connection), str(row.protected_word)))]
        if effects is not None:
            block = next(at for at, one in enumerate(effects.blocks) if row.connection in one)
            attribute = table.attributes.index(str(row.word_to_compare))
            mean = mean + effects.effect[:, (effects.block == block) & (effects.attribute == attribute)][:, 0]
        made = mean + found.draws.residual[:, names.index(str(row.connection))] * random.standard_normal(len(mean))
        means.append(mean.mean())
        ordered = np.sort(made)
        for prob in inside:
            count = int(prob * len(ordered))
            start = np.argmin(ordered[count:] - ordered[: len(ordered) - count])
            inside[prob] += bool(ordered[start] <= row.cosine_distance <= ordered[start + count])
    np.testing.assert_allclose(found.predictive.mean, means, atol=1e-12)
    assert found.predictive.within_50 == pytest.approx(inside[0.5] / len(frame), abs=0.05)
    assert found.predictive.within_89 == pytest.approx(inside[0.89] / len(frame), abs=0.03)
    predicted = found.predictive_frame()
    assert predicted["observed"].tolist() == frame["cosine_distance"].tolist()
    assert ((predicted["low_89"] < predicted["low_50"]) & (predicted["high_50"] < predicted["high_89"])).all()


def test_simulated_distances_come_from_each_word_as_often_as_it_has_rows(table: DistanceTable) -> None:
    """Words a whole distance apart, one of them with few rows: the share simulated for it is its share of rows."""
    draws = bayes(table).draws
    first = draws.cell_word == draws.cell_word[0]
    far = replace(draws, word=draws.word + np.where(first, 100, 0), residual=np.full_like(draws.residual, 0.01))
    few = table.select(np.flatnonzero((table.word != draws.cell_word[0]) | (np.arange(len(table)) % 3 == 0)))
    share = float((few.word == draws.cell_word[0]).mean())
    found = check_predictions(far, few, np.random.default_rng(0)).simulated
    assert share < 0.8 * first.mean()
    assert (found > 50).mean() == pytest.approx(share, abs=4 * (share / len(found)) ** 0.5)


def test_predictions_of_student_have_heavier_tails(table: DistanceTable) -> None:
    draws = bayes(table).draws
    heavy = replace(draws, freedom=np.full_like(draws.residual, 1.5))
    plain, student = (check_predictions(one, table, np.random.default_rng(0)) for one in (draws, heavy))
    assert np.ptp(student.simulated) > 3 * np.ptp(plain.simulated)
    assert (student.high_89 - student.low_89 > plain.high_89 - plain.low_89).all()


def test_rows_simulated_one_by_one_as_published(table: DistanceTable) -> None:
    draws = bayes(table).draws
    together, apart = (
        check_predictions(draws, table, np.random.default_rng(0), each_row=each) for each in (False, True)
    )
    cells = list(zip(table.connection[together.rows].tolist(), table.word[together.rows].tolist(), strict=True))
    assert len(set(together.low_89.tolist())) == len(set(cells))  # one prediction for a connection and a word
    assert len(set(apart.low_89.tolist())) == len(table)  # one for each row
    np.testing.assert_array_equal(together.mean, apart.mean)
    narrower = (apart.high_89 - apart.low_89) / (together.high_89 - together.low_89)
    assert 0.9 < narrower.mean() < 1.0  # the narrowest of 1,000 draws is narrower than that of many


@pytest.mark.calibration
def test_predictions_cover_as_they_should_when_the_model_is_right(worlds: Any) -> None:  # noqa: ANN401
    shares = []
    for number in range(40):
        world = worlds.draw("per-connection", Priors(), [12, number], connections=CONNECTIONS)
        found = bayes(world.table, draws=1_000, random_state=number).predictive
        shares.append((found.within_50, found.within_89))  # type: ignore[union-attr]
    fifty, eighty_nine = np.mean(shares, axis=0)
    # the data were seen by the fit, so a little more than the nominal share lies inside
    assert 0.48 < fifty < 0.62
    assert 0.87 < eighty_nine < 0.97


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"variant": "robust"}, "'variant' parameter must be one of per-connection, single-sigma"),
        ({"interval": "bca"}, "'interval' parameter must be one of hpdi, percentile"),
        ({"draws": 0}, "'draws' parameter must be a whole number of at least 1"),
        ({"draws": 10.5}, "'draws' parameter must be a whole number"),
        ({"random_state": -1}, "'random_state' parameter must be a whole number of at least 0"),
        ({"sampler": "gibbs"}, "'sampler' parameter must be one of auto, exact, integrated, nuts"),
        ({"sampler": "integrated"}, "'per-connection' is sampled by 'exact' or 'nuts'. Got 'integrated'"),
        ({"sampler": "exact", "variant": "student"}, "'student' is sampled by 'nuts'. Got 'exact'"),
    ],
)
def test_arguments_that_cannot_be_used(table: DistanceTable, asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        bayes(table, **asked)
    assert sentence in str(refusal.value)


def test_inference_data(posterior: Posterior, table: DistanceTable) -> None:
    pytest.importorskip("arviz")
    data = posterior.to_inference_data()
    assert data.posterior["group"].dims == ("chain", "draw", "connection")
    assert data.posterior["group"].shape == (4, 1_000, 4)
    values = data.posterior["group"].sel(connection="human").to_numpy().ravel()
    np.testing.assert_array_equal(values, posterior.draws.group[:, 2])
    assert "associated: imam" in data.posterior["cell"].to_numpy().tolist()
    np.testing.assert_array_equal(data.observed_data["distance"], table.distance)
    crossed = bayes(table, variant="crossed", draws=400).to_inference_data()
    assert "associated+different: dirty" in crossed.posterior["effect"].to_numpy().tolist()
    assert bayes(table, variant="intercept", draws=400).to_inference_data().posterior["baseline"].shape == (4, 100)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.3, -0.11, "different"),
        (0.11, 0.3, "different"),
        (-0.1, 0.1, "equivalent"),
        (-0.3, 0.05, "undecided"),
        (-0.3, -0.1, "undecided"),
        (-0.3, 0.3, "undecided"),
        (None, None, None),
    ],
)
def test_the_decision_follows_the_region_of_practical_equivalence(
    low: float | None, high: float | None, expected: str | None
) -> None:
    one = ConnectionContrast(
        a="a", b="b", value=0.0, low=low, high=high, sd=0.1, p_direction=0.9, p_equivalent=0.1, rope=0.1
    )
    assert one.decision == expected
    assert one.to_dict()["decision"] == expected
