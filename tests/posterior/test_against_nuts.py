"""Our samplers against NUTS: stored posteriors of models written row by row, and live runs (slow)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.analyses.posterior import bayes, distance_table, prior_sensitivity
from biasgauge.analyses.posterior.model_checks import loo
from biasgauge.errors import InputError, ParameterError

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable, Posterior

GOLDENS = Path(__file__).with_name("goldens") / "nuts_goldens.json"


@pytest.fixture(scope="module")
def goldens() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(GOLDENS.read_text())
    return found


@pytest.fixture(scope="module")
def golden_table(goldens: dict[str, Any]) -> DistanceTable:
    return distance_table("golden", [(*row[:4], float(row[4])) for row in goldens["rows"]])


def agree(found: Posterior, stored: dict[str, list[list[float]]]) -> int:
    """Hold every parameter against what is stored, within five Monte Carlo errors; give how many there were.

    The error of a mean is sd / √ESS, that of a standard deviation about as much again relative to it, that of the outer
    quantiles two to three times as much (normal: 2.05).
    """
    ours = {**found.draws.parameters(), "theta": found.draws.word}
    effective = found.diagnostics.ess_min
    assert effective is not None
    compared = 0
    for name, rows in stored.items():
        values = ours[name].reshape(len(found.draws), -1)
        if name == "residual" and found.variant in {"single-sigma", "intercept"}:
            values = values[:, :1]
        assert values.shape[1] == len(rows), name
        for at, (mean, sd, mcse, low, high) in enumerate(rows):
            error = float(np.hypot(mcse, sd / effective**0.5))
            assert values[:, at].mean() == pytest.approx(mean, abs=5 * error), (name, at)
            assert values[:, at].std() == pytest.approx(sd, abs=5 * error), (name, at)
            assert np.quantile(values[:, at], [0.055, 0.945]) == pytest.approx([low, high], abs=12 * error), (name, at)
            compared += 1
    return compared


@pytest.mark.parametrize(
    ("variant", "parameters"),
    [("per-connection", 33), ("single-sigma", 31), ("intercept", 32), ("crossed", 56)],
)
def test_every_parameter_agrees_with_nuts(
    golden_table: DistanceTable,
    goldens: dict[str, Any],
    variant: Any,  # noqa: ANN401 - a Variant
    parameters: int,
) -> None:
    found = bayes(golden_table, variant=variant, draws=20_000)
    assert found.sampler != "nuts"
    assert found.diagnostics.ess_min > 4_000  # type: ignore[operator]  # so that the comparison means something
    assert agree(found, goldens["posteriors"][variant]) == parameters


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["per-connection", "single-sigma", "intercept", "student", "crossed"])
def test_our_statement_of_the_models_agrees_too(
    golden_table: DistanceTable,
    goldens: dict[str, Any],
    variant: Any,  # noqa: ANN401
) -> None:
    pytest.importorskip("nutpie")
    found = bayes(golden_table, variant=variant, draws=8_000, sampler="nuts")
    assert found.sampler == "nuts"
    assert found.diagnostics.divergences == 0
    assert found.diagnostics.ok
    agree(found, goldens["posteriors"][variant])
    if variant == "student":
        assert loo(found).elpd > loo(bayes(golden_table)).elpd  # the residuals have heavy tails
        assert found.predictive is not None
        assert 0.4 < found.predictive.within_50 < 0.65


@pytest.mark.slow
def test_a_model_of_the_users_own(golden_table: DistanceTable) -> None:
    """The published model, stated by a user, gives what the shipped one gives."""
    pm = pytest.importorskip("pymc")
    pytest.importorskip("nutpie")

    def published(table: DistanceTable) -> Any:  # noqa: ANN401 - a pymc.Model
        frame = table.to_frame()
        names = list(table.connections)
        cells = sorted({(names.index(c), w) for c, w in zip(frame["connection"], frame["protected_word"], strict=True)})
        connection = np.array([names.index(one) for one in frame["connection"]])
        pairs = zip(connection.tolist(), frame["protected_word"], strict=True)
        cell = np.array([cells.index(pair) for pair in pairs])
        with pm.Model() as model:
            group = pm.Normal("group", 1.0, 0.3, shape=len(names))
            tau, sigma = pm.Exponential("tau", 2.0, shape=len(names)), pm.Exponential("sigma", 2.0, shape=len(names))
            of = np.array([at for at, _ in cells])
            word = pm.Deterministic("word", group[of] + tau[of] * pm.Normal("z", shape=len(cells)))
            pm.Normal("distance", word[cell], sigma[connection], observed=frame["cosine_distance"].to_numpy())
        return model

    own, shipped = bayes(golden_table, variant=published), bayes(golden_table)
    assert own.variant == "published"
    assert own.diagnostics.divergences == 0
    for one, other in zip((*own.groups, *own.words), (*shipped.groups, *shipped.words), strict=True):
        assert (one.connection, one.word) == (other.connection, other.word)
        assert one.mean == pytest.approx(other.mean, abs=0.2 * other.sd)  # type: ignore[operator]
    assert own.predictive is not None
    assert shipped.predictive is not None
    assert own.predictive.within_89 == pytest.approx(shipped.predictive.within_89, abs=0.04)
    with pytest.raises(ParameterError, match="states"):
        prior_sensitivity(own)
    with pytest.raises(ParameterError, match="variants"):
        loo(own)

    def nameless(table: DistanceTable) -> Any:  # noqa: ANN401
        with pm.Model() as model:
            pm.Normal("group", 1.0, 0.3, observed=table.distance)
        return model

    with pytest.raises(ParameterError, match="'word' is missing"):
        bayes(golden_table, variant=nameless)


def test_without_the_libraries_the_sentence_says_what_to_install(
    golden_table: DistanceTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nutpie", None)
    for asked in ({"variant": "student"}, {"sampler": "nuts"}, {"variant": lambda table: table}):
        with pytest.raises(InputError) as refusal:
            bayes(golden_table, **asked)
        assert str(refusal.value) == 'sampling with NUTS needs PyMC and nutpie: pip install "biasgauge[bayes]"'


def test_without_arviz_the_sentence_says_what_to_install(
    golden_table: DistanceTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(InputError, match=r'InferenceData needs ArviZ: pip install "biasgauge\[bayes\]"'):
        bayes(golden_table, draws=100).to_inference_data()
