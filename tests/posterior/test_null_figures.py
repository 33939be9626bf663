"""Figures of null simulations and bands show the numbers of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.posterior import distance_table, simulate_null, within_band
from biasgauge.analyses.posterior.null_figures import CORRECTED, PUBLISHED
from biasgauge.results.wording import share_text

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.analyses.posterior import NullSimulation, WithinBand


def drawn(chart: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a chart
    """Every row of data in a chart."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def told(chart: Any) -> str:  # noqa: ANN401 - a chart
    return " ".join(chart.to_dict()["title"]["subtitle"])


@pytest.fixture(scope="module")
def found() -> NullSimulation:
    return simulate_null(simulations=3_000)


@pytest.fixture(scope="module")
def band() -> WithinBand:
    random = np.random.default_rng(0)
    rows = [
        (f"w{w}", f"{name}{a}", name, name, float(np.clip(1 - random.normal(0.1, 0.2), 0, 2)))
        for name in ("human", "neutral")
        for w in range(6)
        for a in range(90)
    ]
    return within_band(distance_table("drawn", rows), band=0.15, resamples=200)


def test_effect_sizes_of_both_kinds_with_the_observed_one(found: NullSimulation) -> None:
    chart = found.figures()["null_effect_size"]
    rows = drawn(chart)
    assert found.corrected is not None
    assert found.published is not None
    for name, spread in ((CORRECTED, found.corrected), (PUBLISHED, found.published)):
        own = [row for row in rows if row.get("how") == name]
        assert len(own) == 60
        assert sum(row["share"] for row in own) == pytest.approx(1)
        for row in own[::7]:
            inside = (spread.values >= row["from"]) & (spread.values < row["to"])
            assert row["share"] == pytest.approx(inside.mean(), abs=2 / 3_000)
    assert sorted(row["at"] for row in rows if "at" in row) == [-1.267195, 1.267195]
    for one in found.comparisons[:2]:
        assert one.two_sided is not None
        assert f"{share_text(one.two_sided.value, 2)} at least as extreme as 1.267" in told(chart)


def test_p_values(found: NullSimulation) -> None:
    chart = found.figures()["null_p_values"]
    rows = drawn(chart)
    assert [round(row["from"], 2) for row in rows] == [round(0.05 * at, 2) for at in range(20)]
    assert found.rejection is not None
    assert rows[0]["share"] == pytest.approx(found.rejection.value, abs=1 / 3_000)
    assert [row["at most the level"] for row in rows] == [True] + [False] * 19
    assert f"{share_text(found.rejection.value, 1)} of data sets" in told(chart)


def test_other_tests_show_their_one_number() -> None:
    charts = simulate_null("mac", simulations=300, observed=0.99).figures()
    assert set(charts) == {"null_statistic", "null_p_values"}
    assert [row["at"] for row in drawn(charts["null_statistic"]) if "at" in row] == [0.99, 1.01]
    assert set(simulate_null("rnd", simulations=20, permutations=0).figures()) == {"null_statistic"}


def test_dots_and_shares_of_a_band(band: WithinBand, tmp_path: Path) -> None:
    chart = band.figures()["within_band"]
    rows = drawn(chart)
    labels = {row["connection"]: row["label"] for row in rows if row["label"]}
    for one in band.shares:
        assert one.share is not None
        assert one.low is not None
        assert one.high is not None
        expected = f"{100 * one.share:.1f} % [{100 * one.low:.0f},\u00a0{100 * one.high:.0f}]"
        assert labels[one.connection] == expected
    dots = [row for row in rows if not row["label"]]
    assert 2 * 200 <= len(dots) <= 2 * 400  # 540 a connection are thinned
    every = {round(value, 12) for value in band.points_frame()["cosine_similarity"]}
    assert {round(row["cosine_similarity"], 12) for row in dots} <= every
    assert "±0.150 (as given)" in told(chart)
    (path,) = bg.results.save_figures({"band": chart}, tmp_path, ("svg",))
    assert "Similarities within a band" in path.read_text(encoding="utf-8")


def test_before_and_after_are_two_rows(band: WithinBand) -> None:
    table = band.points["before"]
    both = within_band(table, after=table, band=0.2, resamples=20)
    chart = both.figures()["within_band"].to_dict()
    assert chart["facet"]["row"]["field"] == "side"
    sides = {row["side"] for rows in chart["datasets"].values() for row in rows}
    assert sides == {"before", "after"}
