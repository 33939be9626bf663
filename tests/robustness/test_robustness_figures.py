"""Figures of robustness show the numbers of their result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.results.drawing import spelled
from biasgauge.results.names import measure_name

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = [("he", "she"), ("man", "woman"), ("boy", "girl"), ("gone", "lost")]


@pytest.fixture(scope="module")
def found() -> bg.analyses.robustness.RobustnessResult:
    random = np.random.default_rng(1)
    singular = [f"word{letter}" for letter in "abcdefghijkl"]
    words = [*singular, *(f"{word}s" for word in singular), *(end for pair in PAIRS[:3] for end in pair)]
    model = bg.load((words, random.normal(size=(len(words), 6))))
    return bg.robustness(
        model, pairs=PAIRS, words=singular, measures=["dbwa", "ripa"], truths={"t": (singular[:5], singular[5:11])}
    )


@pytest.fixture(scope="module")
def charts(found: bg.analyses.robustness.RobustnessResult) -> dict[str, Any]:
    """Its charts, drawn once."""
    return dict(found.figures())


def rows(chart: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a chart
    """The rows that a chart holds; rules and bands have an empty one."""
    return [row for several in chart.to_dict()["datasets"].values() for row in several if row]


def test_the_heat_map_of_pairs_is_symmetric_and_whole(
    found: bg.analyses.robustness.RobustnessResult, charts: dict[str, Any]
) -> None:
    cells = {(row["measure"], row["pair"], row["other"]): row["kappa"] for row in rows(charts["pairs"])}
    expected = {
        (measure_name(one.measure), *names): one.kappa.value
        for one in found.pairwise
        if one.kappa.value is not None
        for names in (("–".join(one.pair), spelled(one.against)), (spelled(one.against), "–".join(one.pair)))
    }
    assert cells == expected
    assert len(cells) == 2 * 3 * 2


def test_one_word_under_every_pair_and_form(
    found: bg.analyses.robustness.RobustnessResult, charts: dict[str, Any]
) -> None:
    chart = charts["word"]
    shown = rows(chart)
    word = next(row["spelling"] for row in shown if row["form"] == "as given")
    expected = found.word_scores(word).dropna()
    assert len(shown) == len(expected) == 2 * 3 * 2
    assert {(row["measure"], row["pair"], row["form"]): row["score"] for row in shown} == {
        (measure_name(str(row.measure)), spelled(str(row.pair)), row.form): row.score for row in expected.itertuples()
    }
    drawn = chart.to_dict()["vconcat"]
    for panel, one in zip(drawn, found.reference, strict=True):
        band = panel["layer"][0]["encoding"]
        assert panel["layer"][-1]["encoding"]["color"]["field"] in shown[0]
        assert one.mean.value is not None
        assert one.sd.value is not None
        assert (band["y"]["datum"], band["y2"]["datum"]) == pytest.approx(
            (one.mean.value - one.sd.value, one.mean.value + one.sd.value)
        )


def test_kappas_of_every_change(found: bg.analyses.robustness.RobustnessResult, charts: dict[str, Any]) -> None:
    cells = {(row["measure"], row["change"], row["pair"]): row["value"] for row in rows(charts["kappas"])}
    expected = {
        (measure_name(one.measure), f"{title} {measure_name(one.against)}", "–".join(one.pair)): one.kappa.value
        for title, part in (
            ("word", found.word_forms),
            ("truth", found.correspondence),
            ("against", found.between_measures),
        )
        for one in part
        if one.kappa.value is not None and one.kappa.n >= 10
    }
    assert cells == expected
    assert {change for _, change, _ in cells} == {"word plural", "truth t", "against RIPA"}


def test_files(charts: dict[str, Any], tmp_path: Path) -> None:
    paths = bg.results.save_figures(charts, tmp_path, ("svg",))
    assert [path.name for path in paths] == ["word.svg", "pairs.svg", "kappas.svg"]
    for path in paths:
        assert ET.parse(path).getroot().tag.endswith("svg")  # noqa: S314 - our own file
