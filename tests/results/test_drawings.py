"""Drawings without a script: everything stands where its number says, and no label on another."""

from __future__ import annotations

import numpy as np
import pytest

from biasgauge.core.estimate import Estimate
from biasgauge.results import Bar, Bars, Dot, Forest, ForestRow, Histogram, Quote, Strip, Summary, Tile
from biasgauge.results.page import summary_page
from biasgauge.results.page.drawings import Axis, drawing_view, forest_axis


@pytest.mark.parametrize("scale", [1e-4, 0.03, 1, 250])
def test_ticks_are_round_and_stand_at_their_numbers(scale: float) -> None:
    axis = Axis.over([-0.7 * scale, 1.9 * scale, None])
    numbers = [float(text.replace("−", "-").replace(",", "")) for _, text in axis.ticks]
    assert 3 <= len(numbers) <= 7
    assert 0 in numbers
    for (place, _), number in zip(axis.ticks, numbers, strict=True):
        assert place == pytest.approx(100 * (number - axis.low) / (axis.high - axis.low), abs=0.01)
    np.testing.assert_allclose(np.diff(numbers), numbers[1] - numbers[0], rtol=1e-6)


def test_an_axis_shows_nought_and_every_value() -> None:
    axis = Axis.over([0.2, 0.3])
    assert 0 < axis.at(0) < axis.at(0.2) < axis.at(0.3) < 100
    assert Axis.over([]).at(0) == 50


def test_a_forest_row_stands_where_its_estimate_does() -> None:
    rows = (
        ForestRow("a", "", "report", "good", group="g", estimate=Estimate(value=0.1, low=0.05, high=0.2), part="a"),
        ForestRow("b", "", "not-measurable", group="g"),
    )
    forest = Forest("f", "F", "", "contrast", rows, band=0.03)
    axis = forest_axis(forest)
    page = summary_page(Summary("T", "", parts=(Summary("S", "", name="verdicts", forest=forest),)))
    assert f'class="reach" x1="{axis.at(0.05)}%" x2="{axis.at(0.2)}%"' in page
    assert f'<svg x="{axis.at(0.1)}%"' in page
    assert page.count('class="reach"') == 1
    assert "<b>+0.100</b> <span>[+0.050, +0.200]</span>" in page
    left, width = axis.span(-0.03, 0.03)
    assert f'class="band" x="{left}%" width="{width}%"' in page
    assert left + width == pytest.approx(axis.at(0.03), abs=0.02)


def test_dots_do_not_cover_each_other_and_labels_stay_apart() -> None:
    random = np.random.default_rng(0)
    dots = tuple(Dot(f"word{n}", float(value), apart=value < 0) for n, value in enumerate(random.normal(0.1, 0.1, 60)))
    view = drawing_view(Strip("s", "S", "", "score", dots))
    places = [(x, y) for _, x, y in view.marks]
    for number, (x, y) in enumerate(places):
        assert all(abs(x - other) >= 1.7 or y != level for other, level in places[:number])
    lines: dict[int, list[tuple[float, float]]] = {}
    for label in view.labels:
        width = 2.0 * (len(label.text) + 1)
        left = {"start": label.x, "middle": label.x - width / 2, "end": label.x - width}[label.anchor]
        assert all(left >= end or left + width <= start for start, end in lines.get(label.y, []))
        lines.setdefault(label.y, []).append((left, left + width))
    assert {label.text for label in view.labels} <= {dot.label for dot in dots if dot.apart}


def test_histogram_and_bars_keep_their_proportions() -> None:
    histogram = drawing_view(Histogram("h", "H", "", "contrast", (0.0, 1.0, 2.0, 3.0), (1, 4, 0), 5.0))
    assert [round(height / histogram.marks[1][2], 2) for *_, height in histogram.marks] == [0.25, 1.0]
    assert histogram.labels[0].x == histogram.axis.at(5.0)
    parts = (Bar("x", 0.2, "g"), Bar("y", -0.1, "g"), Bar("z", 0.01, "g"))
    bars = Bars("b", "B", "", "adds", parts, most=2)
    axis = drawing_view(bars).axis
    assert axis.span(0, 0.2)[1] == pytest.approx(2 * axis.span(0, -0.1)[1], abs=0.02)
    page = summary_page(Summary("T", "", parts=(Summary("S", "", name="s", drawings=(bars,)),)))
    assert page.count("<bdi>") == 2
    assert "2 largest of 3" in page
    assert f'class="apart" x="{axis.span(0, -0.1)[0]}%"' in page


def test_blocks_escape_what_they_are_given() -> None:
    bad = "<img src=x>"
    row = ForestRow(bad, bad, "report", group=bad, estimate=Estimate(value=1.0, low=0.5, high=2.0), part="p")
    part = Summary(
        bad, bad, name="p", mark="report", drawings=(Strip("s", bad, bad, bad, (Dot(bad, -1.0, apart=True),)),)
    )
    first = Summary("T", "", name="first", forest=Forest("f", bad, bad, bad, (row,)), parts=(part,))
    quotes = Summary("Q", "", name="quotes", quotes=(Quote(bad, bad, bad),))
    page = summary_page(Summary(bad, bad, parts=(first, quotes), tiles=(Tile(bad, bad),), caveat=bad))
    assert "<img" not in page
    assert page.count("&lt;img src=x&gt;") > 12


def test_a_terminal_and_markdown_show_the_forest_too() -> None:
    from biasgauge.results.markup import markdown, plain_text

    row = ForestRow("X lean to A", "WEAT 7", "report", group="Gender", estimate=Estimate(value=0.1, low=0.05, high=0.2))
    summary = Summary("T", "H", forest=Forest("f", "F", "", "contrast", (row,)))
    told = plain_text(summary)
    assert "report  X lean to A" in told
    assert "+0.100 [+0.050, +0.200] · WEAT 7" in told
    assert "| Gender | X lean to A | report | 0.100 [0.050, 0.200] | WEAT 7 |" in markdown(summary)
