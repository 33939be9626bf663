"""Figures of correlations and gaps show the numbers of their results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import biasgauge as bg
from biasgauge.analyses.correlate import correlate
from biasgauge.applications import compare_gaps, gaps
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.analyses.correlate import CorrelationResult


def drawn(chart: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a chart
    """Every row of data in a chart."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({
        "weat": random.standard_normal(60),
        "test": np.resize([10, 7, 8], 60),
        "a.metric": np.repeat(["precision", "recall"], 30),
        "method": np.resize(["pre", "pre", "post", "post"], 60),
    })  # fmt: skip
    return frame.assign(gap=0.5 * frame["weat"] + random.standard_normal(60))


@pytest.fixture(scope="module")
def found() -> CorrelationResult:
    return correlate(table(), "weat", "gap", ["test", "a.metric", "method"], resamples=100)


def test_a_grid_of_panels_with_lines(found: CorrelationResult, tmp_path: Path) -> None:
    chart = found.figures()["points"]
    facets = chart.to_dict()["facet"]
    assert (facets["row"]["title"], facets["column"]["title"]) == ("test", "a.metric")
    assert facets["row"]["sort"] == ["7", "8", "10"]  # numbers by size
    rows = drawn(chart)
    points = [row for row in rows if row["kind"] == "point"]
    assert sorted(row["y"] for row in points) == pytest.approx(sorted(table()["gap"]))
    frame = table()
    part = frame[(frame["test"] == 7) & (frame["a.metric"] == "recall") & (frame["method"] == "pre")]
    line = [
        row
        for row in rows
        if row["kind"] == "fit" and (row["by 0"], row["by 1"], row["by 2"]) == ("7", "recall", "pre")
    ]
    fit = stats.linregress(part["weat"], part["gap"])
    assert [row["fit"] for row in line] == pytest.approx([fit.intercept + fit.slope * row["x"] for row in line])
    assert (line[0]["x"], line[-1]["x"]) == pytest.approx((part["weat"].min(), part["weat"].max()))
    x, n = part["weat"].to_numpy(), len(part)
    rest = part["gap"] - fit.intercept - fit.slope * x
    reach = stats.t.ppf(0.975, n - 2) * np.sqrt(
        (rest**2).sum() / (n - 2) * (1 / n + (line[3]["x"] - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum())
    )
    assert (line[3]["low"], line[3]["high"]) == pytest.approx((line[3]["fit"] - reach, line[3]["fit"] + reach))
    (path,) = bg.results.save_figures({"grid": chart}, tmp_path, ("svg",))
    assert "Does weat track gap?" in path.read_text(encoding="utf-8")


def test_panels_and_colors_can_be_chosen(found: CorrelationResult) -> None:
    chart = found.figures(rows="method", columns="test", color="a.metric")["points"].to_dict()
    assert (chart["facet"]["row"]["title"], chart["facet"]["column"]["title"]) == ("method", "test")
    with pytest.raises(ParameterError, match="'metric'"):
        found.figures(rows="metric")


def test_one_column_is_color_and_none_is_plain() -> None:
    one = correlate(table(), "weat", "gap", ["method"], resamples=50).figures()["points"].to_dict()
    assert "facet" not in one
    assert {row["by 0"] for rows in one["datasets"].values() for row in rows} == {"pre", "post"}
    none = correlate(table(), "weat", "gap", resamples=50).figures()["points"]
    assert sum(row["kind"] == "point" for row in drawn(none)) == 60


def test_too_few_points_have_no_line() -> None:
    few = pd.DataFrame({"x": [1.0, 2, 3, 5, 5, 5, 5], "y": [1.0, 2, 2, 1, 2, 3, 4], "s": list("aaabbbb")})
    rows = drawn(correlate(few, "x", "y", ["s"], resamples=20).figures()["points"])
    assert {row["by 0"] for row in rows if row["kind"] == "fit"} == {"a"}


def test_every_correlation_with_its_interval(found: CorrelationResult) -> None:
    rows = {row["what"]: row for row in drawn(found.figures()["correlations"])}
    for one in found.groups:
        assert rows[one.name]["r"] == pytest.approx(one.r)
        assert rows[one.name]["low"] == pytest.approx(one.estimate.low)
    assert found.levels is not None
    assert rows["within strata"]["r"] == pytest.approx(found.levels.within_r.value)
    assert rows["means of strata"]["r"] == pytest.approx(found.levels.between_r.value)


def test_gaps_and_their_changes() -> None:
    random = np.random.default_rng(1)
    labels, groups = random.integers(0, 2, 200), random.choice(list("abc"), 200)
    first, second = (np.where(random.random(200) < 0.8, labels, 1 - labels) for _ in range(2))
    some = gaps(labels, first, groups, resamples=100)
    rows = drawn(some.figures()["gaps"])
    assert len(rows) == len(some.gaps) == 9 * 6
    one = next(row for row in rows if (row["what"], row["pair"]) == ("recall, 1", "a − the rest"))
    expected = some.gap("recall", a="a", b="the rest")
    assert (one["value"], one["high"]) == pytest.approx((expected.value, expected.high))
    change = compare_gaps(labels, first, second, groups, order=("a", "b"), resamples=100)
    rows = drawn(change.figures()["gap_changes"])
    assert [row["difference"] for row in rows] == pytest.approx([one.value for one in change.changes])


def test_a_result_that_was_read_back_has_no_points_and_shows_its_correlations(
    found: CorrelationResult, tmp_path: Path
) -> None:
    """It was refused as if somebody had altered it: "it has no 'test'"."""
    stored = type(found).from_dict(json.loads(json.dumps(found.to_dict())))
    assert [chart.name for chart in stored.summary().charts] == ["correlations"]
    assert stored.summary().headline == found.summary().headline
    assert stored.save(tmp_path / "page.html").stat().st_size
    without = correlate(table(), "weat", "gap", resamples=100)
    stored = type(found).from_dict(json.loads(json.dumps(without.to_dict())))
    assert stored.save(tmp_path / "page.html").stat().st_size
