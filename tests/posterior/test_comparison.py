"""Leave-one-out against refits that really leave one out, and prior sensitivity."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.analyses.posterior import (
    ModelRanking,
    Normal,
    Priors,
    PriorSensitivity,
    bayes,
    compare,
    loo,
    model_checks,
    prior_sensitivity,
)
from biasgauge.analyses.posterior.model_checks import log_likelihood, tighter_and_wider
from biasgauge.errors import InputError, ParameterError

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable


@pytest.mark.parametrize("variant", ["per-connection", "crossed"])
def test_loo_agrees_with_leaving_one_out(roomy_table: DistanceTable, variant: str) -> None:
    """Refit without a row, then the log of its mean density: what the smoothed weights only estimate."""
    pytest.importorskip("arviz_stats")
    table = roomy_table
    fitted = bayes(table, variant=variant)  # type: ignore[arg-type]
    found = loo(fitted)
    assert found.unreliable == 0
    for left_out in range(0, len(table), 31):
        rest = bayes(table.select(np.arange(len(table)) != left_out, relabel=False), variant=variant, random_state=1)  # type: ignore[arg-type]
        places = rest.draws.rows(table)
        logs = log_likelihood(rest.draws, places, table.distance[places.row], slice(left_out, left_out + 1))[0]
        expected = np.log(np.exp(logs - logs.max()).mean()) + logs.max()
        assert found.pointwise[left_out] == pytest.approx(expected, abs=0.1)
    assert found.elpd == pytest.approx(found.pointwise.sum())
    assert found.parameters == pytest.approx(8 if variant == "per-connection" else 34, abs=6)


def test_loo_agrees_with_arviz(table: DistanceTable) -> None:
    statistics = pytest.importorskip("arviz_stats.base").array_stats
    fitted = bayes(table)
    places = fitted.draws.rows(table)
    logs = log_likelihood(fitted.draws, places, table.distance[places.row], slice(None))
    expected = [float(statistics.loo(row.reshape(4, -1))[0]) for row in logs]
    np.testing.assert_allclose(loo(fitted).pointwise, expected, atol=1e-6)


def test_student_likelihood_is_that_of_scipy(table: DistanceTable) -> None:
    from scipy.stats import t

    draws = bayes(table, draws=40).draws
    draws = replace(draws, freedom=np.asarray(np.random.default_rng(0).uniform(1.5, 30, draws.residual.shape)))
    places = draws.rows(table)
    found = log_likelihood(draws, places, table.distance[places.row], slice(3, 9))
    mean = places.mean(draws, slice(3, 9))
    connection = places.connection[3:9]
    assert draws.freedom is not None
    expected = t.logpdf(
        table.distance[3:9, None], draws.freedom[:, connection].T, mean, draws.residual[:, connection].T
    )
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_the_crossed_model_predicts_best_where_attributes_differ(roomy_table: DistanceTable) -> None:
    pytest.importorskip("arviz_stats")
    ranks = compare(
        {name: bayes(roomy_table, variant=name) for name in ("per-connection", "single-sigma", "crossed")}
    ).ranks
    assert ranks[0].name == "crossed"
    assert ranks[0].difference == ranks[0].difference_se == 0
    assert ranks[1].difference < -3 * ranks[1].difference_se
    assert [one.elpd for one in ranks] == sorted((one.elpd for one in ranks), reverse=True)


def test_models_of_different_data_are_not_compared(table: DistanceTable) -> None:
    pytest.importorskip("arviz_stats")
    other = table.select(table.connection > 0)
    with pytest.raises(ParameterError, match="distances"):
        compare({"one": bayes(table, draws=100), "other": bayes(other, draws=100)})
    with pytest.raises(ParameterError, match="at least one fit"):
        compare({})


def test_without_the_library_the_sentence_says_what_to_install(
    table: DistanceTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(model_checks, "import_module", missing)
    with pytest.raises(InputError, match=r'comparing models needs arviz-stats: pip install "biasgauge\[bayes\]"'):
        loo(bayes(table, draws=100))


def test_a_prior_that_matters_is_told(table: DistanceTable) -> None:
    posterior = bayes(table)
    found = prior_sensitivity(posterior, {"far away": replace(posterior.priors, group=Normal(0.0, 0.05))})
    moved = {one.name: one for one in found.shifts if one.quantity == "group"}
    assert all(one.matters and one.shift < -0.25 for one in moved.values())
    assert found.largest.prior == "far away"
    refitted = bayes(table, priors=replace(posterior.priors, group=Normal(0.0, 0.05)))
    for one in refitted.groups:
        assert moved[one.connection].mean == one.mean
    contrasts = [one for one in found.shifts if one.quantity == "contrast"]
    assert contrasts[0].name == "associated − different"


def test_the_same_prior_shifts_nothing(table: DistanceTable) -> None:
    found = prior_sensitivity(bayes(table), {"the same": Priors()})
    assert {one.shift for one in found.shifts} == {0.0}


def test_half_and_twice_as_wide(table: DistanceTable) -> None:
    others = tighter_and_wider(Priors())
    assert others["group half as wide"].group == Normal(1.0, 0.15)
    assert others["between twice as wide"].between.mean == 1.0
    assert others["residual half as wide"].residual.mean == 0.25
    found = prior_sensitivity(bayes(table, draws=400))
    assert len(found.shifts) == 6 * (4 + 6)
    assert list(found.to_frame()["prior"].unique()) == list(others)


def test_nothing_to_compare() -> None:
    from biasgauge.analyses.posterior import distance_table

    flat = distance_table("flat", [("a", "b", "l", "human", 0.9), ("a", "c", "l", "human", 0.9)])
    with pytest.raises(ParameterError, match="connection"):
        prior_sensitivity(bayes(flat))


def test_json_there_and_back(table: DistanceTable) -> None:
    posterior = bayes(table, draws=400)
    shifts = prior_sensitivity(posterior)
    again = PriorSensitivity.from_dict(json.loads(json.dumps(shifts.to_dict(), allow_nan=False)))
    assert again == shifts
    assert shifts.largest.name in shifts.summary().headline
    pytest.importorskip("arviz_stats")
    ranks = compare({"one": posterior, "other": bayes(table, variant="single-sigma", draws=400)})
    assert ModelRanking.from_dict(json.loads(json.dumps(ranks.to_dict(), allow_nan=False))) == ranks
    assert ranks.summary().headline.startswith(f"{ranks.ranks[0].name} predicts")
