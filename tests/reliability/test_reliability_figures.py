"""Figures show the numbers of their results, and files hold the figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.results.names import measure_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.analyses.reliability import ReliabilityResult

WORDS = ("nurse", "surgeon", "teacher", "poet", "judge", "pilot", "clerk", "baker")
PAIRS = [("he", "she"), ("man", "woman"), ("boy", "girl"), ("son", "daughter")]


@pytest.fixture(scope="module")
def scores() -> bg.scores.ScoreTensor:
    random = np.random.default_rng(1)
    every = (*WORDS, *(end for pair in PAIRS for end in pair))
    true = random.normal(size=(len(every), 6))
    models = [bg.load((every, true + 0.3 * random.normal(size=true.shape)), name=f"run {run}") for run in range(4)]
    return bg.score(models, pairs=PAIRS, words=list(WORDS), measures=["dbwa", "ripa"])


@pytest.fixture(scope="module")
def found(scores: bg.scores.ScoreTensor) -> ReliabilityResult:
    return bg.reliability(scores, lists={"jobs": list(WORDS)}, queries={"care": ["nurse", "teacher", "poet"]})


@pytest.fixture(scope="module")
def charts(found: ReliabilityResult) -> dict[str, Any]:
    """Its charts, drawn once."""
    return dict(found.figures())


def drawn(chart: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a chart
    """The rows that a chart holds."""
    (rows,) = chart.to_dict()["datasets"].values()
    return list(rows)


def test_boxes_are_the_quantiles_of_the_summary(found: ReliabilityResult, charts: dict[str, Any]) -> None:
    rows = drawn(charts["test_retest"])
    expected = {
        (measure_name(one.measure or ""), one.list): (one.p05, one.q1, one.median, one.q3, one.p95)
        for one in found.summaries
        if one.reliability == "test_retest" and one.of == "word"
    }
    assert len(expected) == 2
    assert {
        (row["measure"], row["list"]): tuple(row[name] for name in ("p05", "q1", "median", "q3", "p95")) for row in rows
    } == expected


def test_a_list_without_a_known_reliability_has_no_box_and_the_scale_reaches_the_lowest(
    tensor: Callable[..., bg.scores.ScoreTensor],
) -> None:
    """Words whose scores never vary have no reliability: counted, not drawn. Those below 0 are on the scale."""
    made = tensor(WORDS, models=4, pairs=PAIRS, measures=["dbwa"], noise=100.0)
    values = made.values.copy()
    values[:, :, 6:] = 1.0
    result = bg.reliability(replace(made, values=values), lists={"jobs": WORDS[:6], "constant": WORDS[6:]})
    known = {one.list: one.count for one in result.summaries if one.reliability == "test_retest" and one.of == "word"}
    assert known == {"jobs": 6, "constant": 0}
    box = result.figures()["test_retest"]
    rows = drawn(box)
    assert [row["list"] for row in rows] == ["jobs"]
    lowest = min(row["p05"] for row in rows)
    assert lowest < 0
    whisker = box.to_dict()["spec"]["layer"][1]
    assert whisker["encoding"]["x"]["scale"]["domain"] == [lowest, 1]
    dots = result.figures()["pairs"]
    ends = [row["low"] for row in drawn(dots)]
    assert min(ends) < 0, "noise: the interval of some pair goes below 0"
    assert dots.to_dict()["layer"][-1]["encoding"]["x"]["scale"]["domain"] == [min(ends), 1]


def test_pairs_and_queries_are_shown_with_their_intervals(found: ReliabilityResult, charts: dict[str, Any]) -> None:
    pairs = {(row["name"], row["measure"]): (row["low"], row["value"], row["high"]) for row in drawn(charts["pairs"])}
    frame = found.test_retest.to_frame()
    for row in frame[frame["of"] == "pair"].itertuples():
        assert pairs[str(row.name).replace("~", "–"), measure_name(str(row.measure))] == (row.low, row.value, row.high)
    assert len(pairs) == 8
    assert {row["name"] for row in drawn(charts["queries"])} == {"care"}


def test_components_and_designs(scores: bg.scores.ScoreTensor) -> None:
    components = bg.analyses.reliability.variance_components(scores, measure="dbwa")
    shares = {row["component"]: row["share"] for row in drawn(components.figures()["components"])}
    assert sum(shares.values()) == pytest.approx(1)
    design = bg.analyses.reliability.decision_study(components, target=0.7)
    chart = design.figures()["design"]
    assert len(drawn(chart)) == len(design.to_frame())
    assert "0.7" in chart.to_dict()["title"]["subtitle"][0]
    together = bg.analyses.reliability.decision_study(bg.analyses.reliability.variance_components(scores))
    assert together.figures()["design"].to_dict()["facet"]["column"]["field"] == "measures"


def test_files_of_every_format(charts: dict[str, Any], tmp_path: Path) -> None:
    paths = bg.results.save_figures(
        {"boxes": charts["test_retest"]}, tmp_path / "new" / "folder", ("svg", "png", "html", "json")
    )
    assert [path.name for path in paths] == ["boxes.svg", "boxes.png", "boxes.html", "boxes.json"]
    assert ET.parse(paths[0]).getroot().tag.endswith("svg")  # noqa: S314 - our own file
    assert "Test–retest" in paths[0].read_text(encoding="utf-8")
    assert paths[1].read_bytes().startswith(b"\x89PNG\r\n")
    page = paths[2].read_text(encoding="utf-8")
    assert "<script src" not in page  # nothing is fetched: the page works without a network
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(path.name for path in paths)


def test_what_cannot_be_drawn_or_saved_gets_a_sentence(
    found: ReliabilityResult, charts: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(bg.ParameterError, match="Got 'word'"):
        found.figures(word="nurse")
    with pytest.raises(bg.ParameterError, match="Got 'gif'"):
        bg.results.save_figures(charts, tmp_path, ("gif",))
