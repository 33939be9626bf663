"""Figures of posteriors show their numbers, and say when those cannot be trusted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.posterior import distance_table
from biasgauge.analyses.posterior.figures import COLORS

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable, Posterior

MEANS = {"associated": 0.8, "different": 0.87, "human": 0.93, "neutral": 0.95}


@pytest.fixture(scope="module")
def table() -> DistanceTable:
    random = np.random.default_rng(3)
    rows = [
        (word, f"{connection}{number}", connection, connection, float(mean + random.normal(0, 0.1)))
        for word in ("rabbi", "imam", "priest")
        for connection, mean in MEANS.items()
        for number in range(600 if connection == "neutral" else 6)
    ]
    return distance_table("three words", rows)


@pytest.fixture(scope="module")
def posterior(table: DistanceTable) -> Posterior:
    return bg.bayes(table)


def held(chart: Any) -> list[list[dict[str, Any]]]:  # noqa: ANN401 - a chart
    """The rows of each data set of a chart."""
    return [list(rows) for rows in chart.to_dict()["datasets"].values()]


def subtitle(chart: Any) -> str:  # noqa: ANN401 - a chart
    return " ".join(chart.to_dict()["title"]["subtitle"])


def test_every_estimate_is_drawn_with_its_interval(posterior: Posterior) -> None:
    charts = posterior.figures()
    for name, estimates in (("groups", posterior.groups), ("words", posterior.words)):
        (rows,) = held(charts[name])
        drawn = {(row["connection"], row["word"]): (row["low"], row["mean"], row["high"]) for row in rows}
        assert drawn == {(one.connection, one.word or "*"): (one.low, one.mean, one.high) for one in estimates}
        assert "89 % HPDI" in subtitle(charts[name])
    (rows,) = held(charts["contrasts"])
    assert [row["contrast"] for row in rows][:2] == ["associated − different", "associated − human"]
    assert f"±{posterior.rope:.3f}" in subtitle(charts["contrasts"])


def test_predictions_are_thinned_and_say_so(posterior: Posterior) -> None:
    chart = posterior.figures()["predictions"]
    assert "one point in 2 is drawn" in subtitle(chart)
    points = next(rows for rows in held(chart) if "observed" in rows[0] and "predicted" in rows[0])
    assert len(points) == -(-len(posterior.table) // 2)
    assert posterior.predictive is not None
    assert f"{100 * posterior.predictive.within_89:.0f} % inside 89 %" in subtitle(chart)


def test_one_word_on_request(posterior: Posterior) -> None:
    assert "distances" not in posterior.figures()
    chart = posterior.figures(word="imam")["distances"]
    sizes = sorted(len(rows) for rows in held(chart))
    assert sizes == [40, 618]
    nearest = next(rows for rows in held(chart) if len(rows) == 40)
    distances = [row["cosine_distance"] for row in nearest]
    every = posterior.word_frame("imam")["cosine_distance"]
    assert distances == sorted(every)[:40]
    with pytest.raises(bg.ParameterError, match="'pope'"):
        posterior.figures(word="pope")


def test_a_choice_that_is_not_there_gets_a_sentence(posterior: Posterior) -> None:
    with pytest.raises(bg.ParameterError, match="'color'"):
        posterior.figures(color="red")


def test_failed_diagnostics_stand_on_every_figure(posterior: Posterior, table: DistanceTable) -> None:
    failed = replace(posterior, diagnostics=replace(posterior.diagnostics, problems=("R-hat is 2",)))
    for name, chart in failed.figures(word="imam").items():
        assert subtitle(chart).startswith("CAUTION: the sampler's diagnostics failed"), name
    moved = bg.analyses.posterior.bayes_change(
        table, replace(table, distance=table.distance + 0.1 * np.cos(np.arange(len(table))))
    )
    for chart in replace(moved, problems=("R-hat is 2",)).figures().values():
        assert subtitle(chart).startswith("CAUTION: the diagnostics of the change failed")


def test_changes_are_drawn(table: DistanceTable) -> None:
    found = bg.analyses.posterior.bayes_change(
        table, replace(table, distance=table.distance + 0.05 * np.sin(np.arange(len(table))))
    )
    charts = found.figures()
    assert {len(rows) for name in charts for rows in held(charts[name])} == {len(COLORS), 3 * len(COLORS)}
    (rows,) = held(charts["change"])
    assert [row["mean"] for row in rows] == [one.mean for one in found.groups]
